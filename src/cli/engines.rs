//! `omni-run engines …`. Types only; `commands` has the logic.

use clap::{Args, Subcommand};

/// `omni-run engines …`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  omni-run engines
  omni-run engines show codex
  omni-run engines check")]
pub struct EnginesArgs {
    /// What to do; default: ls.
    #[command(subcommand)]
    pub action: Option<EnginesAction>,
}

/// On engines.
#[derive(Debug, Subcommand)]
pub enum EnginesAction {
    /// List them: found where, version, tried range
    #[command(after_help = "\
--json prints a list of objects: id, name, found, program, version, tried_from, tried_to, tried, \
default_window, message, instructions, attachments, install, prepare, notes

Examples:
  omni-run engines ls
  omni-run engines ls --json")]
    Ls {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one: channels, windows, what goes by path, what you must do first
    #[command(after_help = "\
Examples:
  omni-run engines show codex")]
    Show {
        /// Its id
        engine: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Run each found engine's `--version` anew and say which are outside the tried range
    #[command(after_help = "\
Examples:
  omni-run engines check
  omni-run engines check claude")]
    Check {
        /// Only this one
        engine: Option<String>,
    },
}
