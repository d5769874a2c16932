//! The spool: each row once, whoever comes first, and nothing believed that is not a row.

use std::os::unix::fs::PermissionsExt;
use std::sync::Barrier;

use super::*;

/// A recorder whose rows went to the spool because another program held the database.
fn spool_one(place: &Place, new: NewSession) -> Recorder {
    drop(place.open().unwrap());
    let other = place.raw();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let (recorder, warning) = place.start(new);
    let warning = warning.unwrap();
    assert!(warning.contains("locked") && warning.contains(".start.json"), "{warning}");
    recorder
}

#[test]
fn g01_a_lock_held_too_long_costs_a_warning_and_the_row_comes_later() {
    let place = Place::new();
    let new = session("spooled text");
    let recorder = spool_one(&place, new.clone());
    let files = place.spooled();
    assert_eq!(files.len(), 1);
    assert_eq!(std::fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let line = std::fs::read_to_string(&files[0]).unwrap();
    assert_eq!(line.matches('\n').count(), 1);
    assert_eq!(recorder.finish(end()), None);
    assert!(place.spooled().is_empty());
    let store = place.open().unwrap();
    assert_eq!(all(&store)[0].outcome, Outcome::Ok);
    assert_eq!(store.messages(new.id).unwrap().len(), 2);
}

#[test]
fn g01_a_reader_with_an_open_snapshot_is_no_obstacle() {
    let place = Place::new();
    drop(place.open().unwrap());
    let reader = place.raw();
    reader.execute_batch("BEGIN; SELECT * FROM sessions").unwrap();
    let (recorder, warning) = place.start(session("x"));
    assert_eq!((warning, recorder.finish(end())), (None, None));
}

#[test]
fn an_end_that_was_spooled_meets_its_start() {
    let place = Place::new();
    let (recorder, _) = place.start(session("x"));
    let other = place.raw();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    assert!(recorder.finish(end()).unwrap().contains(".end.json"));
    drop(other);
    assert_eq!(all(&place.open().unwrap())[0].outcome, Outcome::Ok);
}

#[test]
fn a_session_that_the_user_removed_does_not_come_back() {
    let place = Place::new();
    let (recorder, _) = place.start(session("x"));
    let other = place.raw();
    other
        .execute_batch("DELETE FROM sessions; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE")
        .unwrap();
    assert!(recorder.finish(end()).is_some());
    drop(other);
    assert!(all(&place.open().unwrap()).is_empty());
    assert!(place.spooled().is_empty());
}

#[test]
fn two_at_once_take_each_row_once() {
    let place = Place::new();
    for index in 0..30 {
        let mut new = session(&format!("text {index}"));
        new.started_at += index;
        let row = spool::SpooledRow::new(place.database(), &new, false, Some(end()));
        spool::put(&row, &place.paths(), &place.folder.path().join("tmp")).unwrap();
    }
    let barrier = Barrier::new(2);
    let patient = Opening { busy: Some(Duration::from_secs(30)), ..place.opening() };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                barrier.wait();
                Store::open_with(&place.paths(), &patient).unwrap();
            });
        }
    });
    let store = place.open().unwrap();
    let rows = all(&store);
    assert_eq!(rows.len(), 30);
    for row in rows {
        assert_eq!(store.messages(row.id).unwrap().len(), 2);
    }
    assert!(place.spooled().is_empty());
}

#[test]
fn a_damaged_file_is_set_aside_and_named_once() {
    let place = Place::new();
    let spool = place.paths().spool();
    std::fs::create_dir_all(&spool).unwrap();
    let name = format!("{}.start.json", SessionId::generate());
    std::fs::write(spool.join(&name), "{\"format\":1,").unwrap();
    std::fs::write(spool.join("bad.end.json"), b"\xff\xfe").unwrap();
    std::fs::write(spool.join("notes.txt"), "not ours").unwrap();
    std::fs::write(spool.join(".x.start.json.draft"), "being written").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", spool.join("link.start.json")).unwrap();
    let store = place.open().unwrap();
    assert_eq!(store.notes().len(), 2, "{:?}", store.notes());
    assert!(store.notes().iter().any(|note| note.contains(&name)));
    assert!(spool.join("damaged").join(&name).exists());
    assert!(place.open().unwrap().notes().is_empty());
    assert!(spool.join("notes.txt").exists() && spool.join(".x.start.json.draft").exists());
    let (_, warning) = place.start(session("x"));
    assert_eq!(warning, None);
}

#[test]
fn rows_of_another_database_and_of_a_newer_format_stay() {
    let place = Place::new();
    let temp = place.folder.path().join("tmp");
    let elsewhere = spool::SpooledRow::new("/other.db".into(), &session("x"), false, None);
    spool::put(&elsewhere, &place.paths(), &temp).unwrap();
    let ours = spool::SpooledRow::new(place.database(), &session("y"), false, None);
    let file = spool::put(&ours, &place.paths(), &temp).unwrap();
    let newer = std::fs::read_to_string(&file).unwrap().replace("\"format\":1", "\"format\":2");
    std::fs::write(&file, newer).unwrap();
    let store = place.open().unwrap();
    assert!(all(&store).is_empty() && store.notes().is_empty());
    assert_eq!(place.spooled().len(), 2);
    assert_eq!(backup::check(&store, &place.paths()).unwrap().spooled, 2);
}

#[test]
fn a_fallback_folder_that_is_a_link_is_not_used() {
    let place = Place::new();
    let temp = place.folder.path().join("tmp");
    let [_, fallback] = spool::folders(&place.paths(), &temp);
    let elsewhere = TempDir::new().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), &fallback).unwrap();
    std::fs::write(place.paths().data, "").unwrap();
    let (_, warning) = place.start(session("x"));
    assert!(warning.unwrap().contains("is not recorded"));
    assert!(files_of(elsewhere.path()).is_empty());
}
