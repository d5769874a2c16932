//! What the docs commands do to the docs folder and to its order and flags: one function each, run
//! at a person's word. Showing the docs is the commands' business, reading them `context`'s.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{ExitKind, Failure, did_you_mean};
use crate::project::docs_dir::DocsDir;
use crate::project::flags::{self, Entry, EntryKind, Reconciled, ineligible};
use crate::project::names::{self, Found, find, shown};
use crate::project::registry::{self, Content, DocSettings, Flag};
use crate::session::{Store, StoreError, UnixMs};

/// The two folders of docs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bucket {
    /// The top level of `.claude/docs`.
    Always,
    /// `.claude/docs/rag`.
    Rag,
}

impl Bucket {
    /// From the project's folder down.
    pub(super) fn steps(self) -> &'static [&'static str] {
        match self {
            Bucket::Always => &[".claude", "docs"],
            Bucket::Rag => &[".claude", "docs", "rag"],
        }
    }

    /// Its folder in a project.
    pub fn folder(self, root: &Path) -> PathBuf {
        self.steps().iter().fold(root.to_owned(), |path, step| path.join(step))
    }

    /// As the API says it.
    pub fn as_str(self) -> &'static str {
        match self {
            Bucket::Always => "always",
            Bucket::Rag => "rag",
        }
    }

    /// From the API's word, exactly.
    pub fn parse(word: &str) -> Option<Bucket> {
        [Bucket::Always, Bucket::Rag].into_iter().find(|bucket| bucket.as_str() == word)
    }
}

/// Why a docs command did nothing. Names are as printed.
#[derive(Debug, thiserror::Error)]
pub enum DocsError {
    /// No doc has the name.
    #[error("there is no doc `{name}`")]
    NotFound {
        /// The name.
        name: String,
        /// Names like it.
        near: Vec<String>,
    },
    /// Several docs have it.
    #[error("`{name}` is ambiguous: {reason}")]
    Ambiguous {
        /// The name.
        name: String,
        /// In which way.
        reason: String,
    },
    /// A doc has it already.
    #[error("the doc `{name}` is there already")]
    Exists {
        /// The name.
        name: String,
    },
    /// It can't be a doc's name.
    #[error("`{name}` cannot be the name of a doc: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// Why.
        reason: String,
    },
    /// It can't be an instruction.
    #[error("`{name}` cannot be an instruction: {reason}")]
    NotInstructable {
        /// The name.
        name: String,
        /// Why.
        reason: String,
    },
    /// It is none.
    #[error("`{name}` is not an instruction")]
    NotFlagged {
        /// The name.
        name: String,
    },
    /// It is named twice in an order.
    #[error("`{name}` is named twice")]
    Twice {
        /// The name.
        name: String,
    },
    /// The source has other bytes than were asked for.
    #[error("the source of `{name}` has changed")]
    SourceChanged {
        /// The name.
        name: String,
    },
    /// The doc that it replaces has other bytes than were known.
    #[error("`{name}` has other bytes than when its replacement was asked for, and stays")]
    DocChanged {
        /// The name.
        name: String,
    },
    /// The disk says no.
    #[error("`{}`: {error}", path.display())]
    Io {
        /// What was touched.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
    /// The store says no.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<DocsError> for Failure {
    fn from(error: DocsError) -> Failure {
        let message = error.to_string();
        match error {
            DocsError::Store(error) => error.into(),
            DocsError::NotFound { near, .. } if near.is_empty() => {
                Failure::new(ExitKind::NotFound, message).hint("`omni-run docs ls` lists them")
            }
            DocsError::NotFound { near, .. } => Failure::new(ExitKind::NotFound, message)
                .hint(format!("did you mean `{}`?", near.join("`, `"))),
            DocsError::Exists { .. } => {
                Failure::new(ExitKind::CannotCreate, message).hint("`--replace` takes its place")
            }
            DocsError::SourceChanged { .. }
            | DocsError::DocChanged { .. }
            | DocsError::Io { .. } => Failure::new(ExitKind::CannotCreate, message),
            DocsError::Ambiguous { .. }
            | DocsError::BadName { .. }
            | DocsError::NotInstructable { .. }
            | DocsError::NotFlagged { .. }
            | DocsError::Twice { .. } => Failure::new(ExitKind::Usage, message),
        }
    }
}

