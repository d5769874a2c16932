//! `omni-run recipe …`. Types only; `commands` has the logic.

use std::ffi::OsString;

use clap::{Args, Subcommand};

use crate::cli::RunOptions;

/// `omni-run recipe …`
#[derive(Debug, Args)]
#[command(after_help = "\
A recipe is a Markdown file, NAME.md, in the project's .claude/recipes/ or in recipes/ of your config \
folder; the project's wins. Above the prompt it may have TOML between two lines `+++`:

  +++
  description = \"What changed, for the people of the shop\"
  engine = \"codex\"            # also: model, project, timeout, retries, output, no-overlap,
  timeout = \"20m\"             # attachments; engine-args in your own recipes only
  [parameters]
  since = { description = \"a date or a tag\" }
  language = \"English\"        # this parameter has a default
  +++
  Say in {{language}} what changed since {{since}}.

Examples:
  omni-run recipe ls
  omni-run recipe show changes
  omni-run recipe run changes --set since=v1.2
  git log | omni-run recipe run changes --set since=v1.2 --engine claude")]
pub struct RecipeArgs {
    /// What to do; default: ls.
    #[command(subcommand)]
    pub action: Option<RecipeAction>,
}

/// On recipes.
#[derive(Debug, Subcommand)]
pub enum RecipeAction {
    /// List them: the project's and your own
    #[command(after_help = "\
--json prints a list of objects: name, origin (project, own), file, hidden (the project has one of \
the same name), description, engine, model, parameters (list of name, required, default, \
description), error (null, or what is wrong with the file)

Examples:
  omni-run recipe ls
  omni-run recipe ls --project shop --json")]
    Ls {
        /// Of this project: its id or its folder (default: the one around the current folder)
        #[arg(long, value_name = "ID|PATH")]
        project: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one: settings, parameters, prompt
    #[command(after_help = "\
--json prints the object of `ls --json`, and: project, timeout_seconds, retries, output, no_overlap \
(false, true or a key), attachments, engine_args, prompt (as written)

Examples:
  omni-run recipe show changes
  omni-run recipe run changes --set since=v1.2 --show-sent")]
    Show {
        /// Its name
        recipe: String,
        /// Of this project: its id or its folder (default: the one around the current folder)
        #[arg(long, value_name = "ID|PATH")]
        project: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Run one
    Run(Box<RecipeRunArgs>),
}

/// `omni-run recipe run …`
#[derive(Debug, Args)]
#[command(after_help = "\
The prompt is the recipe's text with its values in place; piped text follows after a blank line. An \
option wins over what the recipe says; --attach adds to its attachments. A value is text: it is never \
run, and `{{…}}` in it stays as it is.

Examples:
  omni-run recipe run changes --set since=v1.2
  git diff | omni-run recipe run review -p --engine gemini --timeout 10m
  omni-run recipe run changes --set since=v1.2 --dry-run")]
pub struct RecipeRunArgs {
    /// The recipe's name
    pub recipe: String,
    /// Give a parameter its value (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<OsString>,
    /// The engine, instead of the recipe's
    #[arg(long)]
    pub engine: Option<String>,
    /// How it runs.
    #[command(flatten)]
    pub options: RunOptions,
}
