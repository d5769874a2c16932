//! `omni-run inbox …`. Types only; `commands` has the logic.

use clap::{Args, Subcommand};

/// `omni-run inbox …`
#[derive(Debug, Args)]
#[command(after_help = "\
Approving and rejecting are a person's: both ask at the terminal, and refuse (77) without one or \
below an engine that omni-run has started. What nobody decides expires after 7 days.

Examples:
  omni-run inbox
  omni-run inbox show 0199a1b2
  omni-run inbox approve 0199a1b2")]
pub struct InboxArgs {
    /// What to do; default: ls.
    #[command(subcommand)]
    pub action: Option<InboxAction>,
}

/// On actions that wait for approval.
#[derive(Debug, Subcommand)]
pub enum InboxAction {
    /// List what waits, oldest first
    #[command(after_help = "\
--json prints a list of objects: id, kind (add_doc, delete_doc, launch, settings), project, \
project_folder, payload, content_hash, size_bytes, asked_by, asked_at, status (pending, applying, \
applied, rejected, failed, expired), decided_by, decided_at, applied_at, outcome, expires_at (times \
in Unix milliseconds)

Examples:
  omni-run inbox ls
  omni-run inbox ls --all --project shop --json")]
    Ls {
        /// Also what is decided
        #[arg(long)]
        all: bool,
        /// Only of this project: its id
        #[arg(long, value_name = "ID")]
        project: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one: what, where, size, hash, who asked, its text or the difference it makes
    #[command(after_help = "\
--json prints the object of `ls --json`, and: preview (obstacle, warnings, content, replaces, diff)

Examples:
  omni-run inbox show 0199a1b2
  omni-run inbox show 0199a1b2 --full")]
    Show {
        /// Its id, or the start of it
        id: String,
        /// The whole text, not only its beginning
        #[arg(long)]
        full: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Approve: shows each, asks, and carries it out
    #[command(after_help = "\
Ends with 0 when all are carried out, 77 when one was left or had been rejected before, else with \
the code of the first that failed: 66 not there, 69 no engine, 73 not written, 78 config.

Examples:
  omni-run inbox approve 0199a1b2")]
    Approve {
        /// Their ids, or the starts of them
        #[arg(required = true)]
        ids: Vec<String>,
    },
    /// Reject: shows each, asks, and ends it
    #[command(after_help = "\
Examples:
  omni-run inbox reject 0199a1b2 0199a1b3
  omni-run inbox reject --all --asked-by runaway/1.0")]
    Reject {
        /// Their ids, or the starts of them
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        ids: Vec<String>,
        /// All that wait, after one question
        #[arg(long)]
        all: bool,
        /// With --all: only of this project: its id
        #[arg(long, value_name = "ID", requires = "all")]
        project: Option<String>,
        /// With --all: only what this client has asked for
        #[arg(long, value_name = "CLIENT", requires = "all")]
        asked_by: Option<String>,
    },
    /// Open the inbox page of a running `omni-run serve`
    #[command(after_help = "\
Examples:
  omni-run inbox open")]
    Open,
}

/// `omni-run __approved …`: carries an approved launch out.
#[derive(Debug, Args)]
pub struct ApprovedCommand {
    /// The action's id
    pub action: String,
    /// The token of the claim on it
    pub token: String,
}
