//! What the engine's output does to the screen: text, control characters, sequences, modes, marks.

use unicode_width::UnicodeWidthChar;

use super::bytes::paints_nothing;
use super::cell::{Attrs, Cell, Clusters};
use super::grid::{Grid, Pos};
use super::marks::Marks;

/// One parameter of a CSI.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Param {
    pub(super) value: u16,
    pub(super) kind: Kind,
}

/// How a parameter was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// `4`
    #[default]
    Alone,
    /// `4:3`; the value is the first one.
    Group,
    /// A group that is a colour out of range: what follows it does not count.
    BadColour,
}

#[derive(Debug)]
pub(super) struct Term {
    main: Grid,
    alternate: Grid,
    on_alternate: bool,
    attrs: Attrs,
    saved_attrs: Attrs,
    takes_paste: bool,
    /// For `REP`.
    last_char: Option<char>,
    clusters: Clusters,
    pub(super) marks: Marks,
    /// The parser has just come to the end of a sequence: it stands on text.
    pub(super) ended: bool,
}

impl Term {
    pub(super) fn new(rows: u16, cols: u16) -> Term {
        let mut main = Grid::new(rows, cols, true);
        main.make_lines();
        Term {
            main,
            alternate: Grid::new(rows, cols, false),
            on_alternate: false,
            attrs: Attrs::default(),
            saved_attrs: Attrs::default(),
            takes_paste: false,
            last_char: None,
            clusters: Clusters::default(),
            marks: Marks::default(),
            ended: false,
        }
    }

    pub(super) fn resize(&mut self, rows: u16, cols: u16) {
        self.main.resize(rows, cols);
        self.alternate.resize(rows, cols);
    }

    pub(super) fn takes_paste(&self) -> bool {
        self.takes_paste
    }

    /// The screen that is shown.
    pub(super) fn shown(&self) -> &Grid {
        if self.on_alternate { &self.alternate } else { &self.main }
    }

    fn grid(&mut self) -> &mut Grid {
        if self.on_alternate { &mut self.alternate } else { &mut self.main }
    }

    /// The contents of a cell.
    pub(super) fn write_cell(&self, cell: Cell, out: &mut String) {
        self.clusters.write(cell, out);
    }

    /// Paints ASCII, at least one byte of it, up to the edge or to the first byte that is more; bytes
    /// that paint nothing are left out. How many bytes that was.
    pub(super) fn ascii(&mut self, bytes: &[u8]) -> usize {
        if self.grid().pos.col >= self.grid().cols {
            if paints_nothing(bytes[0]) {
                return 1;
            }
            self.wrap(1);
        }
        let attrs = self.attrs;
        let grid = self.grid();
        let from = usize::from(grid.pos.col);
        let painted = grid.line().paint(from, bytes, attrs);
        // At most the number of columns.
        grid.pos.col = painted.to as u16;
        self.last_char = painted.last.map(char::from).or(self.last_char);
        if painted.taken == 0 {
            // A wide character is in the way.
            if !paints_nothing(bytes[0]) {
                self.put(char::from(bytes[0]));
            }
            return 1;
        }
        painted.taken
    }

    /// Goes to the next line if a character of this width has no room in this one.
    fn wrap(&mut self, width: u16) {
        let grid = self.grid();
        let (before, cols) = (grid.pos, grid.cols);
        if before.col <= cols - width {
            return;
        }
        let edge = Pos { row: before.row, col: cols - 1 };
        let flows = grid.cell(edge).is_some_and(|c| c.has_contents() || c.is_continuation());
        self.next_line(flows);
    }

    fn next_line(&mut self, flows: bool) {
        let grid = self.grid();
        let before = grid.pos;
        grid.pos.col = 0;
        let scrolled = grid.line_feed();
        if scrolled && before.row == 0 {
            return;
        }
        let row = before.row - u16::from(scrolled);
        let goes_on = flows && row + 1 == grid.pos.row;
        grid.lines[usize::from(row)].wrapped = goes_on;
    }

    /// Any character.
    pub(super) fn put(&mut self, c: char) {
        let width = match c.width() {
            None if u32::from(c) < 256 => return,
            width => width.unwrap_or(1).min(2) as u16,
        };
        let grid = self.grid();
        // Also what the parser puts in place of broken text.
        if c == char::REPLACEMENT_CHARACTER || width > grid.cols {
            return;
        }
        if width == 0 {
            return self.join(c);
        }
        self.wrap(width);
        let attrs = self.attrs;
        let grid = self.grid();
        let at = grid.pos;
        let Some(cell) = grid.cell(at) else { return };
        let was_wide = cell.is_wide();
        *cell = Cell::new(c, width == 2, attrs);
        grid.pos.col += width;
        grid.line().has_halves |= width == 2;
        self.last_char = Some(c);
        self.tidy(at, was_wide, width == 2);
    }

