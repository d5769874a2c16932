//! Text as the index sees it: terms. Pure. The same function makes the terms of a stored message and
//! of a query, and shows where a match is.
//!
//! - A word: a run of letters and digits of a script that has blanks between words, in lower case,
//!   without accents, in Unicode's compatibility form. At most [`LONGEST_WORD`] characters count.
//! - A pair: in a script without blanks (Han, kana, Hangul, Thai and their like) each character gives
//!   one term, itself with the character behind it; the last of a run stands alone. So a text of two
//!   or more characters is found wherever it stands, and one character as the beginning of a term.
//! - A symbol: an emoji, an arrow. Its variants (skin, presentation) are one.
//!
//! The terms of a released index are fixed: an entry is taken out of the index by the terms that it
//! would get today. A change here needs a migration that builds the index anew.

use std::ops::Range;

use unicode_normalization::char::{
    compose, decompose_canonical, decompose_compatible, is_combining_mark,
};

/// Characters of a word that count; what follows belongs to it but is not looked at. Longer runs are
/// base64 and the like.
pub(super) const LONGEST_WORD: usize = 64;

/// What kind of term it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A word or a symbol.
    Whole,
    /// Two characters of a script without blanks.
    Pair,
    /// The last character of a run of such a script; `alone` where it is the only one.
    Last {
        /// The run has one character.
        alone: bool,
    },
}

/// Calls `each` with the terms of `text` in order: the term, its kind, and the bytes of `text` that
/// it is made of.
pub(super) fn for_each(text: &str, each: impl FnMut(&str, Kind, Range<usize>)) {
    let mut reader = Reader { each, word: String::new(), length: 0, range: 0..0, last: None };
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        // Most of most texts: a word of ASCII at once.
        let ascii = rest.iter().position(|b| !b.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if ascii > 0 {
            reader.ascii(&text[at..at + ascii], at);
            at += ascii;
        } else if rest[0].is_ascii() {
            reader.end();
            at += 1;
        } else {
            let Some(c) = text[at..].chars().next() else { break };
            let range = at..at + c.len_utf8();
            at = range.end;
            reader.other(c, range);
        }
    }
    reader.end();
}

/// What has been read and not yet given.
struct Reader<F> {
    each: F,
    word: String,
    length: usize,
    range: Range<usize>,
    /// The character of a run that waits for the next one; whether it is the first of its run.
    last: Option<(char, bool, Range<usize>)>,
}

impl<F: FnMut(&str, Kind, Range<usize>)> Reader<F> {
    fn ascii(&mut self, part: &str, at: usize) {
        self.end_run();
        if self.length == 0 {
            self.range.start = at;
        }
        let counts = part.len().min(LONGEST_WORD.saturating_sub(self.length));
        let from = self.word.len();
        self.word.push_str(&part[..counts]);
        self.word[from..].make_ascii_lowercase();
        self.length += part.len();
        self.range.end = at + part.len();
    }

    fn other(&mut self, c: char, range: Range<usize>) {
        match class(c) {
            Class::Nothing => self.extend(range.end),
            Class::Gap => self.end(),
            Class::Symbol => {
                self.end();
                (self.each)(c.encode_utf8(&mut [0; 4]), Kind::Whole, range);
            }
            Class::Run => self.run_char(c, range),
            Class::Word => {
                self.end_run();
                let mut folded = false;
                decompose_compatible(c, |part| {
                    for part in part.to_lowercase() {
                        // Two letters that have more than one small form.
                        let parts: &[char] = match &part {
                            'ς' => &['σ'],
                            'ß' => &['s', 's'],
                            part => std::slice::from_ref(part),
                        };
                        for part in parts {
                            if class(*part) == Class::Word || part.is_ascii_alphanumeric() {
                                self.word_char(*part, range.clone());
                                folded = true;
                            }
                        }
                    }
                });
                if !folded {
                    self.end();
                }
            }
        }
    }

    fn word_char(&mut self, c: char, range: Range<usize>) {
        if self.length == 0 {
            self.range = range.clone();
        }
        if self.length < LONGEST_WORD {
            self.word.push(c);
        }
        self.length += 1;
        self.range.end = range.end;
    }

