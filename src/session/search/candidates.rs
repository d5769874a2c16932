//! Asks the index: the messages that may match, newest first, with their text; and how common the
//! phrases of a query are. Reads only.

use std::ops::ControlFlow;

use rusqlite::{Connection, OptionalExtension, Result, params};

use crate::session::path_text::path_to_sql;
use crate::session::record::UnixMs;
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

/// A query with its filter, as the index is asked.
#[derive(Debug)]
pub(super) struct Ask {
    expression: Expression,
    /// Row ids, both ends included.
    first: i64,
    last: i64,
    since: UnixMs,
    before: UnixMs,
}

impl Ask {
    /// `None`: the filter leaves nothing.
    pub(super) fn of(c: &Connection, query: &Query, filter: &SearchFilter) -> Result<Option<Ask>> {
        let keys = project_keys(c, filter)?;
        if keys.as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
        let expression =
            Expression::of(query, filter.role, filter.engine.as_deref(), keys.as_deref());
        let since = filter.since.unwrap_or(UnixMs::MIN);
        let before = filter.before.unwrap_or(UnixMs::MAX);
        let (mut first, mut last) = match ends(c)? {
            Some(ends) => ends,
            None => return Ok(None),
        };
        if filter.since.is_some() || filter.before.is_some() {
            let sql = "SELECT min(span), max(span) FROM search_spans
                       WHERE newest >= ?1 AND oldest < ?2";
            let spans = c.query_row(sql, [since, before], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let (Some(from), Some(to)): (Option<i64>, Option<i64>) = spans else {
                return Ok(None);
            };
            first = first.max(from << SPAN_BITS);
            last = last.min(((to + 1) << SPAN_BITS) - 1);
        }
        Ok(Some(Ask { expression, first, last, since, before }))
    }

    /// Calls `visit` with each candidate and its text until it breaks.
    pub(super) fn newest_first(
        &self,
        c: &Connection,
        mut visit: impl FnMut(Candidate, &str) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut ask = c.prepare(
            "SELECT rowid FROM message_index
             WHERE message_index MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC",
        )?;
        let mut read = c.prepare("SELECT text, created_at FROM messages WHERE row_id = ?1")?;
        for slice in slices(self.first, self.last) {
            let mut found =
                ask.query(params![self.expression.in_slice(slice), self.first, self.last])?;
            while let Some(row) = found.next()? {
                let row_id = row.get(0)?;
                let mut message = read.query([row_id])?;
                let Some(message) = message.next()? else { continue };
                let created_at = message.get(1)?;
                if !(self.since..self.before).contains(&created_at) {
                    continue;
                }
                let text = String::from_utf8_lossy(message.get_ref(0)?.as_bytes()?);
                if visit(Candidate { row_id, created_at }, &text).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// How common each wanted phrase is, by the newest messages of the range. Of a single phrase it
    /// makes no difference.
    pub(super) fn shares(&self, c: &Connection, query: &Query) -> Result<Vec<Share>> {
        let phrases: Vec<_> = query.wanted().collect();
        let of = SAMPLE.min(self.last - self.first + 1);
        if phrases.len() == 1 {
            return Ok(vec![Share { having: 0.0, of: of as f64 }]);
        }
        let mut count = c.prepare(
            "SELECT count(*), coalesce(min(rowid), 0) FROM (
                 SELECT rowid FROM message_index
                 WHERE message_index MATCH ?1 AND rowid BETWEEN ?2 AND ?3
                 ORDER BY rowid DESC LIMIT ?4)",
        )?;
        let from = self.last - of + 1;
        let mut share = |phrase| -> Result<Share> {
            let expression = Expression::of_phrase(phrase);
            let (mut having, mut seen) = (0, 0);
            for slice in slices(from, self.last) {
                let values =
                    params![expression.in_slice(slice), from, self.last, SAMPLE_HITS - having];
                let (found, oldest): (i64, i64) =
                    count.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
                having += found;
                if having >= SAMPLE_HITS {
                    seen = self.last - oldest + 1;
                    break;
                }
                seen = of;
            }
            Ok(Share { having: having as f64, of: seen as f64 })
        };
        phrases.into_iter().map(&mut share).collect()
    }
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
