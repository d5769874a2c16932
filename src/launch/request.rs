//! Who is to be started, where, with what: everything a plan is made of. Plain values.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::engines::EngineId;

/// A launch, as resolved from the command line, the config and the project.
#[derive(Debug, Clone)]
pub struct LaunchRequest {
    /// The engine.
    pub engine: EngineId,
    /// The program that was found, absolute.
    pub program: PathBuf,
    /// omni-run's own id of the session (UUID v7).
    pub session: String,
    /// The session to go on with, by the engine's own id.
    pub resume: Option<String>,
    /// On a resume: the mark by which the request plugin knows the session's first message.
    pub first_message: Option<String>,
    /// On a resume: that message as it was typed, if known.
    pub first_display: Option<String>,
    /// Where the engine runs, absolute.
    pub cwd: PathBuf,
    /// As given; decides nothing but the engine's own option.
    pub model: Option<String>,
    /// What stood after `--`, untouched.
    pub engine_args: Vec<OsString>,
    /// The 0700 folder for this launch's files, absolute.
    pub run_dir: PathBuf,
    /// What the engine's own config says.
    pub survey: Survey,
}

/// What an adapter read of the engine's own configuration before planning, so that the plan itself
/// is pure.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// The engine's config folder.
    pub config_dir: Option<PathBuf>,
    /// The entries of that folder.
    pub entries: Vec<OsString>,
    /// The user's own appended instructions, which ours must not displace.
    pub own_instructions: Option<String>,
    /// Files of the user that our option would displace and that are passed as well.
    pub own_files: Vec<PathBuf>,
    /// A list setting that an overlay must repeat, such as enabled plugins.
    pub own_list: Vec<String>,
    /// A JSON setting that an overlay must be merged into.
    pub own_json: Option<serde_json::Value>,
    /// The text holds a reference that the engine would expand.
    pub text_expands: bool,
    /// Why the preferred route cannot be used.
    pub blocked: Option<String>,
    /// Environment values that the plan needs to see.
    pub env: BTreeMap<String, OsString>,
    /// The engine's version, if known.
    pub version: Option<String>,
}
