//! The screen that the engine has painted, for looking at only: what the gate must know before it
//! touches a key. Fed with a copy of the engine's output; nothing here goes back to the terminal.

use std::num::NonZeroU16;

use crate::engines::screen_state::{Row, Snapshot};

/// The number of the operating system command by which an engine tells its state.
const STATE_COMMAND: &[u8] = b"7501";
/// No state word is longer; in bytes.
const STATE_LIMIT: usize = 200;
/// The most keyboard modes that are remembered: kitty's own limit is of this order.
const KEYBOARD_STACK: usize = 32;

/// A terminal screen with the modes and marks that the gate needs.
pub struct EngineScreen {
    parser: vt100::Parser<Marks>,
}

impl EngineScreen {
    /// A blank screen.
    pub fn new(rows: u16, cols: u16) -> EngineScreen {
        let (rows, cols) = sane(rows, cols);
        EngineScreen { parser: vt100::Parser::new_with_callbacks(rows, cols, 0, Marks::default()) }
    }

    /// Takes the engine's next output, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    /// The window has another size.
    pub fn resize(&mut self, rows: u16, cols: u16) {
        let (rows, cols) = sane(rows, cols);
        self.parser.set_size(rows, cols);
    }

    /// Whether the engine takes bracketed paste now.
    pub fn takes_paste(&self) -> bool {
        self.parser.screen().bracketed_paste()
    }

    /// The kitty keyboard flags that the engine has set; 0: legacy keys.
    pub fn kitty_flags(&self) -> u16 {
        self.parser.callbacks().keyboard.last().copied().unwrap_or(0)
    }

    /// The state word of the last state mark (`idle`, `working`, …), if the engine sends any.
    pub fn state_word(&self) -> Option<&str> {
        self.parser.callbacks().state.as_deref()
    }

    /// The screen as text.
    pub fn snapshot(&self) -> Snapshot {
        let screen = self.parser.screen();
        let (rows, cols) = screen.size();
        let rows = (0..rows.get()).map(|row| row_of(screen, row, cols.get())).collect();
        Snapshot { rows, state: self.state_word().map(str::to_owned) }
    }
}

/// A window of no size (a terminal that does not say) counts as the classic one.
fn sane(rows: u16, cols: u16) -> (NonZeroU16, NonZeroU16) {
    const CLASSIC: (NonZeroU16, NonZeroU16) =
        (NonZeroU16::new(24).expect("24"), NonZeroU16::new(80).expect("80"));
    NonZeroU16::new(rows).zip(NonZeroU16::new(cols)).unwrap_or(CLASSIC)
}

fn row_of(screen: &vt100::Screen, row: u16, cols: u16) -> Row {
    let mut out = Row::default();
    out.wraps = screen.row_wrapped(row);
    for col in 0..cols {
        let Some(cell) = screen.cell(row, col) else { break };
        if cell.is_wide_continuation() {
            continue;
        }
        let text = if cell.has_contents() { cell.contents() } else { " " };
        // An inverse cell is the cursor that an engine paints over its placeholder.
        out.push(text, cell.dim(), cell.inverse());
    }
    out.trim_end();
    out
}

/// What the terminal emulation itself does not keep.
#[derive(Default)]
struct Marks {
    state: Option<String>,
    keyboard: Vec<u16>,
}

impl vt100::Callbacks for Marks {
    fn unhandled_csi(
        &mut self,
        _: &mut vt100::Screen,
        first: Option<u8>,
        _: Option<u8>,
        params: &[&[u16]],
        last: char,
    ) {
        if last != 'u' {
            return;
        }
        let parameter = params.first().and_then(|p| p.first()).copied().unwrap_or(0);
        match first {
            Some(b'>') => {
                self.keyboard.push(parameter);
                if self.keyboard.len() > KEYBOARD_STACK {
                    self.keyboard.remove(0);
                }
            }
            Some(b'<') => {
                let left = self.keyboard.len().saturating_sub(usize::from(parameter.max(1)));
                self.keyboard.truncate(left);
            }
            Some(b'=') => {
                let mode = params.get(1).and_then(|p| p.first()).copied().unwrap_or(1);
                let old = self.keyboard.pop().unwrap_or(0);
                self.keyboard.push(match mode {
                    2 => old | parameter,
                    3 => old & !parameter,
                    _ => parameter,
                });
            }
            _ => {}
        }
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        let Some((&command, rest)) = params.split_first() else { return };
        if command != STATE_COMMAND {
            return;
        }
        // `state=idle:app=…`: the first field is the word.
        let word = rest.iter().find_map(|field| field.strip_prefix(b"state="));
        if let Some(word) = word {
            let word = word.split(|b| *b == b':').next().unwrap_or_default();
            let word = &word[..word.len().min(STATE_LIMIT)];
            self.state = Some(String::from_utf8_lossy(word).into_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn modes_and_marks_are_seen_wherever_the_output_is_cut() {
        let output = b"\x1b[?2004h\x1b[>7u\x1b]7501;state=idle:app=x\x1b\\ \xe4\xb8\x96 ok";
        for cut in 0..output.len() {
            let mut screen = EngineScreen::new(5, 20);
            screen.feed(&output[..cut]);
            screen.feed(&output[cut..]);
            assert!(screen.takes_paste());
            assert_eq!(screen.kitty_flags(), 7);
            assert_eq!(screen.state_word(), Some("idle"));
            assert_eq!(screen.snapshot().rows[0].text(), " 世 ok");
        }
    }

    #[test]
    fn modes_that_are_taken_back_are_gone() {
        let mut screen = EngineScreen::new(0, 0);
        screen.feed(
            b"\x1b[?2004h\x1b[>1u\x1b[>5u\x1b[<u\x1b[?2004l\x1b]7501;state=blocked:kind=x\x07",
        );
        assert!(!screen.takes_paste());
        assert_eq!(screen.kitty_flags(), 1);
        screen.feed(b"\x1b[=8;2u");
        assert_eq!(screen.kitty_flags(), 9);
        screen.feed(b"\x1b[<9u");
        assert_eq!(screen.kitty_flags(), 0);
        assert_eq!(screen.state_word(), Some("blocked"));
    }

    proptest! {
        #[test]
        fn no_output_brings_it_down(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..60), 0..12),
            sizes in prop::collection::vec((0u16..40, 0u16..90), 0..4),
        ) {
            let mut screen = EngineScreen::new(10, 30);
            let mut sizes = sizes.into_iter();
            for chunk in chunks {
                screen.feed(&chunk);
                if let Some((rows, cols)) = sizes.next() {
                    screen.resize(rows, cols);
                }
                screen.snapshot();
            }
        }
    }
}
