//! The loop. Forward first, look after: engine output is on the terminal before the gate sees it, and
//! no parser of its can hold it up. Each direction has one bounded buffer and goes on
//! when the other is blocked.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getpgrp, getsid};
use tokio::io::unix::AsyncFd;

use super::clock::{Clock, Due, RESIZE_PACE};
use super::outbox::Outbox;
use super::signals::{Received, Signals};
use super::view::View;
use super::{Hooks, WrappedOutcome, WrappedPlan};
use crate::engines::EngineEnd;
use crate::launch::editor_socket::{EditorEvent, EditorSocket};
use crate::launch::gate::{EditorReply, Effect, GateEvent, Gatekeeper};
use crate::launch::keeper::{Keeper, Report};
use crate::launch::plugin_tail::PluginTail;
use crate::launch::pty::Pty;
use crate::launch::terminal::Terminal;

/// Bytes read at once; a PTY gives at most 4 KB.
const CHUNK: usize = 16 << 10;
/// How long output is read on after the engine's end when something else keeps writing: D16.
const TAIL: Duration = Duration::from_millis(800);
/// How long a stopped reader of our terminal is waited for once the user wants the end.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Bytes of one line that every system takes in line mode (macOS 1,024, less our own doubt): D07.
const SAFE_LINE: usize = 1_000;
/// How often the engine is asked whether it still reads lines.
const LINE_MODE_LOOK: Duration = Duration::from_millis(20);
/// How long type-ahead over [`SAFE_LINE`] is held for it: most engines are up within 8 s.
const LINE_MODE_MOST: Duration = Duration::from_secs(15);

/// All that can happen.
enum Event {
    Signal(Received),
    Keeper,
    FromUser(io::Result<usize>),
    FromEngine(io::Result<usize>),
    TerminalTook(io::Result<usize>),
    EngineTook(io::Result<usize>),
    Editor(EditorEvent),
    Deadline,
}

struct Session<'a> {
    view: View,
    pty: Pty,
    group: Pid,
    to_engine: Outbox,
    gate: Box<dyn Gatekeeper>,
    /// The gate still decides.
    armed: bool,
    hooks: Hooks<'a>,
    editor: Option<EditorSocket>,
    plugin: Option<PluginTail>,
    clock: Clock,
    resized: Instant,
    /// Bytes that the engine was given since the last line end, while armed.
    line: usize,
    /// Since when type-ahead waits for the end of line mode.
    held_since: Option<Instant>,
    /// It has waited long enough.
    hold_over: bool,
    user_open: bool,
    engine_open: bool,
    /// The engine's end, and until when its output is read on.
    ended: Option<(EngineEnd, Instant)>,
    forwarded: Option<Signal>,
    notes: Vec<String>,
}

/// The descriptors to wait on.
struct Wait {
    signals: Signals,
    keeper: AsyncFd<OwnedFd>,
    user: AsyncFd<OwnedFd>,
    terminal: AsyncFd<OwnedFd>,
    engine: AsyncFd<OwnedFd>,
    from_user: Vec<u8>,
    from_engine: Vec<u8>,
}

pub(super) async fn run(
    plan: &WrappedPlan,
    terminal: Terminal,
    pty: Pty,
    keeper: Keeper,
    group: Pid,
    gate: Box<dyn Gatekeeper>,
    hooks: Hooks<'_>,
) -> io::Result<WrappedOutcome> {
    // First the signals: a size that changes from here on is not missed.
    let signals = Signals::listen()?;
    let mut wait = Wait {
        signals,
        keeper: watched(keeper.fd())?,
        user: watched(terminal.input())?,
        terminal: watched(terminal.output())?,
        engine: watched(pty.fd())?,
        from_user: vec![0; CHUNK],
        from_engine: vec![0; CHUNK],
    };
    let now = Instant::now();
    let mut session = Session {
        view: View::new(terminal, keeper),
        pty,
        group,
        to_engine: Outbox::default(),
        armed: !gate.is_done(),
        gate,
        hooks,
        editor: plan.editor.as_ref().map(EditorSocket::listen).transpose()?,
        plugin: plan.plugin_receipt.clone().map(PluginTail::new),
        clock: Clock::default(),
        resized: now,
        line: 0,
        held_since: None,
        hold_over: false,
        user_open: true,
        engine_open: true,
        ended: None,
        forwarded: None,
        notes: Vec::new(),
    };
    session.resize(now);
    while !session.is_over() {
        let event = session.next(&mut wait).await;
        session.handle(event, &wait);
    }
    Ok(session.close())
}

