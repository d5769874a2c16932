//! `omni-run resume …` and `omni-run recover …`. Types only; `commands` has the logic.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::cli::run::{Output, parse_time};

/// `omni-run resume …`
#[derive(Debug, Args)]
#[command(after_help = "\
Without a prompt, in a terminal, the engine's own interface opens on the conversation. With a prompt, \
or on pipes, one answer is printed, as with `omni-run ENGINE -p --resume SESSION`. The engine runs \
where it ran before; the docs are not sent again, the instructions are.

SESSION is an id from `omni-run sessions`, or its start (four digits or more). Without it the newest \
session of this project, or of this folder, is taken.

Examples:
  omni-run resume
  omni-run resume \"And the second question?\"
  omni-run resume 01a22c0f --model opus
  git diff | omni-run resume -p \"Does this fix it?\"")]
pub struct ResumeArgs {
    /// The session; a word that is no id is the prompt
    #[arg(value_name = "SESSION")]
    pub session: Option<OsString>,
    /// The prompt; `-` reads it from standard input
    pub prompt: Option<OsString>,
    /// The prompt, for texts that begin with `-` or look like an id
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
    /// Read standard input to its end, however long that takes
    #[arg(long)]
    pub stdin: bool,
    /// One-shot: print the answer and exit
    #[arg(short, long)]
    pub print: bool,
    /// Of the newest sessions, only this engine's
    #[arg(long)]
    pub engine: Option<String>,
    /// Of the newest sessions, only this project's: its id or its folder
    #[arg(long, value_name = "ID|PATH")]
    pub project: Option<String>,
    /// Another folder than the one in which it began
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Another model than the one with which it began
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Attach FILE (repeatable)
    #[arg(long, value_name = "FILE")]
    pub attach: Vec<PathBuf>,
    /// What is printed
    #[arg(long, value_enum)]
    pub output: Option<Output>,
    /// End the engine and all its children after TIME (30s, 10m, 2h)
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub timeout: Option<Duration>,
    /// A failure that the engine does not report by its exit code is one (exit 1)
    #[arg(long)]
    pub strict: bool,
    /// Without project and custom instructions
    #[arg(long)]
    pub no_instructions: bool,
    /// Print the launch plan and start nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The engine's own arguments
    #[arg(last = true, value_name = "ENGINE ARGUMENTS")]
    pub engine_args: Vec<OsString>,
}

impl ResumeArgs {
    /// A prompt is given, in one of the three ways.
    pub fn has_prompt(&self) -> bool {
        self.prompt.is_some() || self.prompt_option.is_some() || self.prompt_file.is_some()
    }
}

/// `omni-run recover …`
#[derive(Debug, Args)]
#[command(after_help = "\
For a session whose engine, omni-run or machine died before the engine had taken the message: the \
engine is started again with the same message, attachments, options and model, in the same folder, \
and the docs as they are now. The session keeps its id and its one message.

A message that was taken is never sent again (code 77): `omni-run resume` goes on with it. Where that \
cannot be told, recover says why and asks for --again. Without SESSION the candidates are listed.

Examples:
  omni-run recover
  omni-run recover 01a22c0f
  omni-run recover 01a22c0f --again

--json prints a list of objects: id, engine, project, cwd, mode, outcome, started_at (Unix \
milliseconds), arrived (no, unknown), why, first_words")]
pub struct RecoverArgs {
    /// The session: its id, or the start of it
    pub session: Option<String>,
    /// Send it although it cannot be told whether the engine had taken it
    #[arg(long, requires = "session")]
    pub again: bool,
    /// One-shot: print the answer and exit
    #[arg(short, long, requires = "session")]
    pub print: bool,
    /// What is printed
    #[arg(long, value_enum)]
    pub output: Option<Output>,
    /// End the engine and all its children after TIME (default: as before)
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub timeout: Option<Duration>,
    /// Print the launch plan and start nothing
    #[arg(long, requires = "session")]
    pub dry_run: bool,
    /// Print the sent text exactly and start nothing
    #[arg(long, requires = "session")]
    pub show_sent: bool,
    /// The list as JSON
    #[arg(long, conflicts_with = "session")]
    pub json: bool,
}
