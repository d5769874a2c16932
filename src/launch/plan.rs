//! The launch plan: argv, environment, files, channels. Made by an adapter without touching
//! anything; `--dry-run` prints it, `one_shot` carries it out.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::engines::{AttachmentChannel, InstructionChannel, MessageChannel};

/// All that is needed to start one engine once.
#[derive(Debug, Clone)]
pub struct LaunchPlan {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// What is shown and stored in place of an argument that carries text, by its index.
    pub text_args: BTreeMap<usize, String>,
    /// Variables set on top of the inherited environment.
    pub env: Vec<(String, OsString)>,
    /// Variables taken out of it.
    pub env_remove: Vec<String>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Files made in the run folder before the start.
    pub files: Vec<RunFile>,
    /// A folder outside the run folder, for an engine that reads from certain places only. Made
    /// 0700, and removed with the run folder.
    pub outside: Option<PathBuf>,
    /// What the engine reads on standard input.
    pub stdin: StdinPlan,
    /// The engine's own id, where the launcher chose it.
    pub engine_session: Option<String>,
    /// The ways that text, instructions and attachments take.
    pub channels: Channels,
    /// Files that the engine renews inside an overlay and that belong in its real folder.
    pub carry_back: Option<CarryBack>,
    /// In terminal use: what stands in front of the first message in the engine's composer, put there
    /// by the gate or, with `carries_message`, by the plan; empty where a plugin does it.
    pub gate_prefix: String,
    /// In terminal use: the plan itself carries a given first message.
    pub carries_message: bool,
    /// The file in which a request plugin reports.
    pub plugin_receipt: Option<PathBuf>,
    /// The engine's output format that the user asked for, where the route fixes another: the dialogue
    /// answers in it.
    pub own_output: Option<String>,
    /// Said once on stderr before the start.
    pub warnings: Vec<String>,
}

/// The chosen channels, for the receipt and the dry run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Channels {
    /// Of the sent text.
    pub message: MessageChannel,
    /// Of the instructions.
    pub instructions: InstructionChannel,
    /// Of the attachments that go as bytes.
    pub attachments: AttachmentChannel,
}

/// A file of the run folder. Its `Debug` shows the length, not the contents.
#[derive(Clone)]
pub struct RunFile {
    /// Absolute path below the run folder.
    pub path: PathBuf,
    /// What it is.
    pub contents: RunContents,
}

/// What a run file is made of.
#[derive(Clone)]
pub enum RunContents {
    /// These bytes, mode 0600.
    Bytes(Vec<u8>),
    /// A symbolic link to this path.
    Link(PathBuf),
    /// A copy of this file, mode 0600.
    Copy(PathBuf),
    /// A folder, mode 0700.
    Dir,
}

impl std::fmt::Debug for RunFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.contents {
            RunContents::Bytes(bytes) => {
                write!(f, "{} ({} bytes)", self.path.display(), bytes.len())
            }
            RunContents::Link(to) => write!(f, "{} -> {}", self.path.display(), to.display()),
            RunContents::Copy(of) => {
                write!(f, "{} (copy of {})", self.path.display(), of.display())
            }
            RunContents::Dir => write!(f, "{}/", self.path.display()),
        }
    }
}

/// Standard input of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StdinPlan {
    /// `/dev/null`: never the inherited one.
    Null,
    /// This file of the run folder.
    File(PathBuf),
    /// A pipe on which the dialogue speaks, open until it closes it.
    Dialogue,
}

/// An overlay's way back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarryBack {
    /// The overlay folder.
    pub from: PathBuf,
    /// The engine's real folder.
    pub to: PathBuf,
    /// Names that stay behind: ours.
    pub ours: Vec<OsString>,
}

/// Why no plan can be made.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum PlanError {
    /// The engine has no way to go on with a session.
    #[error("{0} cannot resume a session in one-shot use")]
    NoResume(String),
    /// The text is over a limit of the only channel.
    #[error("the text is {size} bytes, and {engine} takes at most {limit} by {channel}")]
    TooLong {
        /// The engine's name.
        engine: String,
        /// In bytes.
        size: usize,
        /// In bytes.
        limit: usize,
        /// The channel's name.
        channel: &'static str,
    },
}

impl LaunchPlan {
    /// A plan that starts `program` in `cwd` and does nothing else yet.
    pub fn bare(program: &Path, cwd: &Path, channels: Channels) -> LaunchPlan {
        LaunchPlan {
            program: program.to_owned(),
            args: Vec::new(),
            text_args: BTreeMap::new(),
            env: Vec::new(),
            env_remove: Vec::new(),
            cwd: cwd.to_owned(),
            files: Vec::new(),
            outside: None,
            stdin: StdinPlan::Null,
            engine_session: None,
            channels,
            carry_back: None,
            gate_prefix: String::new(),
            carries_message: false,
            plugin_receipt: None,
            own_output: None,
            warnings: Vec::new(),
        }
    }

    /// Adds arguments.
    pub fn arg(&mut self, arg: impl AsRef<OsStr>) -> &mut LaunchPlan {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds an argument that carries text; `shown` stands for it wherever the plan is seen.
    pub fn text_arg(&mut self, arg: impl Into<OsString>, shown: String) {
        self.text_args.insert(self.args.len(), shown);
        self.args.push(arg.into());
    }

    /// Program and arguments as they may be shown and stored: without text.
    pub fn argv_without_text(&self) -> Vec<String> {
        let args = self.args.iter().enumerate().map(|(at, arg)| match self.text_args.get(&at) {
            Some(shown) => shown.clone(),
            None => arg.to_string_lossy().into_owned(),
        });
        std::iter::once(self.program.to_string_lossy().into_owned()).chain(args).collect()
    }

    /// Adds a file of the run folder and returns its path.
    pub fn file(&mut self, path: PathBuf, bytes: impl Into<Vec<u8>>) -> PathBuf {
        self.files.push(RunFile { path: path.clone(), contents: RunContents::Bytes(bytes.into()) });
        path
    }
}