    /// A character of no width joins the one before it.
    fn join(&mut self, c: char) {
        let grid = if self.on_alternate { &mut self.alternate } else { &mut self.main };
        let Some(col) = grid.pos.col.checked_sub(1) else { return };
        let mut at = Pos { row: grid.pos.row, col };
        if grid.cell(at).is_some_and(|cell| cell.is_continuation()) {
            at.col = at.col.saturating_sub(1);
        }
        let Some(cell) = grid.cell(at) else { return };
        let was_wide = cell.is_wide();
        self.clusters.append(cell, c);
        let (joined, is_wide) = (*cell, cell.is_wide());
        if is_wide && !was_wide {
            at = self.widen(at, joined);
        }
        let is_wide = self.grid().cell(at).is_some_and(|cell| cell.is_wide());
        self.tidy(at, was_wide, is_wide);
        self.forget_clusters();
    }

    /// It has become two columns wide: at the edge it moves to the next line. Where it is now.
    fn widen(&mut self, at: Pos, joined: Cell) -> Pos {
        let attrs = self.attrs;
        let grid = self.grid();
        if grid.pos.col < grid.cols {
            grid.pos.col += 1;
            return at;
        }
        if let Some(cell) = grid.cell(at) {
            *cell = Cell::blank(attrs);
        }
        self.next_line(false);
        let grid = self.grid();
        let now = grid.pos;
        if let Some(cell) = grid.cell(now) {
            *cell = joined.with_attrs(attrs);
        }
        grid.line().has_halves = true;
        grid.pos.col = 2.min(grid.cols);
        now
    }

    /// Mends the halves of wide characters around one that was painted over.
    fn tidy(&mut self, at: Pos, was_wide: bool, is_wide: bool) {
        let attrs = self.attrs;
        let grid = self.grid();
        let (col, cols) = (usize::from(at.col), usize::from(grid.cols));
        let Some(line) = grid.lines.get_mut(usize::from(at.row)) else { return };
        let cells = &mut line.cells;
        if col > 0 && cells[col - 1].is_wide() {
            cells[col - 1].clear();
        }
        if col + 1 >= cols || was_wide == is_wide {
            return;
        }
        if was_wide {
            cells[col + 1] = Cell::ascii(b' ', attrs);
            return;
        }
        line.has_halves = true;
        let covers_wide = cells[col + 1].is_wide();
        cells[col + 1] = Cell::default();
        cells[col + 1].set_continuation(true);
        if covers_wide && col + 2 < cols {
            cells[col + 2] = Cell::blank(attrs);
            line.wrapped &= col + 2 != cols - 1;
        }
    }

    fn forget_clusters(&mut self) {
        let lines = self.main.lines.iter_mut().chain(&mut self.alternate.lines);
        let cells = usize::from(self.main.rows) * usize::from(self.main.cols) * 2;
        if self.clusters.is_full(cells) {
            self.clusters.keep_only(lines.flat_map(|line| &mut line.cells));
        }
    }

    #[cfg(test)]
    pub(super) fn clusters(&self) -> usize {
        self.clusters.len()
    }

    /// A control character.
    pub(super) fn control(&mut self, byte: u8) {
        match byte {
            0x08 => self.grid().left(1),
            b'\t' => self.grid().tab(),
            b'\n' | 0x0b | 0x0c => drop(self.grid().line_feed()),
            b'\r' => self.grid().go_to_col(0),
            _ => {}
        }
    }

    fn save_cursor(&mut self) {
        self.grid().save_cursor();
        self.saved_attrs = self.attrs;
    }

    fn restore_cursor(&mut self) {
        self.grid().restore_cursor();
        self.attrs = self.saved_attrs;
    }

    /// `ESC` and one byte.
    pub(super) fn escape(&mut self, last: u8) {
        match last {
            b'7' => self.save_cursor(),
            b'8' => self.restore_cursor(),
            b'M' => self.grid().reverse_line_feed(),
            b'c' => {
                let marks = std::mem::take(&mut self.marks);
                let (rows, cols) = (self.main.rows, self.main.cols);
                *self = Term { marks, ended: self.ended, ..Term::new(rows, cols) };
            }
            _ => {}
        }
    }

