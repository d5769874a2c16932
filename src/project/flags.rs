//! Instruction flags against what lies in the folder (S35, A16): a flag follows a file that was
//! renamed outside, and counts only for a text file at the top level. Pure: the caller lists the
//! folder and hashes files. No doc can flag itself; only the stored list counts.

use std::ffi::{OsStr, OsString};

use crate::project::names::{Found, find, shown};
use crate::project::registry::{Content, DocSettings};

/// One entry of the docs folder's top level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// In bytes.
    pub size: u64,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry is, without following links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A folder.
    Folder,
    /// A pipe, socket or device.
    Other,
}

/// The flags as they are after a look at the folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reconciled {
    /// The docs that are instructions now, names as on disk.
    pub instructions: Vec<String>,
    /// For the person: flags that moved, are ignored or were cleared.
    pub notes: Vec<String>,
}

/// Looks at each flag of `docs` and changes it where the folder says so. `hash` gives the SHA-256
/// of a file, `None` where it can't be read.
///
/// A flagged file that is gone keeps its flag for the same content only: back after a branch switch
/// it is an instruction again; another text under the old name is not.
pub fn reconcile(
    docs: &mut DocSettings,
    entries: &[Entry],
    is_text: impl Fn(&OsStr) -> bool,
    mut hash: impl FnMut(&OsStr) -> Option<String>,
) -> Reconciled {
    let names: Vec<&OsStr> = entries.iter().map(|entry| entry.name.as_os_str()).collect();
    let place = |name: &str| find(OsStr::new(name), &names);
    let mut flagged: Vec<usize> = docs
        .flags
        .iter()
        .filter_map(|flag| match place(&flag.name) {
            Found::One(index) => Some(index),
            Found::None | Found::Several => None,
        })
        .collect();
    let mut result = Reconciled::default();
    let mut kept = Vec::new();
    for mut flag in std::mem::take(&mut docs.flags) {
        let label = shown(OsStr::new(&flag.name));
        let mut note = |text: String| result.notes.push(text);
        let ignored = |why: &str| format!("the instruction flag of `{label}` is ignored: {why}");
        match place(&flag.name) {
            Found::Several => {
                note(ignored("several files have this name in different Unicode forms"));
            }
            Found::One(index) => {
                let entry = &entries[index];
                if let Some(why) = ineligible(entry, &is_text) {
                    note(ignored(why));
                } else if let Some(now) = hash(&entry.name) {
                    let old = flag.content.as_ref();
                    if old.is_some_and(|old| old.missing && old.hash != now) {
                        note(format!(
                            "the instruction flag of `{label}` is cleared: the file was deleted, \
                             and what has its name now is another text"
                        ));
                        continue;
                    }
                    flag.content = Some(Content { hash: now, size: entry.size, missing: false });
                    // Two stored names may mean one file, in different Unicode forms.
                    let name = entry.name.to_str().map(str::to_owned);
                    let new = name.filter(|name| !result.instructions.contains(name));
                    result.instructions.extend(new);
                } else {
                    note(ignored("the file cannot be read"));
                }
            }
            Found::None => {
                let heirs = heirs(flag.content.as_ref(), entries, &flagged, &is_text, &mut hash);
                if let [heir] = heirs[..]
                    && let Some(name) = entries[heir].name.to_str()
                {
                    note(format!("the instruction `{label}` is now `{}`", shown(OsStr::new(name))));
                    for listed in docs.order.iter_mut().filter(|listed| **listed == flag.name) {
                        *listed = name.to_owned();
                    }
                    flagged.push(heir);
                    flag.name = name.to_owned();
                    result.instructions.push(flag.name.clone());
                    if let Some(content) = &mut flag.content {
                        content.missing = false;
                    }
                } else {
                    note(ignored("there is no such file at the top level of the docs folder"));
                    if let Some(content) = &mut flag.content {
                        content.missing = true;
                    }
                }
            }
        }
        kept.push(flag);
    }
    docs.flags = kept;
    result
}

/// Why an entry can't be an instruction.
pub(super) fn ineligible(entry: &Entry, is_text: impl Fn(&OsStr) -> bool) -> Option<&'static str> {
    match entry.kind {
        EntryKind::Link => Some("it is a symbolic link"),
        EntryKind::Folder => Some("it is a folder"),
        EntryKind::Other => Some("it is not a regular file"),
        EntryKind::File if !is_text(&entry.name) => Some("it is not a text file"),
        EntryKind::File if entry.name.to_str().is_none() => Some("its name is not UTF-8"),
        EntryKind::File => None,
    }
}

