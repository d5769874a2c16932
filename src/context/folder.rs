//! Reads the docs folder once (S1–S6): the only place of this room that does IO. It never fails and
//! never blocks; what goes wrong with an entry costs that entry and one warning. It writes nothing.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::always::Fit;
use super::auto::over_cap;
use super::delivery::Budget;
use super::dir::{self, Child, Dir, EntryType, Stat};
use super::kinds::{self, NameKind};
use super::ledger::Ledger;
use super::names::{self, Lookup, NameIndex, shown, shown_path};
use super::snapshot::{ContextSnapshot, DocEntry, DocKind, Facts, Reading, SnapshotRequest};
use super::sniff::{self, Decoded, Encoding};
use super::{always, defuse, instructions, magic, profile};

mod rag;

/// Takes the snapshot.
pub fn snapshot(request: &SnapshotRequest) -> ContextSnapshot {
    let mut taken = ContextSnapshot { request: request.clone(), ..ContextSnapshot::default() };
    if let Some(root) = &request.project_root {
        taken.docs_dir = Some(root.join(".claude").join("docs"));
        read_project(root, &mut taken);
    }
    if request.switches.instructions {
        let file = request.custom_instructions.as_deref();
        let cap = instructions::CUSTOM_CAP_BYTES;
        taken.custom_instructions =
            config_text(file, "custom instructions", cap, &mut taken.warnings);
    }
    if request.switches.profile {
        let file = request.profile.as_deref();
        taken.profile = config_text(file, "profile", profile::CAP_BYTES, &mut taken.warnings);
    }
    for path in &request.attach {
        let entry = named_file(path, &mut taken.warnings);
        taken.attach.push(entry);
    }
    taken
}

fn read_project(root: &Path, taken: &mut ContextSnapshot) {
    let root_dir = match Dir::open(root) {
        Ok(dir) => dir,
        Err(error) => {
            let why = dir::reason(error);
            taken.warnings.push(format!("{}: project folder not opened: {why}", shown_path(root)));
            return;
        }
    };
    taken.cwd_is_project = root_dir.is_same_as(&taken.request.cwd);
    let Some(dot_folder) = opened(root_dir.child(".claude"), ".claude", &mut taken.warnings) else {
        return;
    };
    let docs = dot_folder.child("docs");
    let Some(docs) = opened(docs, ".claude/docs", &mut taken.warnings) else { return };
    read_docs(&docs, taken);
    if taken.request.switches.inline {
        rag::read(&docs, taken);
    }
}

/// The folder, or a warning unless it is simply not there.
fn opened(child: Child, shown: &str, warnings: &mut Vec<String>) -> Option<Dir> {
    match child {
        Child::Opened(dir) => Some(dir),
        Child::Absent => None,
        Child::Refused(why) => {
            warnings.push(format!("{shown}: not used: {why}"));
            None
        }
    }
}

fn read_docs(docs: &Dir, taken: &mut ContextSnapshot) {
    let listed = docs.names();
    taken.warnings.extend(listed.trouble.map(|why| format!(".claude/docs: {why}")));
    let mut found: Vec<OsString> = listed
        .found
        .into_iter()
        // `rag` itself is not an entry; its own walk says what is wrong with it.
        .filter(|(name, _)| name != "rag")
        .map(|(name, _)| name)
        .collect();
    names::sort_by_name(&mut found, |name| name);
    let found = in_saved_order(found, &taken.request.order);
    let mut entries: Vec<DocEntry> =
        found.into_iter().map(|name| stat_entry(docs, name, &mut taken.warnings)).collect();
    set_flags(&mut entries, &taken.request.instruction_names, &mut taken.warnings);
    read_texts(docs, &mut entries, taken);
    if taken.request.switches.attachments {
        for entry in &mut entries {
            read_facts(docs, entry, &mut taken.warnings);
        }
    }
    taken.docs = entries;
}

