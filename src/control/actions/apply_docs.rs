//! Carrying out what is asked for docs. Everything that was checked when it was asked for is checked
//! again here, on the open folder and on the open source: between the two lie up to seven days.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::context::figures;
use crate::context::names::shown_path;
use crate::control::actions::claim::Place;
use crate::control::actions::decide::Attempt;
use crate::control::actions::enqueue::is_text;
use crate::control::actions::error::ActionError;
use crate::control::actions::payload::{AddDoc, DeleteDoc};
use crate::control::actions::queue::Queue;
use crate::control::actions::quota;
use crate::control::actions::source::open_source;
use crate::control::actions::types::{Action, ActionId, Outcome, OutcomeCode};
use crate::project::doc_files;
use crate::project::docs::{self, Addition};
use crate::project::names::shown;
use crate::project::{Bucket, DocsError, RegistryError, registry};
use crate::session::UnixMs;

/// Copies the source into the docs folder, if it still is what was approved.
pub(super) fn add(queue: &Queue, action: &Action, add: &AddDoc, now: UnixMs) -> Attempt {
    let root = match project_folder(queue, action)? {
        Ok(root) => root,
        Err(gone) => return Ok(Err(gone)),
    };
    let size = action.size_bytes.unwrap_or_default();
    if add.bucket == Bucket::Always {
        let replaced = add.replace.then_some(add.file_name.as_str());
        match quota::check(&root, replaced, size, 0) {
            Ok(()) => {}
            Err(error @ ActionError::OverQuota { .. }) => {
                return Ok(Err(Outcome::new(OutcomeCode::OverQuota, error.to_string())));
            }
            Err(ActionError::Docs(error)) => return failed(error),
            Err(error) => return Err(error),
        }
    }
    let draft = draft_name(action.id);
    let changed = |why: String| Ok(Err(Outcome::new(OutcomeCode::SourceChanged, why)));
    let source = match open_source(&add.path) {
        Ok(source) => source,
        Err(error) => return changed(error.to_string()),
    };
    if source.size != size {
        return changed(format!("the source has {} bytes now, and had {size}", source.size));
    }
    // A source that grows while it is read is cut one byte after its end, and has another hash.
    let mut bytes = source.file.take(size + 1);
    let addition = Addition {
        source: &mut bytes,
        name: OsStr::new(&add.file_name),
        bucket: add.bucket,
        // Where there was no doc to replace, none is replaced that came since.
        replace: add.replace && add.replaces.is_some(),
        replaces: add.replaces.as_deref(),
        expected_hash: action.content_hash.as_deref(),
        draft: Some(&draft),
    };
    match docs::add(queue.store(), &root, addition, is_text, now) {
        Ok(added) => Ok(Ok(add_outcome(add, added.replaced, added.size))),
        Err(error) => failed(error),
    }
}

/// Removes what a killed omni-run left of a copy: the draft, or the second name of the whole file.
pub(super) fn tidy(action: &Action, add: &AddDoc) {
    if let Some(root) = &action.project_folder {
        // What can't be reached now is hidden, and no doc.
        let _ = doc_files::drop_draft(root, add.bucket, &draft_name(action.id));
    }
}

/// Whether an addition that was interrupted had come to its end.
pub(super) fn added(
    queue: &Queue,
    action: &Action,
    add: &AddDoc,
    before: &Place,
    place: &Place,
    now: UnixMs,
) -> Result<Option<Outcome>, ActionError> {
    let Some(root) = &action.project_folder else { return Ok(None) };
    let there = matches!(place, Place::File(hash) if Some(hash) == action.content_hash.as_ref());
    if !there {
        return Ok(None);
    }
    let new = *before == Place::Empty;
    if new && add.bucket == Bucket::Always {
        docs::forget_flag(queue.store(), root, OsStr::new(&add.file_name), now)?;
    }
    Ok(Some(add_outcome(add, !new, action.size_bytes.unwrap_or_default())))
}

