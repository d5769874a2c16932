//! A person at a terminal: runs a program in a pseudo-terminal, sees its screen (vt100), types,
//! resizes, hangs up, kills, and can tell which modes are left on. Waits for what is on the screen
//! or in a log file, never for a time.

// Each test binary uses what it needs.
#![allow(dead_code)]

mod terminal;

use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZeroU16;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use portable_pty::{CommandBuilder, MasterPty, PtySize, native_pty_system};
use serde_json::Value;

pub use terminal::{Key, Kind};

use terminal::Terminal;

/// Far over anything that works, on a loaded machine; a hang is found all the same. OpenCode's start
/// took 45 s at a load of three times the cores.
pub const LIMIT: Duration = Duration::from_secs(180);

struct Seen {
    raw: Vec<u8>,
    parser: vt100::Parser<Terminal>,
    /// The other side is closed.
    over: bool,
    /// Pause after each read, for a slow terminal.
    slow: Duration,
    /// The screen is kept; not for a mass of bytes that only count.
    has_screen: bool,
}

/// A program in a terminal of its own. Killed on drop.
pub struct PtyDriver {
    master: Option<Box<dyn MasterPty + Send>>,
    writer: Option<std::fs::File>,
    child: std::process::Child,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    reader: Option<Reader>,
    /// The terminal's local flags before the program ran.
    pub flags_at_start: u64,
}

/// How a program ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

/// What to run.
pub struct Run {
    command: CommandBuilder,
    size: (u16, u16),
    has_screen: bool,
    kind: Kind,
}

impl Run {
    pub fn new(program: impl AsRef<std::ffi::OsStr>) -> Run {
        let mut command = CommandBuilder::new(program);
        command.env("TERM", "xterm-256color");
        Run { command, size: (24, 80), has_screen: true, kind: Kind::Silent }
    }

