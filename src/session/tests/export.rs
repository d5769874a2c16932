//! Exports: the documented lines, the round trip, and that a bad one changes nothing.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::session::export::import::{Checked, ImportError, Imported};
use crate::session::export::{FORMAT, Format, Masker, Selection, VERSION, share_page};

/// The whole store as lines.
fn exported(store: &Store) -> String {
    written(store, Format::Jsonl)
}

fn written(store: &Store, format: Format) -> String {
    let heads = store.selected(&Selection::default()).unwrap();
    let mut sheet = format.sheet();
    let mut text = sheet.begin(&heads);
    for head in heads {
        text.push_str(&sheet.session(&store.transcript(head.id).unwrap().unwrap()));
    }
    text + &sheet.end()
}

fn import(store: &Store, text: impl AsRef<[u8]>) -> Result<Imported, ImportError> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text.as_ref()).unwrap();
    Checked::read(file)?.import(store)
}

/// A store with two sessions: one that ended, one that did not.
fn two() -> (Place, Store) {
    let place = Place::new();
    let store = place.open().unwrap();
    let mut ended = session("typed \u{1b}[2J\u{9b}世界\n");
    ended.cwd = PathBuf::from(OsString::from_vec(b"/work/\xff".to_vec()));
    store.begin(&ended).unwrap();
    store.finish(ended.id, &end()).unwrap();
    let mut running = session("");
    running.started_at += 1;
    (running.model, running.project, running.project_root) = (None, None, None);
    store.begin(&running).unwrap();
    (place, store)
}

#[test]
fn each_field_is_what_the_schema_says() {
    let (_place, store) = two();
    let text = exported(&store);
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    assert_eq!(lines[0], json!({"format": FORMAT, "version": VERSION, "sessions": 2}));
    let ids: Vec<String> = all(&store).into_iter().rev().map(|row| row.id.to_string()).collect();
    assert_eq!(
        lines[1],
        json!({
            "id": ids[0],
            "engine": "echo",
            "model": "small",
            "project": "p1",
            "project_folder": "/work/p1",
            "cwd": b"/work/\xff".to_vec(),
            "mode": "one_shot",
            "outcome": "ok",
            "exit_code": 0,
            "signal": null,
            "started_at": 1_796_000_000_000_i64,
            "ended_at": 1_796_000_005_000_i64,
            "engine_session": null,
            "argv": ["echo-engine", "--print"],
            "messages": [
                {"role": "operator", "text": "typed \u{1b}[2J\u{9b}世界\n",
                 "created_at": 1_796_000_000_000_i64},
                {"role": "engine", "text": "done", "created_at": 1_796_000_005_000_i64},
            ],
            "receipt": {
                "created_at": 1_796_000_005_000_i64,
                "delivered": {"block_hash": "ab", "bytes": 3},
            },
        })
    );
    let running = &lines[2];
    for field in
        ["model", "project", "project_folder", "exit_code", "ended_at", "engine_session", "receipt"]
    {
        assert_eq!(running[field], Value::Null, "{field}");
    }
    assert_eq!((&running["outcome"], &running["cwd"]), (&json!("running"), &json!("/work/p1/sub")));
    assert_eq!(lines.len(), 3);
    assert_eq!(text.chars().filter(|c| c.is_control() && *c != '\n').count(), 0);
    // In the README every field has its line.
    let readme = include_str!("../../../README.md");
    for field in lines[1].as_object().unwrap().keys() {
        assert!(readme.contains(&format!("| `{field}` |")), "{field} is not in the README");
    }
}

#[test]
fn an_import_is_whole_once_and_the_same() {
    let (_place, store) = two();
    let text = exported(&store);
    let other = Place::new();
    let copy = other.open().unwrap();
    assert_eq!(import(&copy, &text).unwrap(), Imported { added: 2, known: 0 });
    assert_eq!(exported(&copy), text);
    assert_eq!(import(&copy, &text).unwrap(), Imported { added: 0, known: 2 });
    assert_eq!(exported(&copy), text);
    // The process of a session is of one machine: it is not exported.
    let read = |store: &Store| -> Vec<_> {
        let mut read: Vec<_> =
            all(store).into_iter().filter_map(|row| store.transcript(row.id).unwrap()).collect();
        read.iter_mut().for_each(|transcript| transcript.row.owner = None);
        read
    };
    assert_eq!(read(&copy), read(&store));
    // A session that has its messages goes on like any other.
    let running = all(&copy)[0].id;
    copy.finish(running, &end()).unwrap();
    assert_eq!(copy.messages(running).unwrap().len(), 2);
    // An editor's mark at the start and empty line at the end do no harm.
    import(&other.open().unwrap(), format!("\u{feff}{}\n\n", exported(&copy))).unwrap();
}

