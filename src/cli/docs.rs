//! `omni-run docs …`. Types only; `commands` has the logic.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::project::WhichProject;

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
             about_tokens, skipped, withheld, by_path (names)

Examples:
  omni-run docs ls
  omni-run docs ls --engine codex --model gpt-6 --json")]
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
    #[command(after_help = "\
Examples:
  omni-run docs add style-guide.md glossary.md
  omni-run docs add --rag api-spec.md
  omni-run docs add --replace notes.md")]
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
    #[command(after_help = "\
Examples:
  omni-run docs rm glossary.md
  omni-run docs rm --rag api-spec.md")]
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
    #[command(after_help = "\
Examples:
  omni-run docs mv notes.md meeting-notes.md")]
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
    #[command(after_help = "\
Examples:
  omni-run docs order glossary.md style-guide.md
  omni-run docs order --reset")]
    Order {
        /// Names in their order
        names: Vec<String>,
        /// Forget the saved order: by name alone
        #[arg(long, conflicts_with = "names")]
        reset: bool,
    },
    /// Make a doc an instruction in the system prompt
    #[command(after_help = "\
Examples:
  omni-run docs instruct style-guide.md")]
    Instruct {
        /// Its name
        name: String,
    },
    /// Make it background again
    #[command(after_help = "\
Examples:
  omni-run docs uninstruct style-guide.md")]
    Uninstruct {
        /// Its name
        name: String,
    },
    /// Print the block exactly as it would be sent
    #[command(after_help = "\
Examples:
  omni-run docs preview --engine codex
  omni-run docs preview --instructions | less")]
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
own_files (list of path, tokens, bytes), docs (list of name, state, bytes, tokens), warnings

Examples:
  omni-run docs budget
  omni-run docs budget --engine claude --json")]
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
