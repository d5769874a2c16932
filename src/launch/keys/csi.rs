//! The meaning of one complete control sequence from the terminal.

use super::{Input, Key, KeyAction, KeyPress, Mods, Motion};

/// Kitty's code of the number block's Enter.
const KITTY_KEYPAD_ENTER: u32 = 57414;
/// Kitty's codes of the number block's digits, 0 to 9.
const KITTY_KEYPAD_DIGITS: std::ops::RangeInclusive<u32> = 57399..=57408;
/// Kitty's codes of lock keys and of modifier keys on their own.
const KITTY_LOCKS: std::ops::RangeInclusive<u32> = 57358..=57360;
const KITTY_MODIFIERS: std::ops::RangeInclusive<u32> = 57441..=57454;
/// Kitty's private codes: keys without a character.
const KITTY_PRIVATE: std::ops::RangeInclusive<u32> = 57344..=63743;

/// `body`: what stands between `ESC [` and the final byte.
pub(super) fn meaning(body: &[u8], last: u8) -> Input {
    let private = body.first().copied().filter(|b| (0x3c..=0x3f).contains(b));
    let intermediate = body.iter().any(|b| (0x20..=0x2f).contains(b));
    match (private, last) {
        (Some(b'<'), b'M' | b'm') => return Input::Mouse,
        (Some(_), _) => return Input::Reply,
        (None, _) if intermediate => return Input::Reply,
        (None, _) => {}
    }
    let Some(parameters) = parse(body) else { return Input::Unknown };
    match last {
        b'~' => tilde(&parameters),
        b'u' => kitty(&parameters),
        b'A' => motion(Motion::Up, &parameters),
        b'B' => motion(Motion::Down, &parameters),
        b'C' => motion(Motion::Right, &parameters),
        b'D' => motion(Motion::Left, &parameters),
        b'H' => motion(Motion::Home, &parameters),
        b'F' => motion(Motion::End, &parameters),
        b'Z' => key(Key::Tab, Mods::SHIFT, KeyAction::Press),
        b'I' | b'O' if body.is_empty() => Input::Focus,
        // Also F3 with a modifier; neither is typing.
        b'R' if parameters.len() == 2 => Input::Reply,
        b'c' | b'n' | b't' | b'y' => Input::Reply,
        b'P' | b'Q' | b'R' | b'S' | b'E' => key(Key::Other, mods(&parameters), action(&parameters)),
        _ => Input::Unknown,
    }
}

/// `ESC O` and one byte.
pub(super) fn single_shift(last: u8) -> Input {
    let moved = |motion| key(Key::Move(motion), Mods::NONE, KeyAction::Press);
    match last {
        b'M' => key(Key::Enter, Mods::NONE, KeyAction::Press),
        b'I' => key(Key::Tab, Mods::NONE, KeyAction::Press),
        b'A' => moved(Motion::Up),
        b'B' => moved(Motion::Down),
        b'C' => moved(Motion::Right),
        b'D' => moved(Motion::Left),
        b'H' => moved(Motion::Home),
        b'F' => moved(Motion::End),
        // The number block in application mode.
        b'j'..=b'y' => key(Key::Char(char::from(last - 0x40)), Mods::NONE, KeyAction::Press),
        _ => key(Key::Other, Mods::NONE, KeyAction::Press),
    }
}

pub(super) fn key(key: Key, mods: Mods, action: KeyAction) -> Input {
    Input::Key(KeyPress { key, mods, action })
}

/// Parameters with their sub-parameters; an empty one is 0.
type Parameters = Vec<Vec<u32>>;

fn parse(body: &[u8]) -> Option<Parameters> {
    let text = std::str::from_utf8(body).ok()?;
    text.split(';')
        .map(|parameter| {
            parameter
                .split(':')
                .map(|sub| if sub.is_empty() { Some(0) } else { sub.parse().ok() })
                .collect()
        })
        .collect()
}

fn at(parameters: &Parameters, index: usize, sub: usize) -> u32 {
    parameters.get(index).and_then(|p| p.get(sub)).copied().unwrap_or(0)
}

fn mods(parameters: &Parameters) -> Mods {
    Mods::from_parameter(at(parameters, 1, 0))
}

fn action(parameters: &Parameters) -> KeyAction {
    match at(parameters, 1, 1) {
        2 => KeyAction::Repeat,
        3 => KeyAction::Release,
        _ => KeyAction::Press,
    }
}

fn motion(motion: Motion, parameters: &Parameters) -> Input {
    key(Key::Move(motion), mods(parameters), action(parameters))
}

fn tilde(parameters: &Parameters) -> Input {
    let moved = match at(parameters, 0, 0) {
        200 => return Input::PasteStart,
        // Without a start it ends nothing.
        201 => return Input::Unknown,
        // xterm's modifyOtherKeys: 27 ; modifiers ; code.
        27 => {
            return key(code(at(parameters, 2, 0)), mods(parameters), KeyAction::Press);
        }
        1 | 7 => Motion::Home,
        4 | 8 => Motion::End,
        2 => Motion::Insert,
        3 => Motion::Delete,
        5 => Motion::PageUp,
        6 => Motion::PageDown,
        _ => return key(Key::Other, mods(parameters), action(parameters)),
    };
    motion(moved, parameters)
}

/// `CSI code:shifted:base ; modifiers:event ; text u`.
fn kitty(parameters: &Parameters) -> Input {
    let mods = mods(parameters);
    let mut pressed = code(at(parameters, 0, 0));
    if let Key::Char(_) = pressed {
        let text: Option<char> = match parameters.get(2).map(Vec::as_slice) {
            Some([one]) if *one != 0 => char::from_u32(*one),
            _ => None,
        };
        let shifted = Some(at(parameters, 0, 1))
            .filter(|c| *c != 0 && mods.has(Mods::SHIFT))
            .and_then(char::from_u32);
        if let Some(c) = text.or(shifted) {
            pressed = Key::Char(c);
        }
    }
    key(pressed, mods, action(parameters))
}

fn code(code: u32) -> Key {
    match code {
        13 | KITTY_KEYPAD_ENTER => Key::Enter,
        9 => Key::Tab,
        27 => Key::Escape,
        8 | 127 => Key::Backspace,
        c if KITTY_KEYPAD_DIGITS.contains(&c) => {
            char::from_digit(c - KITTY_KEYPAD_DIGITS.start(), 10).map_or(Key::Other, Key::Char)
        }
        c if KITTY_LOCKS.contains(&c) || KITTY_MODIFIERS.contains(&c) => Key::Modifier,
        c if KITTY_PRIVATE.contains(&c) => Key::Other,
        c => char::from_u32(c).filter(|c| !c.is_control()).map_or(Key::Other, Key::Char),
    }
}
