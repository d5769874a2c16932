//! `omni-run store …`. Types only; `commands` has the logic.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `omni-run store …`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  omni-run store check
  omni-run store backup ~/omni-run-backup.db")]
pub struct StoreArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: StoreAction,
}

/// On the store.
#[derive(Debug, Subcommand)]
pub enum StoreAction {
    /// Where it is
    #[command(after_help = "\
Examples:
  ls -l \"$(omni-run store path)\"")]
    Path,
    /// Check it, and take spooled rows in
    #[command(after_help = "\
Examples:
  omni-run store check")]
    Check,
    /// Copy it, while it is in use
    #[command(after_help = "\
Examples:
  omni-run store backup ~/omni-run-backup.db")]
    Backup {
        /// To this new file
        file: PathBuf,
    },
}