/// The saved order first, the rest as it is (S5).
fn in_saved_order(found: Vec<OsString>, order: &[String]) -> Vec<OsString> {
    let first = NameIndex::new(found.iter().map(OsString::as_os_str)).positions(order);
    let mut found: Vec<Option<OsString>> = found.into_iter().map(Some).collect();
    let mut ordered: Vec<OsString> = first.iter().filter_map(|at| found[*at].take()).collect();
    ordered.extend(found.into_iter().flatten());
    ordered
}

/// An entry by its name and `lstat`, not opened yet.
fn stat_entry(docs: &Dir, name: OsString, warnings: &mut Vec<String>) -> DocEntry {
    let by_name = kinds::by_name(&name);
    let stat = docs.lstat(&name);
    let shown = shown(&name);
    let path = docs.path().join(&name);
    let size = stat.map_or(0, |stat| stat.size);
    let (kind, at_least) = match (by_name, stat) {
        // Junk is junk whatever it is on disk: an editor's lock is a dangling link (C04).
        (NameKind::Ignored(why), Ok(Stat { entry: EntryType::File, .. })) => (ignored(why), 0),
        (NameKind::Ignored(why), _) if why != kinds::UNKNOWN => (ignored(why), 0),
        (_, Err(error)) => {
            let why = format!("not looked at: {}", dir::reason(error));
            warnings.push(format!("{shown}: {why}"));
            (ignored(&why), 0)
        }
        (NameKind::Text, Ok(Stat { entry: EntryType::File, size })) => {
            (DocKind::TextUnread, Encoding::Utf8.least_text(size))
        }
        (NameKind::Attachable(kind), Ok(Stat { entry: EntryType::File, .. })) => {
            let (kind, mime) = (kind.to_owned(), magic::mime(kind).to_owned());
            (DocKind::Attachable(Facts { kind, mime, ..Facts::default() }), 0)
        }
        (by_name, Ok(stat)) => {
            let why = dir::not_a_file(stat.entry).unwrap_or_default();
            // A folder of the user's own is no surprise, unless it is named like a doc.
            if stat.entry != EntryType::Folder || !matches!(by_name, NameKind::Ignored(_)) {
                warnings.push(format!("{shown}: skipped: {why}"));
            }
            (ignored(&why), 0)
        }
    };
    DocEntry { name, shown, path, size, at_least, instruction: false, kind }
}

fn ignored(why: &str) -> DocKind {
    DocKind::Ignored(why.to_owned())
}

/// Sets the stored flags on the docs that may have one; the others are named once (A16).
fn set_flags(entries: &mut [DocEntry], flags: &[String], warnings: &mut Vec<String>) {
    let index = NameIndex::new(entries.iter().map(|entry| entry.name.as_os_str()));
    for flag in flags {
        let why = match index.find(flag) {
            Lookup::Found(at) => match &entries[at].kind {
                DocKind::Text(_) | DocKind::TextUnread => {
                    entries[at].instruction = true;
                    continue;
                }
                DocKind::Attachable(_) => "only a text doc can be an instruction".to_owned(),
                DocKind::Ignored(why) => why.clone(),
            },
            Lookup::Ambiguous => "several docs have this name in other spellings".to_owned(),
            Lookup::Missing => "no such doc at the top level of the docs folder".to_owned(),
        };
        let flag = shown(OsStr::new(flag));
        warnings.push(format!("{flag}: flagged as an instruction, but not used: {why}"));
    }
}

/// Reads the texts in the order in which they claim the budget.
fn read_texts(docs: &Dir, entries: &mut [DocEntry], taken: &mut ContextSnapshot) {
    let switches = taken.request.switches;
    let mut allowance = Allowance::new(taken.request.reading);
    for flagged in [true, false] {
        let wanted = if flagged { switches.instructions } else { switches.inline };
        for entry in entries.iter_mut().filter(|entry| entry.instruction == flagged) {
            if wanted && matches!(entry.kind, DocKind::TextUnread) {
                read_text(docs, entry, allowance.limit(), &mut taken.warnings);
                allowance.take(entry);
            }
        }
    }
}