    fn run_char(&mut self, c: char, range: Range<usize>) {
        self.end_word();
        let c = match c {
            'ﾞ' => '\u{3099}',
            'ﾟ' => '\u{309a}',
            c => c,
        };
        let plain = is_plain_run(c);
        if !plain
            && let Some((last, _, waiting)) = &mut self.last
            && let Some(whole) = compose(*last, c)
        {
            *last = whole;
            waiting.end = range.end;
            return;
        }
        // Kana and Hangul stay whole; other forms of a character become the usual one.
        let mut usual = None;
        let keep = plain || matches!(c as u32, 0x3041..=0x30ff);
        let mut first = |part| usual = usual.or(Some(part));
        match c as u32 {
            _ if keep => first(c),
            0xff66..=0xff9d => decompose_compatible(c, first),
            _ => decompose_canonical(c, first),
        }
        let c = usual.unwrap_or(c);
        let first = match self.last.take() {
            None => true,
            Some((last, _, waiting)) => {
                let mut pair = [0; 8];
                let length = last.encode_utf8(&mut pair).len();
                let length = length + c.encode_utf8(&mut pair[length..]).len();
                let pair = std::str::from_utf8(&pair[..length]).unwrap_or_default();
                (self.each)(pair, Kind::Pair, waiting.start..range.end);
                false
            }
        };
        self.last = Some((c, first, range));
    }

    /// What is not looked at belongs to the term before it.
    fn extend(&mut self, end: usize) {
        if let Some((_, _, waiting)) = &mut self.last {
            waiting.end = end;
        } else if self.length > 0 {
            self.range.end = end;
        }
    }

    fn end_word(&mut self) {
        if self.length > 0 {
            (self.each)(&self.word, Kind::Whole, self.range.clone());
            self.word.clear();
            self.length = 0;
        }
    }

    fn end_run(&mut self) {
        if let Some((last, alone, range)) = self.last.take() {
            (self.each)(last.encode_utf8(&mut [0; 4]), Kind::Last { alone }, range);
        }
    }

    fn end(&mut self) {
        self.end_word();
        self.end_run();
    }
}

/// What a character that is not ASCII is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Of a script with blanks between words.
    Word,
    /// Of a script without.
    Run,
    /// A term of its own.
    Symbol,
    /// Not looked at, and no end of a word: accents, joiners, variants.
    Nothing,
    /// Between words.
    Gap,
}

fn class(c: char) -> Class {
    if is_plain_run(c) {
        return Class::Run;
    }
    match c as u32 {
        0x0300..=0x036f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff | 0xfe20..=0xfe2f => {
            Class::Nothing
        }
        // Vowel points of Hebrew and Arabic, which are rarely written.
        0x0591..=0x05bd | 0x05bf..=0x05c7 | 0x0610..=0x061a | 0x064b..=0x065f | 0x0670 => {
            Class::Nothing
        }
        // Soft hyphen, joiners and marks of direction, variants, skin colours.
        0x00ad | 0x200b..=0x200f | 0x2060 | 0xfe00..=0xfe0f | 0xfeff | 0xe0100..=0xe01ef => {
            Class::Nothing
        }
        0x1f3fb..=0x1f3ff => Class::Nothing,
        // Thai and Lao, Myanmar, Hangul letters, Khmer.
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1100..=0x11ff | 0x1780..=0x17ff => run(c),
        // Kana, bopomofo, Han with its additions, Hangul.
        0x3005..=0x3007 | 0x3040..=0x312f | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff => {
            run(c)
        }
        0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xff66..=0xff9f | 0x2_0000..=0x3_23af => run(c),
        _ if c.is_alphanumeric() || is_combining_mark(c) => Class::Word,
        0x2190..=0x2bff | 0x1_f000..=0x1_faff => Class::Symbol,
        _ => Class::Gap,
    }
}

/// Whether it is of a block without gaps in which all are letters and none is made of others or joins
/// with the one before: Han and whole Hangul syllables. The most frequent ones, without a look-up.
fn is_plain_run(c: char) -> bool {
    matches!(c as u32, 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7a3)
}

/// The blocks hold punctuation too.
fn run(c: char) -> Class {
    if c.is_alphanumeric() || is_combining_mark(c) || matches!(c, 'ﾞ' | 'ﾟ') {
        Class::Run
    } else {
        Class::Gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plain_characters_are_what_the_tables_say() {
        for c in ('\u{3400}'..='\u{d7a3}').filter(|c| is_plain_run(*c)) {
            assert_eq!(run(c), Class::Run, "{c:?}");
            for before in [c, 'か', '가', '\u{1100}', '中'] {
                assert_eq!(compose(before, c), None, "{before:?} {c:?}");
            }
            let mut parts = Vec::new();
            decompose_canonical(c, |part| parts.push(part));
            assert!(parts == [c] || c >= '\u{ac00}', "{c:?} {parts:?}");
        }
    }
}
