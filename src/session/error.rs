//! What can be wrong with the store, as types: callers spool on all of them, and a command shows
//! them with a way out.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::error::{ExitKind, Failure};
use crate::session::record::SessionId;

/// Why the store can't be used, or has not what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A newer omni-run made it (or its version number is no version at all).
    #[error("the database `{}` has schema version {theirs}, this omni-run knows up to {ours}", file.display())]
    Newer {
        /// The database file.
        file: PathBuf,
        /// Its version.
        theirs: i64,
        /// The newest that this binary knows.
        ours: i64,
    },
    /// Another program's database.
    #[error("`{}` is not omni-run's database (application id {application_id:#x})", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
        /// Its application id.
        application_id: i64,
    },
    /// There is none yet; only when it is opened for reading.
    #[error("there is no database `{}` yet", file.display())]
    Missing {
        /// The file.
        file: PathBuf,
    },
    /// Another process holds it for longer than we wait.
    #[error("the database `{}` is locked by another process", file.display())]
    Locked {
        /// The file.
        file: PathBuf,
    },
    /// No room on the disk, or over a file size limit.
    #[error("there is no room to write the database `{}`: {reason}", file.display())]
    Full {
        /// The file.
        file: PathBuf,
        /// SQLite's words.
        reason: String,
    },
    /// It can't be written.
    #[error("the database `{}` is read-only", file.display())]
    ReadOnly {
        /// The file.
        file: PathBuf,
    },
    /// It is no database, or a damaged one.
    #[error("the database `{}` is damaged: {reason}", file.display())]
    Corrupt {
        /// The file.
        file: PathBuf,
        /// SQLite's words.
        reason: String,
    },
    /// Its folder can't be made or must not be used.
    #[error("the folder `{}` cannot be used: {reason}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why.
        reason: String,
    },
    /// Everything else that SQLite or the system says.
    #[error("the database `{}` cannot be used: {reason}", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// Their words.
        reason: String,
    },
    /// No session has an id with this prefix.
    #[error("there is no session `{prefix}`")]
    UnknownSession {
        /// As given.
        prefix: String,
    },
    /// Another process has taken the session up in the meantime.
    #[error("session {id} has just been taken up by another omni-run")]
    Changed {
        /// The session.
        id: SessionId,
    },
    /// Several sessions have.
    #[error("`{prefix}` stands for {} sessions or more", matches.len())]
    AmbiguousSession {
        /// As given.
        prefix: String,
        /// The newest of them, at most ten.
        matches: Vec<SessionId>,
    },
}

impl StoreError {
    /// Sorts an error of SQLite about `file`.
    pub(super) fn from_sqlite(file: &Path, error: &rusqlite::Error) -> StoreError {
        let file = file.to_owned();
        let reason = error.to_string();
        let Some(code) = error.sqlite_error_code() else {
            // What is stored can't be read as what it should be.
            return StoreError::Corrupt { file, reason };
        };
        match code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Locked { file },
            ErrorCode::DiskFull => StoreError::Full { file, reason },
            ErrorCode::SystemIoFailure if is_write_failure(error) => {
                StoreError::Full { file, reason }
            }
            ErrorCode::ReadOnly => StoreError::ReadOnly { file },
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                StoreError::Corrupt { file, reason }
            }
            _ => StoreError::Unusable { file, reason },
        }
    }

    /// What the person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            StoreError::Newer { .. } => Some(
                "update omni-run, or set OMNI_RUN_DATA_DIR to another folder for this version"
                    .to_owned(),
            ),
            StoreError::Foreign { .. } => {
                Some("set OMNI_RUN_DATA_DIR to a folder of omni-run's own".to_owned())
            }
            StoreError::Locked { .. } => {
                Some("try again when the other program is done".to_owned())
            }
            StoreError::Full { .. } => Some("make room on the disk".to_owned()),
            StoreError::ReadOnly { .. }
            | StoreError::Folder { .. }
            | StoreError::Unusable { .. } => {
                Some("set OMNI_RUN_DATA_DIR to a folder that can be written".to_owned())
            }
            StoreError::Corrupt { .. } => Some(
                "move the file away; the next run starts a new one and takes in what is spooled"
                    .to_owned(),
            ),
            StoreError::Changed { id } => Some(format!("look at it: omni-run sessions show {id}")),
            StoreError::UnknownSession { .. } => Some("`omni-run sessions` lists them".to_owned()),
            StoreError::AmbiguousSession { matches, .. } => {
                let ids: Vec<String> = matches.iter().map(SessionId::to_string).collect();
                Some(format!("one of {}", ids.join(", ")))
            }
            StoreError::Missing { .. } => None,
        }
    }
}

/// A failed write is about room: a quota, a file size limit, a full network disk.
fn is_write_failure(error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|e| e.extended_code);
    matches!(
        extended,
        Some(rusqlite::ffi::SQLITE_IOERR_WRITE | rusqlite::ffi::SQLITE_IOERR_TRUNCATE)
    )
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        let kind = match &error {
            StoreError::UnknownSession { .. }
            | StoreError::AmbiguousSession { .. }
            | StoreError::Missing { .. } => ExitKind::NotFound,
            StoreError::Locked { .. } | StoreError::Changed { .. } => ExitKind::Busy,
            StoreError::Full { .. } | StoreError::ReadOnly { .. } | StoreError::Folder { .. } => {
                ExitKind::CannotCreate
            }
            StoreError::Newer { .. }
            | StoreError::Foreign { .. }
            | StoreError::Corrupt { .. }
            | StoreError::Unusable { .. } => ExitKind::Internal,
        };
        let hint = error.hint();
        let mut failure = Failure::new(kind, error.to_string());
        failure.hints.extend(hint);
        failure
    }
}
