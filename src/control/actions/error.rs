//! Why an action is not taken in, found or decided. Each has a code for programs and an exit code
//! for the command line; the HTTP status is the server's business.

use std::io;
use std::path::PathBuf;

use crate::context::figures;
use crate::control::actions::types::ActionId;
use crate::error::{ExitKind, Failure};
use crate::project::DocsError;
use crate::session::StoreError;

/// Names and paths are as printed.
#[derive(Debug, thiserror::Error)]
pub enum ActionError {
    /// The source's path can't be one.
    #[error("`{path}` cannot be a source: {reason}")]
    BadPath {
        /// As given.
        path: String,
        /// Why.
        reason: String,
    },
    /// There is nothing at the source's path.
    #[error("the source `{path}` is not there")]
    NoSource {
        /// As given.
        path: String,
    },
    /// The source is there, but can't be used.
    #[error("the source `{path}` cannot be used: {reason}")]
    BadSource {
        /// As given.
        path: String,
        /// Why: a link, no regular file, not readable.
        reason: String,
    },
    /// The source is larger than a doc may be.
    #[error("the source `{path}` has {}; a doc may have {}", figures::bytes(*size), figures::bytes(*limit))]
    TooLarge {
        /// As given.
        path: String,
        /// In bytes, as far as it was read.
        size: u64,
        /// [`FILE_LIMIT`](crate::control::actions::FILE_LIMIT).
        limit: u64,
    },
    /// The always bucket would get too large.
    #[error(
        "the docs have {} and {} more wait for approval; with {} they would be over {}",
        figures::bytes(*used), figures::bytes(*waiting), figures::bytes(*size), figures::bytes(*limit)
    )]
    OverQuota {
        /// On disk, in bytes.
        used: u64,
        /// Uploads that wait, in bytes.
        waiting: u64,
        /// This one.
        size: u64,
        /// [`ALWAYS_LIMIT`](crate::control::actions::ALWAYS_LIMIT).
        limit: u64,
    },
    /// A bad name, one that is taken, one that no doc has, one that two have.
    #[error(transparent)]
    Docs(#[from] DocsError),
    /// No engine has the id.
    #[error("there is no engine `{engine}`")]
    UnknownEngine {
        /// As given.
        engine: String,
        /// Ids like it.
        near: Vec<String>,
    },
    /// The prompt can't be sent.
    #[error("the prompt cannot be sent: {reason}")]
    BadPrompt {
        /// Why.
        reason: String,
    },
    /// The model can't be one.
    #[error("`{model}` cannot be a model: {reason}")]
    BadModel {
        /// As given.
        model: String,
        /// Why.
        reason: String,
    },
    /// A setting that can't be asked for, or a value it can't have.
    #[error("the setting `{key}` cannot be asked for: {reason}")]
    BadSetting {
        /// As given; empty: about the whole.
        key: String,
        /// Why.
        reason: String,
    },
    /// No project is named, and it needs one.
    #[error("this needs a project")]
    NoProject,
    /// The idempotency key can't be one.
    #[error("the idempotency key cannot be used: {reason}")]
    BadKey {
        /// Why.
        reason: String,
    },
    /// The idempotency key belongs to another request.
    #[error("the idempotency key was used for another request")]
    KeyReused,
    /// Too many actions wait.
    #[error("{limit} actions wait for approval already")]
    QueueFull {
        /// [`QUEUE_LIMIT`](crate::control::actions::QUEUE_LIMIT).
        limit: u32,
    },
    /// Too much text waits.
    #[error("the prompts that wait for approval may have {} together", figures::bytes(*limit))]
    PromptsFull {
        /// [`PROMPTS_LIMIT`](crate::control::actions::PROMPTS_LIMIT).
        limit: u64,
    },
    /// No action has this id, or one that begins so.
    #[error("there is no action `{id}`")]
    Unknown {
        /// As given.
        id: String,
    },
    /// Several actions have an id that begins so.
    #[error("`{prefix}` stands for several actions")]
    Ambiguous {
        /// As given.
        prefix: String,
        /// The newest of them, at most ten.
        matches: Vec<ActionId>,
    },
    /// The lock of an action can't be had on this disk.
    #[error("the lock `{}` cannot be taken: {error}", file.display())]
    NoLock {
        /// The lock file.
        file: PathBuf,
        /// The system's words.
        error: io::Error,
    },
    /// The store's fault.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ActionError {
    /// A word for programs. Stable.
    pub fn code(&self) -> &'static str {
        match self {
            ActionError::BadPath { .. } => "bad_path",
            ActionError::NoSource { .. } => "source_not_found",
            ActionError::BadSource { .. } => "bad_source",
            ActionError::TooLarge { .. } => "too_large",
            ActionError::OverQuota { .. } => "over_quota",
            ActionError::Docs(error) => match error {
                DocsError::NotFound { .. } => "doc_not_found",
                DocsError::Ambiguous { .. } => "ambiguous",
                DocsError::Exists { .. } => "exists",
                DocsError::BadName { .. } => "bad_name",
                DocsError::SourceChanged { .. } => "source_changed",
                DocsError::DocChanged { .. } => "doc_changed",
                DocsError::NotInstructable { .. }
                | DocsError::NotFlagged { .. }
                | DocsError::Twice { .. } => "bad_request",
                DocsError::Io { .. } => "io",
                DocsError::Store(_) => "store",
            },
            ActionError::UnknownEngine { .. } => "unknown_engine",
            ActionError::BadPrompt { .. } => "bad_prompt",
            ActionError::BadModel { .. } => "bad_model",
            ActionError::BadSetting { .. } => "bad_setting",
            ActionError::NoProject => "no_project",
            ActionError::BadKey { .. } => "bad_idempotency_key",
            ActionError::KeyReused => "idempotency_key_reused",
            ActionError::QueueFull { .. } | ActionError::PromptsFull { .. } => "queue_full",
            ActionError::Unknown { .. } => "action_not_found",
            ActionError::Ambiguous { .. } => "ambiguous_id",
            ActionError::NoLock { .. } => "no_lock",
            ActionError::Store(_) => "store",
        }
    }

    /// What to do next, where there is something.
    pub fn hint(&self) -> Option<String> {
        let text = match self {
            ActionError::NoSource { .. } | ActionError::BadPath { .. } => {
                "give the absolute path of a file, without `..`"
            }
            ActionError::BadSource { .. } => "give the real path of a regular file",
            ActionError::TooLarge { .. } => "split it, or let a person add it: `omni-run docs add`",
            ActionError::OverQuota { .. } => {
                "delete docs, or put this one into the rag bucket, which has no limit"
            }
            ActionError::Docs(DocsError::Exists { .. }) => "`replace: true` takes its place",
            ActionError::Docs(DocsError::Ambiguous { .. }) => "say the bucket: always or rag",
            ActionError::UnknownEngine { near, .. } if !near.is_empty() => {
                return Some(format!("did you mean `{}`?", near.join("`, `")));
            }
            ActionError::UnknownEngine { .. } => "`omni-run engines` lists them",
            ActionError::KeyReused => "use a new key for a new request",
            ActionError::QueueFull { .. } | ActionError::PromptsFull { .. } => {
                "a person decides them with `omni-run inbox`"
            }
            ActionError::Unknown { .. } => "`omni-run inbox ls --all` lists them",
            ActionError::Ambiguous { matches, .. } => {
                let ids: Vec<String> = matches.iter().map(ActionId::to_string).collect();
                return Some(format!("one of {}", ids.join(", ")));
            }
            ActionError::Store(error) | ActionError::Docs(DocsError::Store(error)) => {
                return error.hint();
            }
            ActionError::Docs(DocsError::NotFound { near, .. }) if !near.is_empty() => {
                return Some(format!("did you mean `{}`?", near.join("`, `")));
            }
            ActionError::Docs(_)
            | ActionError::BadPrompt { .. }
            | ActionError::BadModel { .. }
            | ActionError::BadSetting { .. }
            | ActionError::NoProject
            | ActionError::BadKey { .. }
            | ActionError::NoLock { .. } => return None,
        };
        Some(text.to_owned())
    }
}

impl From<ActionError> for Failure {
    fn from(error: ActionError) -> Failure {
        let (message, hint) = (error.to_string(), error.hint());
        let kind = match error {
            ActionError::Store(error) | ActionError::Docs(DocsError::Store(error)) => {
                return error.into();
            }
            ActionError::Docs(error) => return error.into(),
            ActionError::NoSource { .. } | ActionError::Unknown { .. } => ExitKind::NotFound,
            ActionError::BadSource { .. }
            | ActionError::TooLarge { .. }
            | ActionError::OverQuota { .. }
            | ActionError::NoLock { .. } => ExitKind::CannotCreate,
            ActionError::QueueFull { .. } | ActionError::PromptsFull { .. } => ExitKind::Busy,
            ActionError::BadPrompt { .. } => ExitKind::BadPrompt,
            ActionError::BadPath { .. }
            | ActionError::UnknownEngine { .. }
            | ActionError::BadModel { .. }
            | ActionError::BadSetting { .. }
            | ActionError::NoProject
            | ActionError::BadKey { .. }
            | ActionError::KeyReused
            | ActionError::Ambiguous { .. } => ExitKind::Usage,
        };
        let mut failure = Failure::new(kind, message);
        failure.hints.extend(hint);
        failure
    }
}
