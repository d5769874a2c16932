//! The small language of `search`, read into a [`Query`]. Pure.
//!
//! | typed | means |
//! |---|---|
//! | `red lamp` | both words |
//! | `"red lamp"` | the words side by side |
//! | `conf*` | a word that begins so; also the last word of a phrase: `"red la"*` |
//! | `lamp OR torch` | one of them; `OR` binds closer than a blank |
//! | `-red`, `NOT red`, `-"red lamp"` | not in the same message |
//!
//! Case, accents and punctuation do not count: `a-b.c` is the phrase "a b c". `OR`, `AND` and `NOT` are
//! operators in capitals only. Nothing of a query reaches SQLite as it was typed.

use crate::error::{ExitKind, Failure};
use crate::session::search::matching;
use crate::session::search::terms::{self, Kind};

/// How many terms a query may have.
const MOST_TERMS: usize = 64;

/// A query that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Each of them has to be met.
    pub(super) groups: Vec<Group>,
    /// None of them may be met.
    pub(super) excluded: Vec<Phrase>,
}

/// Phrases of which one is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) any: Vec<Phrase>,
}

/// Terms side by side; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Phrase {
    pub(super) pieces: Vec<Piece>,
}

/// One term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) term: String,
    /// A term that begins so is enough.
    pub(super) open: bool,
    /// One character of a script without blanks: a match is that character, not the pair.
    pub(super) single: bool,
}

/// What is wrong with a query. Places are counted in characters from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// Nothing but blanks.
    #[error("there is nothing to search for")]
    Empty,
    /// Nothing but punctuation.
    #[error("`{query}` has no letter, digit or symbol to search for")]
    NoTerms {
        /// As given.
        query: String,
    },
    /// A quotation mark without its partner.
    #[error("the quotation mark at character {at} is not closed")]
    OpenQuote {
        /// Where.
        at: usize,
    },
    /// A `*` anywhere but behind a word.
    #[error("the `*` at character {at} is not behind the beginning of a word")]
    Star {
        /// Where.
        at: usize,
    },
    /// A `-` with nothing behind it.
    #[error("the `-` at character {at} has no word behind it")]
    Dash {
        /// Where.
        at: usize,
    },
    /// An operator without something before or behind it.
    #[error("`{operator}` at character {at} has no word {side} it")]
    Operator {
        /// Which.
        operator: &'static str,
        /// Where.
        at: usize,
        /// `before` or `behind`.
        side: &'static str,
    },
    /// `OR` beside something excluded.
    #[error("the `OR` at character {at} joins something that is left out")]
    ExcludedAlternative {
        /// Where.
        at: usize,
    },
    /// Nothing but exclusions.
    #[error("the query only says what to leave out")]
    OnlyExcluded,
    /// Too long.
    #[error("the query has more than {MOST_TERMS} terms")]
    TooLong,
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Failure {
        let hint = match &error {
            QueryError::Empty | QueryError::NoTerms { .. } => "give a word: `omni-run search lamp`",
            QueryError::OpenQuote { .. } => "close it, or leave it out",
            QueryError::Star { .. } => {
                "write `conf*` for words that begin so; in quotation marks it is no operator"
            }
            QueryError::Dash { .. } => {
                "write `-lamp` to leave a word out; in quotation marks it is no operator"
            }
            QueryError::Operator { .. } => "in quotation marks, or in small letters, it is a word",
            QueryError::ExcludedAlternative { .. } => {
                "leave it out of the whole query: `lamp OR torch -red`"
            }
            QueryError::OnlyExcluded => "add a word that has to be there",
            QueryError::TooLong => "search for fewer words",
        };
        Failure::new(ExitKind::Usage, error.to_string()).hint(hint)
    }
}

impl Query {
    /// Reads what was typed.
    ///
    /// # Errors
    /// [`QueryError`], which says what is wrong and where.
    pub fn parse(text: &str) -> Result<Query, QueryError> {
        let mut reading = Reading { groups: Vec::new(), pending: None };
        for token in tokens(text)? {
            reading.take(token)?;
        }
        reading.finish(text)
    }

    /// Whether a text meets it, by reading the text.
    pub fn is_met_by(&self, text: &str) -> bool {
        matching::find(self, text, false).is_some()
    }

    /// The phrases that have to be met, in order, by which matches are counted.
    pub(super) fn wanted(&self) -> impl Iterator<Item = &Phrase> {
        self.groups.iter().flat_map(|group| &group.any)
    }
}

/// A part of the query with its place.
enum Token {
    Phrase { phrase: Phrase, excluded: bool, at: usize },
    Operator { operator: Operator, at: usize },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    And,
    Or,
    Not,
}

