//! A stand-in for an engine's own interface: a real composer in a real terminal, with switches for
//! what real engines do. Each message and event is a line of JSON in `FAKE_LOG`.
//!
//! | variable | effect |
//! |---|---|
//! | `FAKE_READY_MS` | stays in line mode for so long, then starts |
//! | `FAKE_NOREAD_MS` | raw mode, but reads nothing for so long |
//! | `FAKE_NO2004` | no bracketed paste |
//! | `FAKE_KITTY` | kitty keyboard |
//! | `FAKE_MODES` | sets every mode there is |
//! | `FAKE_CHUNK` | writes so many bytes at once |
//! | `FAKE_TRUST` | trust dialog first, "No, exit" under the cursor |
//! | `FAKE_SURVEY` | a survey after the first message that eats the digits 0 to 3 |
//! | `FAKE_SAMECHUNK` | an Enter that comes together with text is a newline |
//! | `FAKE_BURST_MS` | so is one within so long after a paste or three characters at once |
//! | `FAKE_COMPLETION` | a list opens on `/` and `@` that eats one Enter |
//! | `FAKE_PLACEHOLDER` | pastes over so many characters are shown folded |
//! | `FAKE_FLOOD` | so many bytes of output after each message |
//! | `FAKE_BUSY_MS` | works for so long after each message; Enter then does nothing |
//! | `FAKE_MARKS` | OSC 7501 `state=idle` and `state=working` |
//! | `FAKE_HISTORY` | what Up recalls |
//! | `FAKE_EXIT` | exit code of `/quit` and Ctrl-D |
//! | `FAKE_UNTIDY` | leaves the modes on at the end |
//! | `FAKE_IGNORE` | ignores HUP and TERM |
//! | `FAKE_MODE` | `tail`: prints and ends; `child`: a grandchild holds the terminal; `count`: reads to the end mark and logs length and hash |
//!
//! Commands: `/quit`, `/die N` (kills itself by signal N), `/flood N`; other `/…` and `!…` lines are
//! logged as commands. Ctrl-G opens `$VISUAL` on the draft, Ctrl-Z stops, Ctrl-C clears and, on an
//! empty draft, ends.

mod composer;
mod keys;
mod screen;

use std::io::{Read, Write};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use composer::Composer;
use keys::{Decoder, Key};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, kill, sigaction};
use nix::unistd::{Pid, getpid};
use screen::Screen;
use serde_json::{Value, json};
use std::os::fd::AsFd;

/// After this a lone ESC is the key.
const ESCAPE_TIME: Duration = Duration::from_millis(50);

struct Switches;

impl Switches {
    fn text(&self, name: &str) -> Option<String> {
        std::env::var(format!("FAKE_{name}")).ok().filter(|v| !v.is_empty())
    }

    fn is_on(&self, name: &str) -> bool {
        self.text(name).is_some_and(|v| v != "0")
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }
}

fn log(event: &Value) {
    let Some(path) = std::env::var_os("FAKE_LOG") else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut f| f.write_all(format!("{event}\n").as_bytes())).expect("FAKE_LOG");
}

static RESIZED: AtomicBool = AtomicBool::new(false);
static ENDED: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(signal: i32) {
    match Signal::try_from(signal) {
        Ok(Signal::SIGWINCH) => RESIZED.store(true, Ordering::Relaxed),
        _ => ENDED.store(true, Ordering::Relaxed),
    }
}

fn listen(switches: &Switches) {
    let ignore = switches.is_on("IGNORE");
    for signal in [Signal::SIGWINCH, Signal::SIGHUP, Signal::SIGTERM, Signal::SIGINT] {
        let handler = match signal {
            Signal::SIGHUP | Signal::SIGTERM if ignore => SigHandler::SigIgn,
            _ => SigHandler::Handler(on_signal),
        };
        let action = SigAction::new(handler, SaFlags::empty(), SigSet::empty());
        // SAFETY: the handler only stores to an atomic.
        #[expect(unsafe_code)]
        unsafe { sigaction(signal, &action) }.expect("sigaction");
    }
}

#[derive(PartialEq)]
enum Scene {
    Trust { yes: bool },
    Composer,
    Survey,
}

struct Engine {
    switches: Switches,
    screen: Screen,
    composer: Composer,
    decoder: Decoder,
    scene: Scene,
    head: Vec<String>,
    list_open: bool,
    /// The last paste, or typing fast enough to be one.
    pasted: Option<Instant>,
    busy_until: Option<Instant>,
    surveyed: bool,
    folded: Vec<String>,
    exit: Option<u8>,
}