    /// A CSI. `mark`: its first intermediate or private mark, or 0.
    pub(super) fn csi(&mut self, mark: u8, params: &[Param], last: u8) {
        let param = |at: usize, default: u16| match params.get(at) {
            Some(param) if param.value != 0 => param.value,
            _ => default,
        };
        let first = || param(0, 1);
        let attrs = self.attrs;
        match (mark, last) {
            (0, b'm') => self.rendition(params),
            (0 | b'?', b'K') => self.grid().erase_line(param(0, 0), attrs),
            (0 | b'?', b'J') => self.grid().erase_display(param(0, 0), attrs),
            (0, b'H' | b'f') => self.grid().move_to(first() - 1, param(1, 1) - 1),
            (0, b'A') => self.grid().up(first()),
            (0, b'B') => self.grid().down(first()),
            (0, b'C') => self.grid().right(first()),
            (0, b'D') => self.grid().left(first()),
            (0, b'E') => {
                self.grid().go_to_col(0);
                self.grid().down(first());
            }
            (0, b'F') => {
                self.grid().go_to_col(0);
                self.grid().up(first());
            }
            (0, b'G' | b'`') => self.grid().go_to_col(first() - 1),
            (0, b'd') => self.grid().go_to_row(first() - 1),
            (0, b'@') => self.grid().insert_cells(first()),
            (0, b'P') => self.grid().delete_cells(first()),
            (0, b'X') => self.grid().erase_cells(first(), attrs),
            (0, b'L') => self.grid().insert_lines(first()),
            (0, b'M') => self.grid().delete_lines(first()),
            (0, b'S') => self.grid().scroll_up(first()),
            (0, b'T') => self.grid().scroll_down(first()),
            (0, b'b') => {
                let Some(c) = self.last_char else { return };
                (0..first()).for_each(|_| self.put(c));
            }
            (0, b'r') => {
                let rows = self.main.rows;
                self.grid().set_region(first() - 1, param(1, rows) - 1);
            }
            (b'?', b'h' | b'l') => {
                let modes = params.iter().filter(|param| param.kind == Kind::Alone);
                modes.for_each(|mode| self.mode(mode.value, last == b'h'));
            }
            (_, b'u') => self.marks.keyboard(mark, params),
            _ => {}
        }
    }

    fn mode(&mut self, mode: u16, on: bool) {
        match (mode, on) {
            (6, _) => self.grid().set_origin(on),
            (2004, _) => self.takes_paste = on,
            (47, true) => self.alternate_on(),
            (1049, true) => {
                self.save_cursor();
                self.alternate.clear();
                self.alternate_on();
            }
            (47, false) => self.on_alternate = false,
            (1049, false) => {
                self.on_alternate = false;
                self.restore_cursor();
            }
            _ => {}
        }
    }

    fn alternate_on(&mut self) {
        self.on_alternate = true;
        self.alternate.make_lines();
    }

    /// `SGR`, of which only faint and inverse are kept.
    fn rendition(&mut self, params: &[Param]) {
        let mut rest = params.iter();
        while let Some(param) = rest.next() {
            match (param.kind, param.value) {
                (Kind::Alone, 0) => self.attrs = Attrs::default(),
                // A terminal has one intensity: bold ends faint.
                (Kind::Alone, 1 | 22) => self.attrs.unset(Attrs::DIM),
                (Kind::Alone, 2) => self.attrs.set(Attrs::DIM),
                (Kind::Alone, 7) => self.attrs.set(Attrs::INVERSE),
                (Kind::Alone, 27) => self.attrs.unset(Attrs::INVERSE),
                (Kind::Alone, 38 | 48) => {
                    let more = match rest.next() {
                        Some(Param { value: 2, kind: Kind::Alone }) => 3,
                        Some(Param { value: 5, kind: Kind::Alone }) => 1,
                        _ => return,
                    };
                    let is_part = |p: &Param| p.kind == Kind::Alone && p.value <= 255;
                    if !(0..more).all(|_| rest.next().is_some_and(is_part)) {
                        return;
                    }
                }
                (Kind::BadColour, _) => return,
                _ => {}
            }
        }
    }
}

impl vte::Perform for Term {
    fn print(&mut self, c: char) {
        self.put(c);
    }

    fn execute(&mut self, byte: u8) {
        self.control(byte);
    }

    fn csi_dispatch(&mut self, params: &vte::Params, marks: &[u8], _: bool, last: char) {
        self.ended = true;
        let mut list = [Param::default(); 32];
        let mut len = 0;
        for (slot, group) in list.iter_mut().zip(params) {
            *slot = Param { value: group.first().copied().unwrap_or(0), kind: kind(group) };
            len += 1;
        }
        if let Ok(last) = u8::try_from(last) {
            self.csi(marks.first().copied().unwrap_or(0), &list[..len], last);
        }
    }

    fn esc_dispatch(&mut self, marks: &[u8], _: bool, last: u8) {
        self.ended = true;
        if marks.is_empty() {
            self.escape(last);
        }
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], by_bell: bool) {
        // Otherwise the `ESC` that ended it goes on.
        self.ended = by_bell;
        self.marks.command(params);
    }

    fn terminated(&self) -> bool {
        self.ended
    }
}

fn kind(group: &[u16]) -> Kind {
    match group {
        [_] => Kind::Alone,
        [38 | 48, 2, parts @ ..] if parts.len() == 3 && parts.iter().any(|p| *p > 255) => {
            Kind::BadColour
        }
        [38 | 48, 5, part] if *part > 255 => Kind::BadColour,
        _ => Kind::Group,
    }
}
