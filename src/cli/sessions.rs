//! `omni-run sessions …`. Types only; `commands` has the logic.

use clap::{Args, Subcommand};

use crate::cli::resume::{RecoverArgs, ResumeArgs};

/// `omni-run sessions …`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  omni-run sessions
  omni-run sessions ls --engine codex --limit 5 --json
  omni-run sessions show 0199a1b2")]
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
  omni-run sessions ls --project shop
  omni-run sessions ls --engine codex --limit 5 --json")]
    Ls {
        /// Only of this project: its id or its folder
        #[arg(long, value_name = "ID|PATH")]
        project: Option<String>,
        /// Only of this engine
        #[arg(long)]
        engine: Option<String>,
        /// At most N
        #[arg(long, default_value_t = 20)]
        limit: usize,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Go on with one (`omni-run resume` is short for it)
    #[command(after_help = "\
`omni-run resume --help` tells more.

Examples:
  omni-run sessions resume 01a22c0f
  omni-run sessions resume 01a22c0f \"And the second question?\"")]
    Resume(Box<ResumeArgs>),
    /// Send the message of one again whose engine died before it had taken it
    #[command(after_help = "\
`omni-run recover --help` tells more.

Examples:
  omni-run sessions recover
  omni-run sessions recover 01a22c0f")]
    Recover(RecoverArgs),
    /// Show one: what you typed, the answer, the receipt
    #[command(after_help = "\
--json prints the object of `ls --json` without first_words, and: engine_session, argv, resumes, \
attempts, messages (list of role, text, created_at), receipt

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
}
