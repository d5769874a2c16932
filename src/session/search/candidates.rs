//! Asks the index: the messages that may match, newest first, with their text; and how common the
//! phrases of a query are. Messages that are not in the index yet are read as they are. Reads only.

use std::borrow::Cow;
use std::ops::ControlFlow;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Result, params};

use crate::session::path_text::path_to_sql;
use crate::session::record::{Role, UnixMs};
use crate::session::search::SearchFilter;
use crate::session::search::index::{Expression, SLICE_BITS, SPAN_BITS};
use crate::session::search::query::Query;
use crate::session::search::rank::Share;

/// Messages by which it is judged how common a phrase is.
const SAMPLE: i64 = 16_384;
/// So many that have it are enough to tell.
const SAMPLE_HITS: i64 = 2_000;

/// A message that may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) row_id: i64,
    pub(super) created_at: UnixMs,
}

/// A query with its filter, as the store is asked.
#[derive(Debug)]
pub(super) struct Ask {
    expression: Expression,
    /// Row ids in the index, both ends included; `None`: none can match.
    range: Option<(i64, i64)>,
    /// The newest row id that is not in the index.
    pending: i64,
    engine: Option<String>,
    role: Option<Role>,
    project: Option<String>,
    folder: Option<Value>,
    since: UnixMs,
    before: UnixMs,
}

impl Ask {
    pub(super) fn of(c: &Connection, query: &Query, filter: &SearchFilter) -> Result<Ask> {
        let keys = project_keys(c, filter)?;
        let pending = pending(c)?;
        let mut range = ends(c)?.map(|(first, last)| (first.max(pending + 1), last));
        let since = filter.since.unwrap_or(UnixMs::MIN);
        let before = filter.before.unwrap_or(UnixMs::MAX);
        if filter.since.is_some() || filter.before.is_some() {
            let sql = "SELECT min(span), max(span) FROM search_spans
                       WHERE newest >= ?1 AND oldest < ?2";
            let spans = c.query_row(sql, [since, before], |row| {
                Ok(row.get::<_, Option<i64>>(0)?.zip(row.get::<_, Option<i64>>(1)?))
            })?;
            range = range.zip(spans).map(|((first, last), (from, to))| {
                (first.max(from << SPAN_BITS), last.min(((to + 1) << SPAN_BITS) - 1))
            });
        }
        let no_project = keys.as_ref().is_some_and(Vec::is_empty);
        Ok(Ask {
            expression: Expression::of(
                query,
                filter.role,
                filter.engine.as_deref(),
                keys.as_deref(),
            ),
            range: range.filter(|(first, last)| first <= last && !no_project),
            pending,
            engine: filter.engine.clone(),
            role: filter.role,
            project: filter.project.clone(),
            folder: filter.folder.as_deref().map(path_to_sql),
            since,
            before,
        })
    }

    /// Calls `visit` with each candidate and its text until it breaks.
    pub(super) fn newest_first(
        &self,
        c: &Connection,
        mut visit: impl FnMut(Candidate, &str) -> ControlFlow<()>,
    ) -> Result<()> {
        if self.indexed(c, &mut visit)?.is_continue() && self.pending > 0 {
            self.not_indexed(c, &mut visit)?;
        }
        Ok(())
    }

