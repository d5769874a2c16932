//! Lists of sessions, newest first, within a few milliseconds however many there are: each look at
//! the table goes along one index that has the order and the columns of the filter.

use std::cmp::Reverse;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use crate::session::error::StoreError;
use crate::session::path_text::path_to_sql;
use crate::session::record::{Outcome, SessionFilter, SessionId, SessionRow, UnixMs};
use crate::session::rows::{COLUMNS, session_from_row};
use crate::session::store::Store;

/// Entries of an index are counted up to here when the shortest way is looked for.
const COUNTED: i64 = 5000;

impl Store {
    /// The sessions of `filter`, newest first.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>, StoreError> {
        let limit = filter.limit.map_or(-1, i64::from);
        self.read(|c| {
            let mut rows: Vec<SessionRow> = Vec::new();
            for look in looks(c, filter)? {
                let sql = format!(
                    "SELECT {COLUMNS} FROM sessions {} ORDER BY started_at DESC, id DESC LIMIT ?",
                    look.clause(look.way(c)?)
                );
                let values = look.values().chain([Value::from(limit)]);
                let mut statement = c.prepare(&sql)?;
                for row in statement.query_map(params_from_iter(values), session_from_row)? {
                    rows.push(row?);
                }
            }
            // No session is in two of them.
            rows.sort_by_key(|row| Reverse((row.started_at, row.id)));
            rows.truncate(filter.limit.map_or(usize::MAX, |limit| limit as usize));
            Ok(rows)
        })
    }

    /// How many characters of an id it takes to tell each of `ids` from all others in the store.
    pub fn telling_digits(
        &self,
        ids: impl IntoIterator<Item = SessionId>,
    ) -> Result<usize, StoreError> {
        const NEIGHBOURS: [&str; 2] = [
            "SELECT id FROM sessions WHERE id < ?1 ORDER BY id DESC LIMIT 1",
            "SELECT id FROM sessions WHERE id > ?1 ORDER BY id LIMIT 1",
        ];
        self.read(|c| {
            let mut digits = 1;
            for id in ids {
                let id = id.to_string();
                for sql in NEIGHBOURS {
                    let other: Option<String> =
                        c.prepare_cached(sql)?.query_row([&id], |row| row.get(0)).optional()?;
                    let common = |other: &String| {
                        id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
                    };
                    digits = digits.max(other.as_ref().map_or(1, |other| common(other) + 1));
                }
            }
            Ok(digits)
        })
    }
}

/// One condition with its value.
type Condition = (&'static str, Option<Value>);

/// A part of the answer, with conditions that an index can take in.
#[derive(Debug, Default, Clone)]
struct Look {
    conditions: Vec<Condition>,
    /// The indexes that begin with one of the conditions, and that condition.
    ways: Vec<(&'static str, Vec<Condition>)>,
}

/// The parts of the answer to `filter`: a session is in one of them at most.
fn looks(c: &Connection, filter: &SessionFilter) -> rusqlite::Result<Vec<Look>> {
    let mut shared: Vec<Condition> = Vec::new();
    let from = |at: UnixMs| ("started_at >= ?", Some(Value::from(at)));
    let below = |at: UnixMs| ("started_at < ?", Some(Value::from(at)));
    shared.extend(filter.since.map(from));
    shared.extend(filter.until.map(below));
    if let Some(before) = filter.before {
        let sql = "SELECT started_at FROM sessions WHERE id = ?1";
        let id = before.to_string();
        let Some(at) = c.query_row(sql, [&id], |row| row.get::<_, UnixMs>(0)).optional()? else {
            return Ok(Vec::new());
        };
        shared.push(("started_at <= ?", Some(at.into())));
        shared.push(("(started_at < ? OR id < ?)", Some(at.into())));
        shared.push(("", Some(id.into())));
    }
    let mut looks = vec![Look { conditions: shared.clone(), ways: Vec::new() }];
    if let Some(engine) = &filter.engine {
        let engine = vec![("engine = ?", Some(Value::from(engine.clone())))];
        looks = split(&looks, &shared, &[("sessions_by_engine", engine)]);
    }
    let mut projects = Vec::new();
    if let Some(id) = &filter.project {
        let id = vec![("project_id = ?", Some(Value::from(id.clone())))];
        projects.push(("sessions_by_project", id));
    }
    if let Some(folder) = &filter.folder {
        let folder = ("project_path = ?", Some(path_to_sql(folder)));
        projects.push(("sessions_without_project", vec![("project_id IS NULL", None), folder]));
    }
    if !projects.is_empty() {
        looks = split(&looks, &shared, &projects);
    }
    if filter.failed || filter.outcome.is_some() {
        let asked = Outcome::ALL.iter().filter(|outcome| {
            filter.outcome.is_none_or(|asked| asked == **outcome)
                && (!filter.failed || outcome.is_failure())
        });
        let outcomes: Vec<_> = asked
            .map(|outcome| {
                let word = Value::from(outcome.as_str().to_owned());
                ("sessions_by_outcome", vec![("outcome = ?", Some(word))])
            })
            .collect();
        looks = split(&looks, &shared, &outcomes);
    }
    Ok(looks)
}

/// Each look once for each of the conditions in `by`.
fn split(looks: &[Look], shared: &[Condition], by: &[(&'static str, Vec<Condition>)]) -> Vec<Look> {
    let one = |look: &Look, (index, conditions): &(&'static str, Vec<Condition>)| {
        let mut look = look.clone();
        look.conditions.splice(0..0, conditions.iter().cloned());
        look.ways.push((index, conditions.iter().chain(shared).cloned().collect()));
        look
    };
    looks.iter().flat_map(|look| by.iter().map(move |by| one(look, by))).collect()
}

impl Look {
    /// The index with the fewest entries to go along.
    fn way(&self, c: &Connection) -> rusqlite::Result<&'static str> {
        match self.ways.as_slice() {
            [] => return Ok("sessions_by_start"),
            [(only, _)] => return Ok(only),
            _ => {}
        }
        let mut best = ("sessions_by_start", i64::MAX);
        for (index, conditions) in &self.ways {
            let look = Look { conditions: conditions.clone(), ways: Vec::new() };
            let sql = format!(
                "SELECT count(*) FROM (SELECT 1 FROM sessions {} LIMIT ?)",
                look.clause(index)
            );
            let values = look.values().chain([Value::from(COUNTED)]);
            let count = c.query_row(&sql, params_from_iter(values), |row| row.get(0))?;
            if count < best.1 {
                best = (index, count);
            }
        }
        Ok(best.0)
    }

    fn clause(&self, index: &str) -> String {
        let conditions: Vec<&str> =
            self.conditions.iter().map(|(sql, _)| *sql).filter(|sql| !sql.is_empty()).collect();
        let conditions = match conditions.as_slice() {
            [] => String::new(),
            some => format!(" WHERE {}", some.join(" AND ")),
        };
        format!("INDEXED BY {index}{conditions}")
    }

    fn values(&self) -> impl Iterator<Item = Value> {
        self.conditions.iter().filter_map(|(_, value)| value.clone())
    }
}
