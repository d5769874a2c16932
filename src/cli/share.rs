//! `omni-run share`. Types only; `commands` has the logic.

use std::path::PathBuf;

use clap::Args;

/// `omni-run share …`
#[derive(Debug, Args)]
#[command(after_help = "\
The page has what was typed and answered, when, with which engine, and in which folder. It loads and \
runs nothing. Secrets are found by their form and masked, each is named with its line; the home folder \
becomes `~`. No form is certain: look at the page before you hand it on. The file lies in the data \
folder unless you name one, because the current folder may be a repository; its path is printed.

Examples:
  omni-run share 0199a1b2
  omni-run share 0199a1b2 -o ~/session.html --yes")]
pub struct ShareArgs {
    /// Its id, or the start of it
    pub session: String,
    /// To this new file, readable by you alone; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    pub force: bool,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// Leave what looks like a secret in; it is named all the same
    #[arg(long)]
    pub keep_secrets: bool,
}
