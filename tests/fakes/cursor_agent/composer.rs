//! What the composer of the terminal UI does with bytes: a pure machine, with the time put in.
//!
//! It has the real one's habits as others have seen them: no way to the start of the text, chips
//! for pastes, and an Enter that comes too soon after a paste is a newline.

use std::time::{Duration, Instant};

/// Seen: an Enter in the middle of paste handling is folded in as a newline. The true limit is
/// not known; drivers wait 300 ms.
const PASTE_SETTLES: Duration = Duration::from_millis(150);
/// A paste without a newline becomes a chip from this length on (the true length is not known).
const CHIP_FROM: usize = 200;

const UP: &[u8] = b"\x1b[A";
const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

/// What a piece of input leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Submit(String),
    /// Ctrl-C
    Interrupt,
    /// Ctrl-D
    End,
}

enum Piece {
    Char(char),
    Chip { number: usize, text: String },
}

#[derive(Default)]
pub(crate) struct Composer {
    pieces: Vec<Piece>,
    /// Input that is not yet a whole key or paste.
    pending: Vec<u8>,
    pastes: usize,
    pasted_at: Option<Instant>,
    /// Earlier messages, the newest last.
    history: Vec<String>,
    /// How far back in it the composer is.
    back: usize,
}

impl Composer {
    pub(crate) fn new(history: Vec<String>) -> Self {
        Self { history, ..Self::default() }
    }

    /// The text as it would be sent.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Char(char) => text.push(*char),
                Piece::Chip { text: pasted, .. } => text.push_str(pasted),
            }
        }
        text
    }

    /// The text as it is shown: pastes are chips.
    pub(crate) fn shown(&self) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Char(char) => text.push(*char),
                Piece::Chip { number, .. } => text.push_str(&format!("[Pasted text #{number}]")),
            }
        }
        text
    }

    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
        self.back = 0;
    }

    pub(crate) fn insert(&mut self, text: &str) {
        self.pieces.extend(text.chars().map(Piece::Char));
    }

    /// Takes bytes as read from the terminal, cut anywhere.
    pub(crate) fn feed(&mut self, bytes: &[u8], now: Instant) -> Vec<Action> {
        self.pending.extend(bytes);
        let mut actions = Vec::new();
        while let Some(used) = self.step(now, &mut actions) {
            self.pending.drain(..used);
        }
        actions
    }

    /// Handles the first key or paste of `pending` and tells its length; `None` when it is not
    /// all there yet.
    fn step(&mut self, now: Instant, actions: &mut Vec<Action>) -> Option<usize> {
        let first = *self.pending.first()?;
        match first {
            0x1b => self.escape(now),
            b'\r' if self.pending.get(1) == Some(&b'\n') => {
                // CR LF leaves the text unsent.
                self.insert("\n");
                Some(2)
            }
            b'\r' => {
                self.enter(now, actions);
                Some(1)
            }
            b'\n' => {
                self.insert("\n");
                Some(1)
            }
            0x7f => {
                self.pieces.pop();
                Some(1)
            }
            0x03 => {
                actions.push(Action::Interrupt);
                Some(1)
            }
            0x04 => {
                actions.push(Action::End);
                Some(1)
            }
            b'\t' => {
                self.insert("\t");
                Some(1)
            }
            // Ctrl-A, Ctrl-K, Ctrl-U and all others: ignored
            0x00..0x20 => Some(1),
            _ => self.character(first),
        }
    }

    fn enter(&mut self, now: Instant, actions: &mut Vec<Action>) {
        let too_soon = self.pasted_at.is_some_and(|at| now.duration_since(at) < PASTE_SETTLES);
        if too_soon {
            self.insert("\n");
        } else if !self.pieces.is_empty() {
            let text = self.text();
            self.history.push(text.clone());
            actions.push(Action::Submit(text));
            self.clear();
        }
    }

    fn escape(&mut self, now: Instant) -> Option<usize> {
        if self.pending.starts_with(PASTE_START) {
            let end = find(&self.pending, PASTE_END)?;
            let text = String::from_utf8_lossy(&self.pending[PASTE_START.len()..end]).into_owned();
            self.paste(text, now);
            return Some(end + PASTE_END.len());
        }
        if self.pending.get(1)? != &b'[' {
            return Some(2);
        }
        // CSI: parameters, then one final byte. Home, End and the other arrows do nothing here.
        let end = self.pending[2..].iter().position(|byte| (0x40..=0x7e).contains(byte))? + 3;
        if self.pending[..end] == *b"\x1b[13;2u" {
            self.insert("\n");
        }
        if self.pending[..end] == *UP {
            self.call_up();
        }
        Some(end)
    }

    fn call_up(&mut self) {
        let earlier = self.history.iter().rev().nth(self.back).cloned();
        if let Some(text) = earlier {
            self.pieces.clear();
            self.put_in(text);
            self.back += 1;
        }
    }

    fn paste(&mut self, text: String, now: Instant) {
        self.pasted_at = Some(now);
        // Terminals send a newline in a paste as CR.
        self.put_in(text.replace("\r\n", "\n").replace('\r', "\n"));
    }

    /// As a chip where it is long.
    fn put_in(&mut self, text: String) {
        if text.contains('\n') || CHIP_FROM < text.chars().count() {
            self.pastes += 1;
            self.pieces.push(Piece::Chip { number: self.pastes, text });
        } else {
            self.insert(&text);
        }
    }

    fn character(&mut self, first: u8) -> Option<usize> {
        let length = match first {
            0xf0.. => 4,
            0xe0.. => 3,
            0xc0.. => 2,
            _ => 1,
        };
        let bytes = self.pending.get(..length)?;
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.insert(&text);
        Some(length)
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paste_is_a_chip_and_enter_needs_time() {
        let (mut composer, start) = (Composer::default(), Instant::now());
        let bytes = "hé\x1b[200~a\nb\x1b[201~\r".as_bytes();
        for byte in bytes {
            assert_eq!(composer.feed(&[*byte], start), []);
        }
        assert_eq!(composer.shown(), "hé[Pasted text #1]\n");
        let later = start + PASTE_SETTLES;
        assert_eq!(composer.feed(b"\r", later), [Action::Submit("héa\nb\n".to_owned())]);
    }

    #[test]
    fn the_start_of_the_text_is_out_of_reach() {
        let (mut composer, now) = (Composer::default(), Instant::now());
        composer.feed(b"abc\x01\x1b[H\x15\x0bd\x7f", now);
        assert_eq!(composer.text(), "abc");
        assert_eq!(composer.feed(b"\r\n\x1b[13;2ux", now), []);
        assert_eq!(composer.text(), "abc\n\nx");
    }
}
