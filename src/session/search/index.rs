//! What the full-text index holds of a message, and how it is asked. Pure, but for the SQL function
//! that the schema's triggers call.
//!
//! The index is an FTS5 table with `detail=none`: for each term the messages that have it, nothing
//! else. Positions and counts are read off the text of the few messages that are ranked. So it is
//! less than half as large as one with positions, and an answer costs what the newest matches cost,
//! however many there are.
//!
//! Three things are put into the terms:
//!
//! - **The slice.** A term begins with the number of its message's slice, `1f:lamp`: 32,768 messages
//!   that were written one after the other. A search goes from the newest slice to the oldest and
//!   stops when it has enough. FTS5 merges all that a prefix stands for before it gives the first
//!   match; within a slice that is bounded.
//! - **Neighbours.** Two short words side by side give one more term, a small hash of both,
//!   `1f:~3a7`. The most frequent words of a language are short: "to be or not to be" would have a
//!   tenth of all messages as candidates by its words alone.
//! - **Facets.** Role, engine and project, `1f:@ro`, so that a filter takes part in the search.
//!
//! All of it is fixed once released: see `terms`.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Result};

use crate::session::record::Role;
use crate::session::search::query::{Phrase, Piece, Query};
use crate::session::search::terms::{self, Kind};

/// A slice is so many row ids, as a power of two.
pub(super) const SLICE_BITS: u32 = 15;

/// A span, of which the store knows the times, is so many row ids, as a power of two. The schema's
/// triggers have the same number.
pub(super) const SPAN_BITS: u32 = 10;

/// Characters of a short word.
const SHORT: usize = 4;

/// So many terms of neighbours make those of their words needless: each leaves one of fifty, three of
/// them one of 100,000, and the lists of the most frequent words are the longest to read.
const ENOUGH_NEIGHBOURS: usize = 3;

/// Gives a connection the function `omni_terms` of the schema: every one that writes needs it.
pub(in crate::session) fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("omni_terms", 5, flags, |call| {
        let role = word(call, 2)?;
        let (engine, project) = (word(call, 3)?, call.get(4)?);
        let facets = Facets { role: Role::parse(&role), engine: Some(&engine), project };
        Ok(entry(call.get(0)?, &word(call, 1)?, facets))
    })
}

fn word(call: &Context<'_>, argument: usize) -> Result<String> {
    Ok(match call.get_raw(argument) {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => String::new(),
    })
}

/// What a message is beside its text.
#[derive(Debug, Clone, Copy)]
struct Facets<'a> {
    role: Option<Role>,
    engine: Option<&'a str>,
    /// The key of the project in `search_projects`.
    project: Option<i64>,
}

/// The entry of a message: its terms, with blanks between them.
fn entry(row_id: i64, text: &str, facets: Facets<'_>) -> String {
    let slice = slice_mark(row_id >> SLICE_BITS);
    let mut entry = String::with_capacity(text.len() * 2);
    let mut add = |parts: &[&str]| {
        entry.push_str(&slice);
        parts.iter().for_each(|part| entry.push_str(part));
        entry.push(' ');
    };
    // The word before, where it is a short one.
    let mut before = String::new();
    terms::for_each(text, |term, kind, _| {
        add(&[term]);
        if kind == Kind::Whole && is_short(term) {
            if !before.is_empty() {
                add(&[&neighbours(&before, term)]);
            }
            before.clear();
            before.push_str(term);
        } else {
            before.clear();
        }
    });
    if let Some(role) = facets.role {
        add(&[role_facet(role)]);
    }
    if let Some(engine) = facets.engine {
        add(&[&engine_facet(engine)]);
    }
    if let Some(key) = facets.project {
        add(&[&project_facet(key)]);
    }
    entry
}

fn slice_mark(slice: i64) -> String {
    format!("{slice:x}:")
}

fn is_short(term: &str) -> bool {
    term.chars().nth(SHORT).is_none()
}