fn main() -> ExitCode {
    let switches = Switches;
    let screen = Screen::new(&switches);
    log(&json!({
        "event": "start", "size": [screen.rows, screen.cols], "pid": getpid().as_raw(),
        "args": std::env::args().skip(1).collect::<Vec<_>>(),
    }));
    match switches.text("MODE").as_deref() {
        Some("tail") => return tail(),
        Some("child") => return grandchild(),
        _ => {}
    }
    listen(&switches);
    pause(switches.number("READY_MS"));
    screen.enter();
    pause(switches.number("NOREAD_MS"));
    if switches.text("MODE").as_deref() == Some("count") {
        return count(&screen);
    }
    let scene = if switches.is_on("TRUST") { Scene::Trust { yes: false } } else { Scene::Composer };
    let mut composer = Composer::default();
    composer.history = switches.text("HISTORY").into_iter().collect();
    let decoder = Decoder::new(!switches.is_on("NO2004"));
    let engine = Engine {
        switches,
        screen,
        composer,
        decoder,
        scene,
        head: vec!["fake engine ready".into()],
        list_open: false,
        pasted: None,
        busy_until: None,
        surveyed: false,
        folded: Vec::new(),
        exit: None,
    };
    log(&json!({"event": "ready"}));
    engine.mark();
    engine.run()
}

/// A real wait, as the program that it stands for has one.
fn pause(ms: Option<u64>) {
    std::thread::sleep(Duration::from_millis(ms.unwrap_or(0)));
}

fn tail() -> ExitCode {
    let lines: String = (0..400).map(|n| format!("line {n} of the answer\r\n")).collect();
    let mut out = std::io::stdout();
    let _ = out.write_all(lines.as_bytes()).and_then(|()| out.write_all(b"LAST-LINE"));
    let _ = out.flush();
    ExitCode::from(7)
}

#[expect(clippy::zombie_processes, reason = "it is to outlive this program")]
fn grandchild() -> ExitCode {
    let script = "trap '' HUP; while printf x; do sleep 0.05; done";
    let child = Command::new("bash").arg("-c").arg(script).spawn().expect("bash");
    log(&json!({"event": "grandchild", "pid": child.id()}));
    let _ = std::io::stdout().write_all(b"LAST-LINE");
    ExitCode::from(3)
}

/// Reads up to `END\r` and says what came.
fn count(screen: &Screen) -> ExitCode {
    screen.write(b"counting");
    let (mut all, mut buf) = (Vec::new(), [0; 1024]);
    while !all.ends_with(b"END\r") {
        match std::io::stdin().lock().read(&mut buf) {
            Ok(n) if n > 0 => all.extend_from_slice(&buf[..n]),
            _ => break,
        }
    }
    let sum = all.iter().fold(0u64, |sum, b| sum.wrapping_mul(31).wrapping_add(u64::from(*b)));
    log(&json!({"event": "counted", "len": all.len(), "sum": sum}));
    screen.leave();
    ExitCode::SUCCESS
}

impl Engine {
    fn run(mut self) -> ExitCode {
        self.paint();
        let mut buf = [0; 1024];
        loop {
            if ENDED.load(Ordering::Relaxed) {
                log(&json!({"event": "signal"}));
                self.exit = Some(143);
            }
            if let Some(code) = self.exit {
                if !self.switches.is_on("UNTIDY") {
                    self.screen.leave();
                }
                log(&json!({"event": "exit", "code": code}));
                return ExitCode::from(code);
            }
            if RESIZED.swap(false, Ordering::Relaxed) {
                self.screen.measure();
                log(&json!({"event": "size", "size": [self.screen.rows, self.screen.cols]}));
                self.paint();
            }
            let busy = self.busy_until.map(|at| at.saturating_duration_since(Instant::now()));
            let escape = self.decoder.waits().then_some(ESCAPE_TIME);
            let wait = busy.into_iter().chain(escape).min();
            let timeout = wait.map_or(PollTimeout::NONE, |w| {
                PollTimeout::try_from(w + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
            });
            let stdin = std::io::stdin();
            let ready = poll(&mut [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)], timeout);
            if self.busy_until.is_some_and(|at| Instant::now() >= at) {
                self.busy_until = None;
                self.mark();
                self.paint();
            }
            let keys = match ready {
                Ok(0) => self.decoder.lone_escape().into_iter().collect(),
                Ok(_) => match nix::unistd::read(stdin.as_fd(), &mut buf) {
                    Ok(0) | Err(nix::errno::Errno::EIO) => {
                        log(&json!({"event": "hangup"}));
                        return ExitCode::from(1);
                    }
                    Ok(n) => self.decoder.feed(&buf[..n]),
                    Err(_) => Vec::new(),
                },
                Err(_) => Vec::new(),
            };
            self.take(&keys);
        }
    }

