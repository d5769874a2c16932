//! The command line as types. No logic: `commands` has it.

mod completions;
mod config;
mod docs;
mod echo;
mod engines;
mod export;
mod inbox;
mod later;
mod profile;
mod project;
mod recipe;
mod resume;
mod run;
mod schedule;
mod search;
mod serve;
mod sessions;
mod share;
mod store;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub use completions::*;
pub use config::*;
pub use docs::*;
pub use echo::*;
pub use engines::*;
pub use export::*;
pub use inbox::*;
pub use later::*;
pub use profile::*;
pub use project::*;
pub use recipe::*;
pub use resume::*;
pub use run::*;
pub use schedule::*;
pub use search::*;
pub use serve::*;
pub use sessions::*;
pub use share::*;
pub use store::*;

/// Starts any AI coding agent with the project's own documents in its first message.
#[derive(Debug, Parser)]
#[command(
    name = "omni-run",
    version,
    about,
    max_term_width = 100,
    after_help = "\
Examples:
  omni-run claude --project p1 \"Summarise the open questions\"
  omni-run gemini -p \"Review this\" < notes.txt
  omni-run docs ls --project p1
  omni-run resume \"And now?\"
  omni-run echo \"What would be sent?\" --show-sent

`omni-run ENGINE --help` shows the options of a launch; `omni-run engines` lists the engines."
)]
pub struct Cli {
    /// No status lines; warnings and errors stay
    #[arg(short, long, global = true, display_order = 901)]
    pub quiet: bool,
    /// Write diagnostics to FILE
    #[arg(long, global = true, value_name = "FILE", display_order = 902)]
    pub log_file: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start an engine (`omni-run ENGINE` is short for `omni-run run ENGINE`)
    Run(Later<RunArgs>),
    /// Register, list, show, rename and remove projects
    Project(Later<ProjectArgs>),
    /// List, add, remove, order and flag a project's docs; preview the block
    Docs(Later<DocsArgs>),
    /// Prompts kept as files, with parameters: list, show, run
    Recipe(Later<RecipeArgs>),
    /// A recipe as a cron job or a systemd timer, printed and not installed
    Schedule(Later<ScheduleArgs>),
    /// The coaching profile that goes along with every first message
    Profile(Later<ProfileArgs>),
    /// Past sessions
    Sessions(Later<SessionsArgs>),
    /// Find what was typed or answered
    Search(Later<SearchArgs>),
    /// What programs have asked for: list, show, approve, reject
    Inbox(Later<InboxArgs>),
    /// Local HTTP control for programs, with you in the loop
    Serve(Later<ServeArgs>),
    /// Write sessions as JSON lines, Markdown or HTML
    Export(Later<ExportArgs>),
    /// Read back what `export` wrote
    Import(Later<ImportArgs>),
    /// Write a session as one HTML page for other people, secrets masked
    Share(Later<ShareArgs>),
    /// Go on with a session
    Resume(Later<ResumeArgs>),
    /// Send a message again whose engine died before it had taken it
    Recover(Later<RecoverArgs>),
    /// The engines and what each can do
    Engines(Later<EnginesArgs>),
    /// Check this machine: engines, config, store
    #[command(after_help = "\
Each line begins with `ok`, `note` or `problem`; what to do next stands below. Ends with 0 when \
omni-run can be used, else with the code of the first problem: 78 config, 73 data folder, 69 no \
engine, 70 store.

Examples:
  omni-run doctor
  omni-run doctor && omni-run claude")]
    Doctor,
    /// The settings in force and where each comes from
    Config(Later<ConfigArgs>),
    /// The store: path, check, backup
    Store(Later<StoreArgs>),
    /// Completion of the command line in bash, zsh or fish
    Completions(Later<CompletionsArgs>),
    /// Manual pages
    Man(Later<ManArgs>),
    /// What a shell asks at the cursor.
    #[command(name = "__complete", hide = true)]
    Complete(Later<CompleteCommand>),
    /// The built-in engine itself.
    #[command(name = "__echo", hide = true)]
    Echo(Later<EchoCommand>),
    /// An approved launch.
    #[command(name = "__approved", hide = true)]
    Approved(Later<ApprovedCommand>),
}
