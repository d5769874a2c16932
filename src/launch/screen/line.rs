//! One line of the screen.

use super::cell::{Attrs, Cell};

#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) cells: Vec<Cell>,
    /// The text goes on in the next line without a line break.
    pub(super) wrapped: bool,
}

impl Line {
    pub(super) fn new(cols: u16) -> Line {
        Line { cells: vec![Cell::default(); usize::from(cols)], wrapped: false }
    }

    pub(super) fn fill(&mut self, attrs: Attrs) {
        self.cells.fill(Cell::blank(attrs));
        self.wrapped = false;
    }

    /// Takes the contents of a range away.
    pub(super) fn erase(&mut self, from: usize, to: usize, attrs: Attrs) {
        let Some(range) = self.cells.get_mut(from..to) else { return };
        if range.is_empty() {
            return;
        }
        if range.iter().fold(false, |any, cell| any | cell.is_half()) {
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
