//! The lines of one screen (a terminal has two), the cursor, and what moves and erases.
//!
//! Rows and columns count from 0. The cursor may stand one past the last column: the next character
//! then goes to the next line.

use super::cell::{Attrs, Cell};
use super::line::Line;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Pos {
    pub(super) row: u16,
    pub(super) col: u16,
}

#[derive(Debug)]
pub(super) struct Grid {
    pub(super) rows: u16,
    pub(super) cols: u16,
    pub(super) pos: Pos,
    pub(super) lines: Vec<Line>,
    saved: Pos,
    /// First and last line of the scroll region.
    top: u16,
    bottom: u16,
    /// Rows count from the region's top.
    origin: bool,
    saved_origin: bool,
    /// Lines that have left at the top, where a terminal keeps them: a larger window brings them back.
    history: Option<usize>,
}

impl Grid {
    pub(super) fn new(rows: u16, cols: u16, has_history: bool) -> Grid {
        Grid {
            rows,
            cols,
            pos: Pos::default(),
            lines: Vec::new(),
            saved: Pos::default(),
            top: 0,
            bottom: rows - 1,
            origin: false,
            saved_origin: false,
            history: has_history.then_some(0),
        }
    }

    /// Makes the lines; without them it is a screen that was never shown.
    pub(super) fn make_lines(&mut self) {
        if self.lines.is_empty() {
            self.lines.resize_with(usize::from(self.rows), || Line::new(self.cols));
        }
    }

    /// As new, but for the history.
    pub(super) fn clear(&mut self) {
        self.lines.iter_mut().for_each(|line| line.fill(Attrs::default()));
        (self.pos, self.saved) = (Pos::default(), Pos::default());
        (self.top, self.bottom) = (0, self.rows - 1);
        (self.origin, self.saved_origin) = (false, false);
    }

    pub(super) fn line(&mut self) -> &mut Line {
        &mut self.lines[usize::from(self.pos.row)]
    }

    pub(super) fn cell(&mut self, pos: Pos) -> Option<&mut Cell> {
        self.lines.get_mut(usize::from(pos.row))?.cells.get_mut(usize::from(pos.col))
    }

    /// Another size: the cursor keeps its distance to the bottom, as far as the history allows.
    pub(super) fn resize(&mut self, rows: u16, cols: u16) {
        if (rows, cols) == (self.rows, self.cols) {
            return;
        }
        (self.top, self.bottom) = (0, self.rows - 1);
        let mut moved = 0;
        if rows < self.rows {
            if !self.lines.is_empty() {
                moved = (self.rows - rows).saturating_sub(self.rows - self.pos.row - 1);
                self.scroll_up(moved);
                self.lines.truncate(usize::from(rows));
            }
            self.pos.row = self.pos.row.saturating_sub(moved);
            self.saved.row = self.saved.row.saturating_sub(moved).min(rows - 1);
        } else {
            if !self.lines.is_empty() {
                let history = self.history.unwrap_or(0);
                moved = u16::try_from(history).unwrap_or(u16::MAX).min(rows - self.rows);
                self.history = self.history.map(|lines| lines - usize::from(moved));
                let back = std::iter::repeat_n(Line::new(cols), usize::from(moved));
                self.lines.splice(0..0, back);
                self.lines.resize(usize::from(rows), Line::new(cols));
            }
            self.pos.row += moved;
            self.saved.row += moved;
        }
        if let Some(last) = self.lines.last_mut() {
            last.wrapped = false;
        }
        self.lines.iter_mut().for_each(|line| line.resize(usize::from(cols)));
        (self.rows, self.cols, self.bottom) = (rows, cols, rows - 1);
        self.pos.col = self.pos.col.min(cols - 1);
        self.saved.col = self.saved.col.min(cols - 1);
    }

    pub(super) fn save_cursor(&mut self) {
        (self.saved, self.saved_origin) = (self.pos, self.origin);
    }

    pub(super) fn restore_cursor(&mut self) {
        (self.pos, self.origin) = (self.saved, self.saved_origin);
    }

    pub(super) fn move_to(&mut self, row: u16, col: u16) {
        let row = if self.origin { row.saturating_add(self.top) } else { row };
        let bottom = if self.origin { self.bottom } else { self.rows - 1 };
        self.pos = Pos { row: row.min(bottom), col: col.min(self.cols - 1) };
    }

    pub(super) fn go_to_row(&mut self, row: u16) {
        self.pos.row = row.min(self.rows - 1);
    }

    pub(super) fn go_to_col(&mut self, col: u16) {
        self.pos.col = col.min(self.cols - 1);
    }

    pub(super) fn left(&mut self, count: u16) {
        self.pos.col = self.pos.col.saturating_sub(count);
    }

    pub(super) fn right(&mut self, count: u16) {
        self.go_to_col(self.pos.col.saturating_add(count));
    }

