//! What changed in the store since the last look, as server-sent events. Looks at the database itself
//! only when SQLite says that another connection has written to it.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use axum::body::Bytes;
use rusqlite::Connection;
use serde_json::{Value, json};

use super::docs_watch::DocsWatch;
use crate::paths::Paths;
use crate::session::{Store, StoreError, path_from_sql};

/// The statuses of actions: all that are open, and the newest of the others.
const ACTIONS: &str = "SELECT id, kind, project_id, status FROM cli_pending_actions
    WHERE status IN ('pending', 'applying')
       OR id IN (SELECT id FROM cli_pending_actions ORDER BY id DESC LIMIT 200)";

/// The statuses of sessions: the newest that run, and the newest of the others.
const SESSIONS: &str = "SELECT id, engine, project_id, outcome FROM sessions
    WHERE id IN (SELECT id FROM sessions WHERE outcome = 'running' ORDER BY id DESC LIMIT 1000)
       OR id IN (SELECT id FROM sessions ORDER BY id DESC LIMIT 200)";

/// What projects say of their docs.
const PROJECTS: &str = "SELECT id, folder_path, doc_order_json, doc_instruction_json FROM projects
    WHERE id IS NOT NULL";

/// The store between two looks.
#[derive(Debug)]
pub(super) struct Source {
    paths: Paths,
    open: Option<Open>,
    known: State,
    docs: DocsWatch,
    /// There was a look before: what is new now is news.
    looked: bool,
}

#[derive(Debug)]
struct Open {
    store: Store,
    inode: u64,
    version: Option<i64>,
}

/// By id: what an event says.
#[derive(Debug, Default, PartialEq)]
struct State {
    actions: BTreeMap<String, Value>,
    sessions: BTreeMap<String, Value>,
    projects: BTreeMap<String, Project>,
}

/// Where a project is, and its docs' order and flags as stored.
#[derive(Debug, PartialEq)]
struct Project {
    folder: PathBuf,
    order: String,
    flags: String,
}

impl Source {
    /// Before the first look.
    pub(super) fn new(paths: &Paths) -> Source {
        Source {
            paths: paths.clone(),
            open: None,
            known: State::default(),
            docs: DocsWatch::default(),
            looked: false,
        }
    }

    /// The first event of a listener.
    pub(super) fn ready(&self) -> Bytes {
        let pending = self.known.actions.values().filter(|action| action["status"] == "pending");
        Bytes::from(event("ready", &json!({ "pending": pending.count() })))
    }

    /// What changed since the last look. A store that can't be read now is looked at next time.
    pub(super) fn changes(&mut self) -> Option<Bytes> {
        let mut events = String::new();
        match self.look() {
            Ok(Some(state)) => self.compare(state, &mut events),
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "events");
                self.open = None;
                return None;
            }
        }
        let folders = self.known.projects.iter();
        let folders = folders.map(|(id, project)| (id, &project.folder));
        events.extend(self.docs.changed(folders).iter().map(|id| docs_event(id)));
        (!events.is_empty()).then(|| Bytes::from(events))
    }

    /// What is new in the state, which is known from now on.
    fn compare(&mut self, state: State, events: &mut String) {
        if self.looked {
            for (name, old, new) in [
                ("action", &self.known.actions, &state.actions),
                ("session", &self.known.sessions, &state.sessions),
            ] {
                let changed = new.iter().filter(|(id, value)| old.get(*id) != Some(value));
                events.extend(changed.map(|(_, value)| event(name, value)));
            }
            let (old, new) = (&self.known.projects, &state.projects);
            let changed = new.keys().filter(|id| old.get(*id) != new.get(*id));
            let gone = old.keys().filter(|id| !new.contains_key(*id));
            events.extend(changed.chain(gone).map(|id| docs_event(id)));
        }
        (self.known, self.looked) = (state, true);
    }

    /// The state, where it may have changed.
    fn look(&mut self) -> Result<Option<State>, StoreError> {
        // Another file of this name is another database.
        let inode = std::fs::metadata(self.paths.database()).map(|about| about.ino()).ok();
        if self.open.as_ref().map(|open| open.inode) != inode {
            self.open = None;
        }
        if self.open.is_none() {
            self.open = match (Store::open_reading(&self.paths), inode) {
                (Ok(store), Some(inode)) => Some(Open { store, inode, version: None }),
                (Ok(_), None) | (Err(StoreError::Missing { .. }), _) => None,
                (Err(error), _) => return Err(error),
            };
        }
        let Some(open) = &mut self.open else {
            // No store: nothing in it, which is a state too.
            return Ok((!self.looked).then(State::default));
        };
        let pragma = |c: &Connection| c.query_row("PRAGMA data_version", [], |row| row.get(0));
        let version = open.store.read(pragma)?;
        if open.version == Some(version) {
            return Ok(None);
        }
        let state = open.store.read(|c| {
            Ok(State {
                actions: rows(c, ACTIONS, "kind")?,
                sessions: rows(c, SESSIONS, "engine")?,
                projects: projects(c)?,
            })
        })?;
        open.version = Some(version);
        Ok(Some(state))
    }
}

