//! The mode ledger: which modes of the user's terminal the engine has changed and not put back.
//!
//! A pure reader of the engine's output, split anywhere, fed as the terminal is. It alters no byte,
//! and it keeps no text. Left out on purpose: the window's title (the next prompt sets it), the
//! cursor's place, and modes whose state before the start nobody can know (1034 to 1043, 12).

mod rendition;
mod split;
mod undo;

use std::collections::{BTreeMap, BTreeSet};

use rendition::Rendition;
use split::{SI, SO, Sequence, Splitter};

/// Private modes that a terminal has on before any program touches it: wrap, key repeat, cursor.
const ON_BY_DEFAULT: [u16; 3] = [7, 8, 25];
/// Terminals differ in how they start with these, or users set them: left as the engine leaves them.
const UNKNOWN_BY_DEFAULT: [u16; 8] = [12, 1034, 1035, 1036, 1037, 1039, 1042, 1043];
/// Modes, key stacks, titles kept at most of a kind: far over any program, bounded against a hostile.
const MOST: usize = 64;
/// xterm keeps ten titles; more pushes than pops have no effect there.
const MOST_TITLES: usize = 10;
/// A colour as `OSC 10` takes it, in bytes.
const MOST_COLOUR: usize = 64;

/// Kitty's keyboard flags of one screen: what was set at the bottom and what was pushed over it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct KeyFlags {
    base: u16,
    pushed: Vec<u16>,
}

/// All that differs from a terminal nobody has touched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Modes {
    /// Private modes, with the value they have now.
    private: BTreeMap<u16, bool>,
    /// ANSI modes that are on (2 keyboard locked, 4 insert, 20 newline).
    ansi: BTreeSet<u16>,
    /// 47, 1047 or 1049: the number that entered the alternate screen.
    alternate: Option<u16>,
    keypad: bool,
    /// Of the main and of the alternate screen: terminals keep them apart.
    keys: [KeyFlags; 2],
    /// xterm's key resources (4: modifyOtherKeys) with their value.
    key_resources: BTreeMap<u16, u16>,
    cursor_style: u16,
    /// What each title push saved (0 both, 1 icon, 2 window).
    titles: Vec<u16>,
    /// Top and bottom of the scroll region.
    region: Option<(u16, u16)>,
    /// SO and not SI, or a locking shift.
    shifted: bool,
    /// G0 to G3, where they are not ASCII.
    charsets: [Option<u8>; 4],
    /// `ESC % @` has left UTF-8.
    left_utf8: bool,
    /// Dynamic colours (10 to 19) with their value.
    colours: BTreeMap<u16, Vec<u8>>,
    palette: bool,
    hyperlink: bool,
    progress: bool,
    /// The mouse pointer has another shape.
    pointer: bool,
    rendition: Rendition,
}

/// The ledger of one run.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    splitter: Splitter,
    modes: Modes,
    /// Values kept by `CSI ? n s`.
    saved: BTreeMap<u16, bool>,
    rows: u16,
    /// Hidden cursor, held output, colours: were they ever touched.
    flicker: Flicker,
    changes: u64,
}

/// What an interface switches with every frame. The standing orders to the keeper cover them from
/// their first use on, so that a frame costs it no message.
#[derive(Debug, Clone, Copy, Default)]
struct Flicker {
    cursor: bool,
    held_output: bool,
    rendition: bool,
}

impl Ledger {
    /// A ledger of a terminal with so many lines.
    pub fn new(rows: u16) -> Ledger {
        Ledger { rows, ..Ledger::default() }
    }

    /// The terminal has another size: a scroll region over all its lines is none.
    pub fn set_rows(&mut self, rows: u16) {
        self.rows = rows;
    }

