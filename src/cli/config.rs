//! `omni-run config …`. Types only; `commands` has the logic.

use clap::{Args, Subcommand};

/// `omni-run config …`
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// What to do; default: show.
    #[command(subcommand)]
    pub action: Option<ConfigAction>,
}

/// On the config.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// The settings with their sources
    Show,
    /// The config folder
    Path,
}
