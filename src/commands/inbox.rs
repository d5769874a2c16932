//! `omni-run inbox`: what programs have asked for. Looking is anybody's; deciding is a person's at a
//! terminal, who has seen what they decide on.

use std::io::IsTerminal;
use std::process::ExitCode;

use serde_json::json;

use super::inbox_card::{bucket, card, distance, what};
use super::inbox_open;
use super::{ids, now_ms, own_paths, print, print_as_json, print_json, table};
use crate::cli::{InboxAction, InboxArgs};
use crate::context::figures;
use crate::control::actions::{Action, ActionError, Decided, Filter, OutcomeCode, Queue, Status};
use crate::error::{ExitKind, Failure};
use crate::launch::below::session_above;
use crate::paths::Paths;
use crate::session::StoreError;
use crate::ui::Ui;

/// Columns of a name in a list.
const CELL: usize = 48;

/// How many are named before all are rejected.
const LISTED: usize = 20;

/// Carries the command out.
pub(super) fn inbox(args: InboxArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let paths = own_paths();
    let ls = InboxAction::Ls { all: false, project: None, json: false };
    match args.action.unwrap_or(ls) {
        InboxAction::Ls { all, project, json } => {
            let filter = Filter { decided: all, project, limit: None };
            let actions = match looked_at(&paths, ui) {
                Err(StoreError::Missing { .. }) => Vec::new(),
                queue => queue?.list(&filter)?,
            };
            list(&actions, all, json, ui)
        }
        InboxAction::Show { id, full, json } => {
            let queue = match looked_at(&paths, ui) {
                Err(StoreError::Missing { .. }) => return Err(ActionError::Unknown { id }.into()),
                queue => queue?,
            };
            let action = queue.by_prefix(&id)?;
            let preview = queue.preview(&action);
            if json {
                let mut value = json!(action);
                value["preview"] = json!(preview);
                return print_json(ui, &value);
            }
            print(ui, &card(&action, &preview, full, now_ms()))
        }
        InboxAction::Approve { ids } => decide(&paths, &ids, Word::Approve, ui),
        InboxAction::Reject { ids, all: false, .. } => decide(&paths, &ids, Word::Reject, ui),
        InboxAction::Reject { project, asked_by, .. } => {
            reject_all(&paths, project, asked_by.as_deref(), ui)
        }
        InboxAction::Open => inbox_open::open(&paths, ui),
    }
}

/// The queue with what is out of date ended: opened for writing only where that is needed.
fn looked_at(paths: &Paths, ui: Ui) -> Result<Queue, StoreError> {
    let queue = Queue::open_reading(paths)?;
    if !queue.has_to_look(now_ms())? {
        return Ok(queue);
    }
    let looked = Queue::open(paths).map_err(ActionError::from).and_then(|queue| {
        queue.look(now_ms())?;
        Ok(queue)
    });
    Ok(looked.unwrap_or_else(|error| {
        ui.warning(&format!("{error}; what is out of date is listed still"));
        queue
    }))
}

fn list(actions: &[Action], all: bool, as_json: bool, ui: Ui) -> Result<ExitCode, Failure> {
    if as_json {
        return print_as_json(ui, &actions);
    }
    if actions.is_empty() {
        ui.status(if all { "nothing was ever asked for" } else { "nothing waits for approval" });
        return Ok(ExitCode::SUCCESS);
    }
    let now = now_ms();
    let digits = ids::unique_length(actions.iter().map(|action| action.id.to_string()));
    let mut headings =
        vec!["ID", "AGE", "EXPIRES", "PROJECT", "BUCKET", "SIZE", "WHAT", "ASKED BY"];
    if all {
        headings.push("STATUS");
    }
    let none = || "-".to_owned();
    let mut rows = vec![headings.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    rows.extend(actions.iter().map(|action| {
        let open = action.status == Status::Pending;
        let mut row = vec![
            action.id.to_string()[..digits].to_owned(),
            distance(action.asked_at, now),
            if open { format!("in {}", distance(now, action.expires_at)) } else { none() },
            action.project.clone().unwrap_or_else(none),
            bucket(action).map_or_else(none, |bucket| bucket.as_str().to_owned()),
            action.size_bytes.map_or_else(none, figures::bytes),
            shortened(&what(action)),
            shortened(&action.asked_by),
        ];
        if all {
            row.push(action.status.as_str().to_owned());
        } else if action.status == Status::Applying {
            row[2] = "being applied".to_owned();
        }
        row
    }));
    print(ui, &table::table(&rows, &[]))
}

/// A foreign text as a cell of a list.
fn shortened(text: &str) -> String {
    if text.chars().count() <= CELL {
        return text.to_owned();
    }
    text.chars().take(CELL - 1).chain(['…']).collect()
}

/// A person's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Approve,
    Reject,
}

