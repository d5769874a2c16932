//! What is written comes back, in a file that only its owner can read.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::launch::owner::Owner;

#[test]
fn a_session_comes_back_as_it_was() {
    let place = Place::new();
    let mut new = session("fix \0 the \u{1f41b}\n");
    // A folder whose name is not UTF-8.
    new.cwd = PathBuf::from(OsString::from_vec(b"/work/\xff".to_vec()));
    let store = place.open().unwrap();
    store.begin(&new).unwrap();
    assert_eq!(all(&store)[0].outcome, Outcome::Running);
    store.set_engine_session_id(new.id, "theirs").unwrap();
    store.finish(new.id, &end()).unwrap();
    let expected = SessionRow {
        id: new.id,
        engine: "echo".to_owned(),
        model: Some("small".to_owned()),
        project: Some("p1".to_owned()),
        project_root: Some(PathBuf::from("/work/p1")),
        cwd: new.cwd.clone(),
        mode: SessionMode::OneShot,
        engine_session_id: Some("theirs".to_owned()),
        argv: new.argv.clone(),
        started_at: new.started_at,
        ended_at: Some(1_796_000_005_000),
        exit_code: Some(0),
        signal: None,
        outcome: Outcome::Ok,
        first_words: new.display.as_str().to_owned(),
        resumes: None,
        options: LaunchOptions::default(),
        accepted: None,
        attempts: 1,
        owner: Some(Owner::this_process()),
    };
    assert_eq!(all(&store), [expected]);
    let texts: Vec<_> =
        store.messages(new.id).unwrap().into_iter().map(|m| (m.seq, m.role, m.text)).collect();
    assert_eq!(
        texts,
        [
            (1, Role::Operator, new.display.as_str().to_owned()),
            (2, Role::Engine, "done".to_owned())
        ]
    );
    assert_eq!(store.receipt(new.id).unwrap(), end().receipt);
}

#[test]
fn the_first_end_counts() {
    let place = Place::new();
    let store = place.open().unwrap();
    let new = session("x");
    store.begin(&new).unwrap();
    store.finish(new.id, &end()).unwrap();
    let late = SessionEnd { outcome: Outcome::Failed, ..end() };
    store.finish(new.id, &late).unwrap();
    assert_eq!(all(&store)[0].outcome, Outcome::Ok);
    assert_eq!(store.messages(new.id).unwrap().len(), 2);
    let nobody = SessionId::generate();
    assert!(matches!(store.finish(nobody, &end()), Err(StoreError::UnknownSession { .. })));
    assert!(store.set_engine_session_id(nobody, "x").is_err());
}

#[test]
fn a_message_that_changes_before_it_is_sent_is_stored_as_it_went() {
    let place = Place::new();
    let new = session("as typed first");
    let (mut recorder, _) = place.start(new.clone());
    assert_eq!(recorder.set_display(&DisplayText::new("as it went")), None);
    let store = place.open().unwrap();
    let texts = || -> Vec<String> {
        store.messages(new.id).unwrap().into_iter().map(|message| message.text).collect()
    };
    assert_eq!(texts(), ["as it went"]);
    assert_eq!(recorder.finish(end()), None);
    assert_eq!(texts()[0], "as it went");
    let (mut gone, _) = place.start(session("x"));
    store.write(|c| c.execute("DELETE FROM sessions", [])).unwrap();
    assert!(gone.set_display(&DisplayText::new("y")).unwrap().contains("as it was before"));
}

#[test]
fn lists_are_filtered_newest_first() {
    let place = Place::new();
    let store = place.open().unwrap();
    for (index, engine) in ["echo", "other", "echo"].iter().enumerate() {
        let mut new = session("x");
        new.engine = (*engine).to_owned();
        new.started_at += index as i64;
        if index == 2 {
            new.project = None;
        }
        store.begin(&new).unwrap();
    }
    let list = |filter: SessionFilter| -> Vec<i64> {
        store.sessions(&filter).unwrap().iter().map(|r| r.started_at % 10).collect()
    };
    assert_eq!(list(SessionFilter::default()), [2, 1, 0]);
    assert_eq!(list(SessionFilter { limit: Some(2), ..Default::default() }), [2, 1]);
    assert_eq!(list(SessionFilter { engine: Some("echo".into()), ..Default::default() }), [2, 0]);
    assert_eq!(list(SessionFilter { project: Some("p1".into()), ..Default::default() }), [1, 0]);
}