fn rows(c: &Connection, sql: &str, second: &str) -> rusqlite::Result<BTreeMap<String, Value>> {
    let mut statement = c.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let id: String = row.get(0)?;
        let (word, project): (String, Option<String>) = (row.get(1)?, row.get(2)?);
        let status: String = row.get(3)?;
        let value = json!({ "id": id, second: word, "project": project, "status": status });
        Ok((id, value))
    })?;
    rows.collect()
}

fn projects(c: &Connection) -> rusqlite::Result<BTreeMap<String, Project>> {
    let mut statement = c.prepare(PROJECTS)?;
    let rows = statement.query_map([], |row| {
        let folder = path_from_sql(row, 1)?.unwrap_or_default();
        Ok((row.get(0)?, Project { folder, order: row.get(2)?, flags: row.get(3)? }))
    })?;
    rows.collect()
}

/// The docs of this project are not what they were.
fn docs_event(project: &str) -> String {
    event("docs", &json!({ "project": project }))
}

/// One event. JSON has no line break, so it is one line of data.
fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(events: Option<Bytes>) -> String {
        events.map(|events| String::from_utf8_lossy(&events).into_owned()).unwrap_or_default()
    }

    #[test]
    fn news_are_what_others_wrote_since_the_last_look() {
        let dir = tempfile::tempdir().expect("dir");
        let data = dir.path().to_owned();
        let paths = Paths { config: data.clone(), runs: data.clone(), data, home: None };
        let mut source = Source::new(&paths);
        assert!(source.changes().is_none(), "no store");
        assert_eq!(text(Some(source.ready())), "event: ready\ndata: {\"pending\":0}\n\n");

        let insert = |id: &str| {
            let sql = "INSERT INTO cli_pending_actions
                (id, kind, payload_json, asked_by, asked_at, expires_at)
                VALUES (?1, 'launch', '{}', 'test', 0, 0)";
            let store = Store::open(&paths).expect("store");
            store.write(|c| c.execute(sql, [id])).expect("row");
        };
        insert("a");
        let expected = r#"{"id":"a","kind":"launch","project":null,"status":"pending"}"#;
        assert_eq!(text(source.changes()), format!("event: action\ndata: {expected}\n\n"));
        assert!(source.changes().is_none(), "nothing new");
        insert("b");
        assert_eq!(text(source.changes()).matches("event:").count(), 1, "only the new one");

        let mut late = Source::new(&paths);
        assert!(late.changes().is_none(), "what was there before is no news");
        assert!(text(Some(late.ready())).contains("\"pending\":2"));

        std::fs::remove_file(paths.database()).expect("remove");
        assert!(source.changes().is_none());
        insert("c");
        assert!(text(source.changes()).contains("\"c\""), "another file, another database");
    }
}