/// Who decides, and the queue.
fn opened(paths: &Paths, ui: Ui) -> Result<(String, Queue), Failure> {
    let by = person()?;
    // The card and the question are on stderr; nobody decides on what they do not see.
    if !std::io::stderr().is_terminal() {
        let message = "what is to be decided is shown on stderr, which is not the terminal";
        return Err(Failure::new(ExitKind::Refused, message).hint("leave out the `2>`"));
    }
    let queue = Queue::open(paths)?;
    for note in queue.store().notes() {
        ui.warning(note);
    }
    queue.look(now_ms())?;
    Ok((by, queue))
}

/// Rejects what waits, after one question for all of it.
fn reject_all(
    paths: &Paths,
    project: Option<String>,
    asked_by: Option<&str>,
    ui: Ui,
) -> Result<ExitCode, Failure> {
    let (by, queue) = opened(paths, ui)?;
    let mut actions = queue.list(&Filter { decided: false, project, limit: None })?;
    actions.retain(|action| {
        action.status == Status::Pending && asked_by.is_none_or(|asked| action.asked_by == asked)
    });
    if actions.is_empty() {
        ui.status("nothing that waits is meant by this");
        return Ok(ExitCode::SUCCESS);
    }
    let list =
        actions.iter().take(LISTED).map(|action| format!("  {}\n", shortened(&what(action))));
    let mut text: String = list.collect();
    if actions.len() > LISTED {
        text.push_str(&format!("  and {} more\n", actions.len() - LISTED));
    }
    let question = match actions.len() {
        1 => "Reject it? Type yes: ".to_owned(),
        count => format!("Reject all {count}? Type yes: "),
    };
    if !ui.said_yes(&text, &question) {
        return Err(Failure::new(ExitKind::Refused, "all of them are left as they are")
            .hint("only the answer `yes` decides"));
    }
    let mut rejected = 0;
    for action in &actions {
        // Another may have decided one meanwhile: that stands.
        let decided = queue.reject(action.id, &by, now_ms())?;
        rejected += usize::from(decided.first && decided.action.status == Status::Rejected);
    }
    ui.status(&format!("rejected {rejected}"));
    Ok(ExitCode::SUCCESS)
}

fn decide(paths: &Paths, ids: &[String], word: Word, ui: Ui) -> Result<ExitCode, Failure> {
    let (by, queue) = opened(paths, ui)?;
    // All of them are there before the first is asked about.
    let actions: Vec<Action> =
        ids.iter().map(|id| queue.by_prefix(id)).collect::<Result<_, _>>()?;
    let mut failures = Vec::new();
    for action in &actions {
        if let Err(failure) = decide_one(&queue, action, word, &by, ui) {
            failures.push(failure);
        }
    }
    let mut failures = failures.into_iter();
    let Some(first) = failures.next() else { return Ok(ExitCode::SUCCESS) };
    for other in failures {
        ui.failure(&other);
    }
    Err(first)
}