    pub fn args<S: AsRef<std::ffi::OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Run {
        self.command.args(args);
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Run {
        self.command.env(name, value);
        self
    }

    pub fn cwd(mut self, dir: &Path) -> Run {
        self.command.cwd(dir);
        self
    }

    pub fn size(mut self, rows: u16, cols: u16) -> Run {
        self.size = (rows, cols);
        self
    }

    /// With this environment and nothing else.
    pub fn only_env(
        mut self,
        env: impl IntoIterator<Item = (std::ffi::OsString, std::ffi::OsString)>,
    ) -> Run {
        self.command.env_clear();
        for (name, value) in env {
            self.command.env(name, value);
        }
        self
    }

    /// A terminal that answers what real engines ask it: attributes, cursor, colours.
    pub fn answering(self) -> Run {
        self.terminal(Kind::Plain)
    }

    /// A terminal of this kind. A kitty one is known by its `TERM` as well.
    pub fn terminal(mut self, kind: Kind) -> Run {
        self.kind = kind;
        if kind == Kind::Kitty {
            self.command.env("TERM", "xterm-kitty");
        }
        self
    }

    /// Bytes only.
    pub fn without_screen(mut self) -> Run {
        self.has_screen = false;
        self
    }

    pub fn start(self) -> PtyDriver {
        let (rows, cols) = self.size;
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("pty");
        let flags_at_start = local_flags(&*pair.master);
        let child = pair.slave.spawn_command(self.command).expect("start");
        let child: Box<dyn portable_pty::Child> = child;
        let child = child.downcast::<std::process::Child>().expect("a child process");
        let screen = (NonZeroU16::new(rows.max(1)), NonZeroU16::new(cols.max(1)));
        let parser = vt100::Parser::new_with_callbacks(
            screen.0.expect("rows"),
            screen.1.expect("cols"),
            0,
            Terminal::new(self.kind),
        );
        let state = Seen {
            raw: Vec::new(),
            parser,
            over: false,
            slow: Duration::ZERO,
            has_screen: self.has_screen,
        };
        let seen = Arc::new((Mutex::new(state), Condvar::new()));
        // Not portable-pty's writer: its drop types a newline and EOF.
        let fd = pair.master.as_raw_fd().expect("fd");
        let (writer, output) = (std::fs::File::from(dup(fd)), dup(fd));
        let answer_to = std::fs::File::from(dup(fd));
        let reader = Reader::start(output, Arc::clone(&seen), answer_to);
        PtyDriver {
            master: Some(pair.master),
            writer: Some(writer),
            child: *child,
            seen,
            reader: Some(reader),
            flags_at_start,
        }
    }
}

/// The thread that sees all output; it can be told to let go of the terminal.
struct Reader {
    stop: UnixStream,
    thread: std::thread::JoinHandle<()>,
}

/// How many of the bytes there are before a character that is not all there yet.
fn whole_characters(bytes: &[u8]) -> usize {
    let tail = bytes.len().saturating_sub(3)..bytes.len();
    let cut = tail.rev().find(|at| bytes[*at] & 0xc0 != 0x80).filter(|at| {
        let length = match bytes[*at] {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        at + length > bytes.len()
    });
    cut.unwrap_or(bytes.len())
}

impl Reader {
    fn start(
        output: OwnedFd,
        seen: Arc<(Mutex<Seen>, Condvar)>,
        mut answer_to: std::fs::File,
    ) -> Reader {
        let (stop, stopped) = UnixStream::pair().expect("socket");
        let thread = std::thread::spawn(move || {
            let mut buf = [0; 8192];
            // vt100 loses text when a character comes in two pieces.
            let mut held = Vec::new();
            loop {
                let mut fds = [
                    PollFd::new(output.as_fd(), PollFlags::POLLIN),
                    PollFd::new(stopped.as_fd(), PollFlags::POLLIN),
                ];
                let _ = poll(&mut fds, PollTimeout::NONE);
                if fds[1].any().unwrap_or(false) {
                    return;
                }
                // EIO is the end.
                let n = nix::unistd::read(&output, &mut buf).unwrap_or(0);
                let (lock, woken) = &*seen;
                let mut seen = lock.lock().expect("lock");
                seen.raw.extend_from_slice(&buf[..n]);
                if seen.has_screen {
                    held.extend_from_slice(&buf[..n]);
                    let whole = if n == 0 { held.len() } else { whole_characters(&held) };
                    seen.parser.process(&held[..whole]);
                    held.drain(..whole);
                }
                let answers = seen.parser.callbacks_mut().take_answers();
                seen.over = n == 0;
                woken.notify_all();
                let slow = seen.slow;
                drop(seen);
                // A terminal that is closed needs no answer.
                let _ = answer_to.write_all(&answers);
                if n == 0 {
                    return;
                }
                // A slow terminal is what is being played here.
                std::thread::sleep(slow);
            }
        });
        Reader { stop, thread }
    }

    fn stop(self) {
        drop(self.stop);
        self.thread.join().expect("reader");
    }
}

fn local_flags(master: &dyn MasterPty) -> u64 {
    u64::from(master.get_termios().expect("termios").local_flags.bits())
}

fn dup(fd: i32) -> std::os::fd::OwnedFd {
    // SAFETY: the descriptor belongs to the master, which is alive.
    #[expect(unsafe_code)]
    let fd = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
    fd.try_clone_to_owned().expect("dup")
}

impl PtyDriver {
    pub fn pid(&self) -> i32 {
        self.child.id().cast_signed()
    }

    /// Types, as one write where the terminal takes it.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let writer = self.writer.as_mut().expect("not hung up");
        writer.write_all(bytes.as_ref()).expect("type");
    }

    /// Presses keys one after the other, as this terminal sends them now.
    pub fn press(&mut self, keys: impl IntoIterator<Item = Key>) {
        for key in keys {
            let seen = self.seen.0.lock().expect("lock");
            let bytes = seen.parser.callbacks().bytes(key, seen.parser.screen());
            drop(seen);
            self.send(bytes);
        }
    }

    /// Types a text without line ends.
    pub fn type_text(&mut self, text: &str) {
        self.press(text.chars().map(Key::Char));
    }

    /// Pastes as a terminal does it: line ends are CR, the marks only where the program asked for
    /// them.
    pub fn paste(&mut self, text: &str) {
        let framed = self.seen.0.lock().expect("lock").parser.screen().bracketed_paste();
        let text = text.replace('\n', "\r");
        self.send(if framed { format!("\x1b[200~{text}\x1b[201~") } else { text });
    }

    pub fn resize(&self, rows: u16, cols: u16) {
        let size = PtySize { rows, cols, pixel_width: 0, pixel_height: 0 };
        self.master.as_ref().expect("not hung up").resize(size).expect("resize");
        let (rows, cols) = (NonZeroU16::new(rows), NonZeroU16::new(cols));
        if let (Some(rows), Some(cols)) = (rows, cols) {
            self.seen.0.lock().expect("lock").parser.set_size(rows, cols);
        }
    }

    /// Each piece of output is followed by a pause from now on.
    pub fn read_slowly(&self, pause: Duration) {
        self.seen.0.lock().expect("lock").slow = pause;
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid()), signal).expect("signal");
    }

    /// The terminal window is closed: every hold on the master goes, the reader's too.
    pub fn close_window(&mut self) {
        (self.master, self.writer) = (None, None);
        self.reader.take().expect("open").stop();
    }

    #[track_caller]
    pub fn wait_until(&self, what: &str, holds: impl Fn(&str, &[u8]) -> bool) {
        let (lock, woken) = &*self.seen;
        let until = Instant::now() + LIMIT;
        let mut seen = lock.lock().expect("lock");
        loop {
            if holds(&seen.parser.screen().contents(), &seen.raw) {
                return;
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(
                !left.is_zero() && !seen.over,
                "no {what}; the screen:\n{}\n--- the last bytes: {:?}",
                seen.parser.screen().contents(),
                String::from_utf8_lossy(&seen.raw[seen.raw.len().saturating_sub(400)..]),
            );
            seen = woken.wait_timeout(seen, left).expect("wait").0;
        }
    }

    #[track_caller]
    pub fn wait_for(&self, text: &str) {
        self.wait_until(&format!("{text:?} on the screen"), |screen, _| screen.contains(text));
    }

    /// Waits until the program has painted nothing for a moment: what a person sees as "it is done
    /// drawing". There is no event for that; nobody waits long for a program that never rests, such as
    /// one with a spinner.
    pub fn wait_for_quiet(&self) {
        const QUIET: Duration = Duration::from_millis(400);
        const PATIENCE: Duration = Duration::from_secs(5);
        let until = Instant::now() + PATIENCE;
        let (lock, woken) = &*self.seen;
        let mut seen = lock.lock().expect("lock");
        loop {
            let length = seen.raw.len();
            let (next, wait) = woken.wait_timeout(seen, QUIET).expect("lock");
            seen = next;
            if (wait.timed_out() && seen.raw.len() == length) || Instant::now() > until {
                return;
            }
        }
    }

    /// Everything that the terminal has got.
    pub fn raw(&self) -> Vec<u8> {
        self.seen.0.lock().expect("lock").raw.clone()
    }

    pub fn screen(&self) -> String {
        self.seen.0.lock().expect("lock").parser.screen().contents()
    }

    /// Waits for the end of the program and for its last output.
    #[track_caller]
    pub fn wait_for_end(&mut self) -> Ended {
        use std::os::unix::process::ExitStatusExt;
        let until = Instant::now() + LIMIT;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("wait") {
                break status;
            }
            assert!(Instant::now() < until, "no end; the screen:\n{}", self.screen());
            // The one thing that has no event to wait on without taking the child's status.
            std::thread::sleep(Duration::from_millis(5));
        };
        Ended { code: status.code(), signal: status.signal() }
    }

    /// Waits until nobody holds the terminal any more and all output has come.
    #[track_caller]
    pub fn wait_for_silence(&self) {
        let (lock, woken) = &*self.seen;
        let mut seen = lock.lock().expect("lock");
        let until = Instant::now() + LIMIT;
        while !seen.over {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "something holds the terminal");
            seen = woken.wait_timeout(seen, left).expect("wait").0;
        }
    }

    /// The local flags of the terminal, to compare with those of the start.
    pub fn local_flags(&self) -> u64 {
        local_flags(&**self.master.as_ref().expect("not hung up"))
    }

    /// Lines, echo, signal keys: as a shell needs it to run a program.
    pub fn is_cooked(&self) -> bool {
        use nix::libc::{ECHO, ICANON, ISIG};
        let cooked = u64::from(ICANON | ECHO | ISIG);
        self.local_flags() & cooked == cooked
    }

    /// The modes that differ from a fresh terminal: read by vt100 and by a plain scan, independent of
    /// omni-run's own ledger.
    pub fn modes_left_on(&self) -> Vec<String> {
        let seen = self.seen.0.lock().expect("lock");
        seen.modes_left_on()
    }

    /// The modes that are on between two frames: in one the cursor is hidden and mode 2026 is on.
    pub fn modes_between_frames(&self) -> Vec<String> {
        let (lock, woken) = &*self.seen;
        let until = Instant::now() + LIMIT;
        let mut seen = lock.lock().expect("lock");
        loop {
            let modes = seen.modes_left_on();
            if !modes.iter().any(|mode| mode == "?2026") || seen.over || Instant::now() > until {
                return modes;
            }
            seen = woken.wait_timeout(seen, LIMIT).expect("wait").0;
        }
    }

    /// Waits until exactly these modes are on. A frame or an undo may come in pieces, and another
    /// one may follow: a look at one moment would hit the middle of it.
    #[track_caller]
    pub fn wait_for_modes(&self, wanted: &[String]) {
        let (lock, woken) = &*self.seen;
        let until = Instant::now() + LIMIT;
        let mut seen = lock.lock().expect("lock");
        while seen.modes_left_on() != wanted {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || seen.over {
                let tail = String::from_utf8_lossy(&seen.raw[seen.raw.len().saturating_sub(400)..]);
                assert_eq!(seen.modes_left_on(), wanted, "the last bytes: {tail:?}");
            }
            seen = woken.wait_timeout(seen, left).expect("wait").0;
        }
    }

    /// Waits until the terminal is as a shell wants it: no mode left on, lines, echo and signal keys.
    #[track_caller]
    pub fn wait_until_as_before(&self) {
        self.wait_for_modes(&[]);
        let until = Instant::now() + LIMIT;
        while !self.is_cooked() {
            assert!(Instant::now() < until, "still raw; the screen:\n{}", self.screen());
            // Settings of a terminal have no event to wait on.
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Seen {
    fn modes_left_on(&self) -> Vec<String> {
        let mut left = modes_by_scan(&self.raw);
        left.extend(self.parser.callbacks().keyboard_left_on());
        let screen = self.parser.screen();
        for (name, on) in [
            ("vt100 alternate screen", screen.alternate_screen()),
            ("vt100 paste", screen.bracketed_paste()),
            ("vt100 keypad", screen.application_keypad()),
            ("vt100 cursor keys", screen.application_cursor()),
            ("vt100 hidden cursor", screen.hide_cursor()),
        ] {
            left.extend(on.then(|| name.to_owned()));
        }
        left
    }
}

impl Drop for PtyDriver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn modes_by_scan(raw: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(raw);
    let mut on: BTreeMap<String, bool> = BTreeMap::new();
    let mut depth = 0i32;
    for rest in text.split("\x1b[").skip(1) {
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(0);
        let (params, last) = (&rest[..end], &rest[end..(end + 1).min(rest.len())]);
        match (params.chars().next(), last) {
            (Some('?'), "h" | "l") => {
                for mode in params[1..].split(';') {
                    let default = matches!(mode, "7" | "25");
                    on.insert(format!("?{mode}"), (last == "h") != default);
                }
            }
            (Some('>'), "u") => depth += 1,
            (Some('<'), "u") => depth = (depth - params[1..].parse().unwrap_or(1)).max(0),
            // `>4;?m` of Gemini CLI asks, it sets nothing.
            (Some('>'), "m") if !params.contains('?') => {
                // `>4;0m` is off, like `>4m`.
                on.insert("keys".into(), params.contains(';') && !params.ends_with(";0"));
            }
            (_, "q") if params.ends_with(' ') => {
                on.insert("style".into(), params != "0 ");
            }
            (_, "t") if params.starts_with("22") => depth += 100,
            (_, "t") if params.starts_with("23") => depth -= 100,
            (_, "r") if !params.starts_with('?') => {
                on.insert("region".into(), !params.is_empty());
            }
            _ => {}
        }
    }
    let mut left: Vec<String> =
        on.into_iter().filter(|(_, on)| *on).map(|(mode, _)| mode).collect();
    left.extend((depth != 0).then(|| format!("stack {depth}")));
    left
}

/// The stand-in's log.
pub struct Log(pub PathBuf);

impl Log {
    pub fn events(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.0).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    pub fn all(&self, event: &str) -> Vec<Value> {
        self.events().into_iter().filter(|e| e["event"] == event).collect()
    }

    /// Waits for the first event of the name for which `holds`.
    #[track_caller]
    pub fn wait_for(&self, event: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let until = Instant::now() + LIMIT;
        loop {
            if let Some(found) = self.all(event).into_iter().find(|e| holds(e)) {
                return found;
            }
            assert!(Instant::now() < until, "no {event}: {:?}", self.events());
            // A file has no portable event to wait on.
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The texts of the submitted messages.
    pub fn submitted(&self) -> Vec<String> {
        let text = |e: &Value| e["text"].as_str().unwrap_or("").to_owned();
        self.all("submit").iter().map(text).collect()
    }
}

/// Whether a process exists.
pub fn is_alive(pid: i64) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return kill(Pid::from_raw(pid as i32), None).is_ok() && !cfg!(target_os = "linux");
    };
    // A zombie waits for its parent, it does nothing.
    !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z')
}

/// Waits for the end of a process that is not ours.
#[track_caller]
pub fn wait_until_dead(pid: i64) {
    let until = Instant::now() + LIMIT;
    while is_alive(pid) {
        assert!(Instant::now() < until, "process {pid} is alive after {LIMIT:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
