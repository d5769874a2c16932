//! `omni-run completions …`, `omni-run man …`, and what the shells ask. Types only; `commands` has
//! the logic.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `omni-run completions …`
#[derive(Debug, Args)]
#[command(after_help = "\
It completes commands and options, and by asking omni-run: engines, projects, docs of the project, \
sessions, recipes.

Examples:
  source <(omni-run completions bash)        # in ~/.bashrc
  omni-run completions zsh > ~/.zfunc/_omni-run   # a folder of $fpath, before compinit
  omni-run completions fish > ~/.config/fish/completions/omni-run.fish")]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// The shells that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// bash 4.4 and later; bash 3.2 without quoting of odd names
    Bash,
    /// zsh
    Zsh,
    /// fish 3 and later
    Fish,
}

/// `omni-run __complete -- WORD…`
#[derive(Debug, Args)]
pub struct CompleteCommand {
    /// The words up to the cursor, without the program; the last is being typed.
    #[arg(last = true)]
    pub words: Vec<OsString>,
}

/// `omni-run man …`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  omni-run man | man -l -
  omni-run man ~/.local/share/man/man1 && man omni-run-docs")]
pub struct ManArgs {
    /// Write the pages of all commands into this folder; without it the main page is printed
    pub dir: Option<PathBuf>,
}
