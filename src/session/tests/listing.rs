//! Lists with filters, against a plain reading of all rows.

use super::*;

const START: UnixMs = 1_796_000_000_000;

/// Sixty sessions of every kind.
fn filled(store: &Store) {
    for n in 0..60_i64 {
        let mut new = session(&format!("prompt {n}"));
        new.engine = ["echo", "other", "third"][n as usize % 3].to_owned();
        new.project = [Some("p1"), Some("p2"), None][n as usize % 5 % 3].map(str::to_owned);
        new.project_root = Some(PathBuf::from(["/w/a", "/w/b"][n as usize % 2]));
        // Two at the same moment.
        new.started_at = START + n / 2;
        store.begin(&new).unwrap();
        let outcome = Outcome::ALL[n as usize % Outcome::ALL.len()];
        if outcome != Outcome::Running {
            store.finish(new.id, &SessionEnd { outcome, ..end() }).unwrap();
        }
    }
}

fn expected(rows: &[SessionRow], filter: &SessionFilter) -> Vec<SessionId> {
    let of_project = |row: &SessionRow| {
        (filter.project.is_none() && filter.folder.is_none())
            || (filter.project.is_some() && row.project == filter.project)
            || (filter.folder.is_some()
                && row.project.is_none()
                && row.project_root == filter.folder)
    };
    let position = |id| rows.iter().position(|row| row.id == id).unwrap();
    rows.iter()
        .skip(filter.before.map_or(0, |id| position(id) + 1))
        .filter(|row| of_project(row))
        .filter(|row| filter.engine.as_ref().is_none_or(|engine| row.engine == *engine))
        .filter(|row| filter.outcome.is_none_or(|outcome| row.outcome == outcome))
        .filter(|row| !filter.failed || row.outcome.is_failure())
        .filter(|row| filter.since.is_none_or(|since| row.started_at >= since))
        .filter(|row| filter.until.is_none_or(|until| row.started_at < until))
        .take(filter.limit.map_or(usize::MAX, |limit| limit as usize))
        .map(|row| row.id)
        .collect()
}

#[test]
fn every_filter_with_every_other() {
    let place = Place::new();
    let store = place.open().unwrap();
    filled(&store);
    let rows = all(&store);
    assert_eq!(rows.len(), 60);
    assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse((row.started_at, row.id))));
    let projects = [
        (None, None),
        (Some("p1".to_owned()), None),
        (None, Some(PathBuf::from("/w/a"))),
        (Some("p2".to_owned()), Some(PathBuf::from("/w/b"))),
        (Some("nobody".to_owned()), None),
    ];
    let outcomes =
        [(None, false), (None, true), (Some(Outcome::Ok), false), (Some(Outcome::Running), false)];
    let windows = [(None, None), (Some(START + 5), None), (Some(START + 3), Some(START + 20))];
    let mut seen = 0;
    for (project, folder) in projects {
        for engine in [None, Some("other".to_owned())] {
            for (outcome, failed) in outcomes {
                for (since, until) in windows {
                    for (limit, before) in [(None, None), (Some(3), Some(rows[17].id))] {
                        let (project, folder, engine) =
                            (project.clone(), folder.clone(), engine.clone());
                        let filter = SessionFilter {
                            project,
                            folder,
                            engine,
                            outcome,
                            failed,
                            since,
                            until,
                            limit,
                            before,
                        };
                        let found = store.sessions(&filter).unwrap();
                        let found: Vec<SessionId> = found.iter().map(|row| row.id).collect();
                        assert_eq!(found, expected(&rows, &filter), "{filter:?}");
                        seen += usize::from(!found.is_empty());
                    }
                }
            }
        }
    }
    assert!(seen > 100, "{seen} of the filters find something");
    let gone = SessionFilter { before: Some(SessionId::generate()), ..Default::default() };
    assert_eq!(store.sessions(&gone).unwrap(), []);
}

#[test]
fn an_id_is_shown_as_long_as_it_takes() {
    let place = Place::new();
    let store = place.open().unwrap();
    let id = |tail: &str| -> SessionId {
        format!("0199aaaa-0000-7000-8000-0000000{tail}").parse().unwrap()
    };
    for tail in ["00000", "00aaa", "00aab", "fffff"] {
        store.begin(&NewSession { id: id(tail), ..session("x") }).unwrap();
    }
    let digits = |tail: &str| store.telling_digits([id(tail)]).unwrap();
    assert_eq!((digits("00aaa"), digits("00000"), digits("fffff")), (36, 34, 32));
    assert_eq!(store.telling_digits([id("00000"), id("00aab")]).unwrap(), 36);
    assert_eq!(store.telling_digits([]).unwrap(), 1);
}
