//! The words of the command line before and after clap reads them: an engine's name stands for
//! `run`, a dashed prompt is no option, and a script that asked for JSON gets its mistakes as JSON.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use super::script_output;
use crate::cli::{Cli, Command, Output};
use crate::error::ExitKind;
use crate::ui::Ui;

/// Reads the command line: with the name of its command, for the log. Where it holds none to carry out
/// (a mistake, `--help`), all is said and the exit code is given.
///
/// # Errors
/// The exit code: 0 for help and version, 2 for a mistake.
pub fn parse(args: Vec<OsString>) -> Result<(Cli, String), ExitCode> {
    let words = with_run_inserted(args.into_iter());
    let error = match Cli::try_parse_from(&words) {
        Ok(mut cli) => {
            if let Command::Schedule(schedule) = &mut cli.command {
                schedule.0.log_file.clone_from(&cli.log_file);
            }
            let command = first_own(&words).map(|at| words[at].to_string_lossy().into_owned());
            return Ok((cli, command.unwrap_or_default()));
        }
        Err(error) => error,
    };
    let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if let Some(output) = json_output(&words).filter(|_| !asked_for) {
        let text = error.to_string();
        let message = text.trim_start_matches("error: ").lines().next().unwrap_or_default();
        script_output::usage_error(output, message, Ui::default());
    }
    // A closed stdout or stderr: there is nobody left to tell.
    let _ = error.print();
    Err(if asked_for { ExitCode::SUCCESS } else { ExitCode::from(ExitKind::Usage.code()) })
}

/// The JSON shape that a launch was asked for, read off the words themselves.
fn json_output(words: &[OsString]) -> Option<Output> {
    let own: Vec<&str> =
        words.iter().skip(1).filter_map(|word| word.to_str()).take_while(|w| *w != "--").collect();
    if !["run", "resume", "recover"].iter().any(|word| own.contains(word)) {
        return None;
    }
    let values = own.iter().zip(own.iter().skip(1).map(Some).chain([None]));
    let mut shapes =
        values.filter_map(|(word, next)| match (word.strip_prefix("--output"), next) {
            (Some(""), Some(next)) => Some(*next),
            (Some(rest), _) => rest.strip_prefix('='),
            (None, _) => None,
        });
    shapes.find_map(|shape| match shape {
        "json" => Some(Output::Json),
        "stream-json" => Some(Output::StreamJson),
        _ => None,
    })
}

/// `omni-run ENGINE …` is short for `omni-run run ENGINE …`: the word goes in where the first word
/// is no subcommand. An argument with white space that begins with `-` is no option but a prompt
/// ("- [ ] fix it"): it becomes the value of `--prompt`.
pub(super) fn with_run_inserted(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let args: Vec<OsString> = args.collect();
    let first = first_own(&args);
    let word = first.map(|at| args[at].to_string_lossy().into_owned()).unwrap_or_default();
    let about_us = ["-h", "--help", "-V", "--version", ""].contains(&word.as_str());
    let is_run = !about_us && (word == "run" || !is_command(&word));
    let takes_prompt = is_run || word == "resume";
    let mut result = Vec::with_capacity(args.len() + 1);
    let mut own = true;
    for (at, arg) in args.into_iter().enumerate() {
        let text = arg.to_string_lossy();
        if Some(at) == first && is_run && word != "run" {
            result.push("run".into());
        }
        own &= text != "--";
        if takes_prompt && own && is_dashed_prompt(&text) {
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

/// How many of the words after the program's name are not options of all commands, and their values.
pub(super) fn own_words(words: &[OsString]) -> usize {
    let all: Vec<OsString> =
        std::iter::once("omni-run".into()).chain(words.iter().cloned()).collect();
    first_own(&all).map_or(0, |at| all.len() - at)
}

fn is_command(word: &str) -> bool {
    word == "help" || Command::has_subcommand(word)
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
    fn e02_a_dashed_prompt_is_no_option() {
        assert_eq!(
            inserted(&["claude", "- [ ] fix it"]),
            ["run", "claude", "--prompt=- [ ] fix it"]
        );
        assert_eq!(inserted(&["claude", "-1 + 2 = ?"]), ["run", "claude", "--prompt=-1 + 2 = ?"]);
        assert_eq!(inserted(&["resume", "- x y"]), ["resume", "--prompt=- x y"]);
        assert_eq!(inserted(&["claude", "--model=a b"]), ["run", "claude", "--model=a b"]);
        assert_eq!(inserted(&["claude", "--", "-a b"]), ["run", "claude", "--", "-a b"]);
    }

    #[test]
    fn the_shape_is_read_off_a_wrong_command_line() {
        let shape = |args: &[&str]| {
            let words: Vec<OsString> = args.iter().map(OsString::from).collect();
            json_output(&words)
        };
        assert_eq!(shape(&["omni-run", "run", "x", "--output", "json"]), Some(Output::Json));
        assert_eq!(
            shape(&["omni-run", "recipe", "run", "x", "--output=stream-json"]),
            Some(Output::StreamJson)
        );
        assert_eq!(shape(&["omni-run", "run", "x", "--output"]), None);
        assert_eq!(shape(&["omni-run", "run", "x", "--", "--output", "json"]), None);
        assert_eq!(shape(&["omni-run", "docs", "--output", "json"]), None);
    }
}
