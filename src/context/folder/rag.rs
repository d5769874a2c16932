//! The walk of `rag/` (S20, S21): names and types of all, the heads of the first hundred.

use std::ffi::OsString;

use super::super::dir::{Dir, EntryType, not_a_file, read_up_to};
use super::super::kinds::{self, NameKind, extension_of};
use super::super::names::{shown, sort_by_name};
use super::super::reference::MAX_ENTRIES;
use super::super::snapshot::{ContextSnapshot, RagEntry};
use super::super::{describe, sniff};
use super::opened;

/// How much of a listed file is read for its description, in bytes.
const HEAD_BYTES: u64 = 8 * 1024;
/// Warnings on entries that are not listed; a folder full of links is one problem, not thousands.
const MAX_WARNINGS: usize = 20;

/// Reads the catalogue's entries.
pub(super) fn read(docs: &Dir, taken: &mut ContextSnapshot) {
    let child = docs.child("rag");
    let Some(rag) = opened(child, ".claude/docs/rag", &mut taken.warnings) else { return };
    let listed = rag.names();
    taken.warnings.extend(listed.trouble.map(|why| format!(".claude/docs/rag: {why}")));
    let listed = listed.found;
    let mut files: Vec<OsString> = Vec::with_capacity(listed.len());
    let mut skipped = 0;
    for (name, entry) in listed {
        if kinds::no_doc(&name).is_some() {
            continue;
        }
        // Where the listing keeps the type to itself, `lstat` tells it.
        let entry = entry.or_else(|| rag.lstat(&name).ok().map(|stat| stat.entry));
        match entry {
            // What cannot be looked at is listed by its name, and says so below.
            None | Some(EntryType::File) => files.push(name),
            // A folder is no surprise, unless it is named like a doc.
            Some(EntryType::Folder) if matches!(kinds::by_name(&name), NameKind::Ignored(_)) => {}
            Some(other) => {
                skipped += 1;
                if skipped <= MAX_WARNINGS {
                    let why = not_a_file(other).unwrap_or_default();
                    taken.warnings.push(format!("rag/{}: skipped: {why}", shown(&name)));
                }
            }
        }
    }
    if skipped > MAX_WARNINGS {
        let more = skipped - MAX_WARNINGS;
        taken
            .warnings
            .push(format!(".claude/docs/rag: {more} more skipped: links, pipes or folders"));
    }
    sort_by_name(&mut files, |name| name);
    taken.rag_more = files.len().saturating_sub(MAX_ENTRIES);
    files.truncate(MAX_ENTRIES);
    for name in files {
        let entry = entry(&rag, name, &mut taken.warnings);
        taken.rag.push(entry);
    }
}

fn entry(rag: &Dir, name: OsString, warnings: &mut Vec<String>) -> RagEntry {
    let shown = shown(&name);
    let is_text = kinds::by_name(&name) == NameKind::Text;
    let mut entry = RagEntry { name, shown, size: 0, description: None, text: false };
    match rag.lstat(&entry.name) {
        Ok(stat) => entry.size = stat.size,
        Err(error) => {
            let why = super::super::dir::reason(error);
            warnings.push(format!("rag/{}: not looked at: {why}", entry.shown));
            return entry;
        }
    }
    if !is_text {
        return entry;
    }
    let head = rag
        .open_file(&entry.name)
        .and_then(|(file, size)| Ok((read_up_to(&file, size, HEAD_BYTES)?, size)));
    match head {
        Ok((head, size)) => {
            entry.size = size;
            let whole = head.len() as u64 >= size;
            if let Some(text) = sniff::decode_head(head, whole) {
                let lower = entry.shown.to_lowercase();
                entry.description = Some(describe::describe(&text, extension_of(&lower)));
                entry.text = true;
            } else {
                warnings.push(format!("rag/{}: listed by its size: not text", entry.shown));
            }
        }
        Err(why) => warnings.push(format!("rag/{}: no description: {why}", entry.shown)),
    }
    entry
}