#[test]
fn fronts_are_the_engines_own_and_each_comes_once() {
    let place = Place::new();
    let store = place.open().unwrap();
    let receipts = [
        ("echo", serde_json::json!({"front": {"chars": 1, "hash": "a"}})),
        ("echo", serde_json::json!({"front": {"chars": 2, "hash": "b"}})),
        ("echo", serde_json::json!({"front": {"chars": 1, "hash": "a"}})),
        ("echo", serde_json::json!({"context": {"block_hash": "c"}})),
        ("other", serde_json::json!({"front": {"chars": 4, "hash": "d"}})),
    ];
    for (index, (engine, receipt)) in receipts.into_iter().enumerate() {
        let mut new = session("x");
        new.engine = engine.to_owned();
        new.started_at += index as i64;
        store.begin(&new).unwrap();
        store.finish(new.id, &SessionEnd { receipt: Some(receipt), ..end() }).unwrap();
    }
    let hashes = |limit| -> Vec<String> {
        let fronts = store.fronts("echo", limit).unwrap();
        fronts.iter().map(|front| front["hash"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(hashes(9), ["a", "b"]);
    assert_eq!(hashes(1), ["a"]);
}

#[test]
fn a_prefix_finds_one_session_or_says_which() {
    let place = Place::new();
    let store = place.open().unwrap();
    let mut ids = Vec::new();
    for tail in ["a1", "a2", "b0"] {
        let mut new = session("x");
        new.id = format!("0199aaaa-0000-7000-8000-0000000000{tail}").parse().unwrap();
        store.begin(&new).unwrap();
        ids.push(new.id);
    }
    assert_eq!(store.session_by_prefix(&ids[2].to_string()).unwrap().id, ids[2]);
    assert_eq!(store.session_by_prefix("0199AAAA-0000700080000000000000b").unwrap().id, ids[2]);
    match store.session_by_prefix("0199aaaa-0000-7000-8000-0000000000a") {
        Err(StoreError::AmbiguousSession { matches, .. }) => assert_eq!(matches, [ids[1], ids[0]]),
        other => panic!("{other:?}"),
    }
    for unknown in ["", "%", "0199ab", "last"] {
        let found = store.session_by_prefix(unknown);
        assert!(matches!(found, Err(StoreError::UnknownSession { .. })), "{unknown}");
    }
}

#[test]
fn the_files_are_private_and_a_wide_one_is_narrowed() {
    let place = Place::new();
    let mode = |path: PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let sides = ["", "-wal", "-shm"];
    let store = place.open().unwrap();
    store.begin(&session("x")).unwrap();
    assert_eq!(mode(place.paths().data), 0o700);
    for side in sides {
        assert_eq!(mode(store::beside(&place.database(), side)), 0o600, "{side}");
    }
    let wide = std::fs::Permissions::from_mode(0o664);
    for side in sides {
        std::fs::set_permissions(store::beside(&place.database(), side), wide.clone()).unwrap();
    }
    let _second = place.open().unwrap();
    for side in sides {
        assert_eq!(mode(store::beside(&place.database(), side)), 0o600, "{side}");
    }
}

#[test]
fn the_operator_row_is_synced_and_the_log_is_kept_until_the_end() {
    let place = Place::new();
    let store = place.open().unwrap();
    let pragma = |name: &str| -> String {
        let sql = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
        store.connection().query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!((pragma("synchronous").as_str(), pragma("journal_mode").as_str()), ("2", "wal"));
    drop(store);
    let (recorder, warning) = place.start(session("x"));
    assert_eq!(warning, None);
    // No connection is open between start and end: another program can have it all.
    let other = place.raw();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;").unwrap();
    drop(other);
    assert_eq!(recorder.finish(end()), None);
    assert!(!store::beside(&place.database(), "-wal").exists(), "one file is left when idle");
    assert_eq!(all(&place.open().unwrap())[0].outcome, Outcome::Ok);
}

#[test]
fn the_engines_id_is_kept_at_once_and_at_the_end() {
    let place = Place::new();
    let (mut recorder, _) = place.start(session("x"));
    recorder.note(&LiveNote::Session { id: "theirs".into() });
    let marks = live::marks(&place.paths());
    assert_eq!(marks[0].engine_session_id.as_deref(), Some("theirs"));
    recorder.finish(end());
    let rows = all(&place.open().unwrap());
    assert_eq!(rows[0].engine_session_id.as_deref(), Some("theirs"));
}

#[test]
fn reading_makes_and_changes_nothing() {
    let place = Place::new();
    let missing = Store::open_reading(&place.paths());
    assert!(matches!(missing, Err(StoreError::Missing { .. })));
    assert!(!place.paths().data.exists());
    place.open().unwrap().begin(&session("x")).unwrap();
    let reading = Store::open_reading(&place.paths()).unwrap();
    assert_eq!(all(&reading).len(), 1);
    assert!(matches!(reading.begin(&session("y")), Err(StoreError::ReadOnly { .. })));
}

#[test]
fn an_argument_that_carries_the_message_is_not_stored() {
    let place = Place::new();
    let mut new = session("hello");
    let sent = "## Injected Project Docs\n\nsecret\n\nhello";
    new.argv = ["x", "--", "hello", sent, "--say=hello"].map(str::to_owned).to_vec();
    let store = place.open().unwrap();
    store.begin(&new).unwrap();
    assert_eq!(all(&store)[0].argv, ["x", "--", "<text>", "<text>", "--say=hello"]);
}

#[test]
fn a_backup_is_whole_private_and_replaces_nothing() {
    let place = Place::new();
    let store = place.open().unwrap();
    store.begin(&session("x")).unwrap();
    let copy = Place::new();
    std::fs::create_dir(copy.paths().data).unwrap();
    backup::backup(&store, &copy.database()).unwrap();
    let mode = std::fs::metadata(copy.database()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(all(&copy.open().unwrap()), all(&store));
    let again = backup::backup(&store, &copy.database());
    assert!(matches!(again, Err(backup::BackupError::Exists { .. })));
    let nowhere = backup::backup(&store, &copy.folder.path().join("no/such.db"));
    assert!(matches!(nowhere, Err(backup::BackupError::Write { .. })));
    assert_eq!(files_of(copy.folder.path()), Vec::<PathBuf>::new(), "no draft is left");
    let report = backup::check(&store, &place.paths()).unwrap();
    assert_eq!((report.schema_version, report.sessions), (SCHEMA_VERSION, 1));
    assert_eq!((report.journal_mode.as_str(), report.problems.len()), ("wal", 0));
}
