//! `omni-run profile …`. Types only; `commands` has the logic.

use clap::{Args, Subcommand};

/// `omni-run profile …`
#[derive(Debug, Args)]
#[command(after_help = "\
The profile says who you are and how you like to work. It follows the docs in every first message, \
on every engine, also without a project; over 16 KB it stays out.")]
pub struct ProfileArgs {
    /// What to do; default: show.
    #[command(subcommand)]
    pub action: Option<ProfileAction>,
}

/// On the profile.
#[derive(Debug, Subcommand)]
pub enum ProfileAction {
    /// Open it in $VISUAL or $EDITOR
    Edit,
    /// Print it
    Show,
    /// Print its path
    Path,
    /// Keep it, but send it no more (config.toml: profile = false)
    Off,
    /// Send it again
    On,
}