/// The unflagged docs with the content of a flagged one that is gone. Empty files are all alike and
/// inherit nothing.
fn heirs(
    content: Option<&Content>,
    entries: &[Entry],
    flagged: &[usize],
    is_text: impl Fn(&OsStr) -> bool,
    mut hash: impl FnMut(&OsStr) -> Option<String>,
) -> Vec<usize> {
    let Some(content) = content.filter(|content| content.size > 0) else { return Vec::new() };
    entries
        .iter()
        .enumerate()
        .filter(|(index, entry)| {
            entry.size == content.size
                && !flagged.contains(index)
                && ineligible(entry, &is_text).is_none()
                && hash(&entry.name).as_ref() == Some(&content.hash)
        })
        .map(|(index, _)| index)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::registry::Flag;

    fn entry(name: &str, size: u64) -> Entry {
        Entry { name: name.into(), size, kind: EntryKind::File }
    }

    fn flag(name: &str, hash: &str, missing: bool) -> Flag {
        let content = Some(Content { hash: hash.to_owned(), size: 3, missing });
        Flag { name: name.to_owned(), content }
    }

    /// The hash of a test file is what its name says after the `=`, or its whole name.
    fn look(docs: &mut DocSettings, entries: &[Entry]) -> (Vec<String>, Vec<String>) {
        let is_text = |name: &OsStr| !name.to_str().unwrap().ends_with(".png");
        let hash = |name: &OsStr| {
            let name = name.to_str().unwrap();
            Some(name.split_once('=').map_or(name, |(_, hash)| hash).to_owned())
        };
        let result = reconcile(docs, entries, is_text, hash);
        (result.instructions, result.notes)
    }

    fn docs(flags: Vec<Flag>) -> DocSettings {
        DocSettings { order: vec!["other".to_owned(), "old".to_owned()], flags }
    }

    #[test]
    fn s35_a_flag_follows_an_outside_rename_with_its_place_in_the_order() {
        let mut docs = docs(vec![flag("old", "h", false)]);
        let (active, notes) = look(&mut docs, &[entry("new=h", 3), entry("other", 3)]);
        assert_eq!((active.as_slice(), notes.len()), (["new=h".to_owned()].as_slice(), 1));
        assert_eq!(docs.order, ["other", "new=h"]);
        assert_eq!(docs.flags, [flag("new=h", "h", false)]);
    }

    #[test]
    fn s35_two_heirs_or_none_inherit_nothing() {
        for entries in [vec![entry("a=h", 3), entry("b=h", 3)], vec![entry("a=h", 4)], vec![]] {
            let mut docs = docs(vec![flag("old", "h", false)]);
            let (active, notes) = look(&mut docs, &entries);
            assert_eq!((active.len(), notes.len()), (0, 1));
            assert_eq!(docs.flags, [flag("old", "h", true)]);
        }
        let mut empty = docs(vec![flag("old", "h", false)]);
        empty.flags[0].content.as_mut().unwrap().size = 0;
        assert!(look(&mut empty, &[entry("a=h", 0)]).0.is_empty());
    }

    #[test]
    fn s35_a_flagged_heir_is_no_heir() {
        let mut docs = docs(vec![flag("old", "h", false), flag("b=h", "h", false)]);
        let (active, _) = look(&mut docs, &[entry("b=h", 3)]);
        assert_eq!(active, ["b=h"]);
        assert_eq!(docs.flags[0], flag("old", "h", true));
    }

    #[test]
    fn a16_a_deleted_flag_comes_back_for_its_own_content_only() {
        let mut same = docs(vec![flag("old", "old", true)]);
        assert_eq!(look(&mut same, &[entry("old", 3)]).0, ["old"]);
        assert_eq!(same.flags, [flag("old", "old", false)]);
        let mut other = docs(vec![flag("old", "something else", true)]);
        let (active, notes) = look(&mut other, &[entry("old", 3)]);
        assert_eq!((active.len(), notes.len(), other.flags.len()), (0, 1, 0));
    }

    #[test]
    fn an_edited_file_keeps_its_flag() {
        let mut docs = docs(vec![flag("old", "before", false)]);
        assert_eq!(look(&mut docs, &[entry("old", 3)]), (vec!["old".to_owned()], vec![]));
        assert_eq!(docs.flags, [flag("old", "old", false)]);
    }

    #[test]
    fn a16_links_binaries_folders_and_missing_names_are_ignored_with_a_note() {
        let mut docs = docs(vec![
            flag("x.png", "h", false),
            flag("link", "h", false),
            flag("rag", "h", false),
            flag("gone", "h", false),
        ]);
        let entries = [
            entry("x.png", 3),
            Entry { kind: EntryKind::Link, ..entry("link", 3) },
            Entry { kind: EntryKind::Folder, ..entry("rag", 3) },
        ];
        let (active, notes) = look(&mut docs, &entries);
        assert_eq!((active.len(), notes.len(), docs.flags.len()), (0, 4, 4));
        assert!(notes.iter().all(|note| note.contains("is ignored")), "{notes:?}");
    }

    #[test]
    fn b05_a_flag_in_the_other_unicode_form_counts_if_it_is_the_only_one() {
        let mut docs = docs(vec![flag("e\u{301}", "h", false)]);
        assert_eq!(look(&mut docs, &[entry("\u{e9}", 3)]).0, ["\u{e9}"]);
    }
}
