//! `omni-run resume`: the session to go on with, chosen or named, and the launch that goes on with it.
//! How an engine resumes is in `engines.toml`; what is put in again, in `resumed`.

use std::process::ExitCode;

use super::gather::current_dir;
use super::recover::engine_and_host;
use super::script_output::{Told, answering};
use super::sessions::{first_words, local_time};
use super::{Workplace, here, run};
use crate::cli::{ResumeArgs, RunArgs, RunOptions};
use crate::engines::{Answer, LaunchMode, Query};
use crate::error::{ExitKind, Failure};
use crate::launch::owner::Fate;
use crate::session::{Look, Outcome, SessionFilter, SessionRow, Store, StoreError, settle_if_can};
use crate::ui::{Ui, one_line};

/// Sessions looked through for one that can be gone on with.
const MOST_LOOKED: u32 = 500;
/// The fewest digits of an id: shorter words of the letters a to f are prompts.
const SHORTEST_ID: usize = 4;
/// How many sessions that can't be gone on with are named with their reason.
const REASONS: usize = 3;

/// Carries the command out.
pub(super) fn resume(args: ResumeArgs, ui: Ui) -> Result<ExitCode, Failure> {
    answering(args.output.unwrap_or_default(), ui, |told| go_on(args, told, ui))
}

fn go_on(mut args: ResumeArgs, told: &mut Told, ui: Ui) -> Result<ExitCode, Failure> {
    let place = Workplace::open()?;
    settle_if_can(&place.paths, Look::Everything);
    let Some(store) = Store::open_if_there(&place.paths)? else {
        return Err(none("there is no session yet"));
    };
    let session = session_word(&mut args)?;
    let row = match &session {
        Some(id) => store.session_by_prefix(id)?,
        None => {
            let row = newest(&store, &place, &args, ui)?;
            ui.status(&format!(
                "going on with session {} of {}, {}: {}",
                row.id,
                row.engine,
                local_time(row.started_at),
                first_words(&row.first_words)
            ));
            row
        }
    };
    if row.is_held() {
        return Err(running(&row));
    }
    drop(store);
    run::launch(launch(args, &row), told, ui)
}

/// The session that is named. The first word is the prompt where it can be no id and no second word
/// follows.
fn session_word(args: &mut ResumeArgs) -> Result<Option<String>, Failure> {
    let Some(word) = args.session.take() else { return Ok(None) };
    let text = word.to_string_lossy().into_owned();
    let digits = text.chars().filter(|c| *c != '-').count();
    let looks_like_id = digits >= SHORTEST_ID
        && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
        && !text.starts_with('-');
    match (looks_like_id, args.has_prompt()) {
        (true, _) => Ok(Some(text)),
        (false, false) => {
            args.prompt = Some(word);
            Ok(None)
        }
        (false, true) => Err(StoreError::UnknownSession { prefix: one_line(&text) }.into()),
    }
}

/// The newest session of the project or folder that can be gone on with.
fn newest(
    store: &Store,
    place: &Workplace,
    args: &ResumeArgs,
    ui: Ui,
) -> Result<SessionRow, Failure> {
    let project = here::look_up(&place.paths, args.project.as_deref(), ui)?;
    let cwd = current_dir();
    let root = project.as_ref().and_then(|project| project.root.clone());
    let id = project.as_ref().and_then(|project| project.id.clone());
    let mut filter = SessionFilter {
        engine: args.engine.clone(),
        limit: Some(MOST_LOOKED),
        ..SessionFilter::default()
    };
    let is_here = |row: &SessionRow| {
        let same_project =
            (id.is_some() && row.project == id) || (root.is_some() && row.project_root == root);
        same_project || (args.project.is_none() && row.cwd == cwd)
    };
    let mut reasons = Vec::new();
    // By pages: the first of very many is most likely the one.
    while reasons.len() < MOST_LOOKED as usize {
        let rows = store.sessions(&filter)?;
        let Some(last) = rows.last() else { break };
        filter.before = Some(last.id);
        let room = MOST_LOOKED as usize - reasons.len();
        for row in rows.into_iter().filter(is_here).take(room) {
            match obstacle(store, place, &row) {
                None => return Ok(row),
                Some(why) => reasons.push(format!("{}: {why}", row.id)),
            }
        }
    }
    if reasons.is_empty() {
        let what = if project.is_some() { "this project" } else { "this folder" };
        return Err(none(&format!("{what} has no session")));
    }
    let mut failure = none("no session here can be gone on with");
    failure.hints.splice(..0, reasons.into_iter().take(REASONS));
    Err(failure)
}