/// Who is at the terminal.
///
/// # Errors
/// [`ExitKind::Refused`] where nobody is, or where it is the terminal of an engine.
pub(super) fn person() -> Result<String, Failure> {
    if let Some(session) = session_above() {
        let message = format!(
            "this runs below an engine that omni-run has started (session {session}): only a \
             person decides"
        );
        return Err(
            Failure::new(ExitKind::Refused, message).hint("run it in a terminal of your own")
        );
    }
    let stdin = std::io::stdin();
    let controlled = std::fs::OpenOptions::new().read(true).open("/dev/tty").is_ok();
    if !stdin.is_terminal() || !controlled {
        return Err(Failure::new(
            ExitKind::Refused,
            "only a person decides, and there is no terminal",
        )
        .hint("run it in a terminal, or open the inbox page: `omni-run inbox open`"));
    }
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok().flatten();
    let user = user.map_or_else(|| nix::unistd::getuid().to_string(), |user| user.name);
    let terminal = nix::unistd::ttyname(stdin).map(|path| path.display().to_string());
    Ok(format!("{user} at {}", terminal.unwrap_or_else(|_| "a terminal".to_owned())))
}

fn decide_one(queue: &Queue, action: &Action, word: Word, by: &str, ui: Ui) -> Result<(), Failure> {
    if action.status.is_open() {
        let card = card(action, &queue.preview(action), false, now_ms());
        let verb = match word {
            Word::Approve => "Approve",
            Word::Reject => "Reject",
        };
        if !ui.said_yes(&card, &format!("{verb} it? Type yes: ")) {
            let message = format!("{} is left as it is", action.id);
            return Err(
                Failure::new(ExitKind::Refused, message).hint("only the answer `yes` decides")
            );
        }
    }
    let decided = match word {
        Word::Approve => queue.approve(action.id, by, now_ms())?,
        Word::Reject => queue.reject(action.id, by, now_ms())?,
    };
    report(&decided, word, ui)
}

/// Says what came of it.
fn report(decided: &Decided, word: Word, ui: Ui) -> Result<(), Failure> {
    let Decided { action, first } = decided;
    let outcome = action.outcome.as_ref();
    let message = outcome.map_or("", |outcome| outcome.message.as_str());
    let before = if *first { "" } else { " before" };
    match (word, action.status) {
        (Word::Approve, Status::Applied) => {
            ui.status(&format!("approved{before}: {message}"));
            if let Some(session) = outcome.and_then(|outcome| outcome.session) {
                ui.status(&format!("`omni-run sessions show {session}` has its answer"));
            } else if bucket(action).is_some() {
                ui.status("it counts from the next session's first message on");
            }
            Ok(())
        }
        (Word::Reject, Status::Rejected) => {
            ui.status(&format!("rejected{before}: {}", what(action)));
            Ok(())
        }
        (_, Status::Pending) => Ok(()),
        (_, Status::Applying) => {
            ui.status("approved: it is being carried out; `omni-run inbox ls --all` shows the end");
            Ok(())
        }
        (Word::Approve, Status::Failed) => {
            let kind = outcome.map_or(ExitKind::Internal, |outcome| kind_of(outcome.code));
            let mut failure = Failure::new(kind, format!("approved{before}, but {message}"));
            failure.hints.push("nothing was changed; it has to be asked for again".to_owned());
            Err(failure)
        }
        (_, Status::Applied | Status::Rejected | Status::Failed | Status::Expired) => {
            let status = action.status.as_str();
            Err(Failure::new(ExitKind::Refused, format!("{} is {status} already", action.id)))
        }
    }
}

/// The exit code of a failed action.
fn kind_of(code: OutcomeCode) -> ExitKind {
    match code {
        OutcomeCode::NotFound | OutcomeCode::ProjectGone => ExitKind::NotFound,
        OutcomeCode::NotStarted => ExitKind::EngineUnavailable,
        OutcomeCode::ConfigUnusable => ExitKind::Config,
        OutcomeCode::Rejected | OutcomeCode::Expired => ExitKind::Refused,
        OutcomeCode::Interrupted => ExitKind::Internal,
        OutcomeCode::SourceChanged
        | OutcomeCode::DocChanged
        | OutcomeCode::Exists
        | OutcomeCode::OverQuota
        | OutcomeCode::BadName
        | OutcomeCode::Io => ExitKind::CannotCreate,
        OutcomeCode::Added
        | OutcomeCode::Replaced
        | OutcomeCode::Deleted
        | OutcomeCode::Started
        | OutcomeCode::Changed => ExitKind::Internal,
    }
}
