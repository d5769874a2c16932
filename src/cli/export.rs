//! `omni-run export` and `import`. Types only; `commands` has the logic.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `omni-run export …`
#[derive(Debug, Args)]
#[command(after_help = "\
jsonl holds all that is stored and is read back by `omni-run import`; its lines are described in the \
README. Markdown and HTML are for reading. Nothing is masked: for other people there is `omni-run \
share`.

Examples:
  omni-run export 0199a1b2 0199a1c0 > two.jsonl
  omni-run export --all --since 30d --engine codex -o november.jsonl
  omni-run export --all --project p1 --format md -o p1.md")]
pub struct ExportArgs {
    /// Sessions: their ids, or the starts of them
    #[arg(value_name = "SESSION", required_unless_present = "all", conflicts_with = "all")]
    pub sessions: Vec<String>,
    /// Every session
    #[arg(long)]
    pub all: bool,
    /// Of all, only those of this project: its id or its folder
    #[arg(long, value_name = "ID|PATH", requires = "all")]
    pub project: Option<String>,
    /// Of all, only those of this engine
    #[arg(long, requires = "all")]
    pub engine: Option<String>,
    /// Of all, only those that began since then: 7d, 12h, 2026-01-31, 2026-01-31T09:00, or with a zone
    #[arg(long, value_name = "WHEN", requires = "all")]
    pub since: Option<String>,
    /// How it is written
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    pub format: ExportFormat,
    /// To this new file, readable by you alone; default: standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// The formats of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A line of JSON for each session
    Jsonl,
    /// Markdown
    Md,
    /// One page that loads nothing
    Html,
}

/// `omni-run import …`
#[derive(Debug, Args)]
#[command(after_help = "\
All of it or nothing: a damaged line, or another session under the same id, changes nothing. A session \
that is stored already and is the same is passed over.

Examples:
  omni-run import november.jsonl
  ssh laptop omni-run export --all | omni-run import -")]
pub struct ImportArgs {
    /// What `omni-run export` wrote; `-` reads standard input
    pub file: PathBuf,
}