/// A file to be added.
pub struct Addition<'a> {
    /// Its bytes.
    pub source: &'a mut dyn Read,
    /// The name it gets.
    pub name: &'a OsStr,
    /// Where it goes.
    pub bucket: Bucket,
    /// Whether it may take the place of another.
    pub replace: bool,
    /// The SHA-256, hex, that the other must have then; `None`: any.
    pub replaces: Option<&'a str>,
    /// The SHA-256, hex, that its bytes must have.
    pub expected_hash: Option<&'a str>,
    /// The name of the copy until it is whole: a hidden one that nothing has. `None`: a random one.
    pub draft: Option<&'a OsStr>,
}

/// A file that was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Where it is.
    pub path: PathBuf,
    /// SHA-256 of its bytes, hex.
    pub hash: String,
    /// In bytes.
    pub size: u64,
    /// It took the place of another.
    pub replaced: bool,
}

/// Copies a file into the docs folder. A new doc is never an instruction, whatever had its name
/// before; one that replaces a flagged doc stays one.
pub fn add(
    store: &Store,
    root: &Path,
    addition: Addition<'_>,
    is_text: impl Fn(&OsStr) -> bool,
    now: UnixMs,
) -> Result<Added, DocsError> {
    let Addition { source, name, bucket, replace, replaces, expected_hash, draft } = addition;
    checked_name(name, is_text)?;
    let (label, path) = (shown(name), bucket.folder(root).join(name));
    let io = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => DocsError::Exists { name: label.clone() },
        _ => DocsError::Io { path: path.clone(), error },
    };
    let dir = DocsDir::create(root, bucket).map_err(io)?;
    match dir.entry(name).map_err(io)? {
        None => {}
        Some(Entry { kind: EntryKind::File, .. }) if replace => {}
        Some(_) => return Err(DocsError::Exists { name: label }),
    }
    let mut other_changed = false;
    let accept = |hash: &str| {
        // One that is gone is no loss.
        other_changed = replaces.is_some_and(|known| {
            !matches!(dir.entry(name), Ok(None)) && !dir.hash(name).is_ok_and(|now| now == known)
        });
        !other_changed && expected_hash.is_none_or(|expected| expected == hash)
    };
    let written = dir.write(name, source, replace, accept, draft).map_err(io)?;
    let Some(written) = written else {
        return Err(match other_changed {
            true => DocsError::DocChanged { name: label },
            false => DocsError::SourceChanged { name: label },
        });
    };
    if bucket == Bucket::Always && !written.replaced {
        forget_flag(store, root, name, now)?;
    }
    Ok(Added { path, hash: written.hash, size: written.size, replaced: written.replaced })
}

/// Takes the flag away that a doc of this name once had: a new doc is no instruction.
pub fn forget_flag(store: &Store, root: &Path, name: &OsStr, now: UnixMs) -> Result<(), DocsError> {
    change(store, root, now, |docs| {
        docs.flags.retain(|flag| OsStr::new(&flag.name) != name);
        Ok(())
    })
}

/// Deletes a doc, with its flag and its place in the order. Gives its bucket and its name on disk.
pub fn remove(
    store: &Store,
    root: &Path,
    name: &OsStr,
    bucket: Option<Bucket>,
    now: UnixMs,
) -> Result<(Bucket, OsString), DocsError> {
    let doc = locate(root, name, bucket)?;
    remove_located(store, root, &doc, now)?;
    Ok((doc.bucket, doc.entry.name))
}

