//! Opening things below a folder without ever following a link (S1): `openat` component by component
//! with `O_NOFOLLOW`, `lstat` before every open, `fstat` after it. No policy here: `folder` decides
//! what to do with what it finds. Hard links cannot be told from the file itself.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, openat};
use nix::sys::stat::{FileStat, Mode, SFlag, fstat, fstatat};

use crate::own_files;
/// What an entry is, by `lstat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryType {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A named pipe, socket or device.
    Special(&'static str),
}

/// Type and size of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stat {
    /// What it is.
    pub(crate) entry: EntryType,
    /// In bytes.
    pub(crate) size: u64,
}

impl Stat {
    fn of(stat: &FileStat) -> Stat {
        let entry = match SFlag::from_bits_truncate(stat.st_mode & SFlag::S_IFMT.bits()) {
            SFlag::S_IFREG => EntryType::File,
            SFlag::S_IFDIR => EntryType::Folder,
            SFlag::S_IFLNK => EntryType::Link,
            SFlag::S_IFIFO => EntryType::Special("named pipe"),
            SFlag::S_IFSOCK => EntryType::Special("socket"),
            _ => EntryType::Special("device"),
        };
        Stat { entry, size: u64::try_from(stat.st_size).unwrap_or(0) }
    }
}

/// An open folder. All access goes through its descriptor.
#[derive(Debug)]
pub(crate) struct Dir {
    fd: OwnedFd,
    path: PathBuf,
}

/// What a folder lists: as much as it gave, and why it gave no more.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Names, with their types where the listing tells.
    pub(crate) found: Vec<(OsString, Option<EntryType>)>,
    /// What went wrong.
    pub(crate) trouble: Option<String>,
}

/// What became of opening a folder below another.
#[derive(Debug)]
pub(crate) enum Child {
    /// Open.
    Opened(Dir),
    /// Not there.
    Absent,
    /// There, but not to be used; why.
    Refused(String),
}

impl Dir {
    /// Opens the folder that everything else lies below. Links on the way to it are the user's own
    /// and are followed.
    pub(crate) fn open(path: &Path) -> Result<Dir, Errno> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let fd = nix::fcntl::open(path, flags, Mode::empty())?;
        Ok(Dir { fd, path: path.to_owned() })
    }

    /// Opens the folder `name` in this one.
    pub(crate) fn child(&self, name: &str) -> Child {
        match self.lstat(OsStr::new(name)).map(|stat| stat.entry) {
            Ok(EntryType::Folder) => {}
            Ok(EntryType::Link) => return Child::Refused("a symbolic link: not followed".into()),
            Ok(_) => return Child::Refused("not a folder".into()),
            Err(Errno::ENOENT) => return Child::Absent,
            Err(error) => return Child::Refused(reason(error)),
        }
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        match openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => Child::Opened(Dir { fd, path: self.path.join(name) }),
            Err(error) => Child::Refused(reason(error)),
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The names in it, with the type that the listing itself gives away where it does. The listing
    /// goes by path, so it is checked that the path still leads to this very folder; whatever the
    /// names are, they are only ever opened below the descriptor.
    pub(crate) fn names(&self) -> Names {
        let mut names = Names::default();
        let listing = match std::fs::read_dir(&self.path) {
            Ok(listing) => listing,
            Err(error) => {
                names.trouble = Some(format!("not read: {}", io_reason(&error)));
                return names;
            }
        };
        for entry in listing {
            match entry {
                Ok(entry) => {
                    let listed = entry.file_type().ok().and_then(listed_type);
                    names.found.push((entry.file_name(), listed));
                }
                Err(error) => {
                    names.trouble = Some(format!("not read to its end: {}", io_reason(&error)));
                    break;
                }
            }
        }
        if !self.is_same_as(&self.path) {
            names.found.clear();
            names.trouble = Some("not used: replaced while it was read".into());
        }
        names
    }

    /// Is `path` this very folder?
    pub(crate) fn is_same_as(&self, path: &Path) -> bool {
        match (fstat(&self.fd), std::fs::metadata(path)) {
            (Ok(own), Ok(other)) => {
                // The types differ between systems.
                #[allow(clippy::unnecessary_cast)]
                let device = own.st_dev as u64;
                (device, own.st_ino) == (other.dev(), other.ino())
            }
            _ => false,
        }
    }

    /// Type and size of an entry; a link is not followed.
    pub(crate) fn lstat(&self, name: &OsStr) -> Result<Stat, Errno> {
        fstatat(&self.fd, name, AtFlags::AT_SYMLINK_NOFOLLOW).map(|stat| Stat::of(&stat))
    }

    /// Opens a regular file; `lstat` comes first, so that a pipe is not even touched.
    pub(crate) fn open_file(&self, name: &OsStr) -> Result<(File, u64), String> {
        let before = fstatat(&self.fd, name, AtFlags::AT_SYMLINK_NOFOLLOW).map_err(reason)?;
        only_file(Stat::of(&before))?;
        let opened = own_files::open(&self.fd, name, OFlag::O_NOFOLLOW | READ, &before);
        let (fd, after) = opened.map_err(reason)?;
        let stat = Stat::of(&after);
        only_file(stat)?;
        Ok((File::from(fd), stat.size))
    }
}

