//! Random operations against a plain model, and the one promise of the store: no byte of what was
//! sent beside the typed text is in any file.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Stands for the block: never given to the store but inside an argument that carries the message.
const MARKER: &str = "BLOCK-MARKER-7f3a";

#[derive(Debug, Clone)]
enum Operation {
    Start { text: String, locked: bool },
    Finish { which: usize, reply: Option<String>, locked: bool },
    EngineId { which: usize, id: String },
    Reopen,
}

fn operation() -> impl Strategy<Value = Operation> {
    let text = prop_oneof!["\\PC{0,40}", any::<String>()];
    prop_oneof![
        3 => (text, prop::bool::weighted(0.2))
            .prop_map(|(text, locked)| Operation::Start { text, locked }),
        3 => (any::<usize>(), prop::option::of("\\PC{0,40}"), prop::bool::weighted(0.2))
            .prop_map(|(which, reply, locked)| Operation::Finish { which, reply, locked }),
        1 => (any::<usize>(), "[a-z]{1,8}")
            .prop_map(|(which, id)| Operation::EngineId { which, id }),
        1 => Just(Operation::Reopen),
    ]
}

#[derive(Debug, Default, PartialEq)]
struct Expected {
    texts: Vec<String>,
    ended: bool,
    engine_id: Option<String>,
}

/// Every byte of every file below `folder`.
fn every_file(folder: &Path, visit: &mut impl FnMut(&Path, &[u8])) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            every_file(&path, visit);
        } else {
            visit(&path, &std::fs::read(&path).unwrap());
        }
    }
}

fn assert_never(folder: &Path, marker: &str) {
    every_file(folder, &mut |path, bytes| {
        let found = bytes.windows(marker.len()).any(|window| window == marker.as_bytes());
        assert!(!found, "{} holds {marker}", path.display());
    });
}

fn lock(place: &Place) -> rusqlite::Connection {
    drop(place.open().unwrap());
    let other = place.raw();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    other
}

fn run(operations: Vec<Operation>) {
    let place = Place::new();
    // Short: a locked database is part of the play here.
    let opening = Opening { busy: Some(Duration::from_millis(2)), ..place.opening() };
    let mut running: Vec<(SessionId, Recorder)> = Vec::new();
    let mut expected: BTreeMap<SessionId, Expected> = BTreeMap::new();
    for operation in operations {
        match operation {
            Operation::Start { text, locked } => {
                let held = locked.then(|| lock(&place));
                let mut new = session(&text);
                new.argv.push(format!("{MARKER}\n\n{text}"));
                // An empty text can't mark its argument: the plan gives none with it.
                if text.is_empty() {
                    new.argv.pop();
                }
                let id = new.id;
                let (recorder, warning) =
                    Recorder::start_with(&place.paths(), opening.clone(), new);
                assert_eq!(warning.is_some(), held.is_some(), "{warning:?}");
                running.push((id, recorder));
                expected.insert(id, Expected { texts: vec![text], ..Expected::default() });
            }
            Operation::Finish { which, reply, locked } => {
                if running.is_empty() {
                    continue;
                }
                let held = locked.then(|| lock(&place));
                let (id, recorder) = running.swap_remove(which % running.len());
                recorder.finish(SessionEnd { reply: reply.clone(), ..end() });
                drop(held);
                let row = expected.get_mut(&id).unwrap();
                row.ended = true;
                row.texts.extend(reply);
            }
            Operation::EngineId { which, id } => {
                if running.is_empty() {
                    continue;
                }
                let which = which % running.len();
                let (session, recorder) = &mut running[which];
                recorder.note(&LiveNote::Session { id: id.clone() });
                expected.get_mut(session).unwrap().engine_id = Some(id);
            }
            Operation::Reopen => drop(place.open().unwrap()),
        }
        assert_never(place.folder.path(), MARKER);
    }
    for (_, recorder) in running {
        recorder.finish(SessionEnd { reply: None, ..end() });
    }
    expected.values_mut().for_each(|row| row.ended = true);
    let store = place.open().unwrap();
    let found: BTreeMap<SessionId, Expected> = all(&store)
        .into_iter()
        .map(|row| {
            let texts = store.messages(row.id).unwrap().into_iter().map(|m| m.text).collect();
            let ended = row.ended_at.is_some() && store.receipt(row.id).unwrap().is_some();
            (row.id, Expected { texts, ended, engine_id: row.engine_session_id })
        })
        .collect();
    assert_eq!(found, expected);
    assert!(place.spooled().is_empty());
    assert_never(place.folder.path(), MARKER);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_operations_keep_typed_text_and_nothing_else(
        operations in prop::collection::vec(operation(), 1..14)
    ) {
        run(operations);
    }
}

#[test]
fn the_scan_would_find_a_marker() {
    let place = Place::new();
    place.open().unwrap().begin(&session(MARKER)).unwrap();
    assert!(std::panic::catch_unwind(|| assert_never(place.folder.path(), MARKER)).is_err());
}