pub(super) fn remove_located(
    store: &Store,
    root: &Path,
    doc: &Located,
    now: UnixMs,
) -> Result<(), DocsError> {
    change(store, root, now, |docs| {
        if doc.bucket == Bucket::Always {
            docs.flags.retain(|flag| !doc.has_name(&flag.name));
            docs.order.retain(|listed| !doc.has_name(listed));
        }
        let removed = doc.dir.remove(&doc.entry.name);
        crate::failpoint::reach("landed");
        removed.map_err(|error| DocsError::Io { path: doc.path(root), error })
    })
}

/// Renames a doc within its bucket; flag and place in the order go along (S35).
pub fn rename(
    store: &Store,
    root: &Path,
    from: &OsStr,
    to: &OsStr,
    bucket: Option<Bucket>,
    is_text: impl Fn(&OsStr) -> bool,
    now: UnixMs,
) -> Result<PathBuf, DocsError> {
    let new_name = checked_name(to, &is_text)?;
    let doc = locate(root, from, bucket)?;
    let path = doc.bucket.folder(root).join(to);
    change(store, root, now, |docs| {
        if doc.bucket == Bucket::Always {
            let old = |name: &str| doc.has_name(name);
            let flagged = docs.flags.iter().any(|flag| old(&flag.name));
            if flagged && !is_text(to) {
                let reason = "and only a text file can be one".to_owned();
                return Err(DocsError::NotInstructable { name: shown(to), reason });
            }
            // Settings of a file that had the new name and is gone must not come along.
            docs.flags.retain(|flag| flag.name != new_name || old(&flag.name));
            docs.order.retain(|name| name != new_name || old(name));
            docs.flags.iter_mut().filter(|f| old(&f.name)).for_each(|f| f.name = new_name.into());
            docs.order.iter_mut().filter(|n| old(n)).for_each(|n| *n = new_name.into());
        }
        doc.dir.rename(&doc.entry.name, to).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => DocsError::Exists { name: shown(to) },
            _ => DocsError::Io { path: path.clone(), error },
        })
    })?;
    Ok(path)
}

/// Saves the order of the docs; the rest follows by name (S5). No names: by name altogether.
pub fn set_order(
    store: &Store,
    root: &Path,
    wanted: &[OsString],
    now: UnixMs,
) -> Result<Vec<String>, DocsError> {
    let entries = match DocsDir::open(root, Bucket::Always) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        dir => dir.and_then(|dir| dir.entries()).map_err(|e| in_folder(root, Bucket::Always, e))?,
    };
    let mut order: Vec<String> = Vec::new();
    for name in wanted {
        let entry = pick(name, &entries)?;
        let text = entry.name.to_str().ok_or_else(|| DocsError::BadName {
            name: shown(name),
            reason: "the name is not UTF-8, so it cannot be kept".to_owned(),
        })?;
        if order.iter().any(|listed| listed == text) {
            return Err(DocsError::Twice { name: shown(name) });
        }
        order.push(text.to_owned());
    }
    change(store, root, now, |docs| {
        docs.order.clone_from(&order);
        Ok(())
    })?;
    Ok(order)
}

/// Flags a top-level text doc as instruction (S30). `false`: it was one.
pub fn instruct(
    store: &Store,
    root: &Path,
    name: &OsStr,
    is_text: impl Fn(&OsStr) -> bool,
    now: UnixMs,
) -> Result<bool, DocsError> {
    let refused =
        |reason: &str| DocsError::NotInstructable { name: shown(name), reason: reason.to_owned() };
    let doc = match locate(root, name, Some(Bucket::Always)) {
        Ok(doc) => doc,
        Err(DocsError::NotFound { .. }) if locate(root, name, Some(Bucket::Rag)).is_ok() => {
            return Err(refused("it is in rag/, and only top-level docs can be one"));
        }
        Err(error) => return Err(error),
    };
    if let Some(reason) = ineligible(&doc.entry, is_text) {
        return Err(refused(reason));
    }
    let Some(text) = doc.entry.name.to_str() else { return Err(refused("its name is not UTF-8")) };
    let hash = doc.dir.hash(&doc.entry.name);
    let hash = hash.map_err(|error| DocsError::Io { path: doc.path(root), error })?;
    let content = Some(Content { hash, size: doc.entry.size, missing: false });
    change(store, root, now, |docs| {
        let flag = Flag { name: text.to_owned(), content };
        match docs.flags.iter_mut().find(|flag| doc.has_name(&flag.name)) {
            Some(old) => {
                *old = flag;
                Ok(false)
            }
            None => {
                docs.flags.push(flag);
                Ok(true)
            }
        }
    })
}

