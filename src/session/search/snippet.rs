//! The part of a message that a hit shows: the place with most of the words, on one line. Pure.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// A piece of a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The text; white space is one blank, all else as it was written.
    pub text: String,
    /// It is what was searched for.
    pub hit: bool,
}

/// What is left out at an end.
const CUT: &str = "…";

/// The best `width` characters of `text`. `places` are matches with the number of their phrase, in
/// order; they may overlap.
pub(super) fn snippet(text: &str, places: &[(Range<usize>, usize)], width: usize) -> Vec<Part> {
    let hits = merged(places);
    let from = window_start(text, places, width);
    let mut parts: Vec<Part> = Vec::new();
    let mut left = width;
    let mut end = text.len();
    let mut hits = hits.into_iter().skip_while(|hit| hit.end <= from).peekable();
    if from > 0 {
        parts.push(Part { text: CUT.to_owned(), hit: false });
    }
    for (offset, grapheme) in text[from..].grapheme_indices(true) {
        let at = from + offset;
        if left == 0 {
            end = at;
            break;
        }
        while hits.next_if(|hit| hit.end <= at).is_some() {}
        let hit = hits.peek().is_some_and(|hit| hit.start < at + grapheme.len());
        let blank = grapheme.chars().all(char::is_whitespace);
        let shown = if blank { " " } else { grapheme };
        match parts.last_mut() {
            Some(last) if blank && (last.text.ends_with(' ') || last.text == CUT) => continue,
            None if blank => continue,
            Some(last) if last.hit == hit => last.text.push_str(shown),
            _ => parts.push(Part { text: shown.to_owned(), hit }),
        }
        left -= 1;
    }
    if let Some(last) = parts.last_mut() {
        last.text.truncate(last.text.trim_end().len());
    }
    if !text[end..].trim().is_empty() {
        parts.push(Part { text: CUT.to_owned(), hit: false });
    }
    parts.retain(|part| !part.text.is_empty());
    parts
}

/// The places without overlaps, in order.
fn merged(places: &[(Range<usize>, usize)]) -> Vec<Range<usize>> {
    let mut sorted: Vec<Range<usize>> = places.iter().map(|(range, _)| range.clone()).collect();
    sorted.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Where a window begins that has the most different phrases, then the most places; a little text is
/// left before the first of them.
fn window_start(text: &str, places: &[(Range<usize>, usize)], width: usize) -> usize {
    let mut best = (0, 0);
    let mut start = 0;
    for (index, (first, _)) in places.iter().enumerate() {
        let within: Vec<usize> = places[index..]
            .iter()
            // Bytes for characters: near enough to choose by.
            .take_while(|(range, _)| range.end.saturating_sub(first.start) <= width)
            .map(|(_, phrase)| *phrase)
            .collect();
        let mut phrases = within.clone();
        phrases.sort_unstable();
        phrases.dedup();
        let worth = (phrases.len(), within.len().min(phrases.len() + 1));
        if worth > best {
            (best, start) = (worth, first.start);
        }
    }
    let lead = width / 4;
    let before = &text[..start];
    let Some((mut from, _)) = before.grapheme_indices(true).rev().take(lead).last() else {
        return start;
    };
    if from > 0 {
        // From the beginning of a word, where one begins in time.
        let word = text[from..start].find(char::is_whitespace);
        from += word.map_or(0, |blank| {
            let blank = from + blank;
            blank - from + text[blank..].chars().next().map_or(0, char::len_utf8)
        });
    }
    from
}
