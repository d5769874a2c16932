//! The signals of a wrapped session: a handler writes each number into a pipe that the loop reads.

use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use nix::errno::Errno;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Received {
    /// The terminal has another size.
    Resize,
    /// The engine gets it.
    Forward(Signal),
    /// Someone stops us with SIGTSTP; the user's own Ctrl-Z is a key and goes to the engine.
    Stop,
    /// Somebody had stopped us and lets us go on.
    Continued,
}

/// Those that are listened to.
const LISTENED: [Signal; 7] = [
    Signal::SIGWINCH,
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGQUIT,
    Signal::SIGTSTP,
    Signal::SIGCONT,
];

/// The write end. It stays open for the process's life, as the handlers stay set.
static WAKE: AtomicI32 = AtomicI32::new(-1);

/// Whether a signal that asks for the end came since [`forget_ends`].
static END_ASKED: AtomicBool = AtomicBool::new(false);

/// Those that ask for the end.
const ENDS: [Signal; 4] = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM, Signal::SIGQUIT];

/// What came before does not count.
pub(super) fn forget_ends() {
    END_ASKED.store(false, Ordering::Relaxed);
}

/// Whether the end was asked for since then, though the loop may not have heard of it yet.
pub(super) fn end_is_asked() -> bool {
    END_ASKED.load(Ordering::Relaxed)
}

extern "C" fn caught(number: i32) {
    if ENDS.iter().any(|end| *end as i32 == number) {
        END_ASKED.store(true, Ordering::Relaxed);
    }
    let errno = Errno::last_raw();
    let byte = number as u8;
    // SAFETY: write may be called in a signal handler; one byte of our own stack is read.
    #[expect(unsafe_code)]
    unsafe {
        nix::libc::write(WAKE.load(Ordering::Relaxed), (&raw const byte).cast(), 1);
    }
    Errno::set_raw(errno);
}

/// The read end. Afterwards the signals do again what they did before: an end is not to wait for a
/// terminal that nobody reads.
pub(super) struct Signals {
    pipe: UnixStream,
    before: Vec<(Signal, SigAction)>,
}

impl Drop for Signals {
    fn drop(&mut self) {
        for (signal, action) in self.before.drain(..) {
            // SAFETY: what is set was set before.
            #[expect(unsafe_code)]
            let _ = unsafe { sigaction(signal, &action) };
        }
    }
}

impl Signals {
    pub(super) fn listen() -> io::Result<Signals> {
        let (pipe, wake) = UnixStream::pair()?;
        // A handler never waits: when a thousand signals stand there already, this one says no more.
        for end in [&pipe, &wake] {
            end.set_nonblocking(true)?;
        }
        debug_assert!(wake.as_raw_fd() >= 0);
        WAKE.store(wake.into_raw_fd(), Ordering::Relaxed);
        let action =
            SigAction::new(SigHandler::Handler(caught), SaFlags::SA_RESTART, SigSet::empty());
        let mut signals = Signals { pipe, before: Vec::new() };
        for signal in LISTENED {
            // SAFETY: the handler calls nothing that a handler may not.
            #[expect(unsafe_code)]
            let before = unsafe { sigaction(signal, &action) }?;
            signals.before.push((signal, before));
        }
        Ok(signals)
    }

    /// Ready when a signal has come.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// What has come, oldest first.
    pub(super) fn take(&mut self) -> Vec<Received> {
        let mut numbers = [0; 64];
        let count = self.pipe.read(&mut numbers).unwrap_or(0);
        numbers[..count].iter().filter_map(|n| meaning(i32::from(*n))).collect()
    }
}

fn meaning(number: i32) -> Option<Received> {
    let signal = Signal::try_from(number).ok()?;
    Some(match signal {
        Signal::SIGWINCH => Received::Resize,
        Signal::SIGTSTP => Received::Stop,
        Signal::SIGCONT => Received::Continued,
        signal if ENDS.contains(&signal) => Received::Forward(signal),
        _ => return None,
    })
}
