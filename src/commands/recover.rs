//! `omni-run recover`: the same first message by the same builder once more, for a session whose
//! engine, omni-run or machine died before the message was taken. Never twice: what proves that it was
//! taken is in `acceptance`, and two that recover at once meet in the store.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use super::acceptance::{Arrived, Evidence};
use super::resume::running;
use super::run::launch_or_again;
use super::script_output::{Told, answering};
use super::sessions::{first_words, local_time, outcome};
use super::start::Again;
use super::{Workplace, ids, print, print_json, table};
use crate::cli::{RecoverArgs, RunArgs, RunOptions};
use crate::context::DisplayText;
use crate::engines::{Engine, Host};
use crate::error::{ExitKind, Failure};
use crate::session::{Look, SessionFilter, SessionMode, SessionRow, Store, StoreError, settle};
use crate::ui::Ui;

/// Sessions looked through for the list.
const MOST_LOOKED: u32 = 500;

/// Carries the command out.
pub(super) fn recover(args: RecoverArgs, ui: Ui) -> Result<ExitCode, Failure> {
    answering(args.output.unwrap_or_default(), ui, |told| send_again(&args, told, ui))
}

fn send_again(args: &RecoverArgs, told: &mut Told, ui: Ui) -> Result<ExitCode, Failure> {
    let place = Workplace::open()?;
    // Here it has to be written: an unmarked session cannot be told from a living one.
    settle(&place.paths, Look::Everything)?;
    let Some(store) = Store::open_if_there(&place.paths)? else {
        return match &args.session {
            None => list(&[], args.json, ui),
            Some(prefix) => Err(StoreError::UnknownSession { prefix: prefix.clone() }.into()),
        };
    };
    let Some(prefix) = &args.session else {
        return list(&candidates(&store, &place)?, args.json, ui);
    };
    let row = store.session_by_prefix(prefix)?;
    let evidence = Evidence::read(&store, &row)?;
    drop(store);
    let Some((engine, host)) = engine_and_host(&place, &row) else {
        let message = format!("engines.toml has no engine `{}` any more", row.engine);
        return Err(Failure::new(ExitKind::EngineUnavailable, message));
    };
    let arrived = evidence.judge(&row, engine.as_ref(), &host);
    if args.dry_run || args.show_sent {
        would_be_sent(&row, &arrived, ui)?;
    } else {
        may_be_sent(&row, &arrived, args.again, ui)?;
    }
    let display = DisplayText::new(evidence.text.unwrap_or_default());
    let launch = launch(args, &row)?;
    launch_or_again(launch, Some(Again { row, display }), told, ui)
}

/// Nothing is sent: what stands against it is said, and hinders only where there is nothing to show.
fn would_be_sent(row: &SessionRow, arrived: &Arrived, ui: Ui) -> Result<(), Failure> {
    match arrived {
        Arrived::No(_) => {}
        Arrived::Unknown(why) => ui.warning(&format!("whether it was taken cannot be told: {why}")),
        Arrived::Yes(how) => ui.warning(&format!("it was taken ({how}) and would not be sent")),
        Arrived::Running | Arrived::NoMessage => return may_be_sent(row, arrived, false, ui),
    }
    Ok(())
}

fn may_be_sent(row: &SessionRow, arrived: &Arrived, again: bool, ui: Ui) -> Result<(), Failure> {
    let id = row.id;
    match arrived {
        Arrived::No(_) => Ok(()),
        Arrived::Unknown(why) if again => {
            ui.warning(&format!("the message may arrive a second time: {why}"));
            Ok(())
        }
        Arrived::Unknown(why) => {
            let message =
                format!("it cannot be told whether the message of session {id} was taken: {why}");
            let mut failure = Failure::new(ExitKind::Refused, message)
                .hint(format!("to send it all the same: omni-run recover {id} --again"));
            if row.engine_session_id.is_some() {
                failure = failure.hint(format!("to look first: omni-run resume {id}"));
            }
            Err(failure)
        }
        Arrived::Yes(how) => {
            let message =
                format!("the message of session {id} was taken ({how}); it is not sent again");
            Err(Failure::new(ExitKind::Refused, message)
                .hint(format!("go on with it: omni-run resume {id}")))
        }
        Arrived::Running => Err(running(row)),
        Arrived::NoMessage => {
            let message = format!("session {id} has no message of its own to send again");
            Err(Failure::new(ExitKind::Refused, message)
                .hint(format!("go on with it: omni-run resume {id}")))
        }
    }
}

