//! The file that is to become a doc: opened without following a link anywhere in its path, a regular
//! file or nothing, never waited for. Its bytes are judged on the open file, not by its name.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat};
use nix::sys::stat::{Mode, fstat, fstatat};

use crate::context::names::shown_path;
use crate::control::actions::error::ActionError;
use crate::control::actions::quota::FILE_LIMIT;
use crate::own_files;
use crate::paths::STEP;
use crate::project::copy_hashed;

/// An open source.
pub(super) struct Source {
    /// At its start.
    pub(super) file: File,
    /// In bytes, when it was opened.
    pub(super) size: u64,
}

/// What was in a source.
pub(super) struct Seen {
    /// SHA-256, hex.
    pub(super) hash: String,
    /// In bytes.
    pub(super) size: u64,
}

/// Opens the source. Links are refused also among its parents: who can swap a folder for a link
/// after a person has read the path could lead it anywhere.
pub(super) fn open_source(path: &Path) -> Result<Source, ActionError> {
    let shown = || shown_path(path);
    let bad_path = |reason: &str| ActionError::BadPath { path: shown(), reason: reason.to_owned() };
    let bad = |reason: String| ActionError::BadSource { path: shown(), reason };
    if !path.is_absolute() {
        return Err(bad_path("it is not absolute"));
    }
    let mut steps: Vec<&OsStr> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(step) => steps.push(step),
            Component::ParentDir => return Err(bad_path("it has a `..`")),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    let Some((name, folders)) = steps.split_last() else {
        return Err(bad_path("it is a folder"));
    };
    let mut walked = PathBuf::from("/");
    // What stands in the way is told by its own path, so that a link among the parents is found.
    let refused = |walked: &Path, error: Errno| match error {
        Errno::ENOENT => ActionError::NoSource { path: shown() },
        Errno::ELOOP => bad(format!("`{}` is a link", shown_path(walked))),
        Errno::ENOTDIR => match walked.symlink_metadata() {
            Ok(about) if about.is_symlink() => bad(format!("`{}` is a link", shown_path(walked))),
            _ => ActionError::NoSource { path: shown() },
        },
        // A socket can't be opened at all, a device without a driver neither.
        own_files::OWN => bad(own_files::REASON.to_owned()),
        Errno::ENXIO | Errno::EOPNOTSUPP => bad("it is not a regular file".to_owned()),
        error => bad(io::Error::from(error).to_string()),
    };
    let flags = OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
    let step_flags = STEP | flags | OFlag::O_DIRECTORY;
    let mut folder: OwnedFd =
        open("/", step_flags, Mode::empty()).map_err(|error| refused(&walked, error))?;
    for step in folders {
        walked.push(step);
        folder = openat(&folder, *step, step_flags, Mode::empty())
            .map_err(|error| refused(&walked, error))?;
        // Neither the token nor another secret of ours becomes a doc, and not the database.
        if fstat(&folder).is_ok_and(|about| own_files::is_own_folder(&about)) {
            return Err(bad("it lies in omni-run's own data folder".to_owned()));
        }
    }
    walked.push(name);
    // Not blocking: a pipe would wait for a writer for ever. On a regular file it means nothing.
    let file_flags = OFlag::O_RDONLY | flags | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
    let opened = fstatat(&folder, *name, AtFlags::AT_SYMLINK_NOFOLLOW)
        .and_then(|before| own_files::open(&folder, name, file_flags, &before));
    let (file, _) = opened.map_err(|error| refused(&walked, error))?;
    let file = File::from(file);
    let about = file.metadata().map_err(|error| bad(error.to_string()))?;
    if !about.is_file() {
        return Err(bad("it is not a regular file".to_owned()));
    }
    Ok(Source { file, size: about.len() })
}

impl Source {
    /// Reads it to its end, at most one byte over the limit of a doc.
    ///
    /// # Errors
    /// [`ActionError::TooLarge`], also for a file that grows while it is read.
    pub(super) fn look(self, path: &Path) -> Result<Seen, ActionError> {
        let too_large =
            |size| ActionError::TooLarge { path: shown_path(path), size, limit: FILE_LIMIT };
        if self.size > FILE_LIMIT {
            return Err(too_large(self.size));
        }
        let seen = copy_hashed(self.file.take(FILE_LIMIT + 1), io::sink());
        let (hash, size) = seen.map_err(|error| ActionError::BadSource {
            path: shown_path(path),
            reason: error.to_string(),
        })?;
        if size > FILE_LIMIT {
            return Err(too_large(size));
        }
        Ok(Seen { hash, size })
    }
}