    /// Takes what the terminal was given.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut splitter = std::mem::take(&mut self.splitter);
        splitter.feed(bytes, |sequence| self.take(sequence));
        self.splitter = splitter;
        // Its end belongs to the undo from now on, and what has come of it since the last piece.
        self.changes += u64::from(self.splitter.mid_text());
    }

    /// Goes up whenever [`Ledger::standing_undo`] may have become another.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    fn take(&mut self, sequence: Sequence<'_>) {
        match sequence {
            // The commonest sequence by far; no message to the keeper hangs on it after the first.
            Sequence::Csi { mark: 0, params, intermediate: 0, last: b'm' } => {
                self.modes.rendition.apply(params);
                if !self.flicker.rendition {
                    self.flicker.rendition = true;
                    self.changes += 1;
                }
            }
            Sequence::Csi { mark, params, intermediate, last } => {
                self.csi(mark, params, intermediate, last);
            }
            Sequence::Shift(shift) => {
                debug_assert!(matches!(shift, SO | SI));
                self.modes.shifted = shift == SO;
                self.changes += 1;
            }
            Sequence::Escape { intermediate, last } => self.escape(intermediate, last),
            Sequence::Osc(text) => self.osc(text),
        }
    }

    fn escape(&mut self, intermediate: &[u8], last: u8) {
        let modes = &mut self.modes;
        match (intermediate, last) {
            ([], b'=') => modes.keypad = true,
            ([], b'>') => {
                modes.keypad = false;
                modes.private.remove(&66);
            }
            // Full reset: a terminal nobody has touched.
            ([], b'c') => *modes = Modes::default(),
            ([], b'n' | b'o') => modes.shifted = true,
            ([b'%'], b'@') => modes.left_utf8 = true,
            ([b'%'], b'G') => modes.left_utf8 = false,
            ([set @ b'('..=b'+'], charset) => {
                let ascii = charset == b'B';
                modes.charsets[usize::from(set - b'(')] = (!ascii).then_some(charset);
            }
            _ => return,
        }
        self.changes += 1;
    }

    fn csi(&mut self, mark: u8, params: &[u8], intermediate: u8, last: u8) {
        let first = || params.split(|b| *b == b';').next().and_then(number);
        let second = || params.split(|b| *b == b';').nth(1).and_then(number);
        match (mark, intermediate, last) {
            (b'?', 0, b'h' | b'l') => {
                let mut of_a_frame = true;
                each_number(params, |n| {
                    of_a_frame &= self.flickers(n);
                    self.private(n, last == b'h');
                });
                if of_a_frame {
                    return;
                }
            }
            (b'?', 0, b's') => each_number(params, |n| {
                if self.saved.len() < MOST {
                    self.saved.insert(n, self.is_on(n));
                }
            }),
            (b'?', 0, b'r') => each_number(params, |n| {
                let on = self.saved.get(&n).copied().unwrap_or(ON_BY_DEFAULT.contains(&n));
                self.private(n, on);
            }),
            (0, 0, b'h' | b'l') => each_number(params, |n| match (n, last) {
                (2 | 4 | 20, b'h') => drop(self.modes.ansi.insert(n)),
                _ => drop(self.modes.ansi.remove(&n)),
            }),
            (b'>' | b'<' | b'=', 0, b'u') => self.keys(mark, first(), second()),
            (b'>', 0, b'm') => self.key_resource(first(), second()),
            (b'>', 0, b'n') => drop(self.modes.key_resources.remove(&first().unwrap_or(2))),
            (0, b' ', b'q') => self.modes.cursor_style = first().unwrap_or(0),
            (0, 0, b'r') => {
                let (top, bottom) = (first().unwrap_or(0).max(1), second().unwrap_or(0));
                let whole = top == 1 && (bottom == 0 || bottom == self.rows);
                self.modes.region = (!whole).then_some((top, bottom));
            }
            (0, 0, b't') => match first() {
                Some(22) if self.modes.titles.len() < MOST_TITLES => {
                    self.modes.titles.push(second().unwrap_or(0));
                }
                Some(23) => drop(self.modes.titles.pop()),
                _ => return,
            },
            (0, b'!', b'p') => self.soft_reset(),
            _ => return,
        }
        self.changes += 1;
    }

    /// DECSTR. Terminals agree on these; what they do not agree on stays to be undone.
    fn soft_reset(&mut self) {
        let modes = &mut self.modes;
        for mode in [1, 6, 25, 66, 69] {
            modes.private.remove(&mode);
        }
        modes.ansi.remove(&4);
        modes.keypad = false;
        modes.region = None;
        modes.shifted = false;
        modes.charsets = [None; 4];
        modes.rendition = Rendition::default();
    }

    fn is_on(&self, mode: u16) -> bool {
        match mode {
            47 | 1047 | 1049 => self.modes.alternate.is_some(),
            _ => self.modes.private.get(&mode).copied().unwrap_or(ON_BY_DEFAULT.contains(&mode)),
        }
    }

    fn private(&mut self, mode: u16, on: bool) {
        let modes = &mut self.modes;
        match mode {
            47 | 1047 | 1049 => modes.alternate = on.then_some(modes.alternate.unwrap_or(mode)),
            // Saves or restores the cursor: leaves no state.
            1048 => {}
            _ if UNKNOWN_BY_DEFAULT.contains(&mode) => {}
            _ if on == ON_BY_DEFAULT.contains(&mode) => {
                modes.private.remove(&mode);
                if mode == 66 {
                    modes.keypad = false;
                }
            }
            _ if modes.private.len() < MOST => drop(modes.private.insert(mode, on)),
            _ => {}
        }
        self.flicker.cursor |= mode == 25;
        self.flicker.held_output |= mode == 2026;
    }

    /// Whether the standing undo covers this mode already, on or off.
    fn flickers(&self, mode: u16) -> bool {
        match mode {
            25 => self.flicker.cursor,
            2026 => self.flicker.held_output,
            _ => false,
        }
    }

    fn keys(&mut self, mark: u8, first: Option<u16>, second: Option<u16>) {
        let keys = &mut self.modes.keys[usize::from(self.modes.alternate.is_some())];
        match mark {
            b'>' => {
                // A terminal drops the oldest as well.
                if keys.pushed.len() == MOST {
                    keys.pushed.remove(0);
                }
                keys.pushed.push(first.unwrap_or(0));
            }
            b'<' => {
                let count = usize::from(first.unwrap_or(1).max(1));
                if count > keys.pushed.len() {
                    keys.base = 0;
                }
                keys.pushed.truncate(keys.pushed.len().saturating_sub(count));
            }
            _ => {
                let flags = first.unwrap_or(0);
                let now = keys.pushed.last_mut().unwrap_or(&mut keys.base);
                match second.unwrap_or(1) {
                    2 => *now |= flags,
                    3 => *now &= !flags,
                    _ => *now = flags,
                }
            }
        }
    }

    fn key_resource(&mut self, resource: Option<u16>, value: Option<u16>) {
        let resources = &mut self.modes.key_resources;
        match (resource, value) {
            (None, _) => resources.clear(),
            (Some(resource), None) => drop(resources.remove(&resource)),
            // 0 is what modifyOtherKeys starts with; the others start with 2.
            (Some(4), Some(0)) => drop(resources.remove(&4)),
            (Some(resource), Some(value)) if resources.len() < MOST => {
                resources.insert(resource, value);
            }
            _ => {}
        }
    }

    fn osc(&mut self, text: &[u8]) {
        let mut parts = text.split(|b| *b == b';');
        let Some(code) = parts.next().and_then(number) else { return };
        let modes = &mut self.modes;
        match code {
            4 => modes.palette |= parts.skip(1).step_by(2).any(|value| value != b"?"),
            104 => modes.palette = false,
            8 => modes.hyperlink = parts.nth(1).is_some_and(|uri| !uri.is_empty()),
            9 if parts.next() == Some(b"4") => {
                modes.progress = !matches!(parts.next(), None | Some(b"0" | b""));
            }
            22 => modes.pointer = parts.next().is_some_and(|shape| !shape.is_empty()),
            // `OSC 10 ; a ; b` sets 10 and 11.
            10..=19 => {
                for (colour, value) in (code..=19).zip(parts) {
                    if value != b"?" && !value.is_empty() && value.len() <= MOST_COLOUR {
                        modes.colours.insert(colour, value.to_vec());
                    }
                }
            }
            110..=119 => drop(modes.colours.remove(&(code - 100))),
            _ => return,
        }
        self.changes += 1;
    }
}

fn each_number(params: &[u8], mut each: impl FnMut(u16)) {
    params.split(|b| *b == b';').filter_map(number).for_each(&mut each);
}

/// A parameter; `None` when it is absent or no number.
fn number(digits: &[u8]) -> Option<u16> {
    let add = |value: u16, digit: &u8| match digit {
        b'0'..=b'9' => value.checked_mul(10)?.checked_add(u16::from(digit - b'0')),
        _ => None,
    };
    (!digits.is_empty()).then(|| digits.iter().try_fold(0, add)).flatten()
}

#[cfg(test)]
mod tests;
