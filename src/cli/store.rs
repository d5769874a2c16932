//! `omni-run store …`. Types only; `commands` has the logic.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `omni-run store …`
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: StoreAction,
}

/// On the store.
#[derive(Debug, Subcommand)]
pub enum StoreAction {
    /// Where it is
    Path,
    /// Check it, and take spooled rows in
    Check,
    /// Copy it, while it is in use
    Backup {
        /// To this new file
        file: PathBuf,
    },
}
