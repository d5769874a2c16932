//! `omni-run project …`, and the option that names a project. Types only; `commands` has the logic.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
    #[command(after_help = "\
Examples:
  omni-run project add
  omni-run project add ~/work/shop --id shop")]
    Add {
        /// The folder
        folder: Option<PathBuf>,
        /// Its id; default: made from the folder's name
        #[arg(long)]
        id: Option<String>,
    },
    /// List the projects
    #[command(after_help = "\
Examples:
  omni-run project ls
  omni-run project ls --json")]
    Ls {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one: folder, order and instructions of its docs, sessions
    #[command(after_help = "\
Examples:
  omni-run project show
  omni-run project show shop --json")]
    Show {
        /// Its id or folder (default: the one around the current folder)
        project: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget a project; its folder stays
    #[command(after_help = "\
Examples:
  omni-run project rm shop")]
    Rm {
        /// Its id
        project: String,
    },
    /// Give it another id
    #[command(after_help = "\
Examples:
  omni-run project rename shop webshop")]
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