impl Operator {
    fn of(word: &str) -> Option<Operator> {
        [Operator::And, Operator::Or, Operator::Not].into_iter().find(|o| o.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Operator::And => "AND",
            Operator::Or => "OR",
            Operator::Not => "NOT",
        }
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, QueryError> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if chars[at].is_whitespace() {
            at += 1;
            continue;
        }
        let start = at;
        let next = chars.get(at + 1);
        // `--option` is a text that begins with a dash.
        let excluded = chars[at] == '-' && next != Some(&'-');
        if excluded {
            if next.is_none_or(|c| c.is_whitespace()) {
                return Err(QueryError::Dash { at: start + 1 });
            }
            at += 1;
        }
        let (body, quoted) = if chars[at] == '"' {
            let length = chars[at + 1..].iter().position(|c| *c == '"');
            let length = length.ok_or(QueryError::OpenQuote { at: at + 1 })?;
            let body = at + 1..at + 1 + length;
            at = body.end + 1;
            (body, true)
        } else {
            let from = at;
            let ends = |c: &char| c.is_whitespace() || matches!(c, '"' | '*');
            at += chars[at..].iter().position(ends).unwrap_or(chars.len() - at);
            (from..at, false)
        };
        let star = at;
        while chars.get(at) == Some(&'*') {
            at += 1;
        }
        let open = at > star;
        let goes_on = !quoted && chars.get(at).is_some_and(|c| !c.is_whitespace());
        let body: String = chars[body].iter().collect();
        let pieces = pieces(&body, open);
        // A star before, within, or behind nothing.
        if open && (goes_on || pieces.is_empty()) {
            return Err(QueryError::Star { at: star + 1 });
        }
        tokens.push(match Operator::of(&body) {
            Some(operator) if !quoted && !excluded && !open => {
                Token::Operator { operator, at: start + 1 }
            }
            _ => Token::Phrase { phrase: Phrase { pieces }, excluded, at: start + 1 },
        });
    }
    Ok(tokens)
}

fn pieces(text: &str, open: bool) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut last = None;
    terms::for_each(text, |term, kind, _| {
        pieces.push(Piece { term: term.to_owned(), open: false, single: false });
        last = Some(kind);
    });
    match (last, pieces.last_mut()) {
        // The pair before has it, whatever comes behind in a message.
        (Some(Kind::Last { alone: false }), _) => {
            pieces.pop();
        }
        (Some(Kind::Last { alone: true }), Some(piece)) => {
            (piece.open, piece.single) = (true, true);
        }
        (Some(Kind::Whole), Some(piece)) => piece.open = open,
        _ => {}
    }
    pieces
}

struct Reading {
    groups: Vec<(Group, bool)>,
    pending: Option<(Operator, usize)>,
}

impl Reading {
    fn take(&mut self, token: Token) -> Result<(), QueryError> {
        match token {
            Token::Operator { operator, at } => self.operator(operator, at),
            Token::Phrase { phrase, excluded, at } => match self.pending.take() {
                Some((Operator::Or, at_or)) => match self.groups.last_mut() {
                    Some((group, false)) if !excluded => {
                        group.any.push(phrase);
                        Ok(())
                    }
                    _ => Err(QueryError::ExcludedAlternative { at: at_or }),
                },
                Some((Operator::Not, _)) if excluded => Err(QueryError::Dash { at }),
                pending => {
                    let not = matches!(pending, Some((Operator::Not, _)));
                    self.groups.push((Group { any: vec![phrase] }, excluded || not));
                    Ok(())
                }
            },
        }
    }

    fn operator(&mut self, operator: Operator, at: usize) -> Result<(), QueryError> {
        match (self.pending, operator) {
            (Some((Operator::Or, at_or)), Operator::Not) => {
                return Err(QueryError::ExcludedAlternative { at: at_or });
            }
            (Some((Operator::And, _)), Operator::Not) => {}
            (Some((pending, at)), _) => return Err(lacks(pending, at, "behind")),
            (None, Operator::And | Operator::Or) if self.groups.is_empty() => {
                return Err(lacks(operator, at, "before"));
            }
            (None, _) => {}
        }
        self.pending = Some((operator, at));
        Ok(())
    }

    fn finish(self, text: &str) -> Result<Query, QueryError> {
        if let Some((operator, at)) = self.pending {
            return Err(lacks(operator, at, "behind"));
        }
        if self.groups.is_empty() {
            return Err(QueryError::Empty);
        }
        let mut query = Query { groups: Vec::new(), excluded: Vec::new() };
        let mut count = 0;
        for (mut group, excluded) in self.groups {
            // Punctuation between words is no term.
            group.any.retain(|phrase| !phrase.pieces.is_empty());
            count += group.any.iter().map(|phrase| phrase.pieces.len()).sum::<usize>();
            if excluded {
                query.excluded.append(&mut group.any);
            } else if !group.any.is_empty() {
                query.groups.push(group);
            }
        }
        match (query.groups.is_empty(), query.excluded.is_empty()) {
            (true, true) => Err(QueryError::NoTerms { query: text.to_owned() }),
            (true, false) => Err(QueryError::OnlyExcluded),
            _ if count > MOST_TERMS => Err(QueryError::TooLong),
            _ => Ok(query),
        }
    }
}

fn lacks(operator: Operator, at: usize, side: &'static str) -> QueryError {
    QueryError::Operator { operator: operator.word(), at, side }
}
