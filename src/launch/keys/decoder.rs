//! The streaming decoder itself.

use super::csi;
use super::{Input, InputEvent, Key, KeyAction, Mods};

/// The longest control sequence that is waited for, in bytes. The longest a terminal sends as a key
/// (kitty, with alternates and text) is under 40.
const SEQUENCE_LIMIT: usize = 128;
/// A reply string (OSC, DCS, APC) is passed on in pieces of this size, in bytes: a clipboard reply
/// may be megabytes.
const STRING_PIECE: usize = 4096;
const PASTE_START: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";
const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// Takes input apart. See [`crate::launch::keys`].
#[derive(Debug, Default)]
pub struct Decoder {
    state: State,
    /// The bytes of the event that is under way.
    held: Vec<u8>,
    /// After a lone Escape that was given up: how much of a paste's start has followed it. A slow
    /// line cuts `ESC [200~` anywhere, and a missed paste would turn its lines into submits.
    late_start: usize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    /// The rest of a UTF-8 character; how many bytes are missing.
    Utf8(usize),
    Escape,
    /// After `ESC`, the rest of a UTF-8 character.
    AltUtf8(usize),
    Csi,
    /// The Linux console's `ESC [ [ A`, and the three bytes after X10's `ESC [ M`.
    CsiTail(usize),
    Ss3,
    /// In a reply string, up to BEL or `ESC \`.
    Text,
    /// In a reply string, after `ESC`.
    TextEscape,
    /// In a paste; `held` is a beginning of the end mark.
    Paste,
}

impl Decoder {
    /// A decoder at rest.
    pub fn new() -> Decoder {
        Decoder::default()
    }

