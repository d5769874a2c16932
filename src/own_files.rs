//! The database's files, which a request or a project must not lead this process to open. POSIX drops
//! all locks of a process on a file when it closes any descriptor of it, those of SQLite among them;
//! another process then takes the log away under a server that still uses it. A hard link is the same
//! file under another name, so names are not enough.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{FileStat, Mode, fstat};

use crate::session::beside;

/// What [`open`] answers for such a file.
pub(crate) const OWN: Errno = Errno::EBUSY;
/// The reason for people.
pub(crate) const REASON: &str = "it belongs to omni-run's own database";

/// What SQLite puts beside a database.
const BESIDE: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// The databases that this process has opened.
static DATABASES: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

/// From now on the files of this database are not opened by [`open`]. Call it before SQLite opens it.
pub(crate) fn register(database: &Path) {
    let known = DATABASES.read().unwrap_or_else(PoisonError::into_inner);
    if known.iter().any(|known| known == database) {
        return;
    }
    drop(known);
    DATABASES.write().unwrap_or_else(PoisonError::into_inner).push(database.to_owned());
}

/// Whether this folder holds such a database: what lies in it is omni-run's own.
pub(crate) fn is_own_folder(folder: &FileStat) -> bool {
    let databases = DATABASES.read().unwrap_or_else(PoisonError::into_inner);
    databases.iter().filter_map(|file| file.parent()).any(|own| is_same(own, folder))
}

/// Opens `name` in a folder for reading; with what is open then. `before`: what the caller has seen
/// there, along a link where the flags follow one.
///
/// # Errors
/// [`OWN`] for a file of the database, else what the system says.
pub(crate) fn open(
    folder: impl AsFd,
    name: &OsStr,
    flags: OFlag,
    before: &FileStat,
) -> nix::Result<(OwnedFd, FileStat)> {
    // A file of one name has the name by which it is opened, but for links on the way to it.
    let plain = before.st_nlink == 1 && flags.contains(OFlag::O_NOFOLLOW);
    if (!plain || has_own_name(name)) && is_own(before) {
        return Err(OWN);
    }
    let fd = openat(folder, name, flags, Mode::empty())?;
    let after = fstat(&fd)?;
    if (after.st_dev, after.st_ino) != (before.st_dev, before.st_ino) && is_own(&after) {
        // Swapped between the two looks. Left open: to close it is what must not happen.
        std::mem::forget(fd);
        return Err(OWN);
    }
    Ok((fd, after))
}

fn is_own(file: &FileStat) -> bool {
    let databases = DATABASES.read().unwrap_or_else(PoisonError::into_inner);
    databases
        .iter()
        .any(|database| BESIDE.iter().any(|ending| is_same(&beside(database, ending), file)))
}

fn has_own_name(name: &OsStr) -> bool {
    let databases = DATABASES.read().unwrap_or_else(PoisonError::into_inner);
    let mut names = databases.iter().filter_map(|file| file.file_name());
    names.any(|own| name.as_bytes().starts_with(own.as_bytes()))
}

fn is_same(path: &Path, file: &FileStat) -> bool {
    // The types differ between systems.
    #[allow(clippy::unnecessary_cast)]
    let device = file.st_dev as u64;
    std::fs::metadata(path).is_ok_and(|own| (own.dev(), own.ino()) == (device, file.st_ino))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::fcntl::AtFlags;
    use nix::sys::stat::fstatat;

    #[test]
    fn a_database_is_not_opened_under_any_name() {
        let dir = tempfile::tempdir().expect("dir");
        let path = |name: &str| dir.path().join(name);
        for name in ["omni.db", "omni.db-shm", "other.md"] {
            std::fs::write(path(name), name).expect("file");
        }
        std::fs::hard_link(path("omni.db-shm"), path("a.md")).expect("link");
        std::os::unix::fs::symlink(path("omni.db"), path("b.md")).expect("link");
        register(&path("omni.db"));
        let folder = std::fs::File::open(dir.path()).expect("folder");
        let read = |name: &str, flags: OFlag| {
            let follow = match flags.contains(OFlag::O_NOFOLLOW) {
                true => AtFlags::AT_SYMLINK_NOFOLLOW,
                false => AtFlags::empty(),
            };
            let before = fstatat(&folder, name, follow)?;
            open(&folder, OsStr::new(name), flags, &before).map(drop)
        };
        for name in ["omni.db", "omni.db-shm", "a.md"] {
            assert_eq!(read(name, OFlag::O_RDONLY | OFlag::O_NOFOLLOW), Err(OWN), "{name}");
        }
        assert_eq!(read("b.md", OFlag::O_RDONLY), Err(OWN));
        assert_eq!(read("b.md", OFlag::O_RDONLY | OFlag::O_NOFOLLOW), Err(Errno::ELOOP));
        assert_eq!(read("other.md", OFlag::O_RDONLY | OFlag::O_NOFOLLOW), Ok(()));
        assert!(is_own_folder(&fstat(&folder).expect("stat")));
    }
}