/// Reads one text, unless it cannot fit into `limit` bytes.
fn read_text(docs: &Dir, entry: &mut DocEntry, limit: u64, warnings: &mut Vec<String>) {
    // What UTF-32 can shrink to is the least that any text can be.
    if Encoding::Utf32Le.least_text(entry.size) > limit {
        return;
    }
    match open_text(docs, entry, limit) {
        Ok(Some(bytes)) => match sniff::decode(bytes) {
            Decoded::Text { text, bad } => {
                if let Some(bad) = bad {
                    let places = super::figures::counted(bad.count, "bad place", "bad places");
                    warnings.push(format!(
                        "{}: not clean UTF-8: {places} shown as U+FFFD, the first at byte {}",
                        entry.shown, bad.first
                    ));
                }
                entry.kind = DocKind::Text(text);
            }
            Decoded::NotText(why) => {
                let what = if entry.instruction { "instruction not sent" } else { "skipped" };
                warnings.push(format!("{}: {what}: {why}", entry.shown));
                entry.kind = DocKind::Ignored(why);
            }
        },
        Ok(None) => {}
        Err(why) => {
            let what = if entry.instruction { "instruction not sent" } else { "skipped" };
            warnings.push(format!("{}: {what}: {why}", entry.shown));
            entry.kind = DocKind::Ignored(why);
        }
    }
}

/// The bytes of a text file; `None` if they cannot fit. Only a byte order mark of UTF-16 or UTF-32
/// lets a file in that is larger than the limit.
fn open_text(docs: &Dir, entry: &mut DocEntry, limit: u64) -> Result<Option<Vec<u8>>, String> {
    let (file, size) = docs.open_file(&entry.name)?;
    (entry.size, entry.at_least) = (size, Encoding::Utf8.least_text(size));
    let mut bytes = Vec::new();
    if entry.at_least > limit {
        bytes = dir::read_up_to(&file, size, 4)?;
        entry.at_least = Encoding::of(&bytes).0.least_text(size);
        if entry.at_least > limit {
            return Ok(None);
        }
    }
    // A file that grows while it is read is cut off by the size that it had, then seen to be longer.
    let rest = size + 1 - bytes.len() as u64;
    bytes.append(&mut dir::read_up_to(&file, rest, rest)?);
    if bytes.len() as u64 > size {
        return Err("changed while it was read".into());
    }
    // The same bound whether the mark had to be looked at beforehand or not.
    entry.at_least = Encoding::of(&bytes).0.least_text(size);
    Ok(Some(bytes))
}

/// What may still be read. For a launch the account of the builder is kept here too, in each form
/// that a delivery can give it, so that nothing is left unread that a builder would have used.
enum Allowance {
    Each(u64),
    Shared([Account; 3]),
}

struct Account {
    ledger: Ledger,
    /// Image paths are broken up in docs, in instructions.
    defuses: (bool, bool),
}

impl Allowance {
    fn new(reading: Reading) -> Allowance {
        match reading {
            Reading::Everything => Allowance::Each(Budget::ceiling().bytes()),
            Reading::UpTo(bytes) => {
                let account = |defuses| Account { ledger: Ledger::of(bytes), defuses };
                Allowance::Shared([(false, false), (true, false), (true, true)].map(account))
            }
        }
    }

    fn limit(&self) -> u64 {
        match self {
            Allowance::Each(limit) => *limit,
            Allowance::Shared(accounts) => {
                accounts.iter().map(|account| account.ledger.left()).max().unwrap_or(0)
            }
        }
    }

