//! `omni-run search …`, and the options that pick sessions by project, engine and time. Types only;
//! `commands` has the logic.

use clap::Args;

/// `omni-run search …`
#[derive(Debug, Args)]
#[command(after_help = "\
The query:
  red lamp            both words, in one message
  '\"red lamp\"'        the words side by side
  'conf*'             words that begin so
  'lamp OR torch'     one of them; OR binds closer than a blank
  'lamp -red'         without a word; `NOT red` and -\"red wine\" do the same
Case, accents and punctuation do not count: store.rs is the phrase \"store rs\". Scripts without blanks \
between words (Chinese, Japanese, Thai, and Korean too) are found by any part, also one character. A \
query that begins with a dash needs `--` before it.

The best match comes first (BM25); of matches that are about as good, the newer. Of more than 1,000 \
matches the newest 1,000 are ranked. On a terminal what was found stands bold, without colours \
between « and ».

Ends with 0 when something was found, 1 when nothing was, 2 when the query can't be understood.

--json prints a list of objects: session, seq (the message's place in it), role (operator, engine), \
engine, project, project_folder, created_at (Unix milliseconds), score (0 with --newest), snippet, \
highlights (list of [start, end] in characters of the snippet)

Examples:
  omni-run search lending rules
  omni-run search 'rules OR \"house order\" -draft' --project library --since 30d
  omni-run search 図書館 --role reply --json")]
pub struct SearchArgs {
    /// What to look for; several words need no quotation marks
    #[arg(required = true, value_name = "QUERY")]
    pub query: Vec<String>,
    /// Where.
    #[command(flatten)]
    pub which: WhichSessions,
    /// Only what you typed, or only the replies
    #[arg(long, value_name = "typed|reply", value_parser = ["typed", "reply"], hide_possible_values = true)]
    pub role: Option<String>,
    /// The newest first, not the best
    #[arg(long)]
    pub newest: bool,
    /// At most N; 0: all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Which sessions a command is about.
#[derive(Debug, Args, Clone, Default)]
pub struct WhichSessions {
    /// Only of this project: its id or its folder
    #[arg(long, value_name = "ID|PATH")]
    pub project: Option<String>,
    /// Only of this engine
    #[arg(long)]
    pub engine: Option<String>,
    /// Only from then on: 7d, 12h, 2026-01-31, 2026-01-31T09:00, or with a zone
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Only until then; a date counts as a whole
    #[arg(long, value_name = "WHEN")]
    pub until: Option<String>,
}