/// `O_NONBLOCK`: a pipe that took the file's place after `lstat` must not block the open.
const READ: OFlag =
    OFlag::O_RDONLY.union(OFlag::O_NONBLOCK).union(OFlag::O_CLOEXEC).union(OFlag::O_NOCTTY);

/// Opens a regular file that the user named: links are followed, pipes and devices are not opened.
pub(crate) fn open_named(path: &Path) -> Result<(File, u64), String> {
    let before = nix::sys::stat::stat(path).map_err(reason)?;
    only_file(Stat::of(&before))?;
    let (fd, after) = own_files::open(AT_FDCWD, path.as_os_str(), READ, &before).map_err(reason)?;
    let stat = Stat::of(&after);
    only_file(stat)?;
    Ok((File::from(fd), stat.size))
}

/// Reads at most `limit` bytes.
pub(crate) fn read_up_to(file: &File, size: u64, limit: u64) -> Result<Vec<u8>, String> {
    let expected = usize::try_from(size.min(limit)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(expected.saturating_add(1));
    file.take(limit).read_to_end(&mut bytes).map_err(|error| io_reason(&error))?;
    Ok(bytes)
}

/// Reads at most the last `limit` bytes.
pub(crate) fn read_tail(mut file: &File, size: u64, limit: u64) -> Result<Vec<u8>, String> {
    let from = size.saturating_sub(limit);
    file.seek(SeekFrom::Start(from)).map_err(|error| io_reason(&error))?;
    read_up_to(file, size - from, limit)
}

/// An error in few words: `permission denied`.
pub(crate) fn reason(error: Errno) -> String {
    if error == own_files::OWN {
        return own_files::REASON.to_owned();
    }
    error.desc().to_lowercase()
}

/// An error in few words, without its number.
pub(crate) fn io_reason(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(code) => reason(Errno::from_raw(code)),
        None => error.to_string(),
    }
}

/// Why an entry that is not a regular file is not used.
pub(crate) fn not_a_file(entry: EntryType) -> Option<String> {
    match entry {
        EntryType::File => None,
        EntryType::Folder => Some("a folder".into()),
        EntryType::Link => Some("a symbolic link: not followed".into()),
        EntryType::Special(what) => Some(format!("a {what}")),
    }
}

fn only_file(stat: Stat) -> Result<(), String> {
    not_a_file(stat.entry).map_or(Ok(()), Err)
}

fn listed_type(listed: std::fs::FileType) -> Option<EntryType> {
    if listed.is_file() {
        Some(EntryType::File)
    } else if listed.is_dir() {
        Some(EntryType::Folder)
    } else if listed.is_symlink() {
        Some(EntryType::Link)
    } else {
        None
    }
}
