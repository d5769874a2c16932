//! What single bytes are outside a sequence, and UTF-8.

/// What UTF-8 has at its start.
pub(super) enum Character {
    Whole(char, usize),
    /// The first byte belongs to no character; nothing is painted for it.
    Broken,
    /// More bytes are needed.
    Cut,
}

impl Character {
    pub(super) fn at_start(bytes: &[u8]) -> Character {
        let len = match bytes[0] {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => return Character::Broken,
        };
        if bytes.get(1).is_some_and(|second| !is_continuation(*second)) {
            return Character::Broken;
        }
        if let (2, [first, second, ..]) = (len, bytes) {
            let code = u32::from(first & 0x1f) << 6 | u32::from(second & 0x3f);
            return char::from_u32(code).map_or(Character::Broken, |c| Character::Whole(c, 2));
        }
        match std::str::from_utf8(&bytes[..len.min(bytes.len())]) {
            Ok(text) => text.chars().next().map_or(Character::Broken, |c| Character::Whole(c, len)),
            Err(e) if e.error_len().is_none() => Character::Cut,
            Err(_) => Character::Broken,
        }
    }
}

fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// What a byte is outside a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class(u8);

impl Class {
    const NOTHING: Class = Class(0);
    /// An ASCII character with a picture.
    pub(super) const PRINTABLE: Class = Class(1);
    /// May begin a longer character.
    const LEAD: Class = Class(2);
    /// A control character that moves the cursor, or the start of a sequence.
    const ACTS: Class = Class(3);

    pub(super) fn of(byte: u8) -> Class {
        CLASSES[usize::from(byte)]
    }

    /// Whether it is more than ASCII, given the byte after it.
    pub(super) fn stops(self, next: Option<&u8>) -> bool {
        // In one sum and not in two questions, for the reason given at `Line::paint`.
        let goes_on = next.is_none_or(|next| is_continuation(*next));
        self.0 + u8::from(goes_on) > Class::LEAD.0
    }
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::NOTHING; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            0x20..0x7f => Class::PRINTABLE,
            0x08..=0x0d | 0x1b => Class::ACTS,
            0xc2..=0xf4 => Class::LEAD,
            _ => Class::NOTHING,
        };
        byte += 1;
    }
    classes
};

/// Whether a character of several bytes may begin with this one.
pub(super) fn is_lead(byte: u8) -> bool {
    Class::of(byte) == Class::LEAD
}

/// Whether this byte alone leaves the screen as it is.
pub(super) fn paints_nothing(byte: u8) -> bool {
    Class::of(byte) == Class::NOTHING
}
