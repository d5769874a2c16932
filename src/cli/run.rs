//! The launch: `omni-run ENGINE …`. Types only; `commands` has the logic.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

/// `omni-run ENGINE …`
#[derive(Debug, Args, Default)]
#[command(after_help = "\
The prompt comes from the argument, --prompt-file, or standard input; an argument and piped text are \
joined with a blank line. All that follows `--` goes to the engine untouched.

Examples:
  omni-run claude -p \"Explain the build\" --project p1
  git diff | omni-run codex -p \"Review this change\"
  omni-run gemini --prompt-file ask.md --timeout 10m --output json
  omni-run claude -p --prompt=\"-v means what?\" -- --allowedTools Read")]
pub struct RunArgs {
    /// The engine: claude, codex, gemini, cursor, pi, openclaw, opencode, hermes, echo, or your own
    pub engine: Option<String>,
    /// The prompt; `-` reads it from standard input
    pub prompt: Option<OsString>,
    /// The prompt, for texts that begin with `-`
    #[arg(
        long = "prompt",
        value_name = "TEXT",
        allow_hyphen_values = true,
        conflicts_with = "prompt"
    )]
    pub prompt_option: Option<OsString>,
    /// Read the prompt from FILE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["prompt", "prompt_option"])]
    pub prompt_file: Option<PathBuf>,
    /// How it runs.
    #[command(flatten)]
    pub options: RunOptions,
}

impl RunArgs {
    /// A prompt is given, in one of the three ways.
    pub fn has_prompt(&self) -> bool {
        self.prompt.is_some() || self.prompt_option.is_some() || self.prompt_file.is_some()
    }
}

/// How a launch runs, whatever its prompt comes from.
#[derive(Debug, Args, Default, Clone)]
pub struct RunOptions {
    /// Read standard input to its end, however long that takes
    #[arg(long)]
    pub stdin: bool,
    /// One-shot: print the answer and exit
    #[arg(short, long)]
    pub print: bool,
    /// The project: its id or its folder
    #[arg(long, value_name = "ID|PATH")]
    pub project: Option<String>,
    /// Where the engine runs
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The model, for the engine's own option and for the budget
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Attach FILE (repeatable)
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// Go on with SESSION (its id, or the start of it)
    #[arg(long, value_name = "SESSION")]
    pub resume: Option<String>,
    /// What is printed
    #[arg(long, value_enum)]
    pub output: Option<Output>,
    /// End the engine and all its children after TIME (30s, 10m, 2h), all tries together
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub timeout: Option<Duration>,
    /// Start the engine again, up to N times, when it failed before it answered
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=MOST_RETRIES))]
    pub retries: Option<u32>,
    /// Do not start while another run holds KEY (default: engine and project)
    #[arg(long, value_name = "KEY", num_args = 0..=1, require_equals = true)]
    pub no_overlap: Option<Option<String>>,
    /// A failure that the engine does not report by its exit code is one (exit 1)
    #[arg(long)]
    pub strict: bool,
    /// Without docs and catalogue
    #[arg(long)]
    pub no_docs: bool,
    /// Without the docs folder's attachments
    #[arg(long)]
    pub no_attach: bool,
    /// Without project and custom instructions
    #[arg(long)]
    pub no_instructions: bool,
    /// Without the coaching profile
    #[arg(long)]
    pub no_profile: bool,
    /// Print the launch plan and start nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print the sent text exactly and start nothing
    #[arg(long)]
    pub show_sent: bool,
    /// The engine's own arguments
    #[arg(last = true, value_name = "ENGINE ARGUMENTS")]
    pub engine_args: Vec<OsString>,
}

/// More than this is a service that should be watched, not a launch that should be repeated.
const MOST_RETRIES: i64 = 100;

impl RunOptions {
    /// Options that are about one answer ask for one-shot use.
    pub fn wants_one_answer(&self) -> bool {
        self.print
            || self.stdin
            || self.timeout.is_some()
            || self.retries.is_some()
            || self.output() != Output::Text
    }

    /// What is printed.
    pub fn output(&self) -> Output {
        self.output.unwrap_or_default()
    }
}

/// What a one-shot run prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// The engine's answer (the default)
    #[default]
    Text,
    /// One object: session, engine, exit_code, text, receipt
    Json,
    /// One object a line: start, text as it comes, end
    StreamJson,
}

impl Output {
    /// As it is written on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Output::Text => "text",
            Output::Json => "json",
            Output::StreamJson => "stream-json",
        }
    }
}

/// In seconds; beyond it the clock's own arithmetic could overflow.
const LONGEST_TIME: u64 = 365 * 24 * 3600;

/// "30s", "10m", "2h", or plain seconds.
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, &text[number.len()..]),
        None => (text, "s"),
    };
    let number: u64 = number.parse().map_err(|_| "write it as 30s, 10m or 2h".to_owned())?;
    let seconds = number.saturating_mul(match unit {
        "h" => 3600,
        "m" => 60,
        _ => 1,
    });
    if seconds > LONGEST_TIME {
        return Err("at most 365 days".to_owned());
    }
    if seconds == 0 {
        return Err("must be more than nothing".to_owned());
    }
    Ok(Duration::from_secs(seconds))
}
