//! One cell of the screen in four bytes: a character or the number of a cluster, and what the gate
//! asks of it. Colours and the other attributes are not kept: nobody asks.

use unicode_width::UnicodeWidthStr;

/// Codes from here on are clusters: just above the last character.
const FIRST_CLUSTER: u32 = 0x11_0000;
const CODE: u32 = (1 << 21) - 1;
const WIDE: u32 = 1 << 21;
const CONTINUED: u32 = 1 << 22;
/// A cluster longer than this takes no more characters; in bytes.
const CLUSTER_MOST: usize = 18;
/// Makes the character before it an emoji, which may be wider.
const EMOJI: char = '\u{fe0f}';

/// What new cells are painted with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Attrs(u32);

impl Attrs {
    /// Faint.
    pub(super) const DIM: Attrs = Attrs(1 << 23);
    /// Foreground and background swapped.
    pub(super) const INVERSE: Attrs = Attrs(1 << 24);

    pub(super) fn set(&mut self, which: Attrs) {
        self.0 |= which.0;
    }

    pub(super) fn unset(&mut self, which: Attrs) {
        self.0 &= !which.0;
    }
}

/// A cell. The default is an empty one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cell(u32);

impl Cell {
    /// A cell without contents, painted with these.
    pub(super) fn blank(attrs: Attrs) -> Cell {
        Cell(attrs.0)
    }

    pub(super) fn new(c: char, wide: bool, attrs: Attrs) -> Cell {
        Cell(u32::from(c) | attrs.0 | if wide { WIDE } else { 0 })
    }

    pub(super) fn ascii(byte: u8, attrs: Attrs) -> Cell {
        Cell(u32::from(byte) | attrs.0)
    }

    pub(super) fn is_wide(self) -> bool {
        self.0 & WIDE != 0
    }

    /// The second half of a wide character.
    pub(super) fn is_continuation(self) -> bool {
        self.0 & CONTINUED != 0
    }

    /// Either half of a wide character.
    pub(super) fn is_half(self) -> bool {
        self.0 & (WIDE | CONTINUED) != 0
    }

    /// Becomes another one, or not; by arithmetic.
    pub(super) fn replace_if(&mut self, replace: bool, other: Cell) {
        let mask = u32::from(replace).wrapping_neg();
        self.0 = self.0 & !mask | other.0 & mask;
    }

    pub(super) fn has_contents(self) -> bool {
        self.0 & CODE != 0
    }

    /// Without contents, or with a space.
    pub(super) fn is_blank(self) -> bool {
        matches!(self.0 & CODE, 0 | 0x20)
    }

    pub(super) fn is_dim(self) -> bool {
        self.0 & Attrs::DIM.0 != 0
    }

    pub(super) fn is_inverse(self) -> bool {
        self.0 & Attrs::INVERSE.0 != 0
    }

    pub(super) fn set_continuation(&mut self, on: bool) {
        self.0 = if on { self.0 | CONTINUED } else { self.0 & !CONTINUED };
    }

    /// Takes the contents away and leaves the attributes.
    pub(super) fn clear(&mut self) {
        self.0 &= Attrs::DIM.0 | Attrs::INVERSE.0;
    }

    pub(super) fn with_attrs(self, attrs: Attrs) -> Cell {
        Cell(self.0 & (CODE | WIDE) | attrs.0)
    }

    fn set_code(&mut self, code: u32, wide: bool) {
        self.0 = self.0 & !(CODE | WIDE) | code | if wide { WIDE } else { 0 };
    }
}

/// Cells of more than one character: a letter with its accents, an emoji with its parts.
#[derive(Debug, Default)]
pub(super) struct Clusters {
    texts: Vec<Box<str>>,
}

impl Clusters {
    /// Adds a character of no width to a cell.
    pub(super) fn append(&mut self, cell: &mut Cell, c: char) {
        let mut text = String::new();
        self.write(*cell, &mut text);
        if text.len() >= CLUSTER_MOST {
            return;
        }
        if text.is_empty() {
            text.push(' ');
        }
        text.push(c);
        let wide = if c == EMOJI { text.width() > 1 } else { cell.is_wide() };
        cell.set_code(self.add(text), wide);
    }

    fn add(&mut self, text: String) -> u32 {
        let index = u32::try_from(self.texts.len()).unwrap_or(CODE);
        if FIRST_CLUSTER + index > CODE {
            // A screen never holds so many at once: `is_full` comes long before.
            return u32::from(char::REPLACEMENT_CHARACTER);
        }
        self.texts.push(text.into());
        FIRST_CLUSTER + index
    }

    /// Writes the contents of a cell.
    pub(super) fn write(&self, cell: Cell, out: &mut String) {
        let code = cell.0 & CODE;
        match code.checked_sub(FIRST_CLUSTER) {
            Some(index) => out.push_str(self.texts.get(index as usize).map_or("", |text| text)),
            None if code == 0 => {}
            None => out.extend(char::from_u32(code)),
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether it is time to forget those that no cell of `cells` holds any more.
    pub(super) fn is_full(&self, cells: usize) -> bool {
        self.texts.len() > cells * 2 + 4096
    }

    /// Forgets them.
    pub(super) fn keep_only<'a>(&mut self, cells: impl Iterator<Item = &'a mut Cell>) {
        let old = std::mem::take(&mut self.texts);
        for cell in cells {
            if let Some(index) = (cell.0 & CODE).checked_sub(FIRST_CLUSTER) {
                let text = old.get(index as usize).map_or("", |text| text);
                let code = self.add(text.to_owned());
                cell.set_code(code, cell.is_wide());
            }
        }
    }
}
