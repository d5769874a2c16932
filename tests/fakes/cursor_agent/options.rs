//! The command line, read as the real one's parser (commander) reads it.
//!
//! What it must share with the real one: which flags take a value, that unknown flags are
//! refused, and what counts as the prompt. What the flags do is elsewhere, if anywhere.

use std::ffi::OsString;
use std::path::PathBuf;

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Agent,
    Version,
    Help,
    Status { json: bool },
    Models,
    CreateChat,
    Acp,
}

/// What was on the command line.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) command: Command,
    pub(crate) print: bool,
    pub(crate) format: Format,
    pub(crate) partial: bool,
    pub(crate) force: bool,
    pub(crate) trust: bool,
    pub(crate) model: Option<String>,
    pub(crate) resume: Option<String>,
    pub(crate) workspace: PathBuf,
    /// Joined by one space.
    pub(crate) prompt: String,
    /// As given, for the log.
    pub(crate) argv: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Text,
    Json,
    StreamJson,
}

const WITH_VALUE: [(&str, &str, &str); 11] = [
    ("--api-key", "key", ""),
    ("--auth-token", "token", ""),
    ("--endpoint", "url", ""),
    ("--header", "header", ""),
    ("--output-format", "format", "text, json, stream-json"),
    ("--mode", "mode", "plan, ask"),
    ("--model", "model", ""),
    ("--sandbox", "mode", "enabled, disabled"),
    ("--workspace", "path", ""),
    ("--add-dir", "path", ""),
    ("--plugin-dir", "path", ""),
];

const BOOLEAN: [&str; 14] = [
    "--print",
    "--stream-partial-output",
    "--plan",
    "--continue",
    "--force",
    "--yolo",
    "--approve-mcps",
    "--trust",
    "--list-models",
    "--cloud",
    "--auto-review",
    "--disable-auto-update",
    "--version",
    "--help",
];

const SHORT: [(char, &str); 8] = [
    ('p', "--print"),
    ('f', "--force"),
    ('c', "--cloud"),
    ('v', "--version"),
    ('h', "--help"),
    ('e', "--endpoint"),
    ('H', "--header"),
    ('w', "--worktree"),
];

/// Names and values as they come, before they mean anything.
#[derive(Default)]
struct Found {
    flags: Vec<String>,
    values: Vec<(String, String)>,
    words: Vec<String>,
}

impl Options {
    pub(crate) fn parse(args: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let argv: Vec<_> = args.map(|arg| arg.to_string_lossy().into_owned()).collect();
        let mut found = Found::read(&argv)?;
        let command = found.take_command();
        let current = std::env::current_dir().map_err(|e| e.to_string())?;
        let format = match found.value("--output-format") {
            Some("json") => Format::Json,
            Some("stream-json") => Format::StreamJson,
            _ => Format::Text,
        };
        Ok(Self {
            command,
            print: found.has("--print"),
            format,
            partial: found.has("--stream-partial-output"),
            force: found.has("--force") || found.has("--yolo"),
            trust: found.has("--trust"),
            model: found.value("--model").map(str::to_owned),
            resume: found.value("--resume").map(str::to_owned),
            workspace: found.value("--workspace").map_or(current.clone(), |w| current.join(w)),
            prompt: found.words.join(" "),
            argv,
        })
    }
}