/// Takes the flag away, also one whose file is gone.
pub fn uninstruct(store: &Store, root: &Path, name: &OsStr, now: UnixMs) -> Result<(), DocsError> {
    change(store, root, now, |docs| {
        let names: Vec<&str> = docs.flags.iter().map(|flag| flag.name.as_str()).collect();
        match find(name, &names) {
            Found::One(index) => {
                docs.flags.remove(index);
                Ok(())
            }
            Found::None => Err(DocsError::NotFlagged { name: shown(name) }),
            Found::Several => Err(two_forms(name)),
        }
    })
}

/// Looks at the folder and lets the flags follow it (S35). Called before each launch and by
/// `docs ls`. Where the store can't be written the answer is right all the same, and a note says
/// that it was not kept.
pub fn reconcile_flags(
    store: &Store,
    root: &Path,
    is_text: impl Fn(&OsStr) -> bool,
    now: UnixMs,
) -> Result<Reconciled, StoreError> {
    let known = registry::of_folder(store, root)?.map(|project| project.docs).unwrap_or_default();
    if known.flags.is_empty() {
        return Ok(Reconciled::default());
    }
    let (dir, entries) = match DocsDir::open(root, Bucket::Always)
        .and_then(|dir| dir.entries().map(|entries| (Some(dir), entries)))
    {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => (None, Vec::new()),
        // Not "all files are gone": what can't be seen is not judged.
        Err(error) => {
            let note = format!("the instruction flags are ignored: {error}");
            return Ok(Reconciled { instructions: Vec::new(), notes: vec![note] });
        }
    };
    let look = |docs: &mut DocSettings| {
        let hash = |name: &OsStr| dir.as_ref()?.hash(name).ok();
        flags::reconcile(docs, &entries, &is_text, hash)
    };
    let mut docs = known.clone();
    let mut result = look(&mut docs);
    if docs != known {
        // Once more under the write lock: another process may have changed the flags since.
        let kept = registry::change_docs(store, root, now, |docs| Ok::<_, ()>(look(docs)));
        match kept {
            Ok(Ok(kept)) => result = kept,
            Ok(Err(())) => {}
            Err(error) => result.notes.push(format!("the instruction flags are not kept: {error}")),
        }
    }
    Ok(result)
}

/// An entry of a bucket as `lstat` sees it: what tells whether anything about it has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Its name.
    pub name: OsString,
    /// A regular file.
    pub is_file: bool,
    /// In bytes.
    pub size: u64,
    /// Its number on the disk.
    pub inode: u64,
    /// When it was last changed in any way, in nanoseconds since 1970. Nobody can set this back.
    pub changed_at: i128,
}

/// All entries of a bucket, hidden ones too, in no order; none where the folder is not there or is a
/// link.
///
/// # Errors
/// A folder that can't be read.
pub fn seen(root: &Path, bucket: Bucket) -> io::Result<Vec<Seen>> {
    match DocsDir::open(root, bucket) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(Vec::new())
        }
        dir => dir?.seen(),
    }
}

/// The regular files of a bucket with their sizes, by bytes of their names; hidden ones are not docs
/// (S4).
///
/// # Errors
/// A folder that can't be read.
pub fn files(root: &Path, bucket: Bucket) -> io::Result<Vec<(OsString, u64)>> {
    let hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
    let seen = seen(root, bucket)?.into_iter().filter(|e| e.is_file && !hidden(&e.name));
    let mut files: Vec<_> = seen.map(|entry| (entry.name, entry.size)).collect();
    files.sort();
    Ok(files)
}

