//! The docs folder as it was at one moment: types only; `folder` fills them.

use std::ffi::OsString;
use std::path::PathBuf;

/// What to look at. All paths are absolute.
#[derive(Debug, Clone, Default)]
pub struct SnapshotRequest {
    /// The project folder; `None`: no project.
    pub project_root: Option<PathBuf>,
    /// Where the engine will run: decides whether catalogue paths are relative (S22).
    pub cwd: PathBuf,
    /// The project's saved order of docs.
    pub order: Vec<String>,
    /// The project's flagged docs.
    pub instruction_names: Vec<String>,
    /// `instructions.md` of the config folder (S32).
    pub custom_instructions: Option<PathBuf>,
    /// `profile.md` of the config folder (S25).
    pub profile: Option<PathBuf>,
    /// The user's own `--attach` files, as given, made absolute.
    pub attach: Vec<PathBuf>,
    /// What is wanted.
    pub switches: Switches,
    /// How much to read.
    pub reading: Reading,
}

/// What a launch wants injected (S43).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    /// The inlined text and the catalogue.
    pub inline: bool,
    /// The attachments of the docs folder.
    pub attachments: bool,
    /// Project and custom instructions.
    pub instructions: bool,
    /// The coaching profile.
    pub profile: bool,
}

impl Default for Switches {
    fn default() -> Switches {
        Switches { inline: true, attachments: true, instructions: true, profile: true }
    }
}

/// How much of the folder is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reading {
    /// For a launch: files that cannot fit this many bytes any more are not read.
    UpTo(u64),
    /// For lists over several engines: every text file up to the ceiling.
    #[default]
    Everything,
}

/// The folder at one moment. Holds contents; never stored, never logged.
#[derive(Debug, Clone, Default)]
pub struct ContextSnapshot {
    /// The request it was made for.
    pub request: SnapshotRequest,
    /// The docs folder, absolute, if there is a project.
    pub docs_dir: Option<PathBuf>,
    /// Entries of the docs folder's top level in their order (S5).
    pub docs: Vec<DocEntry>,
    /// The first 100 entries of `rag/`, by name (S21).
    pub rag: Vec<RagEntry>,
    /// How many more regular files `rag/` holds.
    pub rag_more: usize,
    /// The engine will run in the project folder itself, so that catalogue paths are relative (S22).
    pub cwd_is_project: bool,
    /// The user's own attachments.
    pub attach: Vec<DocEntry>,
    /// The custom instructions' text.
    pub custom_instructions: Option<String>,
    /// The profile's text.
    pub profile: Option<String>,
    /// One line each, names escaped, for the person.
    pub warnings: Vec<String>,
}

/// One entry of the docs folder's top level.
#[derive(Debug, Clone)]
pub struct DocEntry {
    /// The name on disk, byte for byte.
    pub name: OsString,
    /// The name as it is printed: one line, control characters escaped.
    pub shown: String,
    /// Absolute path.
    pub path: PathBuf,
    /// Size on disk, in bytes.
    pub size: u64,
    /// The fewest bytes that its text can be in UTF-8, by its size on disk; 0 for what is no text by
    /// its name. Decides before the content does, so that a doc which was not read and one which was
    /// are treated alike.
    pub at_least: u64,
    /// Flagged as an instruction, and eligible.
    pub instruction: bool,
    /// What it is.
    pub kind: DocKind,
}

/// What an entry is.
#[derive(Debug, Clone)]
pub enum DocKind {
    /// Text, decoded to UTF-8.
    Text(String),
    /// Text by its name, too large to be read for this budget.
    TextUnread,
    /// An attachable binary.
    Attachable(Facts),
    /// Not injected; why, for `docs ls`.
    Ignored(String),
}

/// What the magic bytes and the header of an attachable say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// `png`, `jpeg`, `gif`, `webp`, `pdf`, `docx`, `xlsx`, `pptx`.
    pub kind: String,
    /// Its media type.
    pub mime: String,
    /// Width and height of an image, in pixels.
    pub pixels: Option<(u32, u32)>,
    /// Pages of a PDF, as far as they can be counted cheaply.
    pub pages: Option<u32>,
    /// Why it must not go as bytes on any engine: wrong content under its name, encrypted, empty.
    pub suspect: Option<String>,
}

/// One entry of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RagEntry {
    /// The name on disk.
    pub name: OsString,
    /// The name as printed.
    pub shown: String,
    /// Size, in bytes.
    pub size: u64,
    /// The description of a text file; `None` for a binary.
    pub description: Option<String>,
    /// Text by name and head.
    pub text: bool,
}
