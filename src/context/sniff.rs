//! From bytes to text (S2): byte order marks, UTF-16 and UTF-32, NULs, bad bytes. Never a silent
//! replacement and never soup: what is shown as U+FFFD is counted and its first place told, and what
//! is mostly that is refused. No legacy encoding is guessed. Nothing is unpacked.

/// A text is refused when more than one character in this many is not UTF-8. German or French text
/// in Latin-1 stays under it and can still be read; Cyrillic, Chinese or Japanese in a legacy
/// encoding goes far over it and would be noise.
pub const SOUP_ONE_IN: usize = 10;

/// What the bytes turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decoded {
    /// Text in UTF-8, with what had to be replaced in it.
    Text {
        /// The text without its byte order mark.
        text: String,
        /// The bad places, if any.
        bad: Option<Bad>,
    },
    /// Not text; why.
    NotText(String),
}

/// Places that were shown as U+FFFD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bad {
    /// Offset of the first in the file, in bytes.
    pub first: usize,
    /// How many.
    pub count: usize,
}

/// The encodings that a byte order mark can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with or without a mark; also what has no mark at all.
    Utf8,
    /// Two bytes a unit, low byte first.
    Utf16Le,
    /// Two bytes a unit, high byte first.
    Utf16Be,
    /// Four bytes a unit, low byte first.
    Utf32Le,
    /// Four bytes a unit, high byte first.
    Utf32Be,
}

impl Encoding {
    /// Reads the mark at the head of a file; the second value is its length in bytes.
    pub fn of(head: &[u8]) -> (Encoding, usize) {
        match head {
            [0xff, 0xfe, 0, 0, ..] => (Encoding::Utf32Le, 4),
            [0, 0, 0xfe, 0xff, ..] => (Encoding::Utf32Be, 4),
            [0xff, 0xfe, ..] => (Encoding::Utf16Le, 2),
            [0xfe, 0xff, ..] => (Encoding::Utf16Be, 2),
            [0xef, 0xbb, 0xbf, ..] => (Encoding::Utf8, 3),
            _ => (Encoding::Utf8, 0),
        }
    }

    /// The fewest bytes of UTF-8 that a file of `size` bytes can become. A bad sequence is never
    /// longer than the three bytes of the U+FFFD in its place, so UTF-8 loses its mark at most.
    pub fn least_text(self, size: u64) -> u64 {
        match self {
            Encoding::Utf8 => size.saturating_sub(3),
            Encoding::Utf16Le | Encoding::Utf16Be => (size / 2).saturating_sub(1),
            Encoding::Utf32Le | Encoding::Utf32Be => (size / 4).saturating_sub(1),
        }
    }
}

/// Decodes a whole file.
pub fn decode(bytes: Vec<u8>) -> Decoded {
    let (encoding, mark) = Encoding::of(&bytes);
    match encoding {
        Encoding::Utf8 => decode_utf8(bytes, mark),
        Encoding::Utf16Le | Encoding::Utf16Be => {
            let big = encoding == Encoding::Utf16Be;
            finish(decode_utf16(&bytes[mark..], big), mark, 2)
        }
        Encoding::Utf32Le | Encoding::Utf32Be => {
            let big = encoding == Encoding::Utf32Be;
            finish(decode_utf32(&bytes[mark..], big), mark, 4)
        }
    }
}

/// Decodes the first bytes of a file whose rest was not read: a character that the cut went through
/// is left out, not reported. `None`: not text.
pub fn decode_head(mut head: Vec<u8>, whole: bool) -> Option<String> {
    if !whole {
        let (encoding, _) = Encoding::of(&head);
        let keep = match encoding {
            Encoding::Utf8 => whole_utf8(&head),
            Encoding::Utf16Le | Encoding::Utf16Be => head.len() & !1,
            Encoding::Utf32Le | Encoding::Utf32Be => head.len() & !3,
        };
        head.truncate(keep);
    }
    match decode(head) {
        Decoded::Text { text, .. } => Some(text),
        Decoded::NotText(_) => None,
    }
}

