//! The terminal that the tests stand for: what it answers, and which bytes its keys send.
//!
//! Two kinds of real terminals: *plain* ones (VTE, Terminal.app, tmux) know nothing of the kitty
//! keyboard; *kitty* ones keep a stack of its flags for each of the two screens and send keys
//! accordingly, releases too. What a program leaves on these stacks is a mode left on.

/// What kind of terminal it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Answers nothing, as a pipe to a log would.
    Silent,
    /// Attributes, cursor, colours.
    Plain,
    /// The same and the kitty keyboard.
    Kitty,
}

/// A key with its modifiers.
#[derive(Clone, Copy)]
pub enum Key {
    Char(char),
    Ctrl(char),
    Enter,
    ShiftEnter,
    AltEnter,
    Escape,
    Tab,
    Backspace,
    Delete,
    Up,
    Down,
}

/// The side of the terminal that the emulation of the screen leaves out.
pub struct Terminal {
    kind: Kind,
    /// Flags of the kitty keyboard: main and alternate screen.
    keyboard: [Vec<u16>; 2],
    /// Answers that are still to be sent.
    answers: Vec<u8>,
}

impl Terminal {
    pub fn new(kind: Kind) -> Terminal {
        Terminal { kind, keyboard: [Vec::new(), Vec::new()], answers: Vec::new() }
    }

    pub fn take_answers(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.answers)
    }

    /// What is left of the pushes on each screen.
    pub fn keyboard_left_on(&self) -> Vec<String> {
        let named = [("main", &self.keyboard[0]), ("alternate", &self.keyboard[1])];
        let left = named.iter().filter(|(_, stack)| !stack.is_empty());
        left.map(|(screen, stack)| format!("kitty keyboard {stack:?} on the {screen} screen"))
            .collect()
    }

    /// The bytes of a key on this screen now.
    pub fn bytes(&self, key: Key, screen: &vt100::Screen) -> Vec<u8> {
        let stack = &self.keyboard[usize::from(screen.alternate_screen())];
        match stack.last() {
            Some(&flags) if flags != 0 => kitty(key, flags),
            _ => legacy(key, screen.application_cursor()),
        }
    }
}

fn legacy(key: Key, application_cursor: bool) -> Vec<u8> {
    match key {
        Key::Char(c) => c.to_string().into_bytes(),
        Key::Ctrl(c) => vec![c as u8 & 0x1f],
        Key::Enter | Key::ShiftEnter => b"\r".to_vec(),
        Key::AltEnter => b"\x1b\r".to_vec(),
        Key::Escape => b"\x1b".to_vec(),
        Key::Tab => b"\t".to_vec(),
        Key::Backspace => b"\x7f".to_vec(),
        Key::Delete => b"\x1b[3~".to_vec(),
        Key::Up if application_cursor => b"\x1bOA".to_vec(),
        Key::Up => b"\x1b[A".to_vec(),
        Key::Down if application_cursor => b"\x1bOB".to_vec(),
        Key::Down => b"\x1b[B".to_vec(),
    }
}

/// As in kitty's own documentation of its protocol.
fn kitty(key: Key, flags: u16) -> Vec<u8> {
    const EVENTS: u16 = 2;
    const ALL_KEYS: u16 = 8;
    let all = flags & ALL_KEYS != 0;
    let coded = |code: u32, modifiers: u32, releases: bool| {
        let press = match modifiers {
            1 => format!("\x1b[{code}u"),
            _ => format!("\x1b[{code};{modifiers}u"),
        };
        let release = format!("\x1b[{code};{modifiers}:3u");
        if releases && flags & EVENTS != 0 { press + &release } else { press }
    };
    let arrow = |last: char| match flags & EVENTS {
        0 => format!("\x1b[{last}"),
        _ => format!("\x1b[{last}\x1b[1;1:3{last}"),
    };
    let text = match key {
        Key::Char(c) if !all => {
            // A sign of an input method has no key that goes up.
            let goes_up = flags & EVENTS != 0 && (' '..='~').contains(&c);
            let code = u32::from(c.to_ascii_lowercase());
            let modifiers = if c.is_ascii_uppercase() { 2 } else { 1 };
            let up = if goes_up { format!("\x1b[{code};{modifiers}:3u") } else { String::new() };
            format!("{c}{up}")
        }
        Key::Char(c) => coded(u32::from(c), 1, true),
        Key::Ctrl(c) => coded(u32::from(c), 5, true),
        Key::Enter if all => coded(13, 1, true),
        Key::Tab if all => coded(9, 1, true),
        Key::Backspace if all => coded(127, 1, true),
        Key::Enter => "\r".to_owned(),
        Key::Tab => "\t".to_owned(),
        Key::Backspace => "\x7f".to_owned(),
        Key::ShiftEnter => coded(13, 2, all),
        Key::AltEnter => coded(13, 3, all),
        Key::Escape => coded(27, 1, true),
        Key::Delete if flags & EVENTS != 0 => "\x1b[3~\x1b[3;1:3~".to_owned(),
        Key::Delete => "\x1b[3~".to_owned(),
        Key::Up => arrow('A'),
        Key::Down => arrow('B'),
    };
    text.into_bytes()
}

impl vt100::Callbacks for Terminal {
    fn unhandled_csi(
        &mut self,
        screen: &mut vt100::Screen,
        first: Option<u8>,
        second: Option<u8>,
        params: &[&[u16]],
        last: char,
    ) {
        let number = |at: usize| params.get(at).and_then(|p| p.first()).copied();
        let answer = match (first, second, last) {
            _ if self.kind == Kind::Silent => return,
            (None, None, 'c') => "\x1b[?62;22c".to_owned(),
            (None, None, 'n') if number(0) == Some(6) => {
                let (row, col) = screen.cursor_position();
                format!("\x1b[{};{}R", row + 1, col + 1)
            }
            (Some(b'?' | b'>' | b'<' | b'='), None, 'u') if self.kind == Kind::Kitty => {
                let stack = &mut self.keyboard[usize::from(screen.alternate_screen())];
                let given = number(0).unwrap_or(0);
                match first {
                    Some(b'?') => {
                        let flags = stack.last().copied().unwrap_or(0);
                        self.answers.extend(format!("\x1b[?{flags}u").into_bytes());
                    }
                    Some(b'>') => stack.push(given),
                    Some(b'<') => {
                        let left = stack.len().saturating_sub(usize::from(given.max(1)));
                        stack.truncate(left);
                    }
                    _ => {
                        let old = stack.pop().unwrap_or(0);
                        stack.push(match number(1) {
                            Some(2) => old | given,
                            Some(3) => old & !given,
                            _ => given,
                        });
                    }
                }
                return;
            }
            _ => return,
        };
        self.answers.extend(answer.into_bytes());
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, params: &[&[u8]]) {
        if self.kind == Kind::Silent || params.get(1) != Some(&b"?".as_slice()) {
            return;
        }
        let colour = match params[0] {
            b"10" => "ffff/ffff/ffff",
            b"11" => "0000/0000/0000",
            _ => return,
        };
        let number = String::from_utf8_lossy(params[0]);
        self.answers.extend(format!("\x1b]{number};rgb:{colour}\x1b\\").into_bytes());
    }
}
