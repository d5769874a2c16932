//! `omni-run profile …`. Types only; `commands` has the logic.

use clap::{Args, Subcommand};

/// `omni-run profile …`
#[derive(Debug, Args)]
#[command(after_help = "\
The profile says who you are and how you like to work. It follows the docs in every first message, \
on every engine, also without a project; over 16 KB it stays out.

Examples:
  omni-run profile edit
  omni-run profile show
  omni-run profile off")]
pub struct ProfileArgs {
    /// What to do; default: show.
    #[command(subcommand)]
    pub action: Option<ProfileAction>,
}

/// On the profile.
#[derive(Debug, Subcommand)]
pub enum ProfileAction {
    /// Open it in $VISUAL or $EDITOR
    #[command(after_help = "\
Examples:
  omni-run profile edit
  EDITOR=nano omni-run profile edit")]
    Edit,
    /// Print it
    #[command(after_help = "\
Examples:
  omni-run profile show")]
    Show,
    /// Print its path
    #[command(after_help = "\
Examples:
  cp profile.md \"$(omni-run profile path)\"")]
    Path,
    /// Keep it, but send it no more (config.toml: profile = false)
    #[command(after_help = "\
Examples:
  omni-run profile off")]
    Off,
    /// Send it again
    #[command(after_help = "\
Examples:
  omni-run profile on")]
    On,
}