pub(super) fn change<T>(
    store: &Store,
    root: &Path,
    now: UnixMs,
    change: impl FnOnce(&mut DocSettings) -> Result<T, DocsError>,
) -> Result<T, DocsError> {
    registry::change_docs(store, root, now, change)?
}

pub(super) fn checked_name(
    name: &OsStr,
    is_text: impl Fn(&OsStr) -> bool,
) -> Result<&str, DocsError> {
    let bad = |reason: String| DocsError::BadName { name: shown(name), reason };
    names::check_new(name, is_text).map_err(bad)?;
    name.to_str().ok_or_else(|| bad("the name is not UTF-8".to_owned()))
}

/// A doc that was found.
pub(super) struct Located {
    pub(super) dir: DocsDir,
    pub(super) bucket: Bucket,
    pub(super) entry: Entry,
    /// The names of all entries of its folder, itself included.
    pub(super) names: Vec<OsString>,
}

impl Located {
    /// Whether a stored name means this doc.
    pub(super) fn has_name(&self, stored: &str) -> bool {
        match find(OsStr::new(stored), &self.names) {
            Found::One(index) => self.names[index] == self.entry.name,
            Found::None | Found::Several => false,
        }
    }

    pub(super) fn path(&self, root: &Path) -> PathBuf {
        self.bucket.folder(root).join(&self.entry.name)
    }
}

/// The doc that was named, in the bucket that was named or in the one that has it.
pub(super) fn locate(
    root: &Path,
    name: &OsStr,
    bucket: Option<Bucket>,
) -> Result<Located, DocsError> {
    let buckets = match bucket {
        Some(bucket) => vec![bucket],
        None => vec![Bucket::Always, Bucket::Rag],
    };
    let (mut found, mut near) = (Vec::new(), Vec::new());
    for bucket in buckets {
        let dir = match DocsDir::open(root, bucket) {
            Ok(dir) => dir,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(in_folder(root, bucket, error)),
        };
        let entries = dir.entries().map_err(|error| in_folder(root, bucket, error))?;
        match pick(name, &entries) {
            Ok(entry) => {
                let entry = entry.clone();
                let names = entries.into_iter().map(|entry| entry.name).collect();
                found.push(Located { dir, bucket, entry, names });
            }
            Err(DocsError::NotFound { near: more, .. }) => near.extend(more),
            Err(error) => return Err(error),
        }
    }
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Ok(only),
        (Some(_), false) => Err(DocsError::Ambiguous {
            name: shown(name),
            reason: "it is at the top level and in rag/".to_owned(),
        }),
        (None, _) => Err(DocsError::NotFound { name: shown(name), near }),
    }
}

fn pick<'a>(name: &OsStr, entries: &'a [Entry]) -> Result<&'a Entry, DocsError> {
    let docs: Vec<&Entry> = entries.iter().filter(|e| e.kind != EntryKind::Folder).collect();
    let names: Vec<&OsStr> = docs.iter().map(|entry| entry.name.as_os_str()).collect();
    match find(name, &names) {
        Found::One(index) => Ok(docs[index]),
        Found::Several => Err(two_forms(name)),
        Found::None => {
            let known: Vec<String> = names.iter().map(|name| shown(name)).collect();
            let near = did_you_mean(&shown(name), known.iter().map(String::as_str));
            let near = near.into_iter().map(str::to_owned).collect();
            Err(DocsError::NotFound { name: shown(name), near })
        }
    }
}

fn two_forms(name: &OsStr) -> DocsError {
    let reason = "several files have this name in different Unicode forms".to_owned();
    DocsError::Ambiguous { name: shown(name), reason }
}

pub(super) fn in_folder(root: &Path, bucket: Bucket, error: io::Error) -> DocsError {
    DocsError::Io { path: bucket.folder(root), error }
}
