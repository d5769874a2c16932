//! The screen that the engine has painted, for looking at only: what the gate must know before it
//! touches a key. Fed with a copy of the engine's output; nothing here goes back to the terminal.
//!
//! It keeps what the gate reads: characters, faint, inverse, which lines flow on, paste mode, marks.
//! Colours, the title, the mouse and the scrolled-off lines are left out, which makes it some ten times
//! as quick as an emulator that keeps all: a gate that waits long must not cost the user's machine
//! anything. The `vte` crate takes the output apart; text and whole CSIs, which are nearly all of it,
//! go a shorter way to the same end. The `vt100` crate is its measure in the tests.

mod bytes;
mod cell;
mod grid;
mod line;
mod marks;
mod term;
#[cfg(test)]
mod tests;

use crate::engines::screen_state::{Row, Snapshot};
use bytes::{Character, is_lead, paints_nothing};
use line::Line;
use term::{Param, Term};

/// A window of no size (a terminal that does not say) counts as the classic one.
const CLASSIC: (u16, u16) = (24, 80);
/// Rows and columns that are kept at most: a window of 65,535 by 65,535 would cost gigabytes, and no
/// composer is out there.
const MOST: u16 = 2_000;
/// A CSI with more parameters goes the long way.
const PARAMS: usize = 16;
const ESC: u8 = 0x1b;

/// A terminal screen with the modes and marks that the gate needs.
pub struct EngineScreen {
    term: Term,
    parser: vte::Parser,
    /// The parser may be inside a sequence: it gets the next bytes.
    in_parser: bool,
    /// The beginning of a character that was cut.
    partial: Vec<u8>,
}

impl EngineScreen {
    /// A blank screen.
    pub fn new(rows: u16, cols: u16) -> EngineScreen {
        let (rows, cols) = sane(rows, cols);
        EngineScreen {
            term: Term::new(rows, cols),
            parser: vte::Parser::new(),
            in_parser: false,
            partial: Vec::new(),
        }
    }

    /// Takes the engine's next output, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        if !self.partial.is_empty() {
            rest = self.complete(rest);
        }
        while !rest.is_empty() {
            let taken = if self.in_parser { self.parse(rest) } else { self.take(rest) };
            rest = &rest[taken..];
        }
    }

    /// The window has another size.
    pub fn resize(&mut self, rows: u16, cols: u16) {
        let (rows, cols) = sane(rows, cols);
        self.term.resize(rows, cols);
    }

    /// Whether the engine takes bracketed paste now.
    pub fn takes_paste(&self) -> bool {
        self.term.takes_paste()
    }

    /// The kitty keyboard flags that the engine has set; 0: legacy keys.
    pub fn kitty_flags(&self) -> u16 {
        self.term.marks.kitty_flags()
    }

    /// The state word of the last state mark (`idle`, `working`, …), if the engine sends any.
    pub fn state_word(&self) -> Option<&str> {
        self.term.marks.state.as_deref()
    }

    /// The screen as text.
    pub fn snapshot(&self) -> Snapshot {
        let rows = self.term.shown().lines.iter().map(|line| self.row(line)).collect();
        Snapshot { rows, state: self.state_word().map(str::to_owned) }
    }

    fn row(&self, line: &Line) -> Row {
        let mut out = Row::default();
        out.wraps = line.wrapped;
        let mut text = String::new();
        // Most of a screen is blank, and blanks at the end are not kept.
        let painted = line.cells.iter().rposition(|cell| !cell.is_blank()).map_or(0, |at| at + 1);
        for cell in line.cells[..painted].iter().filter(|cell| !cell.is_continuation()) {
            text.clear();
            self.term.write_cell(*cell, &mut text);
            let text = if text.is_empty() { " " } else { &text };
            // An inverse cell is the cursor that an engine paints over its placeholder.
            out.push(text, cell.is_dim(), cell.is_inverse());
        }
        out.trim_end();
        out
    }

    /// Takes some of the bytes on the short way, outside a sequence.
    fn take(&mut self, bytes: &[u8]) -> usize {
        match bytes[0] {
            ESC => self.whole_csi(bytes).unwrap_or_else(|| {
                self.in_parser = true;
                0
            }),
            control @ 0x08..=0x0d => {
                self.term.control(control);
                1
            }
            byte if byte < 0x80 || paints_nothing(byte) => self.term.ascii(bytes),
            _ => self.characters(bytes),
        }
    }

    /// Takes the characters beyond ASCII at the start.
    fn characters(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while bytes.get(at).is_some_and(|byte| is_lead(*byte)) {
            match Character::at_start(&bytes[at..]) {
                Character::Whole(c, len) => {
                    self.term.put(c);
                    at += len;
                }
                Character::Broken => at += 1,
                Character::Cut => {
                    self.partial.extend_from_slice(&bytes[at..]);
                    at = bytes.len();
                }
            }
        }
        at
    }

    /// The CSI at the start, if all of it is there and nothing odd is in it; its length.
    fn whole_csi(&mut self, bytes: &[u8]) -> Option<usize> {
        let body = bytes.strip_prefix(b"\x1b[")?;
        let mark = body.first().copied().filter(|b| (b'<'..=b'?').contains(b));
        let mut params = [Param::default(); PARAMS];
        let mut count = 0;
        for (at, byte) in body.iter().enumerate().skip(usize::from(mark.is_some())) {
            let param = params.get_mut(count)?;
            match *byte {
                digit @ b'0'..=b'9' => {
                    let digit = u16::from(digit - b'0');
                    param.value = param.value.saturating_mul(10).saturating_add(digit);
                }
                b';' => count += 1,
                last @ 0x40..0x7f => {
                    self.term.csi(mark.unwrap_or(0), &params[..=count], last);
                    return Some(at + 3);
                }
                _ => return None,
            }
        }
        None
    }

    /// Gives the parser bytes up to the end of a sequence.
    fn parse(&mut self, bytes: &[u8]) -> usize {
        let taken = self.parser.advance_until_terminated(&mut self.term, bytes);
        self.in_parser = !std::mem::take(&mut self.term.ended);
        taken
    }

    /// The rest of a character that was cut.
    fn complete<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let had = self.partial.len();
        self.partial.extend(bytes.iter().take(4 - had));
        match Character::at_start(&self.partial) {
            Character::Whole(c, len) => {
                self.partial.clear();
                self.term.put(c);
                &bytes[len - had..]
            }
            Character::Broken => {
                self.partial.clear();
                bytes
            }
            Character::Cut => &[],
        }
    }
}

fn sane(rows: u16, cols: u16) -> (u16, u16) {
    if rows == 0 || cols == 0 { CLASSIC } else { (rows.min(MOST), cols.min(MOST)) }
}
