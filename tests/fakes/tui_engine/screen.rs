//! What it paints, and the modes it sets for that.

use std::io::Write;

use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};

use super::Switches;

pub struct Screen {
    saved: Termios,
    pub rows: u16,
    pub cols: u16,
    chunk: usize,
    modes_on: String,
    modes_off: String,
}

impl Screen {
    pub fn new(switches: &Switches) -> Screen {
        let saved = tcgetattr(std::io::stdin()).expect("a terminal");
        let mut on = String::from("\x1b[?1049h\x1b[?25h");
        let mut off = String::from("\x1b[m\x1b[?1049l\x1b[?25h");
        if !switches.is_on("NO2004") {
            on.push_str("\x1b[?2004h");
            off.insert_str(0, "\x1b[?2004l");
        }
        if switches.is_on("KITTY") {
            on.push_str("\x1b[>1u");
            off.insert_str(0, "\x1b[<u");
        }
        if switches.is_on("MODES") {
            on.push_str(
                "\x1b[22;0t\x1b[?1h\x1b=\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h\x1b[?1004h\x1b[?2027h\
                 \x1b[?2031h\x1b[>4;2m\x1b[3;9r\x1b[5 q\x1b(0\x1b(B\x1b[?7l\x1b]11;#102030\x07",
            );
            off.insert_str(
                0,
                "\x1b]111\x07\x1b[?7h\x1b[0 q\x1b[r\x1b[>4m\x1b[?2031l\x1b[?2027l\x1b[?1004l\x1b[?1006l\
                 \x1b[?1003l\x1b[?1002l\x1b[?1000l\x1b>\x1b[?1l\x1b[23;0t",
            );
        }
        let chunk = switches.number("CHUNK").unwrap_or(usize::MAX as u64) as usize;
        let mut screen = Screen { saved, rows: 0, cols: 0, chunk, modes_on: on, modes_off: off };
        screen.measure();
        screen
    }

    pub fn measure(&mut self) {
        let mut size = nix::libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: TIOCGWINSZ fills a winsize.
        #[expect(unsafe_code)]
        unsafe {
            nix::libc::ioctl(1, nix::libc::TIOCGWINSZ, &raw mut size);
        }
        (self.rows, self.cols) = (size.ws_row, size.ws_col);
    }

    pub fn enter(&self) {
        let mut raw = self.saved.clone();
        cfmakeraw(&mut raw);
        tcsetattr(std::io::stdin(), SetArg::TCSANOW, &raw).expect("raw mode");
        self.write(self.modes_on.as_bytes());
    }

    pub fn leave(&self) {
        self.write(self.modes_off.as_bytes());
        let _ = tcsetattr(std::io::stdin(), SetArg::TCSADRAIN, &self.saved);
    }

    pub fn write(&self, bytes: &[u8]) {
        let mut out = std::io::stdout();
        for piece in bytes.chunks(self.chunk.max(1)) {
            if out.write_all(piece).and_then(|()| out.flush()).is_err() {
                // The terminal is gone.
                std::process::exit(0);
            }
        }
    }

    /// Everything anew, between 2026 marks.
    pub fn paint(&self, head: &[String], draft: &str, foot: &str) {
        let wide = usize::from(self.cols.max(1));
        let cut = |line: &str| line.chars().take(wide - 1).collect::<String>();
        let rule = "\u{2500}".repeat(wide - 1);
        let lines: Vec<String> = draft.split('\n').map(cut).collect();
        let room = usize::from(self.rows).saturating_sub(5).max(1);
        let shown = &lines[lines.len().saturating_sub(room)..];
        let mut out = String::from("\x1b[?2026h\x1b[?25l\x1b[H");
        let keep = usize::from(self.rows).saturating_sub(shown.len() + 3);
        for line in head.iter().rev().take(keep).rev() {
            out.push_str(&format!("{}\x1b[K\r\n", cut(line)));
        }
        out.push_str(&format!("{rule}\r\n"));
        for (at, line) in shown.iter().enumerate() {
            let glyph = if at == 0 { '\u{276f}' } else { ' ' };
            out.push_str(&format!("\x1b[1m{glyph}\x1b[22m {line}\x1b[K\r\n"));
        }
        out.push_str(&format!("{rule}\r\n{}\x1b[K\x1b[J", cut(foot)));
        out.push_str("\x1b[?25h\x1b[?2026l");
        self.write(out.as_bytes());
    }
}