#[test]
fn a_bad_export_says_where_and_changes_nothing() {
    let (_place, store) = two();
    let text = exported(&store);
    let lines: Vec<&str> = text.lines().collect();
    let with = |line: usize, changed: &str| -> String {
        let mut lines = lines.clone();
        lines[line] = changed;
        lines.join("\n") + "\n"
    };
    let changed = |line: usize, from: &str, to: &str| {
        let changed = lines[line].replacen(from, to, 1);
        assert_ne!(changed, lines[line], "{from} is there");
        with(line, &changed)
    };
    let cases: Vec<(String, &str)> = vec![
        (String::new(), "the file is empty"),
        ("# Session 0199\n".into(), "line 1 is not the head"),
        ("{\"format\":\"other\"}\n".into(), "`format` is not"),
        (changed(0, "\"version\":1", "\"version\":2"), "version 2, this omni-run reads up to 1"),
        (changed(0, "\"version\":1", "\"version\":0"), "`version` is no version"),
        (changed(0, "\"sessions\":2", "\"sessions\":\"x\""), "`sessions` is no number"),
        (changed(0, "\"sessions\":2", "\"sessions\":3"), "cut off: it has 2 of 3"),
        (changed(0, "\"sessions\":2", "\"sessions\":1"), "line 3 is damaged: there are more"),
        (format!("{text}{text}"), "line 4 is damaged: a second export begins here"),
        (text[..text.len() - 40].to_owned(), "line 3 is damaged: EOF"),
        (lines[..2].join("\n"), "cut off: it has 1 of 2"),
        (with(2, "not JSON"), "line 3 is damaged: expected"),
        (with(2, "[]"), "line 3 is damaged"),
        (changed(2, "\"one_shot\"", "\"two_shot\""), "line 3 is damaged: unknown variant"),
        (changed(2, "\"operator\"", "\"system\""), "line 3 is damaged: unknown variant"),
        (changed(2, "\"engine\":", "\"motor\":"), "line 3 is damaged: unknown field `motor`"),
        (changed(2, "\"cwd\":", "\"model\":"), "line 3 is damaged: duplicate field"),
        (changed(2, "\"argv\":[\"echo-engine\",\"--print\"],", ""), "missing field `argv`"),
        (changed(2, "\"id\":\"01", "\"id\":\"zz"), "line 3 is damaged"),
        (changed(2, "\"started_at\":1", "\"started_at\":1."), "line 3 is damaged"),
        (
            format!("{}\n{}\n{}", lines[0], lines[1], lines[1].replace("\"done\"", "\"else\"")),
            "line 3: session",
        ),
    ];
    for (text, expected) in cases {
        let place = Place::new();
        let store = place.open().unwrap();
        store.begin(&session("stays")).unwrap();
        let before = exported(&store);
        let error = import(&store, &text).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}\nis not {expected}");
        assert!(!error.contains("line 1 column"), "{error}");
        assert_eq!(exported(&store), before, "{expected}");
    }
    let mut bytes = text.clone().into_bytes();
    let at = text.find("done").unwrap();
    bytes[at] = 0xff;
    let error = import(&Place::new().open().unwrap(), bytes).unwrap_err();
    assert!(matches!(error, ImportError::Damaged { line: 2, .. }), "{error}");
}

#[test]
fn another_session_under_the_same_id_is_named_and_nothing_is_changed() {
    let (_place, store) = two();
    let text = exported(&store);
    let other = Place::new();
    let copy = other.open().unwrap();
    // The second of the file differs; the first, new one, must not stay.
    let second = all(&store)[0].clone();
    let mut differs = session("something else");
    differs.id = second.id;
    copy.begin(&differs).unwrap();
    let before = exported(&copy);
    match import(&copy, &text) {
        Err(ImportError::Differs { line: 3, id }) => assert_eq!(id, second.id),
        other => panic!("{other:?}"),
    }
    assert_eq!(exported(&copy), before);
}

