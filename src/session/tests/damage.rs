//! Databases that we must not touch, and disks that can't do what we want.

use super::*;

fn bytes(place: &Place) -> Vec<u8> {
    std::fs::read(place.database()).unwrap()
}

#[test]
fn g04_a_newer_database_is_not_written() {
    for version in [9999, SCHEMA_VERSION + 1, -1] {
        let place = Place::new();
        place.open().unwrap().begin(&session("old")).unwrap();
        let raw = place.raw();
        raw.execute_batch("ALTER TABLE sessions DROP COLUMN model; CREATE TABLE more (x);")
            .unwrap();
        raw.pragma_update(None, "user_version", version).unwrap();
        drop(raw);
        let before = bytes(&place);
        match place.open() {
            Err(StoreError::Newer { file, theirs, ours }) => {
                let expected = (place.database(), version, SCHEMA_VERSION);
                assert_eq!((file, theirs, ours), expected);
            }
            other => panic!("{other:?}"),
        }
        let reading = Store::open_reading(&place.paths());
        assert!(matches!(reading, Err(StoreError::Newer { .. })));
        let (recorder, warning) = place.start(session("new"));
        let warning = warning.unwrap();
        for part in [&version.to_string(), &SCHEMA_VERSION.to_string(), "update omni-run"] {
            assert!(warning.contains(part), "{warning}");
        }
        assert_eq!(recorder.finish(end()), None, "said once");
        assert_eq!(bytes(&place), before);
        assert_eq!(place.spooled().len(), 2);
    }
}

#[test]
fn g04_a_foreign_database_is_refused() {
    let make: [&str; 3] = [
        "PRAGMA application_id = 1; PRAGMA user_version = 1;",
        "CREATE TABLE theirs (x);",
        "PRAGMA user_version = 1; CREATE TABLE theirs (x);",
    ];
    for sql in make {
        let place = Place::new();
        std::fs::create_dir(place.paths().data).unwrap();
        place.raw().execute_batch(sql).unwrap();
        let before = bytes(&place);
        assert!(matches!(place.open(), Err(StoreError::Foreign { .. })), "{sql}");
        let reading = Store::open_reading(&place.paths());
        assert!(matches!(reading, Err(StoreError::Foreign { .. })), "{sql}");
        assert_eq!(bytes(&place), before);
    }
}

#[test]
fn g04_a_dropped_table_costs_the_record_only() {
    let place = Place::new();
    drop(place.open().unwrap());
    place.raw().execute_batch("DROP TABLE messages").unwrap();
    let (_, warning) = place.start(session("x"));
    assert!(warning.unwrap().contains("no such table"));
    assert_eq!(place.spooled().len(), 1);
    let kept: i64 =
        place.raw().query_row("SELECT count(*) FROM sessions", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 0, "no half row");
}

/// What another process sees.
fn reading(place: &Place) -> Store {
    Store::open_reading(&place.paths()).unwrap()
}

#[test]
fn a_damaged_file_is_left_alone_and_the_row_waits() {
    let place = Place::new();
    std::fs::create_dir(place.paths().data).unwrap();
    let junk = b"not a database at all, but long enough to have a header of its own".repeat(99);
    std::fs::write(place.database(), &junk).unwrap();
    assert!(matches!(place.open(), Err(StoreError::Corrupt { .. })));
    let (recorder, warning) = place.start(session("x"));
    assert!(warning.unwrap().contains("damaged"));
    assert_eq!(bytes(&place), junk);
    // The way out that the hint names.
    std::fs::remove_file(place.database()).unwrap();
    recorder.finish(end());
    let rows = all(&place.open().unwrap());
    assert_eq!((rows.len(), rows[0].outcome), (1, Outcome::Ok));
    assert!(place.spooled().is_empty());
}

#[test]
fn g02_without_shared_memory_a_rollback_journal_serves() {
    let place = Place::new();
    std::fs::create_dir_all(store::beside(&place.database(), "-shm")).unwrap();
    let (recorder, warning) = place.start(session("x"));
    assert_eq!(warning, None);
    assert_eq!(recorder.finish(end()), None);
    let report = backup::check(&place.open().unwrap(), &place.paths()).unwrap();
    assert_eq!((report.journal_mode.as_str(), report.sessions), ("truncate", 1));
    assert!(report.problems.is_empty());
    assert_eq!(all(&reading(&place)).len(), 1);
}

#[test]
fn g02_a_wal_database_that_moved_to_such_a_disk_stays_readable() {
    let place = Place::new();
    place.open().unwrap().begin(&session("before")).unwrap();
    std::fs::create_dir_all(store::beside(&place.database(), "-shm")).unwrap();
    let (_, warning) = place.start(session("after"));
    assert_eq!(warning, None);
    assert_eq!(all(&place.open().unwrap()).len(), 2);
}

#[test]
fn g02_a_refused_wal_is_noticed() {
    let place = Place::new();
    let opening = Opening { vfs: Some("unix-dotfile"), ..place.opening() };
    let store = Store::open_with(&place.paths(), &opening).unwrap();
    store.begin(&session("x")).unwrap();
    let mode: String =
        store.connection().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(mode, "truncate");
}

#[test]
fn f02_a_data_folder_that_cannot_be_made_costs_the_record_only() {
    let place = Place::new();
    // A file where the data folder should be: no place for database or spool.
    std::fs::write(place.paths().data, "").unwrap();
    assert!(matches!(place.open(), Err(StoreError::Folder { .. })));
    let (_, warning) = place.start(session("x"));
    let warning = warning.unwrap();
    assert!(warning.contains("omni-run-spool-") && warning.contains("OMNI_RUN_DATA_DIR"));
    // Taken in from the temporary folder when the data folder works again.
    std::fs::remove_file(place.paths().data).unwrap();
    assert_eq!(all(&place.open().unwrap()).len(), 1);
    assert!(place.spooled().is_empty());
}

#[test]
fn f02_without_any_place_the_warning_says_so_once() {
    let place = Place::new();
    std::fs::write(place.paths().data, "").unwrap();
    std::fs::remove_dir(place.folder.path().join("tmp")).unwrap();
    std::fs::write(place.folder.path().join("tmp"), "").unwrap();
    let (recorder, warning) = place.start(session("x"));
    assert!(warning.unwrap().contains("is not recorded"));
    assert_eq!(recorder.finish(end()), None);
}

#[test]
fn a_folder_in_place_of_the_file() {
    let place = Place::new();
    std::fs::create_dir_all(place.database()).unwrap();
    assert!(matches!(place.open(), Err(StoreError::Unusable { .. })));
    let (_, warning) = place.start(session("x"));
    assert!(warning.is_some());
    assert_eq!(place.spooled().len(), 1);
}

#[test]
fn a_store_that_was_deleted_while_the_session_ran_is_said() {
    let place = Place::new();
    let (recorder, warning) = place.start(session("typed"));
    assert_eq!(warning, None);
    std::fs::remove_dir_all(place.paths().data).unwrap();
    let id = recorder.session().id;
    let warning = recorder.finish(end()).unwrap();
    assert!(warning.contains(&format!("no longer has session {id}")), "{warning}");
}
