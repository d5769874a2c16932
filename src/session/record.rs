//! What is said about a session: when it begins, when it ends, and as it is read back. Types only.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::context::DisplayText;
use crate::launch::owner::Owner;
use crate::session::options::LaunchOptions;

/// Milliseconds since 1970, UTC.
pub type UnixMs = i64;

/// The id of a session: a UUID v7, so that ids sort by start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(Uuid);

impl SessionId {
    /// A new id for now.
    pub fn generate() -> SessionId {
        SessionId(Uuid::now_v7())
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> String {
        id.to_string()
    }
}

impl TryFrom<String> for SessionId {
    type Error = uuid::Error;

    fn try_from(text: String) -> Result<SessionId, uuid::Error> {
        text.parse()
    }
}

impl FromStr for SessionId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<SessionId, uuid::Error> {
        Uuid::parse_str(text).map(SessionId)
    }
}

/// A closed set of words that a column holds.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// The word in the column.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// Every one of them.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// From the word in the column.
            pub fn parse(word: &str) -> Option<$name> {
                match word { $($word => Some($name::$variant),)* _ => None }
            }
        }
    };
}

pub(crate) use words;

words! {
    /// The way the engine was run (SPEC section 6).
    SessionMode {
        /// Pipes, one answer.
        OneShot = "one_shot",
        /// The engine's TUI with a first message.
        Prompted = "prompted",
        /// The engine's TUI as it is.
        Wrapped = "wrapped",
    }
}

words! {
    /// What became of a session.
    Outcome {
        /// Not ended, or omni-run died and nobody has looked since.
        Running = "running",
        /// The engine ended with code 0.
        Ok = "ok",
        /// The engine ended otherwise.
        Failed = "failed",
        /// The time-out ended it.
        TimedOut = "timed_out",
        /// The engine did not start.
        NotStarted = "not_started",
        /// omni-run was killed.
        Crashed = "crashed",
        /// The machine went down.
        Lost = "lost",
    }
}

impl SessionRow {
    /// Its process runs, as far as the row tells. A row of an older omni-run, which names no process,
    /// tells nothing.
    pub fn is_held(&self) -> bool {
        self.outcome == Outcome::Running && self.owner.is_some()
    }
}

impl Outcome {
    /// Ended, and not well.
    pub fn is_failure(self) -> bool {
        !matches!(self, Outcome::Running | Outcome::Ok)
    }
}

words! {
    /// Who wrote a message.
    Role {
        /// The user: display text.
        Operator = "operator",
        /// The engine: its final text.
        Engine = "engine",
    }
}

/// A session that is about to start.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// The engine's id.
    pub engine: String,
    /// The model, where one was asked for.
    pub model: Option<String>,
    /// The project's id, where it is registered or virtual.
    pub project: Option<String>,
    /// The project's folder.
    pub project_root: Option<PathBuf>,
    /// Where the engine runs.
    pub cwd: PathBuf,
    /// How it runs.
    pub mode: SessionMode,
    /// The engine's program and arguments. An argument that is, or ends with, the display text is
    /// stored as `<text>`.
    pub argv: Vec<String>,
    /// When.
    pub started_at: UnixMs,
    /// What the user typed. Empty, it is no message where the session goes on with another: the
    /// engine's own interface, opened on that conversation.
    pub display: DisplayText,
    /// Names this start of the engine; the session's id but where a message is sent again.
    pub attempt: SessionId,
    /// The engine's own id of the session, where it is chosen for it.
    pub engine_session_id: Option<String>,
    /// The session that this one goes on with.
    pub resumes: Option<SessionId>,
    /// The launch's options.
    pub options: LaunchOptions,
    /// The launch's files.
    pub run_dir: Option<PathBuf>,
}

/// What stands in a stored argv for an argument that carried the message.
const TEXT_MARK: &str = "<text>";

impl NewSession {
    /// The argv as it is stored. The launch plan keeps text out of argv or marks it; this is the
    /// second door: small first messages may ride in one argument, with the block in front (S26).
    pub(super) fn argv_without_text(&self) -> Vec<&str> {
        let display = self.display.as_str();
        let after_block = format!("\n\n{display}");
        let carries = |argument: &str| {
            !display.is_empty() && (argument == display || argument.ends_with(&after_block))
        };
        self.argv.iter().map(|a| if carries(a) { TEXT_MARK } else { a.as_str() }).collect()
    }
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionEnd {
    /// When.
    pub ended_at: UnixMs,
    /// The engine's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What became of it.
    pub outcome: Outcome,
    /// The engine's own id of the session, for its resume.
    pub engine_session_id: Option<String>,
    /// How it is known that the engine took the message.
    #[serde(default)]
    pub accepted: Option<String>,
    /// The engine's final text, where it gives one.
    pub reply: Option<String>,
    /// What was delivered: names, figures and hashes.
    pub receipt: Option<serde_json::Value>,
}

/// A session as it is read back.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// The engine's id.
    pub engine: String,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The project's id.
    pub project: Option<String>,
    /// The project's folder.
    pub project_root: Option<PathBuf>,
    /// Where the engine ran.
    pub cwd: PathBuf,
    /// How it ran.
    pub mode: SessionMode,
    /// The engine's own id of the session.
    pub engine_session_id: Option<String>,
    /// Program and arguments, without text.
    pub argv: Vec<String>,
    /// Start.
    pub started_at: UnixMs,
    /// End.
    pub ended_at: Option<UnixMs>,
    /// The engine's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What became of it.
    pub outcome: Outcome,
    /// The head of the first operator message, at most 200 characters, for lists; where there is
    /// none, of the session that this one goes on with.
    pub first_words: String,
    /// The session that this one goes on with.
    pub resumes: Option<SessionId>,
    /// The launch's options.
    pub options: LaunchOptions,
    /// How it is known that the engine took the message, where that was noticed as it happened.
    pub accepted: Option<String>,
    /// How often the engine was started with the message.
    pub attempts: u32,
    /// The process that it belongs to; `None`: an older omni-run made the row.
    pub owner: Option<Owner>,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Its place in the session, from 1.
    pub seq: i64,
    /// Who wrote it.
    pub role: Role,
    /// The text.
    pub text: String,
    /// When.
    pub created_at: UnixMs,
}

/// Which sessions to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// Only of this project: its id.
    pub project: Option<String>,
    /// Only of this folder, where it had no id; beside `project`, of both.
    pub folder: Option<PathBuf>,
    /// Only this engine's.
    pub engine: Option<String>,
    /// Only with this outcome.
    pub outcome: Option<Outcome>,
    /// Only what did not end well; what still runs is not among it.
    pub failed: bool,
    /// Only started then or later.
    pub since: Option<UnixMs>,
    /// Only started before.
    pub until: Option<UnixMs>,
    /// At most so many.
    pub limit: Option<u32>,
    /// Only those after this one in the list: the next page.
    pub before: Option<SessionId>,
}
