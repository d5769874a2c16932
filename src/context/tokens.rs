//! Token figures for people (S14). Bytes decide what is in and out, never these. The estimate is one
//! cheap pass over the text; `count_exact` loads a real tokenizer and is for `docs budget` alone.

use super::kinds::extension_of;

/// How far the estimate may stay under a real o200k count, in percent: measured over English,
/// Chinese, Korean, emoji, base64, digits, minified JSON and white space (I01).
pub const MARGIN_PERCENT: u64 = 10;

/// What kind of text, for the bytes that a token has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// 4 bytes a token.
    Prose,
    /// 3.5 bytes a token.
    Code,
    /// JSON, CSV and their like: 2 bytes a token.
    Data,
}

impl TextKind {
    /// The kind by the file's name.
    pub fn of_name(shown: &str) -> TextKind {
        match extension_of(&shown.to_lowercase()) {
            None
            | Some(
                "md" | "markdown" | "mdx" | "mdown" | "mkd" | "txt" | "text" | "rst" | "adoc"
                | "asciidoc" | "org" | "wiki" | "tex" | "log",
            ) => TextKind::Prose,
            Some(
                "json" | "jsonl" | "ndjson" | "json5" | "jsonc" | "csv" | "tsv" | "ipynb" | "plist"
                | "drawio" | "avsc" | "svg" | "lock",
            ) => TextKind::Data,
            Some(_) => TextKind::Code,
        }
    }

    /// Half bytes a token, so that 3.5 is whole.
    fn half_bytes(self) -> u64 {
        match self {
            TextKind::Prose => 8,
            TextKind::Code => 7,
            TextKind::Data => 4,
        }
    }
}

/// About how many tokens `bytes` of such text are, when the text itself is not at hand.
pub fn about_bytes(kind: TextKind, bytes: u64) -> u64 {
    (bytes * 2).div_ceil(kind.half_bytes())
}

/// About how many tokens a text is. The larger of two views: bytes by the kind of text, and its
/// words, digits and signs one by one, which sees dense text (base64, numbers, minified code) under
/// a harmless name. What is not ASCII is counted by character.
pub fn about(kind: TextKind, text: &str) -> u64 {
    let mut tally = Tally::default();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let class = Class::of(bytes[at]);
        let mut end = at + 1;
        while end < bytes.len() && Class::of(bytes[end]) == class {
            end += 1;
        }
        match class {
            Class::Word => tally.word(&bytes[at..end]),
            Class::Space => tally.space(&bytes[at..end]),
            Class::Sign => tally.thirds += ((end - at) as u64 * SIGN_THIRDS).max(3),
            Class::Wide => tally.wide(&text[at..end]),
        }
        if class != Class::Wide {
            tally.ascii += (end - at) as u64;
        }
        at = end;
    }
    let by_kind = about_bytes(kind, tally.ascii);
    by_kind.max(tally.thirds.div_ceil(3)) + tally.wide_thirds.div_ceil(3)
}

/// How many o200k tokens a text is. Loads the tokenizer on first use: 150–450 ms.
pub fn count_exact(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

/// Thirds of a token that a sign of punctuation takes in a row of several; a lone one is a token.
const SIGN_THIRDS: u64 = 2;
/// Words up to this long are one token, as common English words are.
const SHORT_WORD: usize = 8;
/// Bytes of a longer plain word that make one more token.
const LONG_WORD_STEP: usize = 4;
/// From this length on a word that mixes capitals, small letters and digits is taken for base64.
const DENSE_WORD: usize = 16;
/// White space that one token can hold: o200k has long runs of blanks as one.
const SPACE_RUN: usize = 16;

/// Classes of bytes that stand together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Space,
    Sign,
    Wide,
}

impl Class {
    fn of(byte: u8) -> Class {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => Class::Word,
            b' ' | b'\t' | b'\n' | b'\r' => Class::Space,
            0x80.. => Class::Wide,
            _ => Class::Sign,
        }
    }
}

/// Token counts in thirds, so that the pass stays in whole numbers.
#[derive(Default)]
struct Tally {
    ascii: u64,
    thirds: u64,
    wide_thirds: u64,
}

impl Tally {
    fn word(&mut self, word: &[u8]) {
        let digits = word.iter().filter(|byte| byte.is_ascii_digit()).count();
        let capitals = word.iter().skip(1).filter(|byte| byte.is_ascii_uppercase()).count();
        let letters = word.len() - digits;
        self.thirds += if digits == word.len() {
            // o200k takes digits by threes.
            3 * digits.div_ceil(3) as u64
        } else if word.len() >= DENSE_WORD && digits + capitals > word.len() / 4 {
            // Base64 has about 1.3 bytes a token, hex about 1.7.
            (word.len() as u64 * 3 * 10).div_ceil(13)
        } else if digits == 0 && capitals == 0 {
            let more = word.len().saturating_sub(SHORT_WORD).div_ceil(LONG_WORD_STEP);
            3 + 3 * more as u64
        } else {
            // A name in camel case or with numbers: a token for each part.
            let parts = capitals.max(letters / SHORT_WORD) + digits.div_ceil(3);
            3 + 3 * (parts as u64).min(word.len() as u64 - 1)
        };
    }

    fn space(&mut self, run: &[u8]) {
        // The last blank belongs to the word after it.
        self.thirds += 3 * (run.len() - 1).div_ceil(SPACE_RUN) as u64;
    }

    fn wide(&mut self, run: &str) {
        for c in run.chars() {
            self.wide_thirds += wide_thirds(c);
        }
    }
}

/// Thirds of a token for a character that is not ASCII.
fn wide_thirds(c: char) -> u64 {
    match c as u32 {
        // Latin, Greek, Cyrillic, Hebrew, Arabic and neighbours: parts of words.
        0x80..=0x8ff => 2,
        // Indic, Thai, Georgian and others up to the general signs.
        0x900..=0x1fff => 3,
        // Dashes, quotes, arrows, box lines.
        0x2000..=0x25ff => 3,
        // Signs and dingbats, used as emoji.
        0x2600..=0x2bff => 6,
        // Kana, Han, Hangul: by character.
        0x2c00..=0x9fff | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xff00..=0xffef => 3,
        // Variation selectors.
        0xfe00..=0xfe0f => 2,
        0xa000..=0xffff => 6,
        // Emoji: a lead token shared by many and one or two for the rest.
        0x1f000..=0x1faff => 7,
        // Rare Han and everything else goes by its bytes.
        _ => 12,
    }
}