/// The launch as it was asked for, less its message.
fn launch(args: &RecoverArgs, row: &SessionRow) -> Result<RunArgs, Failure> {
    let options = &row.options;
    if let Some(path) = options.attach.iter().map(|path| &path.0).find(|path| !path.is_file()) {
        let message = format!("the attachment {} is not there any more", path.display());
        return Err(Failure::new(ExitKind::NotFound, message)
            .hint("put it back, or begin a new session without it"));
    }
    Ok(RunArgs {
        engine: Some(row.engine.clone()),
        options: RunOptions {
            print: args.print || row.mode == SessionMode::OneShot,
            // A folder that is gone is said by name.
            cwd: Some(row.cwd.clone()),
            model: row.model.clone(),
            attach: options.attach.iter().map(|path| path.0.clone()).collect(),
            resume: row.resumes.map(|id| id.to_string()),
            output: args.output,
            timeout: args.timeout.or(options.timeout.map(Duration::from_secs)),
            retries: options.retries,
            strict: options.strict,
            no_docs: options.no_docs,
            no_attach: options.no_attach,
            no_instructions: options.no_instructions,
            no_profile: options.no_profile,
            dry_run: args.dry_run,
            show_sent: args.show_sent,
            engine_args: options.engine_args.iter().map(|arg| arg.0.clone().into()).collect(),
            ..RunOptions::default()
        },
        ..RunArgs::default()
    })
}

/// The engine of a session, and the machine as it sees it; `None`: the catalogue lacks it.
pub(super) fn engine_and_host(
    place: &Workplace,
    row: &SessionRow,
) -> Option<(Box<dyn Engine>, Host)> {
    let spec = place.catalogue.get(&row.engine)?;
    let mut env: std::collections::BTreeMap<_, _> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .collect();
    env.extend(spec.env.iter().map(|(name, value)| (name.clone(), value.into())));
    let host = Host { env, home: place.paths.home.clone(), cwd: row.cwd.clone(), version: None };
    Some((crate::engines::engine(&row.engine, spec), host))
}

/// A session whose message is not known to have been taken.
struct Candidate {
    row: SessionRow,
    sure: bool,
    why: String,
}

fn candidates(store: &Store, place: &Workplace) -> Result<Vec<Candidate>, Failure> {
    let dead = SessionFilter { failed: true, limit: Some(MOST_LOOKED), ..SessionFilter::default() };
    let mut found = Vec::new();
    for row in store.sessions(&dead)? {
        let Some((engine, host)) = engine_and_host(place, &row) else { continue };
        let (sure, why) = match Evidence::read(store, &row)?.judge(&row, engine.as_ref(), &host) {
            Arrived::No(why) => (true, why),
            Arrived::Unknown(why) => (false, why),
            Arrived::Yes(_) | Arrived::Running | Arrived::NoMessage => continue,
        };
        found.push(Candidate { row, sure, why });
    }
    Ok(found)
}

fn list(found: &[Candidate], as_json: bool, ui: Ui) -> Result<ExitCode, Failure> {
    if as_json {
        let values = found.iter().map(|candidate| {
            let row = &candidate.row;
            json!({
                "id": row.id.to_string(),
                "engine": row.engine,
                "project": row.project,
                "cwd": row.cwd.to_string_lossy(),
                "mode": row.mode.as_str(),
                "outcome": row.outcome.as_str(),
                "started_at": row.started_at,
                "arrived": if candidate.sure { "no" } else { "unknown" },
                "why": candidate.why,
                "first_words": row.first_words,
            })
        });
        return print_json(ui, &values.collect());
    }
    if found.is_empty() {
        ui.status("nothing to recover: every message was taken");
        return Ok(ExitCode::SUCCESS);
    }
    let digits = ids::unique_length(found.iter().map(|candidate| candidate.row.id.to_string()));
    let headings = ["ID", "WHEN", "ENGINE", "OUTCOME", "ARRIVED", "TYPED"];
    let mut rows = vec![headings.map(str::to_owned).to_vec()];
    rows.extend(found.iter().map(|candidate| {
        let row = &candidate.row;
        vec![
            row.id.to_string()[..digits].to_owned(),
            local_time(row.started_at),
            row.engine.clone(),
            outcome(row),
            if candidate.sure { "no" } else { "not known" }.to_owned(),
            first_words(&row.first_words),
        ]
    }));
    print(ui, &table::table(&rows, &[]))
}
