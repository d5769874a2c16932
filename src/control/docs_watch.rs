//! Which projects' docs folders have changed since the last look: files that came, went or got another
//! name. What is written into a file that stays is not seen by this.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::project::Bucket;

/// Looks of the store between two looks at folders: a folder costs a system call, the store none.
const EVERY: u32 = 5;
/// Projects that are looked at; who has more looks by hand.
const PROJECTS: usize = 200;

type Times = [Option<SystemTime>; 2];

/// The folders at the last look.
#[derive(Debug, Default)]
pub(super) struct DocsWatch {
    looks: u32,
    known: Option<BTreeMap<String, Times>>,
}

impl DocsWatch {
    /// The ids of projects whose folders have changed; nothing at the first look and between looks.
    pub(super) fn changed<'a>(
        &mut self,
        folders: impl Iterator<Item = (&'a String, &'a PathBuf)>,
    ) -> Vec<String> {
        self.looks += 1;
        if self.known.is_some() && !self.looks.is_multiple_of(EVERY) {
            return Vec::new();
        }
        let now: BTreeMap<String, Times> = folders
            .take(PROJECTS)
            .map(|(id, root)| {
                let time = |bucket: Bucket| {
                    std::fs::metadata(bucket.folder(root)).and_then(|about| about.modified()).ok()
                };
                (id.clone(), [time(Bucket::Always), time(Bucket::Rag)])
            })
            .collect();
        let known = self.known.replace(now);
        let (Some(known), Some(now)) = (known, &self.known) else { return Vec::new() };
        let differs = |(id, times): &(&String, &Times)| known.get(*id).is_some_and(|k| k != *times);
        now.iter().filter(differs).map(|(id, _)| id.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_comes_or_goes_is_seen_at_the_next_look_at_folders() {
        let dir = tempfile::tempdir().expect("dir");
        let docs = Bucket::Always.folder(dir.path());
        std::fs::create_dir_all(&docs).expect("docs");
        let folders = BTreeMap::from([("p1".to_owned(), dir.path().to_owned())]);
        let mut watch = DocsWatch::default();
        let next = |watch: &mut DocsWatch| {
            (0..EVERY).flat_map(|_| watch.changed(folders.iter())).collect::<Vec<_>>()
        };
        assert!(watch.changed(folders.iter()).is_empty());
        assert!(next(&mut watch).is_empty(), "nothing has changed");
        std::fs::write(docs.join("a.md"), "a").expect("doc");
        // The clock of a file system may stand still for some milliseconds.
        let later = SystemTime::now() + std::time::Duration::from_secs(1);
        std::fs::File::open(&docs).and_then(|d| d.set_modified(later)).expect("time");
        assert_eq!(next(&mut watch), ["p1"]);
        std::fs::create_dir(Bucket::Rag.folder(dir.path())).expect("rag");
        assert_eq!(next(&mut watch), ["p1"]);
        assert!(next(&mut watch).is_empty());
    }
}
