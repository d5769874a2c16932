//! `--no-overlap`: a lock that one run holds and a second run of the same key sees. A lock of the
//! system on an open file, so that it ends with its holder however that dies; the file's content
//! only tells who it is. The file is closed on exec, so an orphan of the engine can't hold it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::error::{ExitKind, Failure};
use crate::paths::{Paths, create_private_dir};
use crate::session::record::UnixMs;

/// The lock of one run; let go when dropped.
#[derive(Debug)]
pub struct RunLock {
    file: File,
}

/// Why there is no lock.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another run has it.
    #[error("another run holds `{key}`: {holder}")]
    Held {
        /// The key.
        key: String,
        /// Who: pid, command, since when.
        holder: String,
    },
    /// The lock can't be had on this disk.
    #[error("the lock `{}` cannot be taken: {reason}", file.display())]
    Unavailable {
        /// The lock file.
        file: PathBuf,
        /// The system's words.
        reason: String,
    },
}

impl RunLock {
    /// Takes the lock of `key` at once or not at all. `command` and `now` are what a second run is
    /// told.
    pub fn acquire(
        paths: &Paths,
        key: &str,
        command: &str,
        now: UnixMs,
    ) -> Result<RunLock, LockError> {
        let folder = paths.data.join("locks");
        let path = folder.join(file_name(key));
        let unavailable = |e: std::io::Error| LockError::Unavailable {
            file: path.clone(),
            reason: e.to_string(),
        };
        create_private_dir(&folder).map_err(unavailable)?;
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(nix::libc::O_CLOEXEC | nix::libc::O_NOFOLLOW)
            .open(&path)
            .map_err(unavailable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = (&mut file).take(1024).read_to_string(&mut holder);
                let holder = holder.lines().next().unwrap_or_default();
                // The holder may not have written its line yet.
                let holder = if holder.is_empty() { "not known" } else { holder };
                return Err(LockError::Held { key: key.to_owned(), holder: holder.to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(unavailable(error)),
        }
        let mut lock = RunLock { file };
        // Only for people: a full disk must not stop a run that has the lock.
        let _ = lock.describe(command, now);
        Ok(lock)
    }

    fn describe(&mut self, command: &str, now: UnixMs) -> std::io::Result<()> {
        let since = jiff::Timestamp::from_millisecond(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let command: String = crate::ui::one_line(command).chars().take(500).collect();
        self.file.set_len(0)?;
        self.file.rewind()?;
        writeln!(self.file, "pid {} since {since}, {command}", std::process::id())
    }
}

impl Drop for RunLock {
    /// The file stays: to remove it would let two runs lock two files of one name.
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Failure {
        let kind = match error {
            LockError::Held { .. } => ExitKind::Busy,
            LockError::Unavailable { .. } => ExitKind::CannotCreate,
        };
        Failure::new(kind, error.to_string())
    }
}

/// Readable where the key is, and different for different keys.
fn file_name(key: &str) -> String {
    let readable: String =
        key.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40).collect();
    let hash = hex(&Sha256::digest(key.as_bytes()));
    format!("{readable}-{}.lock", &hash[..16])
}

/// SHA-256, hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
