//! What an action is, as it is read back: plain values. Times are Unix milliseconds.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::control::actions::payload::Payload;
use crate::session::{SessionId, UnixMs, words};

/// The id of an action: a UUID v7, so that ids sort by when they were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ActionId(Uuid);

impl ActionId {
    /// A new id for now.
    pub fn generate() -> ActionId {
        ActionId(Uuid::now_v7())
    }
}

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl From<ActionId> for String {
    fn from(id: ActionId) -> String {
        id.to_string()
    }
}

impl TryFrom<String> for ActionId {
    type Error = uuid::Error;

    fn try_from(text: String) -> Result<ActionId, uuid::Error> {
        text.parse()
    }
}

impl FromStr for ActionId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<ActionId, uuid::Error> {
        Uuid::parse_str(text).map(ActionId)
    }
}

words! {
    /// What is asked for.
    ActionKind {
        /// A file is to become a doc.
        AddDoc = "add_doc",
        /// A doc is to be deleted.
        DeleteDoc = "delete_doc",
        /// An engine is to be started with a prompt.
        Launch = "launch",
        /// Settings are to be changed.
        Settings = "settings",
    }
}

words! {
    /// Where an action stands.
    Status {
        /// Waits for a person.
        Pending = "pending",
        /// Approved, and being carried out.
        Applying = "applying",
        /// Done.
        Applied = "applied",
        /// A person said no.
        Rejected = "rejected",
        /// Approved, but it could not be done; nothing of it is left.
        Failed = "failed",
        /// Nobody decided in time.
        Expired = "expired",
    }
}

impl Status {
    /// Still open: something can happen to it.
    pub fn is_open(self) -> bool {
        matches!(self, Status::Pending | Status::Applying)
    }
}

words! {
    /// What came of an action, for programs.
    OutcomeCode {
        /// The doc is new.
        Added = "added",
        /// The doc took the place of another.
        Replaced = "replaced",
        /// The doc is gone.
        Deleted = "deleted",
        /// The session is started.
        Started = "started",
        /// The settings are changed.
        Changed = "changed",
        /// A person said no.
        Rejected = "rejected",
        /// Nobody decided in time.
        Expired = "expired",
        /// The source has other bytes than were asked for, or can't be read as it was.
        SourceChanged = "source_changed",
        /// The doc that was to be deleted has other bytes than when that was asked for.
        DocChanged = "doc_changed",
        /// A doc has the name already.
        Exists = "exists",
        /// The doc is not there (any more).
        NotFound = "not_found",
        /// The docs would take more room than they may.
        OverQuota = "over_quota",
        /// The name cannot be a doc's.
        BadName = "bad_name",
        /// The project is gone, or its id means another folder now.
        ProjectGone = "project_gone",
        /// The engine could not be started.
        NotStarted = "not_started",
        /// `config.toml` cannot be changed.
        ConfigUnusable = "config_unusable",
        /// omni-run died in the middle, and what it left is not ours to judge.
        Interrupted = "interrupted",
        /// The disk or the store said no.
        Io = "io",
    }
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// For programs.
    pub code: OutcomeCode,
    /// For people: what happened, without a final period. May quote foreign text.
    pub message: String,
    /// Of a launch: the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Of a launch: the last that was said on standard error, once the engine has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
}

impl Outcome {
    /// An outcome without a session.
    pub fn new(code: OutcomeCode, message: impl Into<String>) -> Outcome {
        Outcome { code, message: message.into(), session: None, stderr: None }
    }

    /// That of an action that was left alone.
    pub(in crate::control) fn expired() -> Outcome {
        Outcome::new(OutcomeCode::Expired, "nobody decided in time")
    }
}

/// One action. Its JSON has the names of the fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Action {
    /// Its id.
    pub id: ActionId,
    /// What is asked for.
    pub kind: ActionKind,
    /// The project's id, where it is about one.
    pub project: Option<String>,
    /// The project's folder when it was asked for.
    pub project_folder: Option<PathBuf>,
    /// What exactly.
    pub payload: Payload,
    /// SHA-256, hex, of the source or of the doc to delete, when it was asked for.
    pub content_hash: Option<String>,
    /// Its size then, in bytes.
    pub size_bytes: Option<u64>,
    /// Who asked, as they call themselves. Foreign text.
    pub asked_by: String,
    /// When.
    pub asked_at: UnixMs,
    /// Where it stands.
    pub status: Status,
    /// Who decided, and by which way.
    pub decided_by: Option<String>,
    /// When.
    pub decided_at: Option<UnixMs>,
    /// When it was done, or when that failed.
    pub applied_at: Option<UnixMs>,
    /// What came of it.
    pub outcome: Option<Outcome>,
    /// When nobody can approve it any more.
    pub expires_at: UnixMs,
}