/// Why a session can't be gone on with, as far as that shows without starting its engine.
fn obstacle(store: &Store, place: &Workplace, row: &SessionRow) -> Option<String> {
    match row.outcome {
        Outcome::Running if row.is_held() => return Some("it still runs".to_owned()),
        Outcome::NotStarted => return Some("its engine did not start".to_owned()),
        // One of an older omni-run, which could not say that it had ended.
        Outcome::Running
        | Outcome::Ok
        | Outcome::Failed
        | Outcome::TimedOut
        | Outcome::Crashed
        | Outcome::Lost => {}
    }
    let Some((engine, host)) = engine_and_host(place, row) else {
        return Some(format!("engines.toml has no engine `{}`", row.engine));
    };
    let name = &engine.catalogue().name;
    let ways = [LaunchMode::OneShot, LaunchMode::Wrapped];
    if !ways.into_iter().any(|mode| engine.catalogue().resumes(mode)) {
        return Some(format!("{name} cannot resume a session"));
    }
    if row.engine_session_id.is_some() {
        return None;
    }
    let messages = store.messages(row.id).unwrap_or_default();
    let text = messages.first().map(|message| message.text.as_str()).unwrap_or_default();
    let query = Query { id: None, cwd: &row.cwd, since: row.started_at, text };
    match engine.look_up(&host, &query) {
        Answer::There { .. } => None,
        Answer::Several(_) => Some(format!("{name} has several conversations that began like it")),
        Answer::Unknown | Answer::Absent => Some(format!("it has no id of {name} to resume by")),
    }
}

fn none(message: &str) -> Failure {
    Failure::new(ExitKind::NotFound, message)
        .hint("`omni-run sessions` lists all of them; `omni-run resume SESSION` takes any")
}

/// The session is in other hands.
pub(super) fn running(row: &SessionRow) -> Failure {
    let failure = Failure::new(ExitKind::Busy, format!("session {} still runs", row.id));
    let Some(owner) = &row.owner else { return failure };
    let machine = one_line(owner.machine());
    if owner.fate() == Fate::Elsewhere {
        return failure
            .hint(format!("on {machine}; `omni-run sessions` there tells whether it does"));
    }
    failure.hint(format!(
        "process {} has it, or its engine is just ending; try again when that is over",
        owner.pid
    ))
}

/// The launch.
fn launch(args: ResumeArgs, row: &SessionRow) -> RunArgs {
    let has_prompt = args.has_prompt();
    RunArgs {
        engine: Some(row.engine.clone()),
        prompt: args.prompt,
        prompt_option: args.prompt_option,
        prompt_file: args.prompt_file,
        options: RunOptions {
            resume: Some(row.id.to_string()),
            print: args.print || has_prompt,
            stdin: args.stdin,
            project: args.project,
            cwd: args.cwd,
            model: args.model,
            attach: args.attach,
            output: args.output,
            timeout: args.timeout,
            strict: args.strict,
            no_instructions: args.no_instructions,
            dry_run: args.dry_run,
            engine_args: args.engine_args,
            ..RunOptions::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::ffi::OsString;

    fn words(args: &[&str]) -> Result<(Option<String>, Option<OsString>), Failure> {
        let args = [&["omni-run", "resume"], args].concat();
        let crate::cli::Command::Resume(crate::cli::Later(mut args)) =
            crate::cli::Cli::parse_from(args).command
        else {
            panic!("another command")
        };
        session_word(&mut args).map(|session| (session, args.prompt))
    }

    #[test]
    fn a_word_that_is_no_id_is_the_prompt() {
        let prompt = |text: &str| Some(OsString::from(text));
        assert_eq!(words(&[]).expect("none"), (None, None));
        assert_eq!(words(&["01a2-c"]).expect("id"), (Some("01a2-c".into()), None));
        assert_eq!(words(&["add"]).expect("prompt"), (None, prompt("add")));
        assert_eq!(words(&["go on"]).expect("prompt"), (None, prompt("go on")));
        assert_eq!(
            words(&["01a2", "go on"]).expect("both"),
            (Some("01a2".into()), prompt("go on"))
        );
        assert_eq!(words(&["--prompt", "dead", "01a2"]).expect("both").0, Some("01a2".into()));
        assert_eq!(words(&["nonsense", "go on"]).expect_err("no id").kind, ExitKind::NotFound);
    }
}