    /// Takes the next bytes, cut anywhere.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<InputEvent> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while let Some((&byte, tail)) = rest.split_first() {
            if self.state == State::Paste && self.held.is_empty() {
                let plain = rest.iter().position(|b| *b == ESC).unwrap_or(rest.len());
                if plain > 0 {
                    push(&mut events, Input::PasteText, rest[..plain].to_vec());
                    rest = &rest[plain..];
                    continue;
                }
            }
            self.byte(byte, &mut events);
            rest = tail;
        }
        events
    }

    /// Whether a sequence is under way that a pause may end: the caller then calls
    /// [`Decoder::give_up`] after a time of its choosing. The start of a paste's end mark is none.
    pub fn is_waiting(&self) -> bool {
        !self.held.is_empty() && self.state != State::Paste
    }

    /// Whether a paste is under way.
    pub fn in_paste(&self) -> bool {
        self.state == State::Paste
    }

    /// Ends what is under way as what it is so far: `ESC` is the Escape key.
    pub fn give_up(&mut self) -> Vec<InputEvent> {
        let mut events = Vec::new();
        if !self.is_waiting() {
            return events;
        }
        let state = std::mem::replace(&mut self.state, State::Ground);
        let escape = csi::key(Key::Escape, Mods::NONE, KeyAction::Press);
        match state {
            State::Escape => {
                self.finish(escape, &mut events);
                self.late_start = 1;
            }
            // Alt with the letter that would open a sequence.
            State::Csi | State::Ss3 | State::Text if self.held.len() == 2 => {
                let opened = self.held[1];
                self.finish(alt(char::from(opened)), &mut events);
                self.late_start = if opened == b'[' { 2 } else { 0 };
            }
            State::Csi if PASTE_START.starts_with(&self.held) => {
                self.late_start = self.held.len();
                self.finish(Input::Unknown, &mut events);
            }
            // A long reply that pauses goes on as a reply.
            State::Text | State::TextEscape => {
                self.state = state;
                self.finish_in_place(Input::Reply, &mut events);
            }
            State::Ground
            | State::Utf8(_)
            | State::AltUtf8(_)
            | State::Csi
            | State::CsiTail(_)
            | State::Ss3
            | State::Paste => self.finish(Input::Unknown, &mut events),
        }
        events
    }

    /// The bytes of what is under way, when nothing is taken apart any more.
    pub fn take_rest(&mut self) -> Vec<u8> {
        self.state = State::Ground;
        std::mem::take(&mut self.held)
    }

    #[cfg(test)]
    pub(super) fn take_len(&self) -> usize {
        self.held.len()
    }

    fn byte(&mut self, byte: u8, events: &mut Vec<InputEvent>) {
        match self.state {
            State::Ground => self.ground(byte, events),
            State::Escape => self.escape(byte, events),
            State::Utf8(missing) | State::AltUtf8(missing) => self.utf8(byte, missing, events),
            State::Csi => self.control_sequence(byte, events),
            State::CsiTail(missing) => {
                self.held.push(byte);
                if missing > 1 {
                    self.state = State::CsiTail(missing - 1);
                } else {
                    let mouse = self.held.starts_with(b"\x1b[M");
                    let input = if mouse { Input::Mouse } else { csi::single_shift(b'P') };
                    self.finish(input, events);
                }
            }
            State::Ss3 => {
                if byte.is_ascii_graphic() {
                    self.held.push(byte);
                    // Digits are modifiers in some old terminals.
                    if !byte.is_ascii_digit() || self.held.len() >= SEQUENCE_LIMIT {
                        self.finish(csi::single_shift(byte), events);
                    }
                } else {
                    self.abort(byte, events);
                }
            }
            State::Text => self.text(byte, events),
            State::TextEscape => {
                if byte == b'\\' {
                    self.held.push(byte);
                    self.finish(Input::Reply, events);
                } else {
                    // The string was cut off by a new sequence.
                    let escape = self.held.pop();
                    if !self.held.is_empty() {
                        self.finish(Input::Reply, events);
                    }
                    self.state = State::Ground;
                    for byte in escape.into_iter().chain([byte]) {
                        self.byte(byte, events);
                    }
                }
            }
            State::Paste => self.paste(byte, events),
        }
    }

    fn ground(&mut self, byte: u8, events: &mut Vec<InputEvent>) {
        let late = self.late_start;
        self.late_start = 0;
        self.held.push(byte);
        if late > 0 && PASTE_START.get(late) == Some(&byte) {
            self.late_start = late + 1;
            if self.late_start == PASTE_START.len() {
                self.late_start = 0;
                self.finish(Input::PasteStart, events);
                self.state = State::Paste;
                return;
            }
        }
        match byte {
            ESC => self.state = State::Escape,
            0x00..=0x7f => {
                let input = single(byte);
                self.finish(input, events);
            }
            0xc2..=0xdf => self.state = State::Utf8(1),
            0xe0..=0xef => self.state = State::Utf8(2),
            0xf0..=0xf4 => self.state = State::Utf8(3),
            0x80..=0xc1 | 0xf5..=0xff => self.finish(Input::Unknown, events),
        }
    }

    fn escape(&mut self, byte: u8, events: &mut Vec<InputEvent>) {
        if byte == ESC {
            // Escape, and the start of something new.
            self.finish(csi::key(Key::Escape, Mods::NONE, KeyAction::Press), events);
            self.byte(byte, events);
            return;
        }
        self.held.push(byte);
        match byte {
            b'[' => self.state = State::Csi,
            b'O' => self.state = State::Ss3,
            b']' | b'P' | b'_' | b'^' | b'X' => self.state = State::Text,
            0xc2..=0xdf => self.state = State::AltUtf8(1),
            0xe0..=0xef => self.state = State::AltUtf8(2),
            0xf0..=0xf4 => self.state = State::AltUtf8(3),
            0x00..=0x7f => {
                let input = match single(byte) {
                    Input::Key(mut press) => {
                        press.mods = Mods(press.mods.0 | Mods::ALT.0);
                        Input::Key(press)
                    }
                    other => other,
                };
                self.finish(input, events);
            }
            0x80..=0xc1 | 0xf5..=0xff => self.finish(Input::Unknown, events),
        }
    }

    fn utf8(&mut self, byte: u8, missing: usize, events: &mut Vec<InputEvent>) {
        if !(0x80..=0xbf).contains(&byte) {
            self.abort(byte, events);
            return;
        }
        self.held.push(byte);
        let in_alt = matches!(self.state, State::AltUtf8(_));
        if missing > 1 {
            self.state =
                if in_alt { State::AltUtf8(missing - 1) } else { State::Utf8(missing - 1) };
            return;
        }
        let start = usize::from(in_alt);
        let c = std::str::from_utf8(&self.held[start..]).ok().and_then(|s| s.chars().next());
        let input = match c {
            Some(c) if in_alt => alt(c),
            Some(c) => csi::key(Key::Char(c), Mods::NONE, KeyAction::Press),
            None => Input::Unknown,
        };
        self.finish(input, events);
    }

    fn control_sequence(&mut self, byte: u8, events: &mut Vec<InputEvent>) {
        match byte {
            b'[' if self.held.len() == 2 => {
                self.held.push(byte);
                self.state = State::CsiTail(1);
            }
            b'M' if self.held.len() == 2 => {
                self.held.push(byte);
                self.state = State::CsiTail(3);
            }
            0x40..=0x7e => {
                self.held.push(byte);
                let input = csi::meaning(&self.held[2..self.held.len() - 1], byte);
                let paste = input == Input::PasteStart;
                self.finish(input, events);
                if paste {
                    self.state = State::Paste;
                }
            }
            0x20..=0x3f => {
                self.held.push(byte);
                if self.held.len() >= SEQUENCE_LIMIT {
                    self.finish(Input::Unknown, events);
                }
            }
            _ => self.abort(byte, events),
        }
    }

    fn text(&mut self, byte: u8, events: &mut Vec<InputEvent>) {
        match byte {
            BEL => {
                self.held.push(byte);
                self.finish(Input::Reply, events);
            }
            ESC => {
                self.held.push(byte);
                self.state = State::TextEscape;
            }
            // No reply holds these: the string is over, and this is a key.
            b'\r' | b'\n' | 0x03 | 0x18 | 0x1a => self.abort(byte, events),
            _ => {
                self.held.push(byte);
                if self.held.len() >= STRING_PIECE {
                    self.finish_in_place(Input::Reply, events);
                }
            }
        }
    }

    fn paste(&mut self, byte: u8, events: &mut Vec<InputEvent>) {
        self.held.push(byte);
        if self.held == PASTE_END {
            self.finish(Input::PasteEnd, events);
        } else if !PASTE_END.starts_with(&self.held) {
            self.held.pop();
            if !self.held.is_empty() {
                self.finish_in_place(Input::PasteText, events);
            }
            if byte == ESC {
                self.held.push(byte);
            } else {
                push(events, Input::PasteText, vec![byte]);
            }
        }
    }

    /// What is held is no sequence after all; `byte` starts anew.
    fn abort(&mut self, byte: u8, events: &mut Vec<InputEvent>) {
        if self.held.is_empty() {
            self.state = State::Ground;
        } else {
            self.finish(Input::Unknown, events);
        }
        self.byte(byte, events);
    }

    fn finish(&mut self, input: Input, events: &mut Vec<InputEvent>) {
        self.state = State::Ground;
        self.finish_in_place(input, events);
    }

    fn finish_in_place(&mut self, input: Input, events: &mut Vec<InputEvent>) {
        push(events, input, std::mem::take(&mut self.held));
    }
}

