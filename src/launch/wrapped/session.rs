//! The loop. Forward first, look after: engine output is on the terminal before the gate sees it, and
//! no parser of its can hold it up. Each direction has one bounded buffer and goes on
//! when the other is blocked.

use std::io;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getpgrp, getsid};

use super::clock::{Clock, Due, RESIZE_PACE};
use super::outbox::Outbox;
use super::signals::{self, Received, Signals};
use super::view::View;
use super::wait::{Ready, Source, Wait};
use super::{Hooks, WrappedOutcome, WrappedPlan};
use crate::engines::EngineEnd;
use crate::launch::editor_socket::{EditorEvent, EditorSocket};
use crate::launch::gate::{EditorReply, Effect, GateEvent, Gatekeeper};
use crate::launch::keeper::{Keeper, Report};
use crate::launch::notice::Notice;
use crate::launch::plugin_tail::PluginTail;
use crate::launch::pty::Pty;
use crate::launch::terminal::Terminal;

/// Bytes read at once; a PTY gives at most 4 KB.
const CHUNK: usize = 16 << 10;
/// A piece of this size has more behind it, most likely; in bytes.
const FULL: usize = 2 << 10;
/// So many pieces are read before the keys are looked at again.
const PIECES: usize = 4;
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

/// What came of a read of the engine's output.
enum Tail {
    /// So many bytes.
    More(usize),
    /// There is nothing now.
    Nothing,
    /// There will be nothing any more.
    End,
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

pub(super) fn run(
    plan: &WrappedPlan,
    terminal: Terminal,
    pty: Pty,
    keeper: Keeper,
    group: Pid,
    gate: Box<dyn Gatekeeper>,
    hooks: Hooks<'_>,
) -> io::Result<WrappedOutcome> {
    // First the signals: a size that changes from here on is not missed.
    let mut signals = Signals::listen()?;
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
    let mut buf = vec![0; CHUNK];
    while !session.is_over() {
        let ready = session.wait(&signals);
        session.handle(ready, &mut signals, &mut buf);
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

impl Session<'_> {
    /// Waits until something can be done.
    fn wait(&mut self, signals: &Signals) -> Ready {
        let holds = self.holds_for_line_mode();
        let last = self.ended.and_then(|(_, until)| self.forwarded.map(|_| until + LAST_WORDS));
        let deadline = self.clock.next().into_iter().chain(last).min();
        let mut wait = Wait::default();
        wait.on(Source::Signals, signals.fd(), PollFlags::POLLIN);
        if self.ended.is_none() {
            if let Some(keeper) = self.view.keeper_fd() {
                wait.on(Source::Keeper, keeper, PollFlags::POLLIN);
            }
            if self.user_open && !self.to_engine.is_full() {
                wait.on(Source::User, self.view.input(), PollFlags::POLLIN);
            }
        }
        let (mut engine, mut takes) = (PollFlags::empty(), PollFlags::empty());
        engine.set(PollFlags::POLLIN, !self.view.outbox.is_full());
        takes.set(PollFlags::POLLOUT, !holds && !self.to_engine.is_empty());
        if self.engine_open {
            wait.on(Source::Engine, self.pty.fd(), engine);
            wait.on(Source::EngineTakes, self.pty.fd(), takes);
        }
        if !self.view.outbox.is_empty() {
            wait.on(Source::TerminalTakes, self.view.output(), PollFlags::POLLOUT);
        }
        for (fd, flags) in self.editor.iter().flat_map(EditorSocket::waits) {
            wait.on(Source::Editor, fd, flags);
        }
        wait.until(deadline)
    }

    /// Does what can be done: rare and urgent first, then the keys, then the output. No one of them
    /// keeps the others waiting longer than for one piece.
    fn handle(&mut self, ready: Ready, signals: &mut Signals, buf: &mut [u8]) {
        if ready.has(Source::Signals) {
            signals.take().into_iter().for_each(|received| self.signal(received));
        }
        if ready.has(Source::Keeper) && self.ended.is_none() {
            self.keeper();
        }
        if ready.has(Source::User) && self.ended.is_none() {
            self.read_user(buf);
        }
        if ready.has(Source::EngineTakes) {
            self.write_engine();
        }
        if ready.has(Source::TerminalTakes) {
            self.view.write_waiting();
        }
        if ready.has(Source::Engine) && self.ended.is_none() {
            self.read_engine(buf);
        }
        if ready.has(Source::Editor)
            && let Some(editor) = &mut self.editor
        {
            let event = editor.next();
            self.editor(event);
        }
        self.deadlines();
        if self.ended.is_some() {
            self.read_tail(buf);
        }
    }

    fn read_user(&mut self, buf: &mut [u8]) {
        match nix::unistd::read(self.view.input(), buf) {
            Ok(n) if n > 0 => self.user_typed(&buf[..n]),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            // Raw mode has no end of input but the terminal's own.
            _ => {
                self.user_open = false;
                self.view.hang_up();
                self.forward(Signal::SIGHUP);
            }
        }
    }

    fn write_engine(&mut self) {
        match nix::unistd::write(self.pty.fd(), self.to_engine.waiting()) {
            Ok(n) => {
                self.line = line_after(self.line, &self.to_engine.waiting()[..n]);
                self.to_engine.take(n);
            }
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(_) => self.to_engine.clear(),
        }
    }

    /// Passes on what the engine has written; the end of it when nobody holds the other side any more.
    fn read_engine(&mut self, buf: &mut [u8]) {
        for _ in 0..PIECES {
            if self.view.outbox.is_full() {
                return;
            }
            match self.read_engine_now(buf) {
                Tail::More(n) if n >= FULL => {}
                Tail::More(_) | Tail::Nothing => return,
                Tail::End => {
                    self.engine_open = false;
                    return;
                }
            }
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
                Effect::Done => {
                    self.armed = false;
                    if self.notes.is_empty() {
                        (self.hooks.notice)(Notice::Accepted(match self.plugin {
                            Some(_) => "the request plugin reported it",
                            None => "the engine's composer emptied",
                        }));
                    }
                }
            }
        }
        if !self.armed || self.gate.is_done() {
            self.armed = false;
            self.clock.gate_is_done();
        }
        self.gate.settle();
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
                        if let Some(id) = &report.session {
                            (self.hooks.notice)(Notice::Session(id.clone()));
                        }
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
            Received::Continued if self.view.gone => {}
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
        let (until, mut buf) = (Instant::now() + TAIL, [0; 4096]);
        while matches!(self.read_engine_now(&mut buf), Tail::More(_)) && Instant::now() < until {
            self.view.flush();
        }
        self.view.flush();
        // Without a shell that waits for us (we lead the session's own group) nobody could continue
        // us: then the engine goes on at once.
        if getsid(None).is_ok_and(|session| session != getpgrp()) && !self.view.gone {
            self.view.leave();
            signals::forget_ends();
            let _ = killpg(getpgrp(), Signal::SIGSTOP);
            if signals::end_is_asked() && !self.view.is_foreground() {
                // `kill %1`: continued to be ended, in the background. There the terminal would stop us
                // again, with the signal unheard.
                self.view.hang_up();
                self.user_open = false;
            } else {
                self.view.come_back();
                self.resize(Instant::now());
            }
        }
        let _ = killpg(self.group, Signal::SIGCONT);
        // It paints anew: the shell has written over its screen.
        let _ = killpg(self.group, Signal::SIGWINCH);
    }

    /// Passes on one piece of what the engine has written.
    fn read_engine_now(&mut self, buf: &mut [u8]) -> Tail {
        match nix::unistd::read(self.pty.fd(), buf) {
            Ok(n) if n > 0 => {
                self.view.give(&buf[..n]);
                if self.armed {
                    self.tell_gate(GateEvent::EngineBytes(&buf[..n]));
                }
                Tail::More(n)
            }
            Err(Errno::EINTR) => Tail::More(0),
            Err(Errno::EAGAIN) => Tail::Nothing,
            // EIO, or 0 on macOS: nobody holds the other side.
            _ => Tail::End,
        }
    }

    /// After the engine's end. The kernel hands over what a dead writer has written before it says
    /// "would block", so that this is the whole tail; what others still write is theirs.
    fn read_tail(&mut self, buf: &mut [u8]) {
        let Some((_, until)) = self.ended else { return };
        while self.engine_open && !self.view.outbox.is_full() {
            let more = matches!(self.read_engine_now(buf), Tail::More(_));
            self.engine_open = more && Instant::now() <= until;
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
