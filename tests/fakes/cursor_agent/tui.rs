//! The terminal UI, drawn just well enough to be driven: trust box, composer row, busy mark. As the real
//! one does it paints its own cursor and hides the terminal's. Of signals it knows nothing: what one of
//! them leaves behind is the wrapper's to mend. Whether the real one keeps a history is not known;
//! this one keeps it beside the chats.

use std::io::Write;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};

use crate::composer::{Action, Composer};
use crate::journal::{self, Entry};
use crate::options::Options;
use crate::{NOT_LOGGED_IN, VERSION, chats, say_error};

const TRUST_BOX: [&str; 6] = [
    "⚠ Workspace Trust Required",
    "",
    "Do you trust the contents of this directory?",
    "",
    "▶ [a] Trust this workspace",
    "  [q] Quit",
];

pub(crate) fn run(options: &Options) -> ExitCode {
    if !crate::is_logged_in() {
        say_error(NOT_LOGGED_IN);
        return ExitCode::FAILURE;
    }
    let terminal = match Terminal::open() {
        Ok(terminal) => terminal,
        Err(error) => {
            say_error(&format!("Error: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let mut screen = Screen::new(options);
    if crate::is_trusted() || options.trust || screen.ask_for_trust() {
        screen.start();
        while screen.turn() {}
    }
    drop(terminal);
    ExitCode::SUCCESS
}

/// Raw mode, bracketed paste and a hidden cursor, taken back on drop.
struct Terminal {
    before: Termios,
}

impl Terminal {
    fn open() -> nix::Result<Self> {
        let stdin = std::io::stdin();
        let before = tcgetattr(&stdin)?;
        let mut raw = before.clone();
        cfmakeraw(&mut raw);
        tcsetattr(&stdin, SetArg::TCSANOW, &raw)?;
        put("\x1b[?2004h\x1b[?25l");
        Ok(Self { before })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        put("\x1b[?25h\x1b[?2004l\r\n");
        let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, &self.before);
    }
}

struct Screen<'a> {
    options: &'a Options,
    composer: Composer,
    /// What stands above the composer, cut to what fits.
    transcript: Vec<String>,
    /// While an answer is on its way: when it is there.
    answered_at: Option<Instant>,
    queued: Vec<String>,
    had_a_turn: bool,
    interrupted: bool,
}

impl<'a> Screen<'a> {
    fn new(options: &'a Options) -> Self {
        Self {
            options,
            composer: Composer::new(chats::history()),
            transcript: Vec::new(),
            answered_at: None,
            queued: Vec::new(),
            had_a_turn: false,
            interrupted: false,
        }
    }

    /// Whether the user trusts the folder; every other key is ignored.
    fn ask_for_trust(&mut self) -> bool {
        put(&format!("\x1b[2J\x1b[H{}\r\n", TRUST_BOX.join("\r\n")));
        loop {
            let Some(bytes) = read(None) else { return false };
            for byte in bytes {
                match byte {
                    b'a' => return true,
                    b'q' | 0x03 => return false,
                    _ => {}
                }
            }
        }
    }

    /// A prompt in argv: some versions send it, some only fill the composer.
    fn start(&mut self) {
        let prompt = self.options.prompt.clone();
        if crate::is_set_to("FAKE_CURSOR_POPULATE", "1") {
            self.composer.insert(&prompt);
        } else if !prompt.is_empty() {
            self.submit(prompt);
        }
        self.draw();
    }

    /// Waits for input or for the answer; false when it is time to leave.
    fn turn(&mut self) -> bool {
        let left = self.answered_at.map(|at| at.saturating_duration_since(Instant::now()));
        match read(left) {
            None => return false,
            Some(bytes) => {
                for action in self.composer.feed(&bytes, Instant::now()) {
                    if !self.act(action) {
                        return false;
                    }
                }
            }
        }
        if self.answered_at.is_some_and(|at| at <= Instant::now()) {
            self.answered_at = None;
            self.transcript.push(crate::reply());
            if !self.queued.is_empty() {
                let next = self.queued.remove(0);
                self.submit(next);
            }
        }
        self.draw();
        true
    }

    fn act(&mut self, action: Action) -> bool {
        let again = std::mem::take(&mut self.interrupted);
        match action {
            Action::Submit(text) if text.trim() == "/exit" => return false,
            Action::Submit(text) if text.starts_with(['/', '!']) => {
                self.transcript.push(format!("[command] {text}"));
            }
            Action::Submit(text) if self.answered_at.is_some() => self.queued.push(text),
            Action::Submit(text) => self.submit(text),
            Action::Interrupt if again => return false,
            Action::Interrupt => {
                self.interrupted = true;
                self.answered_at = None;
                self.composer.clear();
            }
            Action::End => return false,
        }
        true
    }

    fn submit(&mut self, text: String) {
        let entry = Entry { prompt: Some(&text), source: "tui", ..Entry::default() };
        journal::write(self.options, entry);
        chats::remember(&text);
        if !self.had_a_turn {
            let id = self.options.resume.clone().unwrap_or_else(chats::new_id);
            chats::leave(&self.options.workspace, &id);
        }
        self.had_a_turn = true;
        self.transcript.push(text);
        self.answered_at = Some(Instant::now() + crate::thinking_time());
    }

    fn draw(&self) {
        let mut rows = vec!["  Cursor Agent".to_owned(), format!("  v{VERSION}"), String::new()];
        for entry in self.transcript.iter().rev().take(3).rev() {
            // A long message would push the composer off the screen.
            rows.extend(entry.lines().take(3).map(|line| format!("  {}", cut(line))));
        }
        rows.push(String::new());
        let shown = self.composer.shown();
        let placeholder =
            if self.had_a_turn { "Add a follow-up" } else { "Plan, search, build anything" };
        let cursor = "\x1b[7m \x1b[27m";
        let composer = match shown.as_str() {
            "" => format!("{cursor}\x1b[2m{placeholder}\x1b[22m"),
            _ => format!("{shown}{cursor}"),
        };
        let mut lines = composer.split('\n');
        let mut first = format!(" → {}", lines.next().unwrap_or_default());
        if self.answered_at.is_some() {
            // To the right margin, whatever the width, then back by the length of the mark.
            first.push_str("\x1b[999C\x1b[14Dctrl+c to stop");
        }
        rows.push(first);
        rows.extend(lines.map(|line| format!("   {line}")));
        rows.push(String::new());
        if self.interrupted {
            rows.push("  press ctrl+c again to exit".to_owned());
        }
        rows.push("  Auto".to_owned());
        rows.push(format!("  {}", self.options.workspace.display()));
        put(&format!("\x1b[?2026h\x1b[2J\x1b[H{}\x1b[?2026l", rows.join("\r\n")));
    }
}

fn cut(line: &str) -> String {
    line.chars().take(60).collect()
}

/// Reads what is there, at the latest after `limit`; empty when nothing came, `None` at the end.
fn read(limit: Option<Duration>) -> Option<Vec<u8>> {
    let stdin = std::io::stdin();
    let timeout = match limit {
        // Rounded up, or the loop spins through the last millisecond.
        Some(limit) => PollTimeout::try_from(limit + Duration::from_millis(1)).ok()?,
        None => PollTimeout::NONE,
    };
    let mut ready = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    match poll(&mut ready, timeout) {
        Ok(0) | Err(nix::Error::EINTR) => return Some(Vec::new()),
        Ok(_) => {}
        Err(_) => return None,
    }
    let mut buffer = vec![0; 65536];
    // Past the buffer of `Stdin`, which `poll` does not see.
    let length = nix::unistd::read(&stdin, &mut buffer).ok().filter(|length| 0 < *length)?;
    buffer.truncate(length);
    Some(buffer)
}

fn put(text: &str) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(text.as_bytes());
    let _ = stdout.flush();
}