/// The length without an unfinished character at the end.
fn whole_utf8(bytes: &[u8]) -> usize {
    match bytes.utf8_chunks().last() {
        // Bytes that may begin a character are one chunk of up to three at the end.
        Some(last) if last.invalid().first().is_some_and(|lead| *lead >= 0xc2) => {
            bytes.len() - last.invalid().len()
        }
        _ => bytes.len(),
    }
}

fn decode_utf8(mut bytes: Vec<u8>, mark: usize) -> Decoded {
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Decoded::NotText(nul_reason(&bytes, at));
    }
    if mark > 0 {
        bytes.drain(..mark);
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Decoded::Text { text, bad: None },
        Err(error) => error.into_bytes(),
    };
    let mut text = String::with_capacity(bytes.len() + 64);
    let mut bad = Bad { first: 0, count: 0 };
    let mut offset = mark;
    let mut characters = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        characters += chunk.valid().chars().count();
        offset += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            if bad.count == 0 {
                bad.first = offset;
            }
            bad.count += 1;
            characters += 1;
            text.push(char::REPLACEMENT_CHARACTER);
            offset += chunk.invalid().len();
        }
    }
    refuse_soup(text, bad, characters)
}

fn refuse_soup(text: String, bad: Bad, characters: usize) -> Decoded {
    if bad.count * SOUP_ONE_IN > characters {
        return Decoded::NotText(format!(
            "not UTF-8: {} of {characters} characters are bad, the first at byte {}",
            bad.count, bad.first
        ));
    }
    Decoded::Text { text, bad: Some(bad).filter(|bad| bad.count > 0) }
}

/// Why a file with a NUL is not text; UTF-16 without a mark has one in about every second place.
fn nul_reason(bytes: &[u8], at: usize) -> String {
    let sample = &bytes[..bytes.len().min(4096)];
    let nuls = sample.iter().filter(|byte| **byte == 0).count();
    let magic = [&b"\x7fELF"[..], b"MZ", b"PK\x03\x04", b"\x89PNG"];
    if nuls * 3 >= sample.len() && !magic.iter().any(|magic| sample.starts_with(magic)) {
        format!("not UTF-8: it looks like UTF-16 without a byte order mark (NUL at byte {at})")
    } else {
        format!("not text: NUL at byte {at}")
    }
}

/// Characters with the offset of their unit; `None` for a bad one.
type Units = Vec<(usize, Option<char>)>;

fn decode_utf16(bytes: &[u8], big: bool) -> Units {
    let units = bytes.chunks_exact(2).map(|pair| {
        if big {
            u16::from_be_bytes([pair[0], pair[1]])
        } else {
            u16::from_le_bytes([pair[0], pair[1]])
        }
    });
    let mut decoded = Units::with_capacity(bytes.len() / 2 + 1);
    let mut offset = 0;
    for unit in char::decode_utf16(units) {
        decoded.push((offset, unit.as_ref().ok().copied()));
        offset += unit.map_or(2, |c| c.len_utf16() * 2);
    }
    if !bytes.len().is_multiple_of(2) {
        decoded.push((bytes.len() - 1, None));
    }
    decoded
}

fn decode_utf32(bytes: &[u8], big: bool) -> Units {
    let mut decoded: Units = bytes
        .chunks_exact(4)
        .enumerate()
        .map(|(position, unit)| {
            let unit = [unit[0], unit[1], unit[2], unit[3]];
            let code = if big { u32::from_be_bytes(unit) } else { u32::from_le_bytes(unit) };
            (position * 4, char::from_u32(code))
        })
        .collect();
    if !bytes.len().is_multiple_of(4) {
        decoded.push((bytes.len() & !3, None));
    }
    decoded
}

fn finish(units: Units, mark: usize, width: usize) -> Decoded {
    let mut text = String::with_capacity(units.len());
    let mut bad = Bad { first: 0, count: 0 };
    let characters = units.len();
    for (offset, unit) in units {
        match unit {
            Some('\0') => {
                let at = mark + offset;
                return Decoded::NotText(format!("not text: NUL at byte {at} (UTF-{})", width * 8));
            }
            Some(c) => text.push(c),
            None => {
                if bad.count == 0 {
                    bad.first = mark + offset;
                }
                bad.count += 1;
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }
    refuse_soup(text, bad, characters)
}
