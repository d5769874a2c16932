//! The search on a store: every script, filters, slices, what came by migration or from the spool.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::session::search::{Found, Query, RANKED, SearchFilter, SearchOrder};

/// The texts of the hits, marks taken out.
fn texts(found: &Found) -> Vec<String> {
    let text = |hit: &search::Hit| hit.snippet.iter().map(|part| part.text.as_str()).collect();
    found.hits.iter().map(text).collect()
}

fn search_with(store: &Store, query: &str, filter: &SearchFilter) -> Found {
    let query = Query::parse(query).unwrap_or_else(|error| panic!("{query:?}: {error}"));
    store.search(&query, filter, SearchOrder::Relevance, 1000, 1000).unwrap()
}

fn search(store: &Store, query: &str) -> Vec<String> {
    texts(&search_with(store, query, &SearchFilter::default()))
}

/// What the index holds is what it would get from the messages as they are.
#[track_caller]
pub(super) fn assert_index_sound(store: &Store) {
    let sql = "INSERT INTO message_index (message_index, rank) VALUES ('integrity-check', 1)";
    store.write(|c| c.execute(sql, [])).unwrap();
}

/// A typed message of its own session, at a given moment.
fn typed(store: &Store, text: &str, at: UnixMs) -> SessionId {
    let new = NewSession { started_at: at, ..session(text) };
    store.begin(&new).unwrap();
    new.id
}

#[test]
fn words_of_both_sides_are_found() {
    let place = Place::new();
    let store = place.open().unwrap();
    let id = typed(&store, "Fix the Parser", 1000);
    store.finish(id, &SessionEnd { reply: Some("The parser is fixed".into()), ..end() }).unwrap();
    typed(&store, "unrelated", 2000);
    let found = search_with(&store, "parser", &SearchFilter::default());
    assert_eq!((found.matches, found.more), (2, false));
    let roles: BTreeSet<_> = found.hits.iter().map(|hit| (hit.seq, hit.role.as_str())).collect();
    assert_eq!(roles, BTreeSet::from([(1, "operator"), (2, "engine")]));
    assert!(found.hits.iter().all(|hit| hit.session.id == id && hit.score > 0.0));
    assert_eq!(search(&store, "parser fix"), ["Fix the Parser"]);
    assert_eq!(search(&store, "pars* -fix").len(), 1);
    assert_eq!(search(&store, "unrelated OR fixed").len(), 2);
    assert_eq!(search(&store, "\"parser the\""), Vec::<String>::new());
    assert_index_sound(&store);
}

#[test]
fn every_script_is_found() {
    let place = Place::new();
    let store = place.open().unwrap();
    let all = [
        "全文搜索引擎",
        "検索機能を追加する",
        "ガラス越し",
        "한국어로 답해 주세요",
        "ภาษาไทย",
        "Überprüfe die Größe",
        "проверка ещё раз",
        "ship it 👍🏽",
        "İstanbul and Ελλάς",
    ];
    for (n, text) in all.iter().enumerate() {
        typed(&store, text, n as i64);
    }
    for (query, expected) in [
        ("搜", 0),
        ("索", 0),
        ("搜索", 0),
        ("全文搜索", 0),
        ("検索", 1),
        ("追加する", 1),
        ("加", 1),
        ("を", 1),
        ("ｶﾞﾗｽ", 2),
        ("カ\u{3099}ラス", 2),
        ("국어", 3),
        ("답", 3),
        ("ไทย", 4),
        ("UBERPRUFE", 5),
        ("u\u{308}berprüfe größe", 5),
        ("еще", 6),
        ("👍", 7),
        ("istanbul ελλασ", 8),
    ] {
        let found = search(&store, query);
        assert!(found.contains(&all[expected].to_owned()), "{query}: {found:?}");
    }
    assert_eq!(search(&store, "索搜"), Vec::<String>::new());
    assert_eq!(search(&store, "索").len(), 2);
}

