//! Docs as single files, for what was asked for at one time and is done at another: looked at without
//! a change, and meant by exact name and exact bucket, so that nothing else can take their place.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use crate::project::docs::{
    Bucket, DocsError, Located, change, checked_name, in_folder, locate, remove_located,
};
use crate::project::docs_dir::DocsDir;
use crate::project::flags::{Entry, EntryKind};
use crate::project::names::{Found, find, shown};
use crate::session::{Store, UnixMs};

/// Whether a file could be added, as far as the folder says it: nothing is made or written. What the
/// source is, is not looked at.
pub fn check_addition(
    root: &Path,
    name: &OsStr,
    bucket: Bucket,
    replace: bool,
    is_text: impl Fn(&OsStr) -> bool,
) -> Result<(), DocsError> {
    checked_name(name, is_text)?;
    let dir = match DocsDir::open(root, bucket) {
        Ok(dir) => dir,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(in_folder(root, bucket, error)),
    };
    match dir.entry(name).map_err(|error| in_folder(root, bucket, error))? {
        None => Ok(()),
        Some(Entry { kind: EntryKind::File, .. }) if replace => Ok(()),
        Some(_) => Err(DocsError::Exists { name: shown(name) }),
    }
}

/// A doc as it lies in its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocFile {
    /// Where it is.
    pub bucket: Bucket,
    /// Its name, as on disk.
    pub name: OsString,
    /// SHA-256 of its bytes, hex; `None` for what is no regular file, such as a link.
    pub hash: Option<String>,
    /// In bytes.
    pub size: u64,
}

/// Looks at a doc, in the bucket that is named or in the one that has it.
pub fn look_at(root: &Path, name: &OsStr, bucket: Option<Bucket>) -> Result<DocFile, DocsError> {
    seen(root, locate(root, name, bucket)?)
}

/// The same for the doc of exactly this name in exactly this bucket.
pub fn exactly(root: &Path, name: &OsStr, bucket: Bucket) -> Result<DocFile, DocsError> {
    seen(root, locate_exactly(root, name, bucket)?)
}

/// The bytes of the doc of exactly this name in exactly this bucket, at most `limit` of them.
pub fn bytes_of(
    root: &Path,
    name: &OsStr,
    bucket: Bucket,
    limit: u64,
) -> Result<Vec<u8>, DocsError> {
    let doc = locate_exactly(root, name, bucket)?;
    let bytes = doc.dir.read(&doc.entry.name, limit);
    bytes.map_err(|error| DocsError::Io { path: doc.path(root), error })
}

fn seen(root: &Path, doc: Located) -> Result<DocFile, DocsError> {
    let hash = match doc.entry.kind {
        EntryKind::File => {
            let hash = doc.dir.hash(&doc.entry.name);
            Some(hash.map_err(|error| DocsError::Io { path: doc.path(root), error })?)
        }
        EntryKind::Link | EntryKind::Folder | EntryKind::Other => None,
    };
    Ok(DocFile { bucket: doc.bucket, name: doc.entry.name, hash, size: doc.entry.size })
}

/// The room that the regular files of the always bucket take, in bytes; without the one named
/// `without`.
pub fn always_bytes(root: &Path, without: Option<&str>) -> Result<u64, DocsError> {
    let entries = match DocsDir::open(root, Bucket::Always).and_then(|dir| dir.entries()) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(in_folder(root, Bucket::Always, error)),
    };
    let counted = entries.iter().filter(|entry| {
        entry.kind == EntryKind::File && without.is_none_or(|name| entry.name != OsStr::new(name))
    });
    Ok(counted.map(|entry| entry.size).sum())
}

/// Removes what a copy that was never finished has left under this name; nothing is no error.
pub fn drop_draft(root: &Path, bucket: Bucket, draft: &OsStr) -> Result<(), DocsError> {
    match DocsDir::open(root, bucket).and_then(|dir| dir.remove(draft)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(in_folder(root, bucket, error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Takes flag and place in the order away from a doc that is gone.
pub fn forget(store: &Store, root: &Path, name: &OsStr, now: UnixMs) -> Result<(), DocsError> {
    let mut names = match DocsDir::open(root, Bucket::Always).and_then(|dir| dir.entries()) {
        Ok(entries) => entries.into_iter().map(|entry| entry.name).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(in_folder(root, Bucket::Always, error)),
    };
    let gone = names.len();
    names.push(name.to_owned());
    let is_it = |stored: &str| find(OsStr::new(stored), &names) == Found::One(gone);
    change(store, root, now, |docs| {
        docs.flags.retain(|flag| !is_it(&flag.name));
        docs.order.retain(|listed| !is_it(listed));
        Ok(())
    })
}

/// The same for the doc of exactly this name in exactly this bucket.
pub fn remove_exactly(
    store: &Store,
    root: &Path,
    name: &OsStr,
    bucket: Bucket,
    now: UnixMs,
) -> Result<(), DocsError> {
    remove_located(store, root, &locate_exactly(root, name, bucket)?, now)
}

/// The doc of exactly this name: no other form of it, no other case, no other bucket.
pub(super) fn locate_exactly(
    root: &Path,
    name: &OsStr,
    bucket: Bucket,
) -> Result<Located, DocsError> {
    let not_found = || DocsError::NotFound { name: shown(name), near: Vec::new() };
    let dir = match DocsDir::open(root, bucket) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(not_found()),
        dir => dir.map_err(|error| in_folder(root, bucket, error))?,
    };
    let entries = dir.entries().map_err(|error| in_folder(root, bucket, error))?;
    let entry = entries.iter().find(|e| e.name == name && e.kind != EntryKind::Folder);
    let entry = entry.ok_or_else(not_found)?.clone();
    let names = entries.into_iter().map(|entry| entry.name).collect();
    Ok(Located { dir, bucket, entry, names })
}
