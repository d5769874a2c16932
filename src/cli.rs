//! The command line as types. No logic: `commands` has it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

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
    Run(RunArgs),
    /// Register, list, show, rename and remove projects
    Project(ProjectArgs),
    /// List, add, remove, order and flag a project's docs; preview the block
    Docs(DocsArgs),
    /// The coaching profile that goes along with every first message
    Profile(ProfileArgs),
    /// Past sessions
    Sessions(SessionsArgs),
    /// The engines and what each can do
    Engines(EnginesArgs),
    /// Check this machine: engines, config, store
    #[command(after_help = "\
Each line begins with `ok`, `note` or `problem`; what to do next stands below. Ends with 0 when \
omni-run can be used, else with the code of the first problem: 78 config, 73 data folder, 69 no \
engine, 70 store.")]
    Doctor,
    /// The settings in force and where each comes from
    Config(ConfigArgs),
    /// The store: path, check, backup
    Store(StoreArgs),
    /// The built-in engine itself.
    #[command(name = "__echo", hide = true)]
    Echo(EchoCommand),
}

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
    #[arg(long, value_enum, default_value_t = Output::Text)]
    pub output: Output,
    /// End the engine and all its children after TIME (30s, 10m, 2h)
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub timeout: Option<Duration>,
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

/// What a one-shot run prints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// The engine's answer
    #[default]
    Text,
    /// One object: session, engine, exit_code, text, receipt
    Json,
    /// One object a line: start, text as it comes, end
    StreamJson,
}

/// `omni-run project …`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  omni-run project add ~/work/shop --id shop
  omni-run project ls
  omni-run project rename shop webshop

`ls --json` prints a list of objects: id, folder, created_at (Unix milliseconds), order, instructions.")]
pub struct ProjectArgs {
    /// What to do; default: ls.
    #[command(subcommand)]
    pub action: Option<ProjectAction>,
}

