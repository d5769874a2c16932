//! The subcommands: each file takes its part of the command line and carries it out.

mod acceptance;
mod approved;
mod command_line;
mod completions;
mod config;
mod docs;
mod docs_budget;
mod docs_ls;
mod docs_memo;
mod docs_preview;
mod doctor;
mod echo;
mod engines;
mod export;
mod gather;
mod here;
mod ids;
mod import;
mod inbox;
mod inbox_card;
mod inbox_open;
mod man;
mod not_found;
mod one_shot;
mod profile;
mod project;
mod recipe;
mod recipe_view;
mod recording;
mod recover;
mod resume;
mod resumed;
mod run;
mod schedule;
mod schedule_words;
mod script_output;
mod search;
mod serve;
mod serve_backend;
mod sessions;
mod sessions_rm;
mod share;
mod sink;
mod start;
mod store;
mod table;
mod target;
mod tries;
mod tui;
mod when;

use std::borrow::Cow;
use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use crate::cli::{Command, Later};
use crate::config::{Config, LogLevel};
use crate::engines::Catalogue;
use crate::error::{ExitKind, Failure};
use crate::paths::{PathEnv, Paths};
use crate::ui::{Ui, is_unprintable, one_line};

pub use command_line::parse;

/// Carries a command out.
///
/// # Errors
/// What the person has to be told, with its exit code.
pub fn dispatch(command: Command, ui: Ui) -> Result<ExitCode, Failure> {
    match command {
        Command::Run(Later(args)) => run::run(*args, ui),
        Command::Project(Later(args)) => project::project(*args, ui),
        Command::Docs(Later(args)) => docs::docs(*args, ui),
        Command::Recipe(Later(args)) => recipe::recipe(*args, ui),
        Command::Schedule(Later(args)) => schedule::schedule(*args, ui),
        Command::Profile(Later(args)) => profile::profile(&args, ui),
        Command::Sessions(Later(args)) => sessions::sessions(*args, ui),
        Command::Search(Later(args)) => search::search(&args, ui),
        Command::Inbox(Later(args)) => inbox::inbox(*args, ui),
        Command::Export(Later(args)) => export::export(&args, ui),
        Command::Import(Later(args)) => import::import(&args, ui),
        Command::Share(Later(args)) => share::share(&args, ui),
        Command::Resume(Later(args)) => resume::resume(*args, ui),
        Command::Recover(Later(args)) => recover::recover(*args, ui),
        Command::Engines(Later(args)) => engines::engines(*args, ui),
        Command::Doctor => doctor::doctor(ui),
        Command::Config(Later(args)) => config::config(&args, ui),
        Command::Serve(Later(args)) => serve::serve(&args, ui),
        Command::Store(Later(args)) => store::store(&args, ui),
        Command::Completions(Later(args)) => completions::completions(&args, ui),
        Command::Man(Later(args)) => man::man(&args, ui),
        Command::Complete(Later(args)) => completions::complete(*args, ui),
        Command::Echo(Later(args)) => echo::echo(&args),
        Command::Approved(Later(args)) => approved::approved(&args),
    }
}

/// How much `--log-file` gets. A config that is wrong is said by the command, not by its log.
pub fn log_level() -> LogLevel {
    let variable = |name: &str| std::env::var(name).ok();
    let file = own_paths().config.join("config.toml");
    let config = Config::load(&file, variable).or_else(|_| Config::load(Path::new(""), variable));
    config.map_or(LogLevel::Info, |config| config.log_level.value)
}

/// What nearly every command needs.
struct Workplace {
    paths: Paths,
    config: Config,
    catalogue: Catalogue,
}

impl Workplace {
    fn open() -> Result<Workplace, Failure> {
        let paths = own_paths();
        let config =
            Config::load(&paths.config.join("config.toml"), |name| std::env::var(name).ok())?;
        let catalogue = Catalogue::load(&paths.config.join("engines.toml"))?;
        Ok(Workplace { paths, config, catalogue })
    }
}

/// The folders, for commands that work whatever is in the config files.
fn own_paths() -> Paths {
    Paths::resolve(&PathEnv::from_process())
}

/// Data on stdout. A reader that has seen enough (`| head -1`) ends the command quietly.
fn print(ui: Ui, text: &str) -> Result<ExitCode, Failure> {
    match ui.data(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(ExitKind::CannotCreate, format!("standard output: {error}")))
        }
        Ok(()) | Err(_) => Ok(ExitCode::SUCCESS),
    }
}

/// A JSON value on stdout, readable for people too.
fn print_json(ui: Ui, value: &serde_json::Value) -> Result<ExitCode, Failure> {
    print_as_json(ui, value)
}

/// The same of anything that has a JSON form.
fn print_as_json<T: serde::Serialize>(ui: Ui, value: &T) -> Result<ExitCode, Failure> {
    let mut text = serde_json::to_string_pretty(value).map_err(anyhow::Error::from)?;
    text.push('\n');
    print(ui, &safe_json(&text))
}

/// JSON leaves C1 codes and bidi controls as they are, a terminal does not. They can stand in strings
/// only, where an escape means the same.
fn safe_json(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c != '\n' && is_unprintable(c)) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => safe.push(c),
            c if is_unprintable(c) => safe.push_str(&format!("\\u{:04x}", c as u32)),
            c => safe.push(c),
        }
    }
    safe.into()
}

/// Text of docs on stdout: exact for a file or a pipe; on a terminal its control characters are
/// shown, not obeyed.
fn print_exact(ui: Ui, text: &str) -> Result<ExitCode, Failure> {
    if text.is_empty() || !std::io::stdout().is_terminal() {
        return print(ui, text);
    }
    let shown = for_terminal(text);
    if shown.len() != text.len() {
        ui.status("control characters are shown escaped; a pipe gets the exact bytes");
    }
    print(ui, &format!("{}\n", shown.trim_end_matches('\n')))
}

fn for_terminal(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let line_end = c == '\r' && rest.peek() == Some(&'\n');
        if c == '\n' || c == '\t' || line_end || !is_unprintable(c) {
            shown.push(c);
        } else {
            shown.push_str(&one_line(c.encode_utf8(&mut [0; 4])));
        }
    }
    shown
}

/// Milliseconds since 1970.
fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a14_a_terminal_gets_no_control_character_of_a_doc() {
        let text = "a\tb\r\nc\u{1b}[2J\u{9b}1m\rover\n";
        assert_eq!(for_terminal(text), "a\tb\r\nc\\u{1b}[2J\\u{9b}1m\\rover\n");
        let value = serde_json::json!({ "a": "\u{9b}\u{2028}\u{1b}" });
        let text = format!("{value:#}");
        let safe = safe_json(&text);
        assert!(!safe.chars().any(|c| is_unprintable(c) && c != '\n'), "{safe:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).expect("JSON"), value);
    }
}
