//! Who works on an action. Locks of the system on open files, so that they end with their holder
//! however that dies: a row that is being applied and has no holder is one of a dead omni-run.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use crate::control::actions::error::ActionError;
use crate::control::actions::types::ActionId;
use crate::paths::{Paths, create_private_dir};

/// How long a second click waits for the result of the first. A copy of the largest doc takes less
/// than a second; the start of a slow engine some twenty.
const PATIENCE: Duration = Duration::from_secs(60);

/// The lock of one action.
#[derive(Debug)]
pub(super) struct ActionLock {
    file: File,
    path: PathBuf,
}

impl ActionLock {
    /// Waits for it; `None` after a minute.
    pub(super) fn wait(paths: &Paths, id: ActionId) -> Result<Option<ActionLock>, ActionError> {
        let path = file_of(paths, id);
        let file = open(&path)?;
        match file.try_lock() {
            Ok(()) => return Ok(Some(ActionLock { file, path })),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => {
                return Err(ActionError::NoLock { file: path, error });
            }
        }
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let locked = file.lock().map(|()| file);
            // Nobody waits any more: the lock goes with the file.
            let _ = tell.send(locked);
        });
        match told.recv_timeout(PATIENCE) {
            Ok(Ok(file)) => Ok(Some(ActionLock { file, path })),
            Ok(Err(error)) => Err(ActionError::NoLock { file: path, error }),
            Err(_) => Ok(None),
        }
    }

    /// Takes it at once, or not at all.
    pub(super) fn if_free(paths: &Paths, id: ActionId) -> Result<Option<ActionLock>, ActionError> {
        let path = file_of(paths, id);
        let file = open(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(ActionLock { file, path })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(ActionError::NoLock { file: path, error }),
        }
    }

    /// The open file, to be handed to the process that goes on with the action.
    pub(super) fn share(&self) -> std::io::Result<File> {
        self.file.try_clone()
    }

    /// The action is decided for good: nobody needs its lock any more. Who still waits for it gets
    /// the file that has no name now, and finds the row decided.
    pub(super) fn retire(self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The actions that have a lock file, whoever made it.
pub(super) fn with_file(paths: &Paths) -> Vec<ActionId> {
    let Ok(entries) = std::fs::read_dir(paths.data.join("locks")) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter_map(|name| name.strip_prefix("action-")?.strip_suffix(".lock")?.parse().ok())
        .collect()
}

/// Where the lock of an action is.
pub(super) fn file_of(paths: &Paths, id: ActionId) -> PathBuf {
    paths.data.join("locks").join(format!("action-{id}.lock"))
}

/// One change of docs or settings at a time: between the look at the room that is left and the copy,
/// nobody else copies.
#[derive(Debug)]
pub(super) struct ChangeLock {
    _file: File,
}

impl ChangeLock {
    /// Waits for it; its holders are quick.
    pub(super) fn wait(paths: &Paths) -> Result<ChangeLock, ActionError> {
        let path = paths.data.join("locks").join("approved-changes.lock");
        let file = open(&path)?;
        match file.lock() {
            Ok(()) => Ok(ChangeLock { _file: file }),
            Err(error) => Err(ActionError::NoLock { file: path, error }),
        }
    }
}

/// Opened anew for each lock: two of one process exclude each other too. Closed on exec.
fn open(path: &Path) -> Result<File, ActionError> {
    let attempt = || {
        create_private_dir(path.parent().unwrap_or(Path::new("/")))?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        options.custom_flags(nix::libc::O_CLOEXEC | nix::libc::O_NOFOLLOW).open(path)
    };
    attempt().map_err(|error| ActionError::NoLock { file: path.to_owned(), error })
}