#[test]
fn filters_take_part() {
    let place = Place::new();
    let store = place.open().unwrap();
    for (n, (engine, project)) in
        [("echo", Some("p1")), ("my-tool", Some("p1")), ("echo", Some("p2")), ("echo", None)]
            .into_iter()
            .enumerate()
    {
        let mut new = session(&format!("lamp {n}"));
        (new.engine, new.project) = (engine.to_owned(), project.map(str::to_owned));
        (new.started_at, new.project_root) = (n as i64 * 1000, Some(PathBuf::from("/work/free")));
        store.begin(&new).unwrap();
        store
            .finish(
                new.id,
                &SessionEnd {
                    reply: Some(format!("lamp reply {n}")),
                    ended_at: n as i64 * 1000 + 500,
                    ..end()
                },
            )
            .unwrap();
    }
    let count = |filter: &SearchFilter| search_with(&store, "lamp", filter).matches;
    let all = SearchFilter::default();
    assert_eq!(count(&all), 8);
    assert_eq!(count(&SearchFilter { engine: Some("my-tool".into()), ..all.clone() }), 2);
    assert_eq!(count(&SearchFilter { engine: Some("my".into()), ..all.clone() }), 0);
    assert_eq!(count(&SearchFilter { role: Some(Role::Engine), ..all.clone() }), 4);
    assert_eq!(count(&SearchFilter { project: Some("p1".into()), ..all.clone() }), 4);
    assert_eq!(count(&SearchFilter { project: Some("none".into()), ..all.clone() }), 0);
    let folder = Some(PathBuf::from("/work/free"));
    assert_eq!(count(&SearchFilter { folder: folder.clone(), ..all.clone() }), 2, "without an id");
    let both = SearchFilter { folder, project: Some("p2".into()), ..all.clone() };
    assert_eq!(count(&both), 4);
    assert_eq!(count(&SearchFilter { since: Some(2000), ..all.clone() }), 4);
    assert_eq!(count(&SearchFilter { before: Some(1000), ..all.clone() }), 2);
    assert_eq!(count(&SearchFilter { since: Some(500), before: Some(501), ..all.clone() }), 1);
    assert_eq!(count(&SearchFilter { since: Some(9000), ..all }), 0);
}

#[test]
fn a_renamed_project_is_found_under_its_new_name() {
    let place = Place::new();
    let store = place.open().unwrap();
    for project in ["a", "b"] {
        store.begin(&NewSession { project: Some(project.into()), ..session("lamp") }).unwrap();
    }
    let count = |project: &str| {
        let filter = SearchFilter { project: Some(project.into()), ..Default::default() };
        search_with(&store, "lamp", &filter).matches
    };
    let rename = |from: &str, to: &str| {
        let sql = "UPDATE sessions SET project_id = ?2 WHERE project_id = ?1";
        store.write(|c| c.execute(sql, [from, to])).unwrap();
    };
    rename("a", "c");
    assert_eq!((count("a"), count("b"), count("c")), (0, 1, 1));
    store.begin(&NewSession { project: Some("a".into()), ..session("lamp") }).unwrap();
    rename("b", "a");
    assert_eq!((count("a"), count("b"), count("c")), (2, 0, 1));
    store.begin(&NewSession { project: Some("a".into()), ..session("lamp") }).unwrap();
    assert_eq!(count("a"), 3);
    assert_index_sound(&store);
}

#[test]
fn a_spooled_row_is_found_when_it_was_taken_in() {
    let place = Place::new();
    drop(place.open().unwrap());
    let other = place.raw();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let (recorder, warning) = place.start(session("spooled lamp"));
    assert!(warning.is_some());
    recorder.finish(end());
    drop(other);
    let store = place.open().unwrap();
    assert_eq!(search(&store, "lamp"), ["spooled lamp"]);
    assert_eq!(search(&store, "done"), ["done"]);
    assert_index_sound(&store);
}

/// Rows as an omni-run of before the index wrote them.
fn old_database(place: &Place, texts: &[&str]) {
    std::fs::create_dir_all(place.paths().data).unwrap();
    let raw = place.raw();
    raw.execute_batch(include_str!("../migrations/0001_first_tables.sql")).unwrap();
    raw.execute_batch("BEGIN").unwrap();
    for (n, text) in texts.iter().enumerate() {
        let id = SessionId::generate().to_string();
        raw.execute(
            "INSERT INTO sessions (id, engine, project_id, project_path, cwd, mode, argv_json, started_at)
             VALUES (?1, 'echo', ?2, '/w', '/w', 'one_shot', '[]', ?3)",
            rusqlite::params![id, (n % 2 == 0).then_some("p1"), n as i64],
        )
        .unwrap();
        raw.execute(
            "INSERT INTO messages (session_id, seq, role, text, created_at)
             VALUES (?1, 1, 'operator', ?2, ?3)",
            rusqlite::params![id, text, n as i64],
        )
        .unwrap();
    }
    raw.execute_batch("COMMIT").unwrap();
    raw.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    raw.pragma_update(None, "user_version", 1).unwrap();
}