    pub(super) fn tab(&mut self) {
        self.go_to_col((self.pos.col - self.pos.col % 8).saturating_add(8));
    }

    fn in_region(&self) -> bool {
        (self.top..=self.bottom).contains(&self.pos.row)
    }

    pub(super) fn up(&mut self, count: u16) {
        let top = if self.in_region() { self.top } else { 0 };
        self.pos.row = self.pos.row.saturating_sub(count).max(top);
    }

    pub(super) fn down(&mut self, count: u16) {
        let bottom = if self.in_region() { self.bottom } else { self.rows - 1 };
        self.pos.row = self.pos.row.saturating_add(count).min(bottom);
    }

    /// One line down; at the region's end it scrolls. Whether it did.
    pub(super) fn line_feed(&mut self) -> bool {
        let scrolls = self.pos.row == self.bottom;
        if scrolls {
            self.scroll_up(1);
        } else if self.pos.row < self.rows - 1 {
            self.pos.row += 1;
        }
        scrolls
    }

    /// One line up; at the region's start it scrolls.
    pub(super) fn reverse_line_feed(&mut self) {
        if self.pos.row == self.top || self.pos.row == 0 {
            self.scroll_down(1);
        } else {
            self.pos.row -= 1;
        }
    }

    pub(super) fn set_region(&mut self, top: u16, bottom: u16) {
        let bottom = bottom.min(self.rows - 1);
        (self.top, self.bottom) = if top < bottom { (top, bottom) } else { (0, self.rows - 1) };
        self.pos = Pos { row: self.top, col: 0 };
    }

    pub(super) fn set_origin(&mut self, on: bool) {
        self.origin = on;
        self.move_to(0, 0);
    }

    fn region(&mut self, from: u16) -> &mut [Line] {
        &mut self.lines[usize::from(from)..=usize::from(self.bottom)]
    }

    pub(super) fn scroll_up(&mut self, count: u16) {
        let region = self.region(self.top);
        let count = usize::from(count).min(region.len());
        region[..count].iter_mut().for_each(|line| line.fill(Attrs::default()));
        region.rotate_left(count);
        if self.top == 0
            && let Some(history) = &mut self.history
        {
            *history = history.saturating_add(count);
        }
    }

    pub(super) fn scroll_down(&mut self, count: u16) {
        self.push_down(self.top, count);
    }

    fn push_down(&mut self, from: u16, count: u16) {
        let region = self.region(from);
        let count = usize::from(count).min(region.len());
        region.rotate_right(count);
        region[..count].iter_mut().for_each(|line| line.fill(Attrs::default()));
        if let Some(last) = region.last_mut() {
            last.wrapped = false;
        }
    }

    pub(super) fn insert_lines(&mut self, count: u16) {
        if self.in_region() {
            self.push_down(self.pos.row, count);
        }
    }

    pub(super) fn delete_lines(&mut self, count: u16) {
        if self.in_region() {
            let region = self.region(self.pos.row);
            let count = usize::from(count).min(region.len());
            region[..count].iter_mut().for_each(|line| line.fill(Attrs::default()));
            region.rotate_left(count);
        }
    }

    pub(super) fn insert_cells(&mut self, count: u16) {
        let at = usize::from(self.pos.col);
        self.line().insert(at, usize::from(count));
    }

    pub(super) fn delete_cells(&mut self, count: u16) {
        let to = self.pos.col.saturating_add(count).min(self.cols);
        let from = usize::from(self.pos.col);
        self.line().remove(from, usize::from(to));
    }

    pub(super) fn erase_cells(&mut self, count: u16, attrs: Attrs) {
        let to = self.pos.col.saturating_add(count).min(self.cols);
        let from = usize::from(self.pos.col);
        self.line().erase(from, usize::from(to), attrs);
    }

    /// `ED`: 0 from the cursor on, 1 up to it, 2 all, 3 the history.
    pub(super) fn erase_display(&mut self, what: u16, attrs: Attrs) {
        let row = usize::from(self.pos.row);
        match what {
            0 => {
                self.lines.iter_mut().skip(row + 1).for_each(|line| line.fill(attrs));
                self.erase_line(0, attrs);
            }
            1 => {
                self.lines.iter_mut().take(row).for_each(|line| line.fill(attrs));
                self.erase_line(1, attrs);
            }
            2 => self.lines.iter_mut().for_each(|line| line.fill(attrs)),
            3 => self.history = self.history.map(|_| 0),
            _ => {}
        }
    }

    /// `EL`: 0 from the cursor on, 1 up to it, 2 all.
    pub(super) fn erase_line(&mut self, what: u16, attrs: Attrs) {
        let (col, cols) = (usize::from(self.pos.col), usize::from(self.cols));
        match what {
            0 => self.line().erase(col, cols, attrs),
            1 => self.line().erase(0, (col + 1).min(cols), attrs),
            2 => self.line().fill(attrs),
            _ => {}
        }
    }
}