impl Found {
    fn read(argv: &[String]) -> Result<Self, String> {
        let mut found = Self::default();
        let mut rest = argv.iter().peekable();
        while let Some(arg) = rest.next() {
            if arg == "--" {
                found.words.extend(rest.cloned());
                break;
            }
            let Some((name, mut attached)) = split(arg) else {
                found.words.push(arg.clone());
                continue;
            };
            // `status --format json` is the only subcommand's own flag here.
            let is_status = found.words.first().is_some_and(|w| w == "status" || w == "whoami");
            if BOOLEAN.contains(&name.as_str()) && attached.is_none() {
                found.flags.push(name);
            } else if let Some((_, label, choices)) =
                WITH_VALUE.iter().find(|(known, ..)| *known == name)
            {
                // A value may begin with a dash: the parser takes whatever comes next.
                let value = attached
                    .take()
                    .or_else(|| rest.next().cloned())
                    .ok_or_else(|| format!("option '{name} <{label}>' argument missing"))?;
                if !choices.is_empty() && !choices.split(", ").any(|choice| choice == value) {
                    return Err(format!(
                        "option '{name} <{label}>' argument '{value}' is invalid. Allowed choices are {choices}."
                    ));
                }
                found.values.push((name, value));
            } else if name == "--resume" {
                let next = rest.next_if(|next| attached.is_none() && !next.starts_with('-'));
                match attached.or_else(|| next.cloned()) {
                    Some(id) => found.values.push((name, id)),
                    None => found.flags.push(name),
                }
            } else if name == "--worktree" {
                found.flags.push(name);
            } else if name == "--format" && is_status {
                let value = attached.take().or_else(|| rest.next().cloned());
                found.values.push((name, value.unwrap_or_default()));
            } else {
                return Err(format!("unknown option '{}'", arg.split('=').next().unwrap_or(arg)));
            }
        }
        Ok(found)
    }

    fn take_command(&mut self) -> Command {
        if self.has("--version") {
            return Command::Version;
        }
        if self.has("--help") {
            return Command::Help;
        }
        if self.has("--list-models") {
            return Command::Models;
        }
        let command = match self.words.first().map(String::as_str) {
            Some("status" | "whoami") => {
                Command::Status { json: self.value("--format") == Some("json") }
            }
            Some("models") => Command::Models,
            Some("create-chat") => Command::CreateChat,
            Some("acp") => Command::Acp,
            Some("help") => Command::Help,
            _ => return Command::Agent,
        };
        self.words.remove(0);
        command
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|found| found == flag)
    }

    /// The last one counts.
    fn value(&self, name: &str) -> Option<&str> {
        self.values.iter().rev().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

/// Long name and attached value of a flag; `None` for a word. `-` alone is a word.
fn split(arg: &str) -> Option<(String, Option<String>)> {
    if arg.starts_with("--") {
        return Some(match arg.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (arg.to_owned(), None),
        });
    }
    let mut letters = arg.strip_prefix('-')?.chars();
    let letter = letters.next()?;
    let name = SHORT
        .iter()
        .find(|(short, _)| *short == letter)
        .map_or_else(|| arg.to_owned(), |(_, long)| (*long).to_owned());
    let attached = letters.as_str();
    // `-pf` as a bundle is refused here: no caller has a reason to write it.
    Some((name, (!attached.is_empty()).then(|| attached.trim_start_matches('=').to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<Options, String> {
        Options::parse(args.iter().map(OsString::from))
    }

    #[test]
    fn words_are_the_prompt_and_flags_are_not() {
        let options = parse(&["-p", "--model", "-odd", "tell", "me", "--", "--trust"]).unwrap();
        assert_eq!(options.prompt, "tell me --trust");
        assert_eq!(options.model.as_deref(), Some("-odd"));
        assert!(options.print && !options.trust);
    }

    #[test]
    fn resume_takes_the_next_word_but_no_flag() {
        assert_eq!(parse(&["--resume", "id1", "hi"]).unwrap().resume.as_deref(), Some("id1"));
        let options = parse(&["--resume", "--trust"]).unwrap();
        assert!(options.trust && options.resume.is_none());
    }

    #[test]
    fn flags_of_other_engines_are_refused() {
        for flag in ["--append-system-prompt", "--image", "--verbose", "--allowedTools", "-x"] {
            let message = parse(&["-p", flag, "a"]).unwrap_err();
            assert_eq!(message, format!("unknown option '{flag}'"));
        }
        assert!(parse(&["--mode", "act"]).unwrap_err().contains("Allowed choices are plan, ask"));
    }

    #[test]
    fn a_subcommand_is_the_first_word() {
        assert_eq!(parse(&["acp"]).unwrap().command, Command::Acp);
        let json = parse(&["status", "--format", "json"]).unwrap().command;
        assert_eq!(json, Command::Status { json: true });
        assert_eq!(parse(&["say", "status"]).unwrap().command, Command::Agent);
    }
}
