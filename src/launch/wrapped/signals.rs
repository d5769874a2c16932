//! The signals of a wrapped session.

use std::io;

use nix::sys::signal::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Received {
    /// The terminal has another size.
    Resize,
    /// The engine gets it.
    Forward(Number),
    /// Someone stops us with SIGTSTP; the user's own Ctrl-Z is a key and goes to the engine.
    Stop,
    /// Somebody had stopped us and lets us go on.
    Continued,
}

pub(super) struct Signals {
    resize: Signal,
    hangup: Signal,
    interrupt: Signal,
    terminate: Signal,
    quit: Signal,
    stop: Signal,
    go_on: Signal,
}

impl Signals {
    pub(super) fn listen() -> io::Result<Signals> {
        Ok(Signals {
            resize: signal(SignalKind::window_change())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            quit: signal(SignalKind::quit())?,
            stop: signal(SignalKind::from_raw(Number::SIGTSTP as i32))?,
            go_on: signal(SignalKind::from_raw(Number::SIGCONT as i32))?,
        })
    }

    pub(super) async fn next(&mut self) -> Received {
        tokio::select! {
            _ = self.resize.recv() => Received::Resize,
            _ = self.hangup.recv() => Received::Forward(Number::SIGHUP),
            _ = self.interrupt.recv() => Received::Forward(Number::SIGINT),
            _ = self.terminate.recv() => Received::Forward(Number::SIGTERM),
            _ = self.quit.recv() => Received::Forward(Number::SIGQUIT),
            _ = self.stop.recv() => Received::Stop,
            _ = self.go_on.recv() => Received::Continued,
        }
    }
}