/// Whether a line of `bytes`, the first with `begun` in front, is longer than line mode surely takes.
fn is_long(begun: usize, bytes: &[u8]) -> bool {
    let mut lines = bytes.split(is_line_end);
    begun + lines.next().map_or(0, <[u8]>::len) > SAFE_LINE
        || lines.any(|line| line.len() > SAFE_LINE)
}

fn line_after(begun: usize, bytes: &[u8]) -> usize {
    match bytes.iter().rposition(is_line_end) {
        Some(at) => bytes.len() - at - 1,
        None => begun + bytes.len(),
    }
}

fn is_line_end(byte: &u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// A descriptor of its own for the reactor; it shares the non-blocking mode.
fn watched(fd: BorrowedFd<'_>) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an OwnedFd is one open descriptor for as long as the registration owns it.
    #[expect(unsafe_code)]
    unsafe { AsyncFd::register(fd.try_clone_to_owned()?) }.map_err(io::Error::from)
}

async fn read(fd: &AsyncFd<OwnedFd>, buf: &mut [u8]) -> io::Result<usize> {
    loop {
        let mut ready = fd.readable().await?;
        if let Ok(result) = ready.try_io(|fd| Ok(nix::unistd::read(fd, buf)?)) {
            return result;
        }
    }
}

async fn write(fd: &AsyncFd<OwnedFd>, bytes: &[u8]) -> io::Result<usize> {
    loop {
        let mut ready = fd.writable().await?;
        if let Ok(result) = ready.try_io(|fd| Ok(nix::unistd::write(fd, bytes)?)) {
            return result;
        }
    }
}

async fn readable(fd: &AsyncFd<OwnedFd>) {
    if let Ok(mut ready) = fd.readable().await {
        ready.clear_ready();
    }
}

async fn next_editor(editor: &mut Option<EditorSocket>) -> EditorEvent {
    match editor {
        Some(editor) => editor.next().await,
        None => std::future::pending().await,
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

impl Session<'_> {
    async fn next(&mut self, wait: &mut Wait) -> Event {
        let hold = self.holds_for_line_mode();
        let last = self.ended.and_then(|(_, until)| self.forwarded.map(|_| until + LAST_WORDS));
        let deadline = self.clock.next().into_iter().chain(last).min();
        let (view, to_engine) = (&self.view, &self.to_engine);
        // Rare and urgent first: none of these can starve the ones below it.
        tokio::select! {
            biased;
            signal = wait.signals.next() => Event::Signal(signal),
            () = readable(&wait.keeper), if self.ended.is_none() => Event::Keeper,
            n = read(&wait.user, &mut wait.from_user), if self.user_open && self.ended.is_none() && !to_engine.is_full() => Event::FromUser(n),
            n = write(&wait.engine, to_engine.waiting()), if !hold && !to_engine.is_empty() && self.engine_open => Event::EngineTook(n),
            n = write(&wait.terminal, view.outbox.waiting()), if !view.outbox.is_empty() => Event::TerminalTook(n),
            n = read(&wait.engine, &mut wait.from_engine), if self.engine_open && !view.outbox.is_full() => Event::FromEngine(n),
            event = next_editor(&mut self.editor) => Event::Editor(event),
            () = until(deadline) => Event::Deadline,
        }
    }

    fn handle(&mut self, event: Event, wait: &Wait) {
        match event {
            Event::Signal(received) => self.signal(received),
            Event::Keeper => self.keeper(),
            Event::FromUser(Ok(n)) if n > 0 => self.user_typed(&wait.from_user[..n]),
            Event::FromUser(Err(e)) if e.raw_os_error() == Some(Errno::EINTR as i32) => {}
            // Raw mode has no end of input but the terminal's own.
            Event::FromUser(_) => {
                self.user_open = false;
                self.view.hang_up();
                self.forward(Signal::SIGHUP);
            }
            Event::FromEngine(Ok(n)) if n > 0 => {
                let bytes = &wait.from_engine[..n];
                self.view.give(bytes);
                if self.armed {
                    self.tell_gate(GateEvent::EngineBytes(bytes));
                }
            }
            Event::FromEngine(Err(e)) if e.raw_os_error() == Some(Errno::EINTR as i32) => {}
            // EIO: nobody holds the other side any more.
            Event::FromEngine(_) => self.engine_open = false,
            Event::TerminalTook(Ok(n)) => self.view.took(n),
            Event::TerminalTook(Err(e)) if e.raw_os_error() == Some(Errno::EINTR as i32) => {}
            Event::TerminalTook(Err(_)) => self.view.hang_up(),
            Event::EngineTook(Ok(n)) => {
                self.line = line_after(self.line, &self.to_engine.waiting()[..n]);
                self.to_engine.take(n);
            }
            Event::EngineTook(Err(e)) if e.raw_os_error() == Some(Errno::EINTR as i32) => {}
            Event::EngineTook(Err(_)) => self.to_engine.clear(),
            Event::Editor(event) => self.editor(event),
            Event::Deadline => self.deadlines(),
        }
        if self.ended.is_some() {
            self.read_tail();
        }
    }

    fn user_typed(&mut self, bytes: &[u8]) {
        if self.armed {
            self.tell_gate(GateEvent::UserBytes(bytes));
        } else {
            self.give_engine(bytes);
        }
    }

    /// At once where the engine takes it.
    fn give_engine(&mut self, bytes: &[u8]) {
        let mut done = 0;
        if self.to_engine.is_empty() && !(self.armed && is_long(self.line, bytes)) {
            done = nix::unistd::write(self.pty.fd(), bytes).unwrap_or(0);
            self.line = line_after(self.line, &bytes[..done]);
        }
        self.to_engine.push(&bytes[done..]);
    }

    /// Whether what waits for the engine must wait on: it has a line that line mode would cut, and
    /// the engine has not left line mode yet. Only before the first message: later it is what it is.
    fn holds_for_line_mode(&mut self) -> bool {
        if !self.armed || self.hold_over || !is_long(self.line, self.to_engine.waiting()) {
            return false;
        }
        if !self.pty.is_canonical() {
            (self.held_since, self.line) = (None, 0);
            return false;
        }
        let now = Instant::now();
        if now.duration_since(*self.held_since.get_or_insert(now)) > LINE_MODE_MOST {
            self.hold_over = true;
            self.notes.push(
                "the engine reads whole lines: the system cuts those over about 4,000 bytes".into(),
            );
            return false;
        }
        self.clock.again_at(now + LINE_MODE_LOOK);
        true
    }

    fn tell_gate(&mut self, event: GateEvent<'_>) {
        let now = Instant::now();
        if self.plugin.is_some() {
            self.clock.expect_plugin(now);
        }
        for effect in self.gate.event(event, now) {
            match effect {
                Effect::ToEngine(bytes) => self.give_engine(&bytes),
                Effect::SetTimer { id, after } => self.clock.set_gate(id, now + after),
                Effect::CancelTimer(id) => self.clock.cancel_gate(id),
                Effect::Record(text) => (self.hooks.record)(&text),
                Effect::EditorReply(reply) => {
                    if let Some(editor) = &mut self.editor {
                        editor.reply(&reply);
                    }
                }
                Effect::Note(line) => self.notes.push(line),
                Effect::Done => self.armed = false,
            }
        }
        if !self.armed || self.gate.is_done() {
            self.armed = false;
            self.clock.gate_is_done();
        }
    }

    fn editor(&mut self, event: EditorEvent) {
        match event {
            EditorEvent::Called(text) if self.armed => {
                self.tell_gate(GateEvent::EditorCalled { text });
            }
            EditorEvent::Called(_) => {
                if let Some(editor) = &mut self.editor {
                    editor.reply(&EditorReply::RunUsersEditor);
                }
            }
            EditorEvent::Returned if self.armed => self.tell_gate(GateEvent::EditorReturned),
            EditorEvent::Returned | EditorEvent::Nothing => {}
        }
    }

    fn deadlines(&mut self) {
        let now = Instant::now();
        while let Some(due) = self.clock.due(now) {
            match due {
                Due::Gate(id) if self.armed => self.tell_gate(GateEvent::Timer(id)),
                Due::Gate(_) | Due::Again => {}
                Due::Resize => self.resize(now),
                Due::Signal(signal) => drop(killpg(self.group, signal)),
                Due::Plugin => {
                    let reports = self.plugin.as_mut().map(PluginTail::look);
                    for report in reports.into_iter().flatten() {
                        self.tell_gate(GateEvent::PluginReport(report));
                    }
                }
            }
        }
    }

    fn signal(&mut self, received: Received) {
        let now = Instant::now();
        match received {
            Received::Resize if now.duration_since(self.resized) >= RESIZE_PACE => self.resize(now),
            Received::Resize => self.clock.resize_at(self.resized + RESIZE_PACE),
            Received::Forward(signal) => self.forward(signal),
            Received::Stop => {
                let _ = killpg(self.group, Signal::SIGTSTP);
                self.clock.expect_stop(now);
            }
            Received::Continued => {
                self.view.raw();
                self.resize(now);
                let _ = killpg(self.group, Signal::SIGWINCH);
            }
        }
    }

    fn forward(&mut self, signal: Signal) {
        self.forwarded.get_or_insert(signal);
        let _ = killpg(self.group, signal);
        // A stopped one must be able to end.
        let _ = killpg(self.group, Signal::SIGCONT);
        self.clock.escalate(signal, Instant::now());
    }

    fn resize(&mut self, now: Instant) {
        self.resized = now;
        let size = self.view.size();
        self.pty.resize(size);
        if self.armed {
            self.tell_gate(GateEvent::Resized { rows: size.rows, cols: size.cols });
        }
    }

    fn keeper(&mut self) {
        loop {
            match self.view.report() {
                Ok(Some(Report::Stopped)) => self.stop(),
                Ok(Some(Report::Ended(end))) => {
                    self.ended = Some((end, Instant::now() + TAIL));
                    return;
                }
                Ok(Some(Report::Started(_) | Report::Failed(_)) | None) => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                // The keeper was killed: the engine has lost its terminal with it.
                Err(_) => {
                    let _ = killpg(self.group, Signal::SIGKILL);
                    let end = EngineEnd { code: None, signal: Some(Signal::SIGKILL as i32) };
                    self.ended = Some((end, Instant::now() + TAIL));
                    return;
                }
            }
        }
    }

    /// The engine has stopped (Ctrl-Z): the terminal is given back and we stop as well, with our
    /// whole group, as a shell expects it. Goes on when the shell continues us.
    fn stop(&mut self) {
        self.clock.has_stopped();
        let until = Instant::now() + TAIL;
        while self.read_engine_now() && Instant::now() < until {
            self.view.flush();
        }
        self.view.flush();
        // Without a shell that waits for us (we lead the session's own group) nobody could continue
        // us: then the engine goes on at once.
        if getsid(None).is_ok_and(|session| session != getpgrp()) && !self.view.gone {
            self.view.leave();
            let _ = killpg(getpgrp(), Signal::SIGSTOP);
            self.view.come_back();
            self.resize(Instant::now());
        }
        let _ = killpg(self.group, Signal::SIGCONT);
        // It paints anew: the shell has written over its screen.
        let _ = killpg(self.group, Signal::SIGWINCH);
    }

    /// Passes on one piece of what the engine has written; false: there is nothing now.
    fn read_engine_now(&mut self) -> bool {
        let mut buf = [0; 4096];
        match nix::unistd::read(self.pty.fd(), &mut buf) {
            Ok(n) if n > 0 => {
                self.view.give(&buf[..n]);
                if self.armed {
                    self.tell_gate(GateEvent::EngineBytes(&buf[..n]));
                }
                true
            }
            Err(Errno::EINTR) => true,
            _ => false,
        }
    }

    /// After the engine's end. The kernel hands over what a dead writer has written before it says
    /// "would block", so that this is the whole tail; what others still write is theirs.
    fn read_tail(&mut self) {
        let Some((_, until)) = self.ended else { return };
        while self.engine_open && !self.view.outbox.is_full() {
            if !self.read_engine_now() || Instant::now() > until {
                self.engine_open = false;
            }
        }
    }

    fn is_over(&self) -> bool {
        let Some((_, until)) = self.ended else { return false };
        let given_up = self.forwarded.is_some() && Instant::now() > until + LAST_WORDS;
        given_up || (!self.engine_open && self.view.outbox.is_empty())
    }

    fn close(self) -> WrappedOutcome {
        if self.forwarded.is_some() {
            // Children that ignored the polite signal do not outlive the run.
            let _ = killpg(self.group, Signal::SIGKILL);
        }
        let mut notes = self.notes;
        if !self.to_engine.is_empty() {
            let left = self.to_engine.waiting().len();
            notes.push(format!("the engine ended before it had read the last {left} bytes typed"));
        }
        let end = self.ended.map_or(EngineEnd { code: None, signal: None }, |(end, _)| end);
        WrappedOutcome {
            end,
            forwarded: self.forwarded.map(|signal| signal as i32),
            notes,
            undone: self.view.close(),
            gate_done: !self.armed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d07_a_line_is_long_however_it_was_typed() {
        assert!(is_long(0, &[b'a'; SAFE_LINE + 1]) && !is_long(0, &[b'a'; SAFE_LINE]));
        assert!(is_long(SAFE_LINE, b"a") && !is_long(SAFE_LINE, b"\ra"));
        assert_eq!((line_after(7, b"ab"), line_after(7, b"a\rbc"), line_after(7, b"")), (9, 2, 7));
    }
}