/// The term of two short words: FNV-1a of both, twelve bits of it. In a store of a million messages
/// each of the 4,096 stands in one of fifty, and a phrase has its words as terms too.
fn neighbours(first: &str, second: &str) -> String {
    let bytes = first.bytes().chain([b' ']).chain(second.bytes());
    let hash = bytes
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("~{:x}", (hash ^ (hash >> 12) ^ (hash >> 24)) & 0xfff)
}

fn role_facet(role: Role) -> &'static str {
    match role {
        Role::Operator => "@ro",
        Role::Engine => "@re",
    }
}

/// The name in hex: whatever it is, it stays one term, and its own.
fn engine_facet(engine: &str) -> String {
    format!("@e{}", crate::session::hex(engine.as_bytes()))
}

fn project_facet(key: i64) -> String {
    format!("@p{key:x}")
}

/// What FTS5 is asked for: once for each slice.
#[derive(Debug)]
pub(super) struct Expression {
    /// With [`SLICE_PLACE`] where the mark of the slice belongs.
    pattern: String,
}

/// Stands for the slice; no term has it.
const SLICE_PLACE: char = '\u{1}';

impl Expression {
    /// All messages that may match: those of a phrase have its words, in whatever order.
    pub(super) fn of(
        query: &Query,
        role: Option<Role>,
        engine: Option<&str>,
        projects: Option<&[i64]>,
    ) -> Expression {
        let mut all: Vec<String> = query
            .groups
            .iter()
            .map(|group| joined(group.any.iter().map(phrase).collect(), " OR "))
            .collect();
        all.extend(role.map(|role| quoted(role_facet(role))));
        all.extend(engine.map(|engine| quoted(&engine_facet(engine))));
        if let Some(keys) = projects {
            let facets = keys.iter().map(|key| quoted(&project_facet(*key))).collect();
            all.push(joined(facets, " OR "));
        }
        let mut pattern = joined(all, " AND ");
        for phrase in &query.excluded {
            // Of a longer phrase the text decides.
            if let [piece] = phrase.pieces.as_slice() {
                pattern = format!("({pattern} NOT {})", asked(piece));
            }
        }
        Expression { pattern }
    }

    /// All messages that may have one phrase.
    pub(super) fn of_phrase(asked: &Phrase) -> Expression {
        Expression { pattern: phrase(asked) }
    }

    /// For one slice.
    pub(super) fn in_slice(&self, slice: i64) -> String {
        self.pattern.replace(SLICE_PLACE, &slice_mark(slice))
    }
}

fn phrase(phrase: &Phrase) -> String {
    let (mut pairs, mut paired) = (Vec::new(), vec![false; phrase.pieces.len()]);
    for (at, pair) in phrase.pieces.windows(2).enumerate() {
        if let [first, second] = pair
            && is_word(&first.term)
            && is_word(&second.term)
            && !second.open
        {
            pairs.push(quoted(&neighbours(&first.term, &second.term)));
            paired[at..at + 2].fill(true);
        }
    }
    pairs.sort();
    pairs.dedup();
    let enough = pairs.len() >= ENOUGH_NEIGHBOURS;
    let words = phrase.pieces.iter().zip(paired).filter(|(_, paired)| !(enough && *paired));
    let mut parts: Vec<String> = words.map(|(piece, _)| asked(piece)).chain(pairs).collect();
    parts.sort();
    parts.dedup();
    joined(parts, " AND ")
}

/// Whether the term gives one of two neighbours.
fn is_word(term: &str) -> bool {
    let mut whole = false;
    terms::for_each(term, |_, kind, _| whole = kind == Kind::Whole);
    whole && is_short(term)
}

fn asked(piece: &Piece) -> String {
    let term = quoted(&piece.term);
    if piece.open { format!("{term} *") } else { term }
}

/// A string of FTS5 that is one term: terms have no quotation mark in them.
fn quoted(term: &str) -> String {
    format!("\"{SLICE_PLACE}{term}\"")
}

fn joined(mut parts: Vec<String>, with: &str) -> String {
    match parts.len() {
        1 => parts.remove(0),
        _ => format!("({})", parts.join(with)),
    }
}