    fn take(&mut self, keys: &[Key]) {
        let printed = |key: &Key| matches!(key, Key::Text(_));
        for (at, key) in keys.iter().enumerate() {
            let together = keys[..at].iter().any(|k| printed(k) || matches!(k, Key::Paste(_)));
            self.key(key, together);
        }
        if keys.iter().any(|k| matches!(k, Key::Paste(_)))
            || keys.iter().filter(|k| printed(k)).count() >= 3
        {
            self.pasted = Some(Instant::now());
        }
        if !keys.is_empty() && self.exit.is_none() {
            self.paint();
        }
    }

    fn key(&mut self, key: &Key, together: bool) {
        match &mut self.scene {
            Scene::Trust { yes } => match key {
                Key::Text('1') => self.trust(true),
                Key::Text('2') => self.trust(false),
                Key::Up | Key::Down => *yes = !*yes,
                Key::Enter => {
                    let yes = *yes;
                    self.trust(yes);
                }
                _ => {}
            },
            Scene::Survey => match key {
                Key::Text(c @ '0'..='3') => {
                    log(&json!({"event": "survey", "answer": c.to_string()}));
                    self.scene = Scene::Composer;
                }
                _ => {
                    self.scene = Scene::Composer;
                    self.compose(key, together);
                }
            },
            Scene::Composer => self.compose(key, together),
        }
    }

    fn trust(&mut self, yes: bool) {
        log(&json!({"event": "trust", "yes": yes}));
        match yes {
            true => self.scene = Scene::Composer,
            false => self.exit = Some(1),
        }
    }

    fn compose(&mut self, key: &Key, together: bool) {
        match key {
            Key::Enter => self.enter(together),
            Key::Ctrl('g') => self.edit(),
            Key::Ctrl('z') => self.stop(),
            Key::Ctrl('c') if self.composer.is_empty() => self.exit = Some(0),
            Key::Ctrl('c') => drop(self.composer.take()),
            Key::Ctrl('d') if self.composer.is_empty() => self.exit = Some(self.code()),
            Key::Escape => {
                log(&json!({"event": "escape"}));
                self.list_open = false;
            }
            Key::Paste(text) => {
                log(&json!({"event": "paste", "len": text.len()}));
                let fold = self.switches.number("PLACEHOLDER");
                match fold.is_some_and(|most| text.chars().count() as u64 > most) {
                    true => {
                        self.folded.push(text.clone());
                        let lines = text.matches('\n').count() + 1;
                        self.composer.insert(&format!(
                            "[Pasted text #{} +{lines} lines]",
                            self.folded.len()
                        ));
                    }
                    false => self.composer.key(key),
                }
            }
            Key::Text('/' | '@') => {
                self.list_open = self.switches.is_on("COMPLETION");
                self.composer.key(key);
            }
            _ => self.composer.key(key),
        }
    }

    fn enter(&mut self, together: bool) {
        let burst = self.switches.number("BURST_MS").map(Duration::from_millis);
        let in_burst = burst.is_some_and(|b| self.pasted.is_some_and(|at| at.elapsed() < b));
        if in_burst || (together && self.switches.is_on("SAMECHUNK")) {
            self.composer.insert("\n");
            // A newline keeps the burst going.
            self.pasted = Some(Instant::now());
            return;
        }
        if self.list_open {
            self.list_open = false;
            log(&json!({"event": "completion"}));
            return;
        }
        if self.composer.is_empty() || self.busy_until.is_some() {
            log(&json!({"event": "idle-enter"}));
            return;
        }
        let mut text = self.composer.take();
        for (at, paste) in self.folded.drain(..).enumerate() {
            let lines = paste.matches('\n').count() + 1;
            text = text.replacen(&format!("[Pasted text #{} +{lines} lines]", at + 1), &paste, 1);
        }
        self.submit(&text);
    }