#[test]
fn what_an_older_omni_run_stored_is_found_before_it_is_in_the_index_and_after() {
    let place = Place::new();
    old_database(&place, &["old lamp", "搜索", "third lamp", "gone lamp", "lost"]);
    // A look is enough: it is made ready first, but nobody waits for the index.
    let store = Store::open_reading(&place.paths()).unwrap();
    assert_eq!(store.waiting_for_index().unwrap(), 5);
    drop(store);
    let store = place.open().unwrap();
    typed(&store, "new lamp", 9);
    store
        .write(|c| {
            c.execute("DELETE FROM sessions WHERE started_at = 3", [])?;
            c.execute("UPDATE messages SET text = 'found lamp' WHERE text = 'lost'", [])
        })
        .unwrap();
    assert_index_sound(&store);
    for waiting in [5, 0] {
        assert_eq!(store.waiting_for_index().unwrap(), waiting);
        assert_eq!(search(&store, "lamp"), ["new lamp", "found lamp", "third lamp", "old lamp"]);
        assert_eq!(search(&store, "lamp third OR nowhere"), ["third lamp"]);
        assert_eq!(search(&store, "索"), ["搜索"]);
        let found = |query, filter| texts(&search_with(&store, query, &filter));
        let p1 = SearchFilter { project: Some("p1".into()), ..Default::default() };
        assert_eq!(found("lamp", p1), ["new lamp", "found lamp", "third lamp", "old lamp"]);
        let none = SearchFilter { project: Some("p2".into()), ..Default::default() };
        assert_eq!(found("lamp", none), Vec::<String>::new());
        let free = SearchFilter { folder: Some("/w".into()), ..Default::default() };
        assert_eq!(found("索", free), ["搜索"]);
        let late = SearchFilter { since: Some(2), before: Some(9), ..Default::default() };
        assert_eq!(found("lamp", late), ["found lamp", "third lamp"]);
        let replies = SearchFilter { role: Some(Role::Engine), ..Default::default() };
        assert_eq!(found("lamp", replies), Vec::<String>::new());
        let other = SearchFilter { engine: Some("other".into()), ..Default::default() };
        assert_eq!(found("lamp", other), Vec::<String>::new());
        store.fill_index().unwrap();
        assert_index_sound(&store);
    }
    store.write(|c| c.execute("DELETE FROM sessions", [])).unwrap();
    assert_index_sound(&store);
    assert_eq!(search(&store, "lamp"), Vec::<String>::new());
}

#[test]
fn an_index_that_is_half_full_answers_as_a_full_one() {
    let place = Place::new();
    let numbers: Vec<String> = (0..700).map(|n| format!("lamp number {n}")).collect();
    old_database(&place, &numbers.iter().map(String::as_str).collect::<Vec<_>>());
    let store = place.open().unwrap();
    let mut waiting = vec![store.waiting_for_index().unwrap()];
    while waiting.last().is_some_and(|left| *left > 0) {
        assert_eq!(search(&store, "lamp").len(), 700);
        assert_eq!(search(&store, "6"), ["lamp number 6"]);
        assert_eq!(search(&store, "699"), ["lamp number 699"]);
        waiting.push(store.fill_index_by(300).unwrap());
    }
    assert_eq!(waiting, [700, 400, 100, 0]);
    assert_eq!(search(&store, "lamp").len(), 700);
    assert_index_sound(&store);
}

/// A message whose row id is so many slices and spans away from the others.
fn far_away(store: &Store, row_id: i64, text: &str, at: UnixMs) {
    let new = NewSession { started_at: at, ..session("x") };
    store.begin(&new).unwrap();
    let sql = "INSERT INTO messages (row_id, session_id, seq, role, text, created_at)
               VALUES (?1, ?2, 2, 'engine', ?3, ?4)";
    store
        .write(|c| c.execute(sql, rusqlite::params![row_id, new.id.to_string(), text, at]))
        .unwrap();
}

#[test]
fn slices_are_searched_newest_first() {
    let place = Place::new();
    let store = place.open().unwrap();
    typed(&store, "lamp one", 10);
    far_away(&store, 40_000, "lamp two", 30);
    far_away(&store, 200_000, "lamp three, written late", 20);
    let newest = |limit| {
        let query = Query::parse("lam*").unwrap();
        let filter = SearchFilter::default();
        store.search(&query, &filter, SearchOrder::Newest, limit, 100).unwrap()
    };
    assert_eq!(texts(&newest(9)), ["lamp two", "lamp three, written late", "lamp one"]);
    assert!(newest(1).more && !newest(3).more);
    let window = SearchFilter { since: Some(15), before: Some(25), ..Default::default() };
    assert_eq!(texts(&search_with(&store, "lamp", &window)), ["lamp three, written late"]);
    assert_index_sound(&store);
}

