//! Finding messages by their words (S61). The query is read by `query`; the index gives candidates,
//! newest first (`candidates`, what it holds says `index`); their text decides (`matching`); the hits
//! are ordered (`rank`) and shown by a `snippet`. What an older omni-run stored goes into the index
//! with the first search (`pending`).
//!
//! How far a search looks: all that match, where they are at most [`RANKED`]; else the newest
//! [`RANKED`]. So the answer to the most frequent word takes no longer than to any other.

mod candidates;
mod index;
mod matching;
mod pending;
mod query;
mod rank;
mod snippet;
mod terms;

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::path::PathBuf;

use rusqlite::Connection;

use crate::session::error::StoreError;
use crate::session::record::{Role, SessionRow, UnixMs};
use crate::session::rows;
use crate::session::store::Store;
use candidates::{Ask, Candidate};
pub(super) use index::register;
pub use query::{Query, QueryError};
pub use snippet::Part;

/// How many matches are ranked: the newest of all.
pub const RANKED: usize = 1000;

/// Which messages are looked at.
#[derive(Debug, Clone, Default)]
pub struct SearchFilter {
    /// Only of this project: its id.
    pub project: Option<String>,
    /// Only of this folder, where it had no id; beside `project`, of both.
    pub folder: Option<PathBuf>,
    /// Only of this engine.
    pub engine: Option<String>,
    /// Only by this side.
    pub role: Option<Role>,
    /// Only written then or later.
    pub since: Option<UnixMs>,
    /// Only written before.
    pub before: Option<UnixMs>,
}

/// How hits are ordered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SearchOrder {
    /// The best first.
    #[default]
    Relevance,
    /// The newest first.
    Newest,
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its session.
    pub session: SessionRow,
    /// Its place in the session.
    pub seq: i64,
    /// Who wrote it.
    pub role: Role,
    /// When.
    pub created_at: UnixMs,
    /// BM25; higher is better. 0 where hits are ordered by time.
    pub score: f64,
    /// The part of it that shows why.
    pub snippet: Vec<Part>,
}

/// The answer to a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// At most as many as were asked for.
    pub hits: Vec<Hit>,
    /// How many matches were seen: all there are, unless `more`.
    pub matches: usize,
    /// There are, or may be, older matches that were not looked at.
    pub more: bool,
}

impl Store {
    /// The messages that meet `query`, at most `limit`; snippets have about `width` characters.
    pub fn search(
        &self,
        query: &Query,
        filter: &SearchFilter,
        order: SearchOrder,
        limit: usize,
        width: usize,
    ) -> Result<Found, StoreError> {
        self.read(|c| search(c, query, filter, order, limit, width))
    }
}

fn search(
    c: &Connection,
    query: &Query,
    filter: &SearchFilter,
    order: SearchOrder,
    limit: usize,
    width: usize,
) -> rusqlite::Result<Found> {
    let ask = Ask::of(c, query, filter)?;
    let enough = match order {
        SearchOrder::Relevance => RANKED,
        SearchOrder::Newest => limit,
    };
    let mut matched: Vec<(Candidate, matching::Match)> = Vec::new();
    let mut more = false;
    ask.newest_first(c, |candidate, text| {
        let Some(found) = matching::find(query, text, false) else {
            return ControlFlow::Continue(());
        };
        if matched.len() == enough {
            more = true;
            return ControlFlow::Break(());
        }
        matched.push((candidate, found));
        ControlFlow::Continue(())
    })?;
    let matches = matched.len();
    let mut scored: Vec<(f64, Candidate)> = match order {
        SearchOrder::Newest => matched.into_iter().map(|(candidate, _)| (0.0, candidate)).collect(),
        SearchOrder::Relevance => {
            let shares = ask.shares(c, query)?;
            let counts = matched.iter().map(|(_, found)| (found.counts.as_slice(), found.length));
            let scores = rank::scores(counts, &shares);
            scores.into_iter().zip(matched).map(|(score, (at, _))| (score, at)).collect()
        }
    };
    let best = scored.iter().map(|(score, _)| *score).fold(0.0, f64::max);
    scored
        .sort_by_key(|(score, at)| (rank::step(*score, best), Reverse((at.created_at, at.row_id))));
    scored.truncate(limit);
    let hits = scored
        .into_iter()
        .map(|(score, candidate)| hit(c, query, candidate, score, width))
        .collect::<rusqlite::Result<_>>()?;
    Ok(Found { hits, matches, more })
}

fn hit(
    c: &Connection,
    query: &Query,
    candidate: Candidate,
    score: f64,
    width: usize,
) -> rusqlite::Result<Hit> {
    let sql = "SELECT session_id, seq, role, text FROM messages WHERE row_id = ?1";
    let (session, seq, role, text): (String, i64, Role, String) =
        c.prepare_cached(sql)?.query_row([candidate.row_id], |row| {
            Ok((row.get(0)?, row.get(1)?, rows::word(row, 2, Role::parse)?, row.get(3)?))
        })?;
    let places = matching::find(query, &text, true).map(|found| found.places).unwrap_or_default();
    Ok(Hit {
        session: rows::session(c, &session)?,
        seq,
        role,
        created_at: candidate.created_at,
        score,
        snippet: snippet::snippet(&text, &places, width),
    })
}