/// Pieces of one paste in one read are one event.
fn push(events: &mut Vec<InputEvent>, input: Input, bytes: Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    if let Some(last) = events.last_mut()
        && last.input == Input::PasteText
        && input == Input::PasteText
    {
        last.bytes.extend(bytes);
        return;
    }
    events.push(InputEvent { input, bytes });
}

fn alt(c: char) -> Input {
    csi::key(Key::Char(c), Mods::ALT, KeyAction::Press)
}

/// A byte below 0x80 that is not `ESC`.
fn single(byte: u8) -> Input {
    let press = |key, mods| csi::key(key, mods, KeyAction::Press);
    match byte {
        b'\r' => press(Key::Enter, Mods::NONE),
        b'\t' => press(Key::Tab, Mods::NONE),
        0x08 | 0x7f => press(Key::Backspace, Mods::NONE),
        // Ctrl-Space, Ctrl-A to Ctrl-Z, Ctrl-\ ] ^ _.
        0x00 => press(Key::Char(' '), Mods::CTRL),
        0x01..=0x1a => press(Key::Char(char::from(byte | 0x60)), Mods::CTRL),
        0x1b..=0x1f => press(Key::Char(char::from(byte | 0x40)), Mods::CTRL),
        0x20..=0x7e => press(Key::Char(char::from(byte)), Mods::NONE),
        0x80..=0xff => Input::Unknown,
    }
}
