//! `omni-run __echo …`: the built-in engine as a child of omni-run itself. Types only; `commands` has the logic.

use std::path::PathBuf;

use clap::Args;

/// The echo engine's own options.
#[derive(Debug, Args)]
pub struct EchoCommand {
    /// Its interface, on the terminal
    #[arg(long)]
    pub tui: bool,
    /// The first message, in terminal use
    #[arg(long, allow_hyphen_values = true)]
    pub message: Option<String>,
    /// The file with instructions
    #[arg(long)]
    pub instructions: Option<PathBuf>,
    /// A file
    #[arg(long)]
    pub attach: Vec<PathBuf>,
    /// The session's id
    #[arg(long)]
    pub session: Option<String>,
    /// The model
    #[arg(long)]
    pub model: Option<String>,
    /// How many bytes at the end of the message were typed
    #[arg(long)]
    pub typed_bytes: Option<usize>,
}