#[test]
fn of_very_many_matches_the_newest_are_ranked() {
    let place = Place::new();
    let store = place.open().unwrap();
    let id = typed(&store, "lamp lamp lamp, the oldest and the best", 1);
    let sql = "INSERT INTO messages (session_id, seq, role, text, created_at)
               VALUES (?1, ?2, 'engine', 'a text with a lamp in it', ?2)";
    store
        .write(|c| {
            let mut insert = c.prepare(sql)?;
            for seq in 2..=RANKED as i64 {
                insert.execute(rusqlite::params![id.to_string(), seq])?;
            }
            Ok(())
        })
        .unwrap();
    let found = search_with(&store, "lamp", &SearchFilter::default());
    assert_eq!((found.matches, found.more, found.hits.len()), (RANKED, false, RANKED));
    assert_eq!(found.hits[0].seq, 1, "the best of all");
    typed(&store, "one more lamp", 5000);
    let found = search_with(&store, "lamp", &SearchFilter::default());
    assert_eq!((found.matches, found.more), (RANKED, true));
    assert!(found.hits.iter().all(|hit| hit.created_at > 1), "the oldest is not looked at");
}

#[test]
fn a_changed_text_is_found_and_the_old_one_is_not() {
    let place = Place::new();
    let store = place.open().unwrap();
    typed(&store, "lamp", 1);
    store.write(|c| c.execute("UPDATE messages SET text = 'torch'", [])).unwrap();
    assert_eq!((search(&store, "lamp").len(), search(&store, "torch").len()), (0, 1));
    assert_index_sound(&store);
    assert!(store.write(|c| c.execute("UPDATE messages SET role = 'engine'", [])).is_err());
}

/// What a query's words are made of, so that they meet the texts'.
fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[abAé]{1,3}", "[中文字]{1,4}", Just("👍".to_owned()), "[ab]{1,2}[中文]{1,2}"]
}

fn query() -> impl Strategy<Value = String> {
    let term = prop_oneof![
        4 => word(),
        1 => word().prop_map(|word| format!("{word}*")),
        2 => prop::collection::vec(word(), 1..4).prop_map(|words| format!("\"{}\"", words.join(" "))),
    ];
    let clause = prop_oneof![
        3 => term.clone(),
        1 => (term.clone(), term.clone()).prop_map(|(a, b)| format!("{a} OR {b}")),
        1 => term.prop_map(|a| format!("-{a}")),
    ];
    prop::collection::vec(clause, 1..4).prop_map(|clauses| clauses.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_index_finds_what_reading_every_text_would(
        texts in prop::collection::vec(prop::collection::vec(word(), 0..6), 1..8),
        queries in prop::collection::vec(query(), 1..8),
    ) {
        let place = Place::new();
        let store = place.open().unwrap();
        let texts: Vec<String> = texts.iter().map(|words| words.join(" ")).collect();
        for (n, text) in texts.iter().enumerate() {
            typed(&store, text, n as i64);
        }
        for asked in queries {
            let Ok(query) = Query::parse(&asked) else { continue };
            let found = search_with(&store, &asked, &SearchFilter::default());
            let mut found: Vec<i64> = found.hits.iter().map(|hit| hit.created_at).collect();
            found.sort_unstable();
            let expected = (0..texts.len()).filter(|n| query.is_met_by(&texts[*n]));
            let expected: Vec<i64> = expected.map(|n| n as i64).collect();
            prop_assert_eq!(found, expected, "{} in {:?}", asked, texts);
        }
    }

    #[test]
    fn no_input_is_an_error_of_sqlite(inputs in prop::collection::vec(any::<String>(), 8)) {
        let place = Place::new();
        let store = place.open().unwrap();
        typed(&store, "a lamp", 1);
        for input in inputs.iter().map(String::as_str).chain(["NEAR(a b)", "text:a", "^a", "a + b", "{a}"]) {
            if let Ok(query) = Query::parse(input) {
                let filter = SearchFilter::default();
                prop_assert!(store.search(&query, &filter, SearchOrder::Relevance, 9, 40).is_ok());
            }
        }
    }
}