    fn indexed(
        &self,
        c: &Connection,
        visit: &mut impl FnMut(Candidate, &str) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>> {
        let Some((first, last)) = self.range else { return Ok(ControlFlow::Continue(())) };
        let mut ask = c.prepare(
            "SELECT rowid FROM message_index
             WHERE message_index MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC",
        )?;
        let mut read = c.prepare("SELECT text, created_at FROM messages WHERE row_id = ?1")?;
        for slice in slices(first, last) {
            let mut found = ask.query(params![self.expression.in_slice(slice), first, last])?;
            while let Some(row) = found.next()? {
                let row_id = row.get(0)?;
                let mut message = read.query([row_id])?;
                let Some(message) = message.next()? else { continue };
                let created_at = message.get(1)?;
                if !(self.since..self.before).contains(&created_at) {
                    continue;
                }
                let text = readable(message.get_ref(0)?.as_bytes()?);
                if visit(Candidate { row_id, created_at }, &text).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn not_indexed(
        &self,
        c: &Connection,
        visit: &mut impl FnMut(Candidate, &str) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut read = c.prepare(
            "SELECT m.row_id, m.created_at, m.text FROM messages m JOIN sessions s ON s.id = m.session_id
             WHERE m.row_id <= ?1 AND m.created_at >= ?2 AND m.created_at < ?3
               AND (?4 IS NULL OR m.role = ?4) AND (?5 IS NULL OR s.engine = ?5)
               AND ((?6 IS NULL AND ?7 IS NULL) OR s.project_id = ?6
                    OR (s.project_id IS NULL AND s.project_path = ?7))
             ORDER BY m.row_id DESC",
        )?;
        let mut messages = read.query(params![
            self.pending,
            self.since,
            self.before,
            self.role.map(Role::as_str),
            self.engine,
            self.project,
            self.folder,
        ])?;
        while let Some(row) = messages.next()? {
            let candidate = Candidate { row_id: row.get(0)?, created_at: row.get(1)? };
            let text = readable(row.get_ref(2)?.as_bytes()?);
            if visit(candidate, &text).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// How common each wanted phrase is, by the newest messages of the range. Of a single phrase it
    /// makes no difference.
    pub(super) fn shares(&self, c: &Connection, query: &Query) -> Result<Vec<Share>> {
        let phrases: Vec<_> = query.wanted().collect();
        let Some((first, last)) = self.range.filter(|_| phrases.len() > 1) else {
            return Ok(vec![Share { having: 0.0, of: 1.0 }; phrases.len()]);
        };
        let of = SAMPLE.min(last - first + 1);
        let mut count = c.prepare(
            "SELECT count(*), coalesce(min(rowid), 0) FROM (
                 SELECT rowid FROM message_index
                 WHERE message_index MATCH ?1 AND rowid BETWEEN ?2 AND ?3
                 ORDER BY rowid DESC LIMIT ?4)",
        )?;
        let from = last - of + 1;
        let mut share = |phrase| -> Result<Share> {
            let expression = Expression::of_phrase(phrase);
            let (mut having, mut seen) = (0, 0);
            for slice in slices(from, last) {
                let values = params![expression.in_slice(slice), from, last, SAMPLE_HITS - having];
                let (found, oldest): (i64, i64) =
                    count.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
                having += found;
                if having >= SAMPLE_HITS {
                    seen = last - oldest + 1;
                    break;
                }
                seen = of;
            }
            Ok(Share { having: having as f64, of: seen as f64 })
        };
        phrases.into_iter().map(&mut share).collect()
    }
}

/// The text of a message. `from_utf8` is several times as quick as the lossy reading, and nearly every
/// text is whole.
fn readable(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The newest row id that is not in the index; 0: all are.
pub(super) fn pending(c: &Connection) -> Result<i64> {
    c.query_row("SELECT upto FROM search_pending", [], |row| row.get(0))
}

/// The slices of a range of row ids, newest first.
fn slices(first: i64, last: i64) -> impl Iterator<Item = i64> {
    (first >> SLICE_BITS..=last >> SLICE_BITS).rev()
}

/// The first and the last row id; `None`: there is no message.
fn ends(c: &Connection) -> Result<Option<(i64, i64)>> {
    // Two look-ups; one statement with both would read all rows.
    let end = |sql| c.query_row(sql, [], |row| row.get(0)).optional();
    let first = end("SELECT row_id FROM messages ORDER BY row_id LIMIT 1")?;
    let last = end("SELECT row_id FROM messages ORDER BY row_id DESC LIMIT 1")?;
    Ok(first.zip(last))
}

/// The keys of the project that the filter names; `None`: it names none.
fn project_keys(c: &Connection, filter: &SearchFilter) -> Result<Option<Vec<i64>>> {
    if filter.project.is_none() && filter.folder.is_none() {
        return Ok(None);
    }
    let sql = "SELECT key FROM search_projects
               WHERE project_id = ?1 OR (project_id IS NULL AND project_path = ?2)";
    let folder = filter.folder.as_deref().map(path_to_sql);
    let mut statement = c.prepare(sql)?;
    let keys = statement.query_map(params![filter.project, folder], |row| row.get(0))?;
    keys.collect::<Result<_>>().map(Some)
}