#[test]
fn a_pipe_is_read_once_and_a_line_without_an_end_is_bounded() {
    let (_place, store) = two();
    let (reader, writer) = nix::unistd::pipe().unwrap();
    let text = exported(&store);
    let feed = std::thread::spawn(move || File::from(writer).write_all(text.as_bytes()));
    let other = Place::new();
    let copy = other.open().unwrap();
    let imported = Checked::read(File::from(reader)).unwrap().import(&copy).unwrap();
    feed.join().unwrap().unwrap();
    assert_eq!(imported, Imported { added: 2, known: 0 });
    // A hole on the disk: as long as it likes, and no line in it.
    let endless = tempfile::tempfile().unwrap();
    endless.set_len(1 << 40).unwrap();
    let error = Checked::read(endless).unwrap_err();
    assert!(error.to_string().contains("longer than 256 MB"), "{error}");
}

#[test]
fn selected_by_project_engine_and_moment_in_stable_order() {
    let place = Place::new();
    let store = place.open().unwrap();
    for (age, engine, project) in [(5, "echo", Some("p1")), (3, "other", None), (9, "echo", None)] {
        let mut new = session("x");
        new.started_at -= age;
        new.engine = engine.to_owned();
        new.project = project.map(str::to_owned);
        new.project_root = project.is_none().then(|| PathBuf::from("/work/free"));
        store.begin(&new).unwrap();
    }
    let ages = |selection: Selection| -> Vec<i64> {
        let rows = store.selected(&selection).unwrap();
        rows.iter().map(|row| 1_796_000_000_000 - row.started_at).collect()
    };
    assert_eq!(ages(Selection::default()), [9, 5, 3]);
    let engine = Selection { engine: Some("echo".into()), ..Selection::default() };
    assert_eq!(ages(engine), [9, 5]);
    let since = Selection { since: Some(1_796_000_000_000 - 5), ..Selection::default() };
    assert_eq!(ages(since), [5, 3]);
    let project = Selection { project: Some("p1".into()), ..Selection::default() };
    assert_eq!(ages(project), [5]);
    let root = Selection { project_root: Some("/work/free".into()), ..Selection::default() };
    assert_eq!(ages(root), [9, 3]);
}

/// Any value of a receipt: what a newer omni-run may write is kept as well.
fn receipt() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

fn path() -> impl Strategy<Value = PathBuf> {
    prop::collection::vec(1_u8.., 0..12)
        .prop_map(|bytes| PathBuf::from(OsString::from_vec([b"/".to_vec(), bytes].concat())))
}

prop_compose! {
    fn any_session()(
        (text, engine, model, project) in
            (any::<String>(), "[a-z]{1,8}", any::<Option<String>>(), any::<Option<String>>()),
        (root, cwd, argv, started_at) in
            (prop::option::of(path()), path(), any::<Vec<String>>(), any::<i64>()),
        ended in prop::option::of((
            any::<i64>(), any::<Option<i32>>(), any::<Option<i32>>(),
            any::<Option<String>>(), any::<Option<String>>(), prop::option::of(receipt()),
        )),
    ) -> (NewSession, Option<SessionEnd>) {
        let new = NewSession {
            engine, model, project, cwd, argv, started_at,
            project_root: root,
            ..session(&text)
        };
        let ended = ended.map(|(ended_at, exit_code, signal, engine_session_id, reply, receipt)| {
            SessionEnd {
                ended_at, exit_code, signal, engine_session_id, reply, receipt,
                accepted: None,
                outcome: Outcome::TimedOut,
            }
        });
        (new, ended)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_exported_is_imported_byte_for_byte(
        sessions in prop::collection::vec(any_session(), 0..6)
    ) {
        let place = Place::new();
        let store = place.open().unwrap();
        for (new, ended) in &sessions {
            store.begin(new).unwrap();
            if let Some(ended) = ended {
                store.finish(new.id, ended).unwrap();
            }
        }
        let text = exported(&store);
        prop_assert_eq!(&exported(&store), &text, "the same store, the same bytes");
        let copy = Place::new();
        let copy = copy.open().unwrap();
        let imported = import(&copy, &text).unwrap();
        prop_assert_eq!(imported, Imported { added: sessions.len(), known: 0 });
        prop_assert_eq!(exported(&copy), text);
        // The others take any text.
        for format in [Format::Markdown, Format::Html] {
            prop_assert_eq!(written(&copy, format), written(&store, format));
        }
        for row in all(&store) {
            let transcript = store.transcript(row.id).unwrap().unwrap();
            share_page(&transcript, &mut Masker::new(Some(Path::new("/home/ann")), false));
        }
    }
}
