//! Whether a text meets a query, how often each phrase is in it, and where. Pure: it reads the text's
//! terms once, whatever the query.

use std::ops::Range;

use crate::session::search::query::{Phrase, Query};
use crate::session::search::terms;

/// How many places of one text are kept: enough to choose a snippet from.
const MOST_PLACES: usize = 1000;

/// A text that meets the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Match {
    /// How often each of [`Query::wanted`] is in it.
    pub(super) counts: Vec<u32>,
    /// How many terms it has.
    pub(super) length: u32,
    /// Bytes of the text with the number of the phrase, in order of their ends.
    pub(super) places: Vec<(Range<usize>, usize)>,
}

/// A phrase while a text is read: bit `n` is set where the last `n + 1` terms were its first ones.
struct Run<'q> {
    phrase: &'q Phrase,
    reached: u64,
    count: u32,
}

impl<'q> Run<'q> {
    fn new(phrase: &'q Phrase) -> Run<'q> {
        Run { phrase, reached: 0, count: 0 }
    }

    /// Whether the phrase ends with this term. A query has at most 64 terms, so the bits suffice.
    fn step(&mut self, term: &str) -> bool {
        // Of most terms only the first piece has to be compared.
        let mut open = (self.reached << 1) | 1;
        self.reached = 0;
        for (bit, piece) in self.phrase.pieces.iter().enumerate() {
            if open & 1 == 1 {
                let here =
                    if piece.open { term.starts_with(&*piece.term) } else { term == piece.term };
                self.reached |= u64::from(here) << bit;
            }
            open >>= 1;
            if open == 0 {
                break;
            }
        }
        let ends = self.reached >> (self.phrase.pieces.len() - 1) & 1 == 1;
        self.count += u32::from(ends);
        ends
    }
}

/// The match of `query` in `text`, with the places where `with_places` asks for them.
pub(super) fn find(query: &Query, text: &str, with_places: bool) -> Option<Match> {
    let mut wanted: Vec<Run<'_>> = query.wanted().map(Run::new).collect();
    let mut excluded: Vec<Run<'_>> = query.excluded.iter().map(Run::new).collect();
    let longest = wanted.iter().map(|run| run.phrase.pieces.len()).max().unwrap_or(1);
    // Where the last terms began, for the beginning of a phrase.
    let mut starts = vec![0; longest];
    let mut length = 0_usize;
    let mut places = Vec::new();
    terms::for_each(text, |term, _, range| {
        starts[length % longest] = range.start;
        for (number, run) in wanted.iter_mut().enumerate() {
            if run.step(term) && with_places && places.len() < MOST_PLACES {
                let pieces = &run.phrase.pieces;
                let first = (length + 1 - pieces.len()) % longest;
                let single = pieces.last().is_some_and(|piece| piece.single);
                let end = if single { first_char_end(text, &range) } else { range.end };
                places.push((starts[first]..end, number));
            }
        }
        for run in &mut excluded {
            run.step(term);
        }
        length += 1;
    });
    let mut counts = wanted.iter().map(|run| run.count);
    let met = query.groups.iter().all(|group| {
        let of_group: Vec<u32> = counts.by_ref().take(group.any.len()).collect();
        of_group.iter().any(|count| *count > 0)
    });
    (met && excluded.iter().all(|run| run.count == 0)).then(|| Match {
        counts: wanted.iter().map(|run| run.count).collect(),
        length: u32::try_from(length).unwrap_or(u32::MAX),
        places,
    })
}

fn first_char_end(text: &str, range: &Range<usize>) -> usize {
    let first = text[range.clone()].chars().next();
    range.start + first.map_or(0, char::len_utf8)
}
