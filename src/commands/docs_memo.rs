//! Lists of docs that the server has given and that still hold: a thousand files are looked at, not
//! read, where nothing about them has changed. Holds no content of a doc.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::target::Target;
use crate::control::wire;
use crate::paths::Paths;
use crate::project::docs::{Seen, seen};
use crate::project::{Bucket, Resolved};

/// Lists that are kept: a project or two, for an engine or two.
const KEPT: usize = 8;

/// A file that changed this short a time ago, in nanoseconds, could change again without a sign: the
/// clock of a disk is coarse.
const SETTLED: i128 = 2_000_000_000;

/// The last lists, the newest at the end.
#[derive(Default)]
pub(super) struct DocsMemo(Mutex<Vec<(Key, Arc<wire::Docs>)>>);

/// Everything that a list depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    root: PathBuf,
    engine: String,
    model: Option<String>,
    /// Budget and rules, as text: only whether they are the same matters.
    delivery: String,
    order: Vec<String>,
    instructions: Vec<String>,
    docs: Vec<Seen>,
    rag: Vec<Seen>,
    /// `instructions.md` and `profile.md`, which take from the budget.
    own: [Option<(u64, i128)>; 2],
}

impl Key {
    /// As all of it is now.
    pub(super) fn new(
        root: &Path,
        project: &Resolved,
        target: &Target,
        paths: &Paths,
    ) -> std::io::Result<Key> {
        Ok(Key {
            root: root.to_owned(),
            engine: target.id().to_owned(),
            model: target.model.clone(),
            delivery: format!("{:?}", target.delivery),
            order: project.order.clone(),
            instructions: project.instructions.clone(),
            docs: seen(root, Bucket::Always)?,
            rag: seen(root, Bucket::Rag)?,
            own: ["instructions.md", "profile.md"].map(|name| stamp(&paths.config.join(name))),
        })
    }

    /// The regular files of `rag/`.
    pub(super) fn rag(&self) -> impl Iterator<Item = &Seen> {
        self.rag.iter().filter(|entry| entry.is_file)
    }

    /// Whether nothing has changed just now.
    fn is_settled(&self) -> bool {
        let now = i128::from(jiff::Timestamp::now().as_millisecond()) * 1_000_000;
        let entries = self.docs.iter().chain(&self.rag).map(|entry| entry.changed_at);
        let own = self.own.iter().flatten().map(|(_, changed_at)| *changed_at);
        entries.chain(own).all(|changed_at| changed_at + SETTLED < now)
    }
}

fn stamp(file: &Path) -> Option<(u64, i128)> {
    use std::os::unix::fs::MetadataExt;
    let about = std::fs::metadata(file).ok()?;
    let changed_at = i128::from(about.ctime()) * 1_000_000_000 + i128::from(about.ctime_nsec());
    Some((about.ino(), changed_at))
}

impl DocsMemo {
    /// The list for exactly this.
    pub(super) fn find(&self, key: &Key) -> Option<Arc<wire::Docs>> {
        let kept = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        kept.iter().find(|(known, _)| known == key).map(|(_, docs)| docs.clone())
    }

    /// Keeps a list, if what it was made of has settled.
    pub(super) fn keep(&self, key: Key, docs: &Arc<wire::Docs>) {
        if !key.is_settled() {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let same = |old: &Key| {
            (&old.root, &old.engine, &old.model) == (&key.root, &key.engine, &key.model)
        };
        kept.retain(|(old, _)| !same(old));
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((key, docs.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(root: &str, changed_at: i128) -> Key {
        let doc = Seen { name: "a.md".into(), is_file: true, size: 1, inode: 7, changed_at };
        Key {
            root: root.into(),
            engine: "echo".to_owned(),
            model: None,
            delivery: String::new(),
            order: Vec::new(),
            instructions: Vec::new(),
            docs: vec![doc],
            rag: Vec::new(),
            own: [None, None],
        }
    }

    fn docs() -> Arc<wire::Docs> {
        Arc::new(wire::Docs {
            files: Vec::new(),
            rag_files: Vec::new(),
            total_bytes: 0,
            rag_total_bytes: 0,
            budget: wire::DocsBudget {
                engine: "echo".to_owned(),
                model: None,
                bytes: 0,
                used_bytes: 0,
            },
        })
    }

    #[test]
    fn a_list_holds_as_long_as_nothing_about_a_file_has_changed() {
        let memo = DocsMemo::default();
        memo.keep(key("/p", 1), &docs());
        assert!(memo.find(&key("/p", 1)).is_some());
        for other in [
            key("/p", 2),
            key("/q", 1),
            Key { order: vec!["a.md".to_owned()], ..key("/p", 1) },
            Key { instructions: vec!["a.md".to_owned()], ..key("/p", 1) },
            Key { docs: Vec::new(), ..key("/p", 1) },
            Key { own: [Some((1, 1)), None], ..key("/p", 1) },
            Key { delivery: "more".to_owned(), ..key("/p", 1) },
        ] {
            assert!(memo.find(&other).is_none(), "{other:?}");
        }
        memo.keep(key("/p", 2), &docs());
        assert!(memo.find(&key("/p", 1)).is_none(), "one for a project and an engine");
    }

    #[test]
    fn what_has_just_changed_is_not_relied_on_and_few_are_kept() {
        let memo = DocsMemo::default();
        let now = i128::from(jiff::Timestamp::now().as_millisecond()) * 1_000_000;
        for young in [now, now + SETTLED] {
            memo.keep(key("/p", young), &docs());
            assert!(memo.find(&key("/p", young)).is_none());
        }
        for number in 0..=KEPT {
            memo.keep(key(&format!("/{number}"), 1), &docs());
        }
        assert!(memo.find(&key("/0", 1)).is_none() && memo.find(&key("/1", 1)).is_some());
    }
}
