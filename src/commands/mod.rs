//! The subcommands: each file takes its part of the command line and carries it out.

mod approved;
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
mod profile;
mod project;
mod run;
mod serve;
mod serve_backend;
mod sessions;
mod share;
mod since;
mod sink;
mod start;
mod store;
mod table;
mod target;
mod tui;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::cli::{Cli, Command};
use crate::config::Config;
use crate::engines::Catalogue;
use crate::error::{ExitKind, Failure};
use crate::paths::{PathEnv, Paths};
use crate::ui::{Ui, is_unprintable, one_line};

/// Carries a command out.
///
/// # Errors
/// What the person has to be told, with its exit code.
pub fn dispatch(command: Command, ui: Ui) -> Result<ExitCode, Failure> {
    match command {
        Command::Run(args) => run::run(args, ui),
        Command::Project(args) => project::project(args, ui),
        Command::Docs(args) => docs::docs(args, ui),
        Command::Profile(args) => profile::profile(&args, ui),
        Command::Sessions(args) => sessions::sessions(args, ui),
        Command::Inbox(args) => inbox::inbox(args, ui),
        Command::Export(args) => export::export(&args, ui),
        Command::Import(args) => import::import(&args, ui),
        Command::Share(args) => share::share(&args, ui),
        Command::Engines(args) => engines::engines(args, ui),
        Command::Doctor => doctor::doctor(ui),
        Command::Config(args) => config::config(&args, ui),
        Command::Serve(args) => serve::serve(&args, ui),
        Command::Store(args) => store::store(&args, ui),
        Command::Echo(args) => echo::echo(&args),
        Command::Approved(args) => approved::approved(&args),
    }
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

/// `omni-run ENGINE …` is short for `omni-run run ENGINE …`: the word goes in where the first word
/// is no subcommand. An argument with white space that begins with `-` is no option but a prompt
/// ("- [ ] fix it"): it becomes the value of `--prompt`.
pub fn with_run_inserted(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let args: Vec<OsString> = args.collect();
    let first = first_own(&args);
    let word = first.map(|at| args[at].to_string_lossy().into_owned()).unwrap_or_default();
    let about_us = ["-h", "--help", "-V", "--version", ""].contains(&word.as_str());
    let is_run = !about_us && (word == "run" || !is_command(&word));
    let mut result = Vec::with_capacity(args.len() + 1);
    let mut own = true;
    for (at, arg) in args.into_iter().enumerate() {
        let text = arg.to_string_lossy();
        if Some(at) == first && is_run && word != "run" {
            result.push("run".into());
        }
        own &= text != "--";
        if is_run && own && is_dashed_prompt(&text) {
            let mut prompt = OsString::from("--prompt=");
            prompt.push(&arg);
            result.push(prompt);
        } else {
            result.push(arg);
        }
    }
    result
}

/// The place of the first argument that is no option of all commands.
fn first_own(args: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(arg) = args.get(at) {
        match arg.to_str().unwrap_or_default() {
            "-q" | "--quiet" => at += 1,
            "--log-file" => at += 2,
            text if text.starts_with("--log-file=") => at += 1,
            _ => return Some(at),
        }
    }
    None
}

fn is_command(word: &str) -> bool {
    word == "help" || Cli::command().get_subcommands().any(|sub| sub.get_name() == word)
}

fn is_dashed_prompt(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('-') else { return false };
    let name = rest.split(['=', ' ', '\t', '\n']).next().unwrap_or_default();
    let is_option = rest.strip_prefix(name).is_some_and(|tail| tail.starts_with('='));
    !is_option && rest.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inserted(args: &[&str]) -> Vec<String> {
        let args = std::iter::once("omni-run").chain(args.iter().copied()).map(OsString::from);
        with_run_inserted(args).iter().skip(1).map(|a| a.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn run_is_inserted_before_an_engine_only() {
        assert_eq!(inserted(&["-q", "claude", "hi"]), ["-q", "run", "claude", "hi"]);
        assert_eq!(inserted(&["docs", "ls"]), ["docs", "ls"]);
        assert_eq!(inserted(&["run", "claude"]), ["run", "claude"]);
        assert_eq!(inserted(&["--version"]), ["--version"]);
        assert_eq!(inserted(&["--log-file", "f", "docs"]), ["--log-file", "f", "docs"]);
        assert_eq!(inserted(&["-p", "two words"]), ["run", "-p", "two words"]);
        assert!(inserted(&[]).is_empty());
    }

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

    #[test]
    fn e02_a_dashed_prompt_is_no_option() {
        assert_eq!(
            inserted(&["claude", "- [ ] fix it"]),
            ["run", "claude", "--prompt=- [ ] fix it"]
        );
        assert_eq!(inserted(&["claude", "-1 + 2 = ?"]), ["run", "claude", "--prompt=-1 + 2 = ?"]);
        assert_eq!(inserted(&["claude", "--model=a b"]), ["run", "claude", "--model=a b"]);
        assert_eq!(inserted(&["claude", "--", "-a b"]), ["run", "claude", "--", "-a b"]);
    }
}
