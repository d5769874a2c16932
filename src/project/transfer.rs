//! Moves a doc between the two buckets. A move within a bucket is a rename, in `docs`.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use crate::project::doc_files::locate_exactly;
use crate::project::docs::{Bucket, DocsError, change};
use crate::project::docs_dir::DocsDir;
use crate::project::flags::EntryKind;
use crate::project::names::shown;
use crate::session::{Store, UnixMs};

/// Moves the doc of exactly this name out of `from` into the other bucket. A doc that goes to rag/
/// loses its flag and its place in the order: both mean something at the top level only.
///
/// # Errors
/// [`DocsError::NotFound`], [`DocsError::Exists`] where the other bucket has the name,
/// [`DocsError::BadName`] for what is no regular file, [`DocsError::Io`], [`DocsError::Store`].
pub fn transfer(
    store: &Store,
    root: &Path,
    name: &OsStr,
    from: Bucket,
    now: UnixMs,
) -> Result<(), DocsError> {
    let doc = locate_exactly(root, name, from)?;
    if doc.entry.kind != EntryKind::File {
        let reason = "it is a link, and only files are moved".to_owned();
        return Err(DocsError::BadName { name: shown(name), reason });
    }
    let to = match from {
        Bucket::Always => Bucket::Rag,
        Bucket::Rag => Bucket::Always,
    };
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => DocsError::Exists { name: shown(name) },
        _ => DocsError::Io { path: to.folder(root).join(name), error },
    };
    let target = DocsDir::create(root, to).map_err(failed)?;
    change(store, root, now, |docs| {
        match from {
            Bucket::Always => {
                docs.flags.retain(|flag| !doc.has_name(&flag.name));
                docs.order.retain(|listed| !doc.has_name(listed));
            }
            // A flag that a doc of this name once had is not this one's.
            Bucket::Rag => docs.flags.retain(|flag| OsStr::new(&flag.name) != name),
        }
        doc.dir.transfer(&doc.entry.name, &target).map_err(failed)
    })
}