    fn submit(&mut self, text: &str) {
        if let Some(command) = text.strip_prefix('/').or_else(|| text.strip_prefix('!')) {
            log(&json!({"event": "command", "text": text}));
            self.head.push(format!("ran {command}"));
            let mut words = command.split(' ');
            let (name, number) = (words.next(), words.next().and_then(|n| n.parse::<u64>().ok()));
            match (name, number) {
                (Some("quit"), _) => self.exit = Some(self.code()),
                (Some("die"), Some(signal)) => {
                    let signal = Signal::try_from(signal as i32).expect("a signal");
                    let action =
                        SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
                    if !matches!(signal, Signal::SIGKILL | Signal::SIGSTOP) {
                        // SAFETY: the default action.
                        #[expect(unsafe_code)]
                        unsafe { sigaction(signal, &action) }.expect("sigaction");
                    }
                    kill(getpid(), signal).expect("kill");
                }
                (Some("flood"), Some(bytes)) => self.flood(bytes),
                _ => {}
            }
            return;
        }
        log(&json!({"event": "submit", "text": text, "len": text.len()}));
        self.composer.history.push(text.to_owned());
        self.head.push(format!("> {}", text.lines().next().unwrap_or("")));
        if let Some(bytes) = self.switches.number("FLOOD") {
            self.flood(bytes);
        }
        if let Some(ms) = self.switches.number("BUSY_MS") {
            self.busy_until = Some(Instant::now() + Duration::from_millis(ms));
        }
        self.mark();
        if self.switches.is_on("SURVEY") && !self.surveyed {
            self.surveyed = true;
            self.scene = Scene::Survey;
        }
    }

    /// Three-byte signs, so that every boundary falls inside one sooner or later.
    fn flood(&mut self, bytes: u64) {
        let line = "\u{2502}\u{4e2d}\u{6587}\u{2502}".repeat(6) + "\r\n";
        let count = bytes as usize / line.len() + 1;
        self.screen.write(line.repeat(count).as_bytes());
        log(&json!({"event": "flooded", "bytes": line.len() * count}));
        self.head.push("flooded".into());
    }

    fn mark(&self) {
        if self.switches.is_on("MARKS") {
            let state = if self.busy_until.is_some() { "working" } else { "idle" };
            self.screen.write(format!("\x1b]7501;state={state}\x07").as_bytes());
        }
    }

    fn code(&self) -> u8 {
        self.switches.number("EXIT").unwrap_or(0) as u8
    }

    /// As engines do it: the draft in a file, the terminal handed over, the file read back.
    fn edit(&mut self) {
        let editor =
            std::env::var("VISUAL").or_else(|_| std::env::var("EDITOR")).unwrap_or_default();
        let dir = std::env::temp_dir().join(format!("fake-engine-{}", getpid()));
        let _ = std::fs::create_dir(&dir);
        let file = dir.join("draft.md");
        std::fs::write(&file, self.composer.text()).expect("draft");
        self.screen.leave();
        let status = Command::new("/bin/sh")
            .arg("-c")
            .arg(format!("{editor} \"$1\""))
            .arg("sh")
            .arg(&file)
            .status();
        // Keys typed while the editor ran are lost, as in real engines.
        let _ = nix::sys::termios::tcflush(std::io::stdin(), nix::sys::termios::FlushArg::TCIFLUSH);
        self.screen.enter();
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        log(
            &json!({"event": "edited", "ok": status.is_ok_and(|s| s.success()), "len": text.len()}),
        );
        self.composer.set(text.strip_suffix('\n').unwrap_or(&text));
        let _ = std::fs::remove_dir_all(&dir);
    }

    fn stop(&mut self) {
        log(&json!({"event": "stop"}));
        self.screen.leave();
        let _ = kill(Pid::from_raw(0), Signal::SIGTSTP);
        self.screen.enter();
        log(&json!({"event": "continue"}));
    }

    fn paint(&self) {
        match self.scene {
            Scene::Trust { yes } => {
                let at = |on: bool| if on { '\u{276f}' } else { ' ' };
                let head = [
                    "Do you trust the files in this folder?".to_owned(),
                    format!("{} 1. Yes, proceed", at(yes)),
                    format!("{} 2. No, exit", at(!yes)),
                ];
                self.screen.paint(&head, "", "Enter to confirm");
            }
            Scene::Composer | Scene::Survey => {
                let mut head = self.head.clone();
                if self.scene == Scene::Survey {
                    head.push("How is it going? 1: Bad 2: Fine 3: Good 0: Dismiss".into());
                }
                if self.list_open {
                    head.push("  /help   /quit".into());
                }
                let foot =
                    if self.busy_until.is_some() { "esc to interrupt" } else { "? for shortcuts" };
                self.screen.paint(&head, &self.composer.text(), foot);
            }
        }
    }
}
