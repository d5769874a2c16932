//! The docs folder as the docs commands write it: opened step by step without following a link, so
//! that a link planted in the project leads nothing out of it; files come whole or not at all.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, open, openat, renameat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstatat, mkdirat};
use nix::unistd::{UnlinkatFlags, linkat, unlinkat};
use sha2::{Digest, Sha256};

use crate::failpoint;
use crate::own_files;
use crate::project::docs::{Bucket, Seen};
use crate::project::flags::{Entry, EntryKind};
use crate::session::hex;

/// One bucket's folder, open.
#[derive(Debug)]
pub(super) struct DocsDir {
    folder: OwnedFd,
    path: PathBuf,
}

/// How a file came to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    /// SHA-256 of its bytes, hex.
    pub(super) hash: String,
    /// In bytes.
    pub(super) size: u64,
    /// It took the place of another.
    pub(super) replaced: bool,
}

impl DocsDir {
    /// Opens the folder; an error of kind `NotFound` where there is none.
    pub(super) fn open(root: &Path, bucket: Bucket) -> io::Result<DocsDir> {
        DocsDir::walk(root, bucket, false)
    }

    /// Opens the folder and makes what is missing of it.
    pub(super) fn create(root: &Path, bucket: Bucket) -> io::Result<DocsDir> {
        DocsDir::walk(root, bucket, true)
    }

