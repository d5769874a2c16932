//! Bytes to keys: legacy, bracketed paste, kitty, xterm's modifyOtherKeys. Split anywhere.

/// One key, or one paste.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    Text(char),
    /// Plain Enter.
    Enter,
    /// Enter with Shift, Alt or Ctrl, or Ctrl-J.
    Newline,
    Ctrl(char),
    Escape,
    Backspace,
    Tab,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    Paste(String),
    /// Anything else: replies, mouse, focus, releases.
    Other,
}

pub struct Decoder {
    bytes: Vec<u8>,
    /// Bracketed paste was asked for: otherwise its marks are typing like any other.
    pastes: bool,
}

impl Decoder {
    pub fn new(pastes: bool) -> Decoder {
        Decoder { bytes: Vec::new(), pastes }
    }

    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Key> {
        self.bytes.extend_from_slice(bytes);
        let mut keys = Vec::new();
        while let Some((key, len)) = self.first() {
            self.bytes.drain(..len);
            keys.push(key);
        }
        keys
    }

    pub fn waits(&self) -> bool {
        self.bytes == b"\x1b"
    }

    /// Nothing followed: it was the key itself.
    pub fn lone_escape(&mut self) -> Option<Key> {
        self.waits().then(|| {
            self.bytes.clear();
            Key::Escape
        })
    }

    fn first(&self) -> Option<(Key, usize)> {
        let bytes = self.bytes.as_slice();
        match *bytes.first()? {
            0x1b => self.escape(bytes),
            b'\r' => Some((Key::Enter, 1)),
            b'\n' => Some((Key::Newline, 1)),
            b'\t' => Some((Key::Tab, 1)),
            0x7f | 0x08 => Some((Key::Backspace, 1)),
            control @ 1..0x20 => Some((Key::Ctrl(char::from(control + b'a' - 1)), 1)),
            first => {
                let len = match first {
                    0..0x80 => 1,
                    0xc0..0xe0 => 2,
                    0xe0..0xf0 => 3,
                    0xf0.. => 4,
                    _ => return Some((Key::Text('\u{fffd}'), 1)),
                };
                let piece = bytes.get(..len)?;
                let c = std::str::from_utf8(piece).ok().and_then(|s| s.chars().next());
                Some((Key::Text(c.unwrap_or('\u{fffd}')), len))
            }
        }
    }

    fn escape(&self, bytes: &[u8]) -> Option<(Key, usize)> {
        match *bytes.get(1)? {
            b'[' => {
                let end = 2 + bytes[2..].iter().position(|b| (0x40..0x7f).contains(b))?;
                let params = std::str::from_utf8(&bytes[2..end]).unwrap_or("");
                if self.pastes && bytes[end] == b'~' && params == "200" {
                    const MARK: &[u8] = b"\x1b[201~";
                    let from = end + 1;
                    let len = bytes[from..].windows(MARK.len()).position(|w| w == MARK)?;
                    let text = String::from_utf8_lossy(&bytes[from..from + len]);
                    let text = text.replace("\r\n", "\n").replace('\r', "\n");
                    return Some((Key::Paste(text), from + len + MARK.len()));
                }
                Some((csi(params, bytes[end]), end + 1))
            }
            b'O' => Some((letter(*bytes.get(2)?), 3)),
            b']' | b'P' | b'_' => {
                let end = bytes.iter().position(|b| *b == 0x07).map(|at| at + 1);
                let st = bytes.windows(2).skip(2).position(|w| w == b"\x1b\\").map(|at| at + 4);
                Some((Key::Other, end.or(st)?))
            }
            b'\r' => Some((Key::Newline, 2)),
            0x1b => Some((Key::Escape, 1)),
            _ => Some((Key::Other, 2)),
        }
    }
}

fn letter(last: u8) -> Key {
    match last {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        _ => Key::Other,
    }
}

fn csi(params: &str, last: u8) -> Key {
    let numbers: Vec<Vec<u32>> = params
        .split(';')
        .map(|item| item.split(':').map(|n| n.parse().unwrap_or(0)).collect())
        .collect();
    let at = |item: usize, sub: usize| numbers.get(item).and_then(|i| i.get(sub)).copied();
    match last {
        b'u' => {
            let release = at(1, 1) == Some(3);
            let key = at(0, 0).unwrap_or(0);
            if release { Key::Other } else { coded(key, at(1, 0).unwrap_or(1)) }
        }
        b'~' if at(0, 0) == Some(27) => coded(at(2, 0).unwrap_or(0), at(1, 0).unwrap_or(1)),
        b'~' => match at(0, 0) {
            Some(1 | 7) => Key::Home,
            Some(4 | 8) => Key::End,
            Some(5) => Key::PageUp,
            Some(6) => Key::PageDown,
            _ => Key::Other,
        },
        _ if params.is_empty() => letter(last),
        _ => Key::Other,
    }
}

fn coded(code: u32, modifiers: u32) -> Key {
    let c = char::from_u32(code).unwrap_or('\u{fffd}');
    match (code, modifiers) {
        (13 | 57414, 0 | 1) => Key::Enter,
        (13 | 57414, _) => Key::Newline,
        (27, _) => Key::Escape,
        (9, _) => Key::Tab,
        (127 | 8, _) => Key::Backspace,
        (32.., 0..=2) if code < 57344 => Key::Text(c),
        (_, 5) if c.is_ascii_lowercase() => Key::Ctrl(c),
        _ => Key::Other,
    }
}
