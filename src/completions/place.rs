//! What stands at the cursor: found by walking the words over the clap types. Pure.
//!
//! An argument is known by its name, so that a new command with an `engine` or a `session` completes
//! it without a word here.

use clap::{Arg, ArgAction, Command, ValueHint};

/// What can stand at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The names of the commands that were walked through, below omni-run itself.
    pub commands: Vec<String>,
    /// The part of the word that the values stand for.
    pub typed: String,
    /// What stands before it in the same word: `--engine=`.
    pub prefix: String,
    /// Fixed words with what they do: subcommands, options, the values of a choice.
    pub words: Vec<(String, String)>,
    /// Values that have to be looked up.
    pub values: Values,
    /// `--project` where the words name one.
    pub project: Option<String>,
}

/// Kinds of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// None.
    Nothing,
    /// Paths of files.
    Files,
    /// Paths of folders.
    Folders,
    /// Engines.
    Engines,
    /// Projects.
    Projects,
    /// Docs of the project, also those of `rag/`.
    Docs,
    /// Sessions.
    Sessions,
    /// Recipes.
    Recipes,
}

/// Where the walk is.
struct Walk<'a> {
    command: &'a Command,
    commands: Vec<String>,
    /// How many positionals stand before.
    positionals: usize,
    pending: Option<&'a Arg>,
    escaped: bool,
    project: Option<String>,
}

/// Finds the place of the last of `words`, which follow the program's name. `root` is built.
pub fn find(root: &Command, words: &[String]) -> Place {
    let mut walk = Walk {
        command: root,
        commands: Vec::new(),
        positionals: 0,
        pending: None,
        escaped: false,
        project: None,
    };
    let (last, before) = match words.split_last() {
        Some((last, before)) => (last.as_str(), before),
        None => ("", words),
    };
    for word in before {
        walk.step(word);
    }
    walk.at(last)
}

impl<'a> Walk<'a> {
    fn step(&mut self, word: &str) {
        if let Some(arg) = self.pending.take() {
            self.note(arg, word);
        } else if self.escaped {
            self.positionals += 1;
        } else if word == "--" {
            self.escaped = true;
        } else if let Some(option) = word.strip_prefix("--") {
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (option, None),
            };
            if let Some(arg) = self.long(name) {
                match value {
                    Some(value) => self.note(arg, value),
                    None => self.pending = Some(arg).filter(|arg| wants_next_word(arg)),
                }
            }
        } else if word.len() > 1 && word.starts_with('-') {
            let mut rest = word[1..].chars();
            while let Some(letter) = rest.next() {
                let arg = self.command.get_arguments().find(|arg| arg.get_short() == Some(letter));
                if let Some(arg) = arg.filter(|arg| wants_next_word(arg)) {
                    self.pending = Some(arg).filter(|_| rest.as_str().is_empty());
                    break;
                }
            }
        } else if let Some(command) = self.subcommand(word) {
            self.commands.push(command.get_name().to_owned());
            self.command = command;
        } else {
            self.positionals += 1;
        }
    }

    fn at(self, word: &str) -> Place {
        let mut place = Place {
            commands: self.commands.clone(),
            typed: word.to_owned(),
            prefix: String::new(),
            words: Vec::new(),
            values: Values::Nothing,
            project: self.project.clone(),
        };
        if let Some(arg) = self.pending {
            self.value(arg, &mut place);
        } else if self.escaped {
            // What an engine takes is its own; mostly paths.
            place.values = Values::Files;
        } else if let Some((name, value)) = word.strip_prefix("--").and_then(|w| w.split_once('='))
        {
            if let Some(arg) = self.long(name) {
                place.prefix = format!("--{name}=");
                place.typed = value.to_owned();
                self.value(arg, &mut place);
            }
        } else if word.starts_with('-') {
            place.words = options(self.command, word == "-");
        } else {
            if self.positionals == 0 {
                place.words = subcommands(self.command);
            }
            if let Some(arg) = self.positional() {
                self.value(arg, &mut place);
            }
        }
        place
    }

    fn value(&self, arg: &Arg, place: &mut Place) {
        let choices = arg.get_value_parser().possible_values().into_iter().flatten();
        let shown = choices.filter(|choice| !choice.is_hide_set());
        place.words.extend(shown.map(|choice| {
            let help = choice.get_help().map(|help| first_line(&help.to_string()));
            (choice.get_name().to_owned(), help.unwrap_or_default())
        }));
        place.values = self.values_of(arg);
    }

    fn values_of(&self, arg: &Arg) -> Values {
        let id = arg.get_id().as_str();
        let group = self.commands.first().map_or("", String::as_str);
        let value_name = arg.get_value_names().and_then(|names| names.first());
        let value_name = value_name.map_or("", |name| name.as_str());
        match (group, id) {
            (_, "engine") => Values::Engines,
            (_, "project") | ("project", "from") => Values::Projects,
            (_, "session" | "sessions" | "resume") => Values::Sessions,
            (_, "recipe") => Values::Recipes,
            ("docs", "name" | "names" | "from") => Values::Docs,
            (_, "cwd" | "folder" | "dir") => Values::Folders,
            _ if value_name == "ID|PATH" => Values::Projects,
            _ => match arg.get_value_hint() {
                ValueHint::DirPath => Values::Folders,
                ValueHint::AnyPath | ValueHint::FilePath | ValueHint::ExecutablePath => {
                    Values::Files
                }
                _ => Values::Nothing,
            },
        }
    }

    fn note(&mut self, arg: &Arg, value: &str) {
        if arg.get_id() == "project" {
            self.project = Some(value.to_owned());
        }
    }

    fn long(&self, name: &str) -> Option<&'a Arg> {
        self.command.get_arguments().find(|arg| arg.get_long() == Some(name))
    }

    /// A word is a subcommand only before the first positional.
    fn subcommand(&self, word: &str) -> Option<&'a Command> {
        self.command.find_subcommand(word).filter(|_| self.positionals == 0)
    }

    fn positional(&self) -> Option<&'a Arg> {
        let mut all = self.command.get_positionals().filter(|arg| !arg.is_last_set());
        let many = |arg: &&Arg| arg.get_num_args().is_some_and(|number| number.max_values() > 1);
        let last = self.command.get_positionals().filter(|arg| !arg.is_last_set()).last();
        all.nth(self.positionals).or_else(|| last.filter(many))
    }
}

fn wants_next_word(arg: &Arg) -> bool {
    let takes = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    takes && !arg.is_require_equals_set()
}

fn options(command: &Command, shorts: bool) -> Vec<(String, String)> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    shown
        .flat_map(|arg| {
            let help = arg.get_help().map(|help| first_line(&help.to_string()));
            let help = help.unwrap_or_default();
            let short = arg.get_short().filter(|_| shorts).map(|letter| format!("-{letter}"));
            let long = arg.get_long().map(|name| format!("--{name}"));
            long.into_iter().chain(short).map(move |word| (word, help.clone()))
        })
        .collect()
}

fn subcommands(command: &Command) -> Vec<(String, String)> {
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    shown
        .map(|sub| {
            let about = sub.get_about().map(|about| first_line(&about.to_string()));
            (sub.get_name().to_owned(), about.unwrap_or_default())
        })
        .collect()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