/// On projects.
#[derive(Debug, Subcommand)]
pub enum ProjectAction {
    /// Register FOLDER (default: here)
    Add {
        /// The folder
        folder: Option<PathBuf>,
        /// Its id; default: made from the folder's name
        #[arg(long)]
        id: Option<String>,
    },
    /// List the projects
    Ls {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one: folder, order and instructions of its docs, sessions
    Show {
        /// Its id or folder (default: the one around the current folder)
        project: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget a project; its folder stays
    Rm {
        /// Its id
        project: String,
    },
    /// Give it another id
    Rename {
        /// The present id
        from: String,
        /// The new id
        to: String,
    },
}

/// Which project a command is about.
#[derive(Debug, Args, Clone, Default)]
pub struct WhichProject {
    /// The project: its id or its folder (default: the one around the current folder)
    #[arg(long, value_name = "ID|PATH", global = true, display_order = 900)]
    pub project: Option<String>,
}

/// `omni-run docs …`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  omni-run docs add style-guide.md glossary.md
  omni-run docs add --rag api-spec.md
  omni-run docs instruct style-guide.md
  omni-run docs preview --engine codex
  omni-run docs order glossary.md style-guide.md")]
pub struct DocsArgs {
    /// What to do; default: ls.
    #[command(subcommand)]
    pub action: Option<DocsAction>,
    /// The project.
    #[command(flatten)]
    pub which: WhichProject,
}

/// On docs.
#[derive(Debug, Subcommand)]
pub enum DocsAction {
    /// List the docs with their state and how full each engine's budget is
    #[command(after_help = "\
The state is that of one engine (--engine; default: the configured one, else the one with the widest \
budget); below the list there is a bar for each engine.

--json prints one object with these keys:
  project, folder, docs_folder, engine, model, total_bytes, warnings
  files      list of name, order, bucket (always, attachment, ignored), size, about_tokens,
             instruction, state (included, instruction, skipped, withheld, attached, by_path,
             ignored, empty), reason
  rag_files  list of name, size, text, description
  rag_more   how many further files rag/ holds
  engines    list of id, model, window_tokens, budget_bytes, used_bytes, budget_tokens,
             about_tokens, skipped, withheld, by_path (names)")]
    Ls {
        /// The state for this engine
        #[arg(long)]
        engine: Option<String>,
        /// With this model
        #[arg(long)]
        model: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Copy files into the docs folder
    Add {
        /// The files
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Into rag/, for the catalogue
        #[arg(long)]
        rag: bool,
        /// Overwrite a doc of the same name
        #[arg(long)]
        replace: bool,
    },
    /// Remove docs
    Rm {
        /// Their names
        #[arg(required = true)]
        names: Vec<String>,
        /// From rag/
        #[arg(long, conflicts_with = "top")]
        rag: bool,
        /// From the top level, where rag/ has the same name
        #[arg(long)]
        top: bool,
    },
    /// Rename a doc; order and flag follow
    Mv {
        /// The present name
        from: String,
        /// The new name
        to: String,
        /// In rag/
        #[arg(long, conflicts_with = "top")]
        rag: bool,
        /// At the top level, where rag/ has the same name
        #[arg(long)]
        top: bool,
    },
    /// Set the order: these first, the rest by name
    Order {
        /// Names in their order; none: by name alone
        names: Vec<String>,
    },
    /// Make a doc an instruction in the system prompt
    Instruct {
        /// Its name
        name: String,
    },
    /// Make it background again
    Uninstruct {
        /// Its name
        name: String,
    },
    /// Print the block exactly as it would be sent
    Preview {
        /// For this engine (default: the configured one, else the one with the widest budget)
        #[arg(long)]
        engine: Option<String>,
        /// For this model
        #[arg(long)]
        model: Option<String>,
        /// The system prompt section instead of the block
        #[arg(long)]
        instructions: bool,
    },
    /// Count with a real tokenizer what goes into a first message
    #[command(after_help = "\
The tokenizer is o200k; other engines count a little differently. `Injected` is all that the engine \
finds beside your prompt: block, instructions, and the instruction files that it loads by itself.

--json prints one object with these keys: project, folder, engine, model, window_tokens, \
budget_bytes, used_bytes, injected {tokens, bytes}, block, instructions (both the same), \
own_files (list of path, tokens, bytes), docs (list of name, state, bytes, tokens), warnings")]
    Budget {
        /// For this engine (default: the configured one, else the one with the widest budget)
        #[arg(long)]
        engine: Option<String>,
        /// For this model
        #[arg(long)]
        model: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

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

/// `omni-run sessions …`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  omni-run sessions
  omni-run sessions ls --engine codex --limit 5 --json
  omni-run sessions show 0199a1b2")]
pub struct SessionsArgs {
    /// What to do; default: ls.
    #[command(subcommand)]
    pub action: Option<SessionsAction>,
}

/// On sessions.
#[derive(Debug, Subcommand)]
pub enum SessionsAction {
    /// List them, newest first
    #[command(after_help = "\
--json prints a list of objects: id, engine, model, project, project_folder, cwd, mode, outcome, \
exit_code, signal, started_at, ended_at (Unix milliseconds), first_words")]
    Ls {
        /// Only of this project: its id or its folder
        #[arg(long, value_name = "ID|PATH")]
        project: Option<String>,
        /// Only of this engine
        #[arg(long)]
        engine: Option<String>,
        /// At most N
        #[arg(long, default_value_t = 20)]
        limit: usize,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one: what you typed, the answer, the receipt
    #[command(after_help = "\
--json prints the object of `ls --json` without first_words, and: engine_session, argv, messages \
(list of role, text, created_at), receipt")]
    Show {
        /// Its id, or the start of it
        session: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// `omni-run engines …`
#[derive(Debug, Args)]
pub struct EnginesArgs {
    /// What to do; default: ls.
    #[command(subcommand)]
    pub action: Option<EnginesAction>,
}

/// On engines.
#[derive(Debug, Subcommand)]
pub enum EnginesAction {
    /// List them: found where, version, tried range
    #[command(after_help = "\
--json prints a list of objects: id, name, found, program, version, tried_from, tried_to, tried, \
default_window, message, instructions, attachments, install, prepare, notes")]
    Ls {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one: channels, windows, what goes by path, what you must do first
    Show {
        /// Its id
        engine: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Run each found engine's `--version` anew and say which are outside the tried range
    Check {
        /// Only this one
        engine: Option<String>,
    },
}

/// `omni-run config …`
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// What to do; default: show.
    #[command(subcommand)]
    pub action: Option<ConfigAction>,
}

/// On the config.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// The settings with their sources
    Show,
    /// The config folder
    Path,
}

/// `omni-run store …`
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// What to do.
    #[command(subcommand)]
    pub action: StoreAction,
}

/// On the store.
#[derive(Debug, Subcommand)]
pub enum StoreAction {
    /// Where it is
    Path,
    /// Check it, and take spooled rows in
    Check,
    /// Copy it, while it is in use
    Backup {
        /// To this new file
        file: PathBuf,
    },
}

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
}

/// In seconds; beyond it the clock's own arithmetic could overflow.
const LONGEST_TIME: u64 = 365 * 24 * 3600;

/// "30s", "10m", "2h", or plain seconds.
fn parse_time(text: &str) -> Result<Duration, String> {
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