/// Deletes the doc, if it still is what was approved.
pub(super) fn delete(queue: &Queue, action: &Action, doc: &DeleteDoc, now: UnixMs) -> Attempt {
    let root = match project_folder(queue, action)? {
        Ok(root) => root,
        Err(gone) => return Ok(Err(gone)),
    };
    let name = OsStr::new(&doc.file_name);
    let found = match doc_files::exactly(&root, name, doc.bucket) {
        Ok(found) => found,
        Err(error) => return failed(error),
    };
    if found.hash != action.content_hash {
        let message = format!(
            "`{}` has other bytes than when its deletion was asked for, and stays",
            shown(name)
        );
        return Ok(Err(Outcome::new(OutcomeCode::DocChanged, message)));
    }
    match doc_files::remove_exactly(queue.store(), &root, name, doc.bucket, now) {
        Ok(()) => Ok(Ok(delete_outcome(doc))),
        Err(error) => failed(error),
    }
}

/// Whether a deletion that was interrupted had come to its end.
pub(super) fn deleted(
    queue: &Queue,
    action: &Action,
    doc: &DeleteDoc,
    place: &Place,
    now: UnixMs,
) -> Result<Option<Outcome>, ActionError> {
    let Some(root) = &action.project_folder else { return Ok(None) };
    if *place != Place::Empty {
        return Ok(None);
    }
    if doc.bucket == Bucket::Always {
        doc_files::forget(queue.store(), root, OsStr::new(&doc.file_name), now)?;
    }
    Ok(Some(delete_outcome(doc)))
}

/// The project's folder, if its id still means it and no link leads elsewhere from it.
pub(super) fn project_folder(
    queue: &Queue,
    action: &Action,
) -> Result<Result<PathBuf, Outcome>, ActionError> {
    let gone = |message: String| Ok(Err(Outcome::new(OutcomeCode::ProjectGone, message)));
    let (Some(id), Some(folder)) = (&action.project, &action.project_folder) else {
        return gone("the action names no project".to_owned());
    };
    match registry::show(queue.store(), id) {
        Ok(project) if project.folder == *folder => {}
        Ok(_) => return gone(format!("the project `{id}` has another folder now")),
        Err(RegistryError::Store(error)) => return Err(error.into()),
        Err(error) => return gone(error.to_string()),
    }
    match folder.canonicalize() {
        Ok(real) if real == *folder => Ok(Ok(real)),
        Ok(_) => gone(format!("`{}` is reached by a link now", shown_path(folder))),
        Err(error) => gone(format!("`{}`: {error}", shown_path(folder))),
    }
}

/// The name of the copy until it is whole: hidden, so it is no doc, and of this action alone.
fn draft_name(id: ActionId) -> OsString {
    format!(".omni-run-{id}.draft").into()
}

fn add_outcome(add: &AddDoc, replaced: bool, size: u64) -> Outcome {
    let (code, verb) = match replaced {
        true => (OutcomeCode::Replaced, "replaced"),
        false => (OutcomeCode::Added, "added"),
    };
    let place = shown_in(add.bucket, &add.file_name);
    Outcome::new(code, format!("{verb} `{place}` ({})", figures::bytes(size)))
}

fn delete_outcome(doc: &DeleteDoc) -> Outcome {
    let place = shown_in(doc.bucket, &doc.file_name);
    Outcome::new(OutcomeCode::Deleted, format!("deleted `{place}`"))
}

fn shown_in(bucket: Bucket, name: &str) -> String {
    let path = match bucket {
        Bucket::Always => PathBuf::from(name),
        Bucket::Rag => Path::new("rag").join(name),
    };
    shown_path(&path)
}

/// What the docs room refuses is the end of the action; what the store refuses is not: the change
/// may have landed, and a later look finds out.
fn failed(error: DocsError) -> Attempt {
    let code = match &error {
        DocsError::Store(_) => {
            return Err(match error {
                DocsError::Store(error) => error.into(),
                other => other.into(),
            });
        }
        DocsError::SourceChanged { .. } => OutcomeCode::SourceChanged,
        DocsError::DocChanged { .. } => OutcomeCode::DocChanged,
        DocsError::NotFound { .. } => OutcomeCode::NotFound,
        DocsError::Exists { .. } => OutcomeCode::Exists,
        DocsError::BadName { .. } | DocsError::Ambiguous { .. } => OutcomeCode::BadName,
        DocsError::NotInstructable { .. }
        | DocsError::NotFlagged { .. }
        | DocsError::Twice { .. }
        | DocsError::Io { .. } => OutcomeCode::Io,
    };
    Ok(Err(Outcome::new(code, error.to_string())))
}
