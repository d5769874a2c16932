//! One line of the screen.

use super::bytes::Class;
use super::cell::{Attrs, Cell};

#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) cells: Vec<Cell>,
    /// The text goes on in the next line without a line break.
    pub(super) wrapped: bool,
    /// A wide character was painted into it since it was empty.
    pub(super) has_halves: bool,
}

/// What came of [`Line::paint`].
pub(super) struct Painted {
    /// Bytes used.
    pub(super) taken: usize,
    /// The column after the last character.
    pub(super) to: usize,
    /// The last character.
    pub(super) last: Option<u8>,
}

impl Line {
    pub(super) fn new(cols: u16) -> Line {
        Line { cells: vec![Cell::default(); usize::from(cols)], wrapped: false, has_halves: false }
    }

    pub(super) fn fill(&mut self, attrs: Attrs) {
        self.cells.fill(Cell::blank(attrs));
        (self.wrapped, self.has_halves) = (false, false);
    }

    /// Paints ASCII from this column on, up to the edge, to half of a wide character, or to the first
    /// byte that is more; bytes that paint nothing are left out. Without a branch for each byte: they
    /// come in no order that a processor could guess.
    pub(super) fn paint(&mut self, from: usize, bytes: &[u8], attrs: Attrs) -> Painted {
        let (mut taken, mut to, mut last) = (0, from, 0);
        let end = if self.has_halves { self.next_half(from) } else { self.cells.len() };
        let cells = &mut self.cells[..end];
        while let (Some(&byte), Some(cell)) = (bytes.get(taken), cells.get_mut(to)) {
            let class = Class::of(byte);
            if class.stops(bytes.get(taken + 1)) {
                break;
            }
            let printable = class == Class::PRINTABLE;
            cell.replace_if(printable, Cell::ascii(byte, attrs));
            last = if printable { byte } else { last };
            to += usize::from(printable);
            taken += 1;
        }
        Painted { taken, to, last: (last != 0).then_some(last) }
    }

    /// The first column, not before this one, that cannot be painted without a look at its neighbours.
    fn next_half(&self, from: usize) -> usize {
        let before = from.saturating_sub(1);
        let half = self.cells[before..].iter().position(|cell| cell.is_half());
        half.map_or(self.cells.len(), |at| (before + at).max(from))
    }

    /// Takes the contents of a range away.
    pub(super) fn erase(&mut self, from: usize, to: usize, attrs: Attrs) {
        let Some(range) = self.cells.get_mut(from..to) else { return };
        if range.is_empty() {
            return;
        }
        if self.has_halves {
            (from..to).for_each(|at| self.erase_one(at, attrs));
        } else {
            range.fill(Cell::blank(attrs));
            self.wrapped &= to < self.cells.len();
        }
    }

    fn erase_one(&mut self, at: usize, attrs: Attrs) {
        let width = 1 + usize::from(self.cells[at].is_wide());
        self.part(at);
        self.cells[at] = Cell::blank(attrs);
        if at == self.cells.len().saturating_sub(width) {
            self.wrapped = false;
        }
    }

    /// The other half of a wide character goes with this one.
    fn part(&mut self, at: usize) {
        let cell = self.cells[at];
        let other = if cell.is_wide() {
            // One that a narrower window has cut has no second half.
            if at + 1 < self.cells.len() { at + 1 } else { at }
        } else if cell.is_continuation() {
            at.saturating_sub(1)
        } else {
            return;
        };
        self.cells[other].clear();
    }

    /// Puts empty cells in; what is pushed over the edge is lost.
    pub(super) fn insert(&mut self, at: usize, count: usize) {
        self.wrapped = false;
        let count = count.min(self.cells.len().saturating_sub(at));
        if count == 0 {
            return;
        }
        let half = self.cells[at].is_continuation();
        self.cells[at].set_continuation(false);
        self.cells[at..].rotate_right(count);
        self.cells[at..at + count].fill(Cell::default());
        self.cells[at].set_continuation(half);
        self.cut_edge();
    }

    /// Takes cells out; empty ones come in at the edge.
    pub(super) fn remove(&mut self, from: usize, to: usize) {
        self.wrapped = false;
        if from >= to {
            return;
        }
        self.part(from);
        if to - 1 != from {
            self.part(to - 1);
        }
        self.cells[from..to].fill(Cell::default());
        self.cells[from..].rotate_left(to - from);
    }

    /// Makes it so wide.
    pub(super) fn resize(&mut self, cols: usize) {
        if cols == self.cells.len() {
            return;
        }
        let narrower = cols < self.cells.len();
        self.cells.resize(cols, Cell::default());
        self.wrapped = false;
        if narrower {
            self.cut_edge();
        }
    }

    /// The first half of a wide character alone is nothing.
    fn cut_edge(&mut self) {
        if let Some(last) = self.cells.last_mut().filter(|last| last.is_wide()) {
            last.clear();
        }
    }
}
