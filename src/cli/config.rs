//! `omni-run config …`. Types only; `commands` has the logic.

use clap::{Args, Subcommand};

/// `omni-run config …`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  omni-run config
  omni-run config path")]
pub struct ConfigArgs {
    /// What to do; default: show.
    #[command(subcommand)]
    pub action: Option<ConfigAction>,
}

/// On the config.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// The settings with their sources
    #[command(after_help = "\
Examples:
  omni-run config show
  OMNI_RUN_SECRETS=deny omni-run config show")]
    Show,
    /// The config folder
    #[command(after_help = "\
Examples:
  cd \"$(omni-run config path)\"")]
    Path,
}
