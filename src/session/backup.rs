//! `store backup` and `store check` (S64). Both work on an open store and change nothing in it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::{ExitKind, Failure};
use crate::paths::Paths;
use crate::session::error::StoreError;
use crate::session::spool;
use crate::session::store::Store;

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The store can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file is there already.
    #[error("`{}` is there already", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// The file can't be written.
    #[error("`{}` cannot be written: {reason}", file.display())]
    Write {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
}

impl From<BackupError> for Failure {
    fn from(error: BackupError) -> Failure {
        match error {
            BackupError::Store(error) => error.into(),
            BackupError::Exists { .. } => Failure::new(ExitKind::CannotCreate, error.to_string())
                .hint("give another name, or move that file away"),
            BackupError::Write { .. } => Failure::new(ExitKind::CannotCreate, error.to_string()),
        }
    }
}

/// Writes a copy of the database, as it is at this moment, to a new file with mode 0600. Other
/// processes may go on writing.
pub fn backup(store: &Store, file: &Path) -> Result<(), BackupError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => BackupError::Exists { file: file.to_owned() },
        _ => BackupError::Write { file: file.to_owned(), reason: error.to_string() },
    };
    if fs::symlink_metadata(file).is_ok() {
        return Err(BackupError::Exists { file: file.to_owned() });
    }
    let folder = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // Made empty first: SQLite would make it with the user's umask.
    let draft = tempfile::Builder::new()
        .prefix(".omni-run-backup-")
        .make_in(folder, |path| {
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
        })
        .map_err(failed)?;
    let target = draft.path().to_str().ok_or_else(|| BackupError::Write {
        file: file.to_owned(),
        reason: "the path is not UTF-8".to_owned(),
    })?;
    store.connection().execute("VACUUM INTO ?1", [target]).map_err(|error| {
        match StoreError::from_sqlite(file, &error) {
            e @ StoreError::Full { .. } => {
                BackupError::Write { file: file.to_owned(), reason: e.to_string() }
            }
            _ => BackupError::Store(store.error(&error)),
        }
    })?;
    draft.as_file().sync_all().map_err(failed)?;
    draft.persist_noclobber(file).map_err(|e| failed(e.error))?;
    // Some file systems can't sync a folder.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// How many spool files wait, of whatever database.
pub fn waiting(paths: &Paths) -> usize {
    spool::waiting(paths, &crate::paths::temp_folder())
}

/// What `store check` found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// The database file.
    pub file: PathBuf,
    /// Its schema version.
    pub schema_version: i64,
    /// `wal`, or a rollback journal on disks that can't have it.
    pub journal_mode: String,
    /// How many sessions it holds.
    pub sessions: i64,
    /// SQLite's complaints; empty is good.
    pub problems: Vec<String>,
    /// Spool files that wait.
    pub spooled: usize,
}

/// Reads the whole database and looks for damage.
pub fn check(store: &Store, paths: &Paths) -> Result<CheckReport, StoreError> {
    let mut report = store.read(|c| {
        let mut statement = c.prepare("PRAGMA integrity_check(20)")?;
        let lines: Vec<String> =
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let mut problems: Vec<String> = lines.into_iter().filter(|line| line != "ok").collect();
        let mut statement = c.prepare("PRAGMA foreign_key_check")?;
        let orphans: Vec<String> =
            statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        problems
            .extend(orphans.into_iter().map(|table| format!("a row of `{table}` has no session")));
        Ok(CheckReport {
            file: store.file().to_owned(),
            schema_version: c.query_row("PRAGMA user_version", [], |row| row.get(0))?,
            journal_mode: c.query_row("PRAGMA journal_mode", [], |row| row.get(0))?,
            sessions: c.query_row("SELECT count(*) FROM sessions", [], |row| row.get(0))?,
            problems,
            spooled: 0,
        })
    })?;
    report.spooled = waiting(paths);
    Ok(report)
}