    fn take(&mut self, entry: &DocEntry) {
        let Allowance::Shared(accounts) = self else { return };
        let DocKind::Text(text) = &entry.kind else { return };
        let added = defuse::added_bytes(text);
        for account in accounts {
            let (in_docs, in_instructions) = account.defuses;
            let defused = if entry.instruction { in_instructions } else { in_docs };
            let extra = if defused { added } else { 0 };
            let plain = if entry.instruction {
                instructions::section_bytes(&entry.shown, text)
            } else {
                always::section_bytes(&entry.shown, text)
            };
            // The very rule of the builder, with the size known beforehand.
            let _: Fit<'_> = always::fit(entry, false, &mut account.ledger, |_, _| plain + extra);
        }
    }
}

/// Looks into an attachable of the docs folder.
fn read_facts(docs: &Dir, entry: &mut DocEntry, warnings: &mut Vec<String>) {
    let DocKind::Attachable(facts) = &entry.kind else { return };
    let looked = docs
        .open_file(&entry.name)
        .and_then(|(file, size)| Ok((look(&file, size, &facts.kind)?, size)));
    match looked {
        Ok((facts, size)) => (entry.kind, entry.size) = (DocKind::Attachable(facts), size),
        Err(why) => {
            warnings.push(format!("{}: skipped: {why}", entry.shown));
            entry.kind = DocKind::Ignored(why);
        }
    }
}

fn look(file: &std::fs::File, size: u64, kind: &str) -> Result<Facts, String> {
    let head = dir::read_up_to(file, size, magic::head_bytes(kind))?;
    let tail = dir::read_tail(file, size, magic::TAIL_BYTES)?;
    Ok(magic::facts(kind, magic::Sample { size, head: &head, tail: &tail }))
}

/// A file of `--attach`: any type; links are followed, since the user named it.
fn named_file(path: &Path, warnings: &mut Vec<String>) -> DocEntry {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_owned();
    let shown = shown(&name);
    let opened = dir::open_named(path);
    let size = opened.as_ref().map_or(0, |(_, size)| *size);
    let kind = opened.and_then(|(file, size)| match kinds::by_name(&name) {
        NameKind::Text => Ok(DocKind::TextUnread),
        NameKind::Attachable(kind) => look(&file, size, kind).map(DocKind::Attachable),
        NameKind::Ignored(_) => Ok(DocKind::Attachable(Facts {
            kind: "file".into(),
            mime: magic::mime("file").into(),
            ..Facts::default()
        })),
    });
    let kind = kind.unwrap_or_else(|why| {
        warnings.push(format!("{}: not attached: {why}", shown_path(path)));
        DocKind::Ignored(why)
    });
    let path = path.to_owned();
    DocEntry { name, shown, path, size, at_least: 0, instruction: false, kind }
}

/// A text of the config folder: whole, or left out with a warning. Links are followed: people keep
/// their settings in a repository and link to them.
fn config_text(
    path: Option<&Path>,
    what: &str,
    cap: u64,
    warnings: &mut Vec<String>,
) -> Option<String> {
    let path = path?;
    // Not there is normal; a dangling link is not.
    if std::fs::symlink_metadata(path).is_err_and(|e| e.kind() == std::io::ErrorKind::NotFound) {
        return None;
    }
    let read = dir::open_named(path)
        // A byte order mark does not count; UTF-16 halves.
        .and_then(|(file, size)| dir::read_up_to(&file, size, 4 * cap + 4));
    let decoded = match read {
        Ok(bytes) => sniff::decode(bytes),
        Err(why) => Decoded::NotText(why),
    };
    match decoded {
        Decoded::Text { text, .. } if text.len() as u64 > cap => {
            warnings.push(over_cap(what, cap));
            None
        }
        Decoded::Text { text, bad } => {
            if let Some(bad) = bad {
                warnings
                    .push(format!("{what}: not clean UTF-8, the first bad byte is {}", bad.first));
            }
            Some(text)
        }
        Decoded::NotText(why) => {
            warnings.push(format!("{what}: {}: left out: {why}", shown_path(path)));
            None
        }
    }
}