    fn walk(root: &Path, bucket: Bucket, make: bool) -> io::Result<DocsDir> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let mut folder = open(root, flags, Mode::empty())?;
        let mut path = root.to_owned();
        for step in bucket.steps() {
            path.push(step);
            if make {
                match mkdirat(&folder, *step, Mode::from_bits_truncate(0o777)) {
                    Ok(()) | Err(Errno::EEXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            folder = openat(&folder, *step, flags | OFlag::O_NOFOLLOW, Mode::empty()).map_err(
                |error| match error {
                    Errno::ELOOP | Errno::ENOTDIR => {
                        let text = format!("`{}` is a link or no folder", path.display());
                        io::Error::new(io::ErrorKind::NotADirectory, text)
                    }
                    error => error.into(),
                },
            )?;
        }
        Ok(DocsDir { folder, path })
    }

    /// What lies in it, by name; hidden files are not docs (S4).
    pub(super) fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            if let Some(entry) = self.entry(&name)? {
                entries.push(entry);
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// The entry of exactly this name.
    pub(super) fn entry(&self, name: &OsStr) -> io::Result<Option<Entry>> {
        Ok(self.stat(name)?.map(|about| Entry {
            name: name.to_owned(),
            size: u64::try_from(about.st_size).unwrap_or_default(),
            kind: match SFlag::from_bits_truncate(about.st_mode & SFlag::S_IFMT.bits()) {
                SFlag::S_IFREG => EntryKind::File,
                SFlag::S_IFLNK => EntryKind::Link,
                SFlag::S_IFDIR => EntryKind::Folder,
                _ => EntryKind::Other,
            },
        }))
    }

    /// Everything that lies in it.
    pub(super) fn seen(&self) -> io::Result<Vec<Seen>> {
        let mut all = Vec::new();
        for entry in std::fs::read_dir(&self.path)? {
            let name = entry?.file_name();
            // What went between the two looks is not there.
            let Some(about) = self.stat(&name)? else { continue };
            all.push(Seen {
                is_file: about.st_mode & SFlag::S_IFMT.bits() == SFlag::S_IFREG.bits(),
                size: u64::try_from(about.st_size).unwrap_or_default(),
                inode: about.st_ino,
                changed_at: i128::from(about.st_ctime) * 1_000_000_000
                    + i128::from(about.st_ctime_nsec),
                name,
            });
        }
        Ok(all)
    }

    fn stat(&self, name: &OsStr) -> io::Result<Option<FileStat>> {
        match fstatat(&self.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW) {
            Ok(about) => Ok(Some(about)),
            Err(Errno::ENOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// SHA-256 of a file, hex.
    pub(super) fn hash(&self, name: &OsStr) -> io::Result<String> {
        Ok(copy_hashed(self.open_file(name)?, io::sink())?.0)
    }

    /// The first `limit` bytes of a file.
    pub(super) fn read(&self, name: &OsStr, limit: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_file(name)?.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn open_file(&self, name: &OsStr) -> io::Result<File> {
        // Not blocking: the entry may have become a pipe since it was listed.
        let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let before = fstatat(&self.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
        let file = match own_files::open(&self.folder, name, flags, &before) {
            Err(own_files::OWN) => return Err(io::Error::other(own_files::REASON)),
            opened => File::from(opened?.0),
        };
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("not a regular file")),
        }
    }

    /// Writes `source` to `name`, by way of `draft`. `accept` sees the hash before anything has that
    /// name.
    pub(super) fn write(
        &self,
        name: &OsStr,
        source: &mut dyn Read,
        replace: bool,
        accept: impl FnOnce(&str) -> bool,
        draft: Option<&OsStr>,
    ) -> io::Result<Option<Written>> {
        let random = || format!(".omni-run-{}.draft", uuid::Uuid::new_v4().simple()).into();
        let draft: OsString = draft.map_or_else(random, OsStr::to_owned);
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_CLOEXEC;
        let mode = Mode::from_bits_truncate(0o666);
        let mut file = File::from(openat(&self.folder, draft.as_os_str(), flags, mode)?);
        failpoint::reach("draft");
        let fill = || -> io::Result<Option<Written>> {
            let (hash, size) = copy_hashed(source, &mut file)?;
            file.sync_all()?;
            failpoint::reach("copied");
            if !accept(&hash) {
                return Ok(None);
            }
            let replaced = replace && self.stat(name)?.is_some();
            if replaced {
                renameat(&self.folder, draft.as_os_str(), &self.folder, name)?;
            } else {
                self.move_to_new(&draft, name)?;
            }
            failpoint::reach("landed");
            Ok(Some(Written { hash, size, replaced }))
        };
        let written = fill();
        if !matches!(written, Ok(Some(_))) {
            let _ = unlinkat(&self.folder, draft.as_os_str(), UnlinkatFlags::NoRemoveDir);
        }
        self.sync();
        written
    }

    /// Gives a file another name; `AlreadyExists` where that is taken.
    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let id = |about: &FileStat| (about.st_dev, about.st_ino);
        let (old, new) = (self.stat(from)?, self.stat(to)?);
        // On a disk that ignores case or Unicode form, the new name already means this file.
        let same = matches!((&old, &new), (Some(old), Some(new)) if id(old) == id(new));
        if same && old.is_some_and(|old| old.st_nlink == 1) {
            renameat(&self.folder, from, &self.folder, to)?;
        } else {
            self.move_to_new(from, to)?;
        }
        self.sync();
        Ok(())
    }

    /// Moves a file into the other bucket, under its name; `AlreadyExists` where that is taken.
    pub(super) fn transfer(&self, name: &OsStr, other: &DocsDir) -> io::Result<()> {
        self.move_into(name, other, name)?;
        self.sync();
        other.sync();
        Ok(())
    }

    fn move_to_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.move_into(from, self, to)
    }

    /// A link, then the old name away: the one way to rename that never replaces, on every system.
    fn move_into(&self, from: &OsStr, other: &DocsDir, to: &OsStr) -> io::Result<()> {
        match linkat(&self.folder, from, &other.folder, to, AtFlags::empty()) {
            Ok(()) => {
                failpoint::reach("linked");
                unlinkat(&self.folder, from, UnlinkatFlags::NoRemoveDir)?;
                return Ok(());
            }
            // Disks without links: a look first, which a second writer could fool.
            Err(Errno::EPERM | Errno::EOPNOTSUPP | Errno::EMLINK | Errno::ENOSYS) => {}
            Err(error) => return Err(error.into()),
        }
        if other.stat(to)?.is_some() {
            return Err(Errno::EEXIST.into());
        }
        renameat(&self.folder, from, &other.folder, to)?;
        Ok(())
    }

    /// Removes a file or a link, never a folder.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        unlinkat(&self.folder, name, UnlinkatFlags::NoRemoveDir)?;
        self.sync();
        Ok(())
    }

    fn sync(&self) {
        // Some file systems can't sync a folder.
        let _ = nix::unistd::fsync(&self.folder);
    }
}

/// Copies and hashes in one pass. Gives the SHA-256 in hex and the size in bytes.
pub(crate) fn copy_hashed(mut from: impl Read, mut to: impl Write) -> io::Result<(String, u64)> {
    let mut hasher = Sha256::new();
    let mut size = 0;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => return Ok((hex(&hasher.finalize()), size)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&buffer[..count]);
        to.write_all(&buffer[..count])?;
        size += count as u64;
    }
}
