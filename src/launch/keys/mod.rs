//! What the user's terminal sends, taken apart: a streaming decoder of keys, pastes and terminal
//! replies.
//!
//! Goals: *exact* (the bytes of all events, put together, are the input), *independent of how the
//! input was cut*, *bounded* and *never in the way* (it says when a lone Escape waits; the caller
//! decides how long). It does no IO, reads no clock and interprets nothing: what a key means to an
//! engine is the gate's business.

mod csi;
mod decoder;
#[cfg(test)]
mod tests;

pub use decoder::Decoder;

/// One thing that the terminal sent, with its exact bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputEvent {
    /// What it is.
    pub input: Input,
    /// As it came.
    pub bytes: Vec<u8>,
}

/// The kinds of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A key, pressed, repeated or released.
    Key(KeyPress),
    /// The start of a bracketed paste.
    PasteStart,
    /// A piece of a paste; a paste may come in any number of pieces.
    PasteText,
    /// The end of a bracketed paste.
    PasteEnd,
    /// A report that the engine asked for (device attributes, cursor position, colours, keyboard
    /// flags, …): not typing.
    Reply,
    /// The window got or lost the focus: not typing.
    Focus,
    /// A mouse report.
    Mouse,
    /// Anything else; passed on as it is.
    Unknown,
}

/// A key with what is held down beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyPress {
    /// The key.
    pub key: Key,
    /// Modifiers, locks left out.
    pub mods: Mods,
    /// Pressed, repeated or released.
    pub action: KeyAction,
}

/// The keys that something depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A character, as it would be inserted.
    Char(char),
    /// Enter, also that of the number block.
    Enter,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Escape.
    Escape,
    /// An arrow, Home, End, Page or edit key.
    Move(Motion),
    /// A modifier or lock key on its own (kitty).
    Modifier,
    /// Any other key.
    Other,
}

/// Keys that move or edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Delete.
    Delete,
    /// Insert.
    Insert,
}

/// What happens to the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAction {
    /// It goes down.
    Press,
    /// It is held.
    Repeat,
    /// It goes up (kitty, when the engine asked for it).
    Release,
}

/// Modifiers in the numbering of xterm and kitty, less one; caps lock and num lock are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mods(u8);

impl Mods {
    /// None.
    pub const NONE: Mods = Mods(0);
    /// Shift.
    pub const SHIFT: Mods = Mods(1);
    /// Alt.
    pub const ALT: Mods = Mods(2);
    /// Control.
    pub const CTRL: Mods = Mods(4);

    /// Caps lock (64) and num lock (128) say nothing about the key.
    const LOCKS: u32 = 64 | 128;

    fn from_parameter(parameter: u32) -> Mods {
        let bits = parameter.saturating_sub(1) & !Mods::LOCKS;
        Mods(u8::try_from(bits & 0x3f).unwrap_or(0))
    }

    /// Whether none is held.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` are held.
    pub fn has(self, other: Mods) -> bool {
        self.0 & other.0 == other.0
    }
}

impl InputEvent {
    /// The key that this event presses or repeats.
    pub fn pressed(&self) -> Option<KeyPress> {
        match self.input {
            Input::Key(press) if press.action != KeyAction::Release => Some(press),
            _ => None,
        }
    }

    /// A plain Enter in any of its forms. Not one with a modifier, a release, or one in a paste.
    pub fn is_enter(&self) -> bool {
        self.pressed().is_some_and(|press| press.key == Key::Enter && press.mods.is_none())
    }

    /// Control with this letter, in the legacy or the kitty form.
    pub fn is_ctrl(&self, letter: char) -> bool {
        self.pressed().is_some_and(|press| {
            press.mods == Mods::CTRL && press.key == Key::Char(letter.to_ascii_lowercase())
        })
    }

    /// A key in the `CSI … u` form: the terminal speaks the kitty keyboard protocol.
    pub fn is_kitty_key(&self) -> bool {
        matches!(self.input, Input::Key(_))
            && self.bytes.starts_with(b"\x1b[")
            && self.bytes.ends_with(b"u")
    }

    /// What the engine asked the terminal for, and focus: never typing, never held back.
    pub fn is_report(&self) -> bool {
        matches!(self.input, Input::Reply | Input::Focus)
    }
}
