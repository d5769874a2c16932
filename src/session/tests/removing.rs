//! What is removed is gone: from the lists, from the index, and from the bytes on the disk.

use std::collections::HashSet;

use super::searching::assert_index_sound;
use super::*;
use crate::session::removal::Removed;

/// In each text that is removed; twice in its word, because the index leaves out what a term has in
/// common with the one before it.
const GONE: &str = "secretgone";
const KEPT: &str = "secretkept";

fn text(mark: &str, n: usize) -> String {
    // Lengths around the size of a page, and over many of them.
    let filler = format!("word{n} und so weiter 搜索{n} ").repeat([0, 3, 40, 160, 900][n % 5]);
    format!("{filler}{mark}{n}x{mark} {filler} {mark}")
}

fn recorded(store: &Store, text: &str) -> SessionId {
    let new = session(text);
    store.begin(&new).unwrap();
    let end = SessionEnd { reply: Some(format!("reply to {text}")), ..end() };
    store.finish(new.id, &end).unwrap();
    new.id
}

/// Every file below `folder` that has `mark` in it, in whatever case.
fn files_with(folder: &Path, mark: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, mark));
        } else if let Ok(bytes) = std::fs::read(&path)
            && String::from_utf8_lossy(&bytes).to_lowercase().contains(mark)
        {
            found.push(path);
        }
    }
    found
}

fn remove(place: &Place, store: &Store, ids: &[SessionId], many: i64) -> Removed {
    let temp = place.folder.path().join("tmp");
    store.remove_from(&place.paths(), &temp, ids, false, many).unwrap()
}

/// Many sessions, half of them removed in another order than they came, more written in between.
fn nothing_is_left(many: i64) {
    let place = Place::new();
    let store = place.open().unwrap();
    let (mut gone, mut kept) = (Vec::new(), Vec::new());
    for n in 0..60 {
        if n % 2 == 0 {
            gone.push(recorded(&store, &text(GONE, n)));
        } else {
            kept.push(recorded(&store, &text(KEPT, n)));
        }
    }
    gone.sort_by_key(|id| id.to_string().chars().rev().collect::<String>());
    assert!(!files_with(place.folder.path(), GONE).is_empty(), "the scan finds what is there");
    let removed = remove(&place, &store, &gone, many);
    assert_eq!((removed.sessions, removed.log_left), (gone.len(), false));
    assert_eq!(files_with(place.folder.path(), GONE), Vec::<PathBuf>::new());
    assert_index_sound(&store);
    let left: HashSet<SessionId> = all(&store).iter().map(|row| row.id).collect();
    assert_eq!(left, kept.iter().copied().collect());
    for (query, expected) in [(GONE, 0), (KEPT, 2 * kept.len())] {
        let query = search::Query::parse(query).unwrap();
        let (filter, order) = Default::default();
        let found = store.search(&query, &filter, order, 500, 40).unwrap();
        assert_eq!(found.matches, expected);
    }
    drop(store);
    assert_eq!(files_with(place.folder.path(), GONE), Vec::<PathBuf>::new());
    let report = backup::check(&place.open().unwrap(), &place.paths()).unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
}

#[test]
fn a_few_sessions_leave_no_byte() {
    nothing_is_left(i64::MAX);
}

#[test]
fn many_sessions_leave_no_byte() {
    nothing_is_left(0);
}

#[test]
fn without_wal_nothing_is_left_either() {
    let place = Place::new();
    std::fs::create_dir_all(store::beside(&place.database(), "-shm")).unwrap();
    let store = place.open().unwrap();
    let id = recorded(&store, &text(GONE, 4));
    recorded(&store, &text(KEPT, 3));
    assert_eq!(remove(&place, &store, &[id], i64::MAX).sessions, 1);
    assert_eq!(files_with(place.folder.path(), GONE), Vec::<PathBuf>::new());
}

#[test]
fn a_running_session_stays_unless_it_is_meant() {
    let place = Place::new();
    let store = place.open().unwrap();
    let running = session("runs");
    store.begin(&running).unwrap();
    let nobody = SessionId::generate();
    assert_eq!(remove(&place, &store, &[running.id, nobody], 0).sessions, 0);
    assert_eq!(all(&store).len(), 1);
    let removed = store.remove(&place.paths(), &[running.id], true).unwrap();
    assert_eq!((removed.sessions, all(&store).len()), (1, 0));
    // Its end finds nothing to write to, and makes nothing.
    assert!(store.finish(running.id, &end()).is_err());
    assert!(all(&store).is_empty());
}

#[test]
fn what_waits_in_the_spool_goes_too() {
    let place = Place::new();
    let new = session(&text(GONE, 0));
    let id = new.id;
    let (recorder, _) = place.start(new);
    let other = place.raw();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let warning = recorder.finish(SessionEnd { reply: Some(GONE.to_owned()), ..end() });
    assert!(warning.is_some());
    drop(other);
    let [spool, _] = spool::folders(&place.paths(), &place.folder.path().join("tmp"));
    let [waiting] = &place.spooled()[..] else { panic!("{:?}", place.spooled()) };
    std::fs::create_dir(spool.join("damaged")).unwrap();
    std::fs::copy(waiting, spool.join("damaged").join(waiting.file_name().unwrap())).unwrap();
    std::fs::copy(waiting, spool.join(format!(".{id}.end.json.draft"))).unwrap();
    let unrelated = spool.join(format!("{}.start.json.x", SessionId::generate()));
    std::fs::write(&unrelated, "").unwrap();
    let store = place.open().unwrap();
    let removed = remove(&place, &store, &[id], i64::MAX);
    assert_eq!((removed.sessions, removed.left.len()), (1, 0));
    assert_eq!(files_with(place.folder.path(), GONE), Vec::<PathBuf>::new());
    assert!(unrelated.exists());
}

#[test]
fn a_reader_keeps_the_log_and_that_is_said() {
    let place = Place::new();
    let store = place.open().unwrap();
    let id = recorded(&store, GONE);
    let reader = place.raw();
    reader.execute_batch("BEGIN").unwrap();
    let count: i64 = reader.query_row("SELECT count(*) FROM messages", [], |r| r.get(0)).unwrap();
    assert_eq!(count, 2);
    assert!(remove(&place, &store, &[id], i64::MAX).log_left);
    drop(reader);
    drop(store);
    drop(place.open().unwrap());
    assert_eq!(files_with(place.folder.path(), GONE), Vec::<PathBuf>::new());
}

#[test]
fn compacting_gives_the_room_back_and_keeps_the_index() {
    let place = Place::new();
    let store = place.open().unwrap();
    let gone: Vec<SessionId> = (0..10).map(|n| recorded(&store, &text(GONE, 5 * n + 4))).collect();
    recorded(&store, "a lamp stays");
    let size = || std::fs::metadata(place.database()).unwrap().len();
    let removed = remove(&place, &store, &gone, i64::MAX);
    let before = size();
    assert!(removed.free_bytes > before / 2, "{removed:?} of {before}");
    store.compact().unwrap();
    assert!(size() < before / 2);
    assert_index_sound(&store);
    let query = search::Query::parse("lamp").unwrap();
    let (filter, order) = Default::default();
    assert_eq!(store.search(&query, &filter, order, 9, 40).unwrap().matches, 2);
}
