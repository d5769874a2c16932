//! `omni-run sessions …`. Types only; `commands` has the logic.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use crate::cli::search::WhichSessions;
use crate::session::Outcome;

/// `omni-run sessions …`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  omni-run sessions
  omni-run sessions ls --engine codex --since 7d --failed
  omni-run sessions show 0199a1b2
  omni-run sessions rm 0199a1b2
  omni-run sessions prune --older-than 90d --dry-run")]
pub struct SessionsArgs {
    /// What to do; default: ls.
    #[command(subcommand)]
    pub action: Option<SessionsAction>,
}

/// On sessions.
#[derive(Debug, Subcommand)]
pub enum SessionsAction {
    /// List them, newest first
    #[command(after_help = "\
--json prints a list of objects: id, engine, model, project, project_folder, cwd, mode, outcome, \
exit_code, signal, started_at, ended_at (Unix milliseconds), first_words

Examples:
  omni-run sessions ls --project shop --since 7d
  omni-run sessions ls --engine codex --failed --limit 5 --json")]
    Ls(SessionsLsArgs),
    /// Show one: what you typed, the answer, the receipt
    #[command(after_help = "\
--json prints the object of `ls --json` without first_words, and: engine_session, argv, messages \
(list of role, text, created_at), receipt

Examples:
  omni-run sessions show 0199a1b2
  omni-run sessions show 0199a1b2 --json | jq -r .messages[0].text")]
    Show {
        /// Its id, or the start of it
        session: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove sessions for good, with all that omni-run keeps of them
    #[command(after_help = "\
Asks at a terminal; without one it takes --yes. What was typed and answered is overwritten in the \
database and its log, not only unlinked. A backup keeps what it had, and the engine its own history.

Examples:
  omni-run sessions rm 0199a1b2
  omni-run sessions rm --yes 0199a1b2 0199a1c0")]
    Rm(SessionsRmArgs),
    /// Remove old sessions
    #[command(after_help = "\
A session is as old as its end. One that still runs stays. Without --older-than the setting \
`retention-days` says how old.

Examples:
  omni-run sessions prune --older-than 90d --dry-run
  omni-run sessions prune --older-than 2026-01-31 --project shop --yes")]
    Prune(SessionsPruneArgs),
}

/// `omni-run sessions ls …`
#[derive(Debug, Args, Default)]
pub struct SessionsLsArgs {
    /// Which.
    #[command(flatten)]
    pub which: WhichSessions,
    /// Only with this outcome
    #[arg(long, value_parser = PossibleValuesParser::new(Outcome::ALL.iter().map(|o| o.as_str())))]
    pub outcome: Option<String>,
    /// Only what did not end well
    #[arg(long, conflicts_with = "outcome")]
    pub failed: bool,
    /// At most N; 0: all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: u32,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `omni-run sessions rm …`
#[derive(Debug, Args)]
pub struct SessionsRmArgs {
    /// Their ids, or the starts of them
    #[arg(required = true, value_name = "ID")]
    pub sessions: Vec<String>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// Also one that still runs
    #[arg(long)]
    pub force: bool,
}

/// `omni-run sessions prune …`
#[derive(Debug, Args)]
pub struct SessionsPruneArgs {
    /// Those that ended longer ago than this, or before this date: 90d, 2026-01-31
    #[arg(long, value_name = "WHEN")]
    pub older_than: Option<String>,
    /// Only of this project: its id or its folder
    #[arg(long, value_name = "ID|PATH")]
    pub project: Option<String>,
    /// Only of this engine
    #[arg(long)]
    pub engine: Option<String>,
    /// Only list what would be removed
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}
