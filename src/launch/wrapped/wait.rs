//! Waiting: one poll over what can be ready, and a deadline. A poll and not a reactor: between a key and
//! its echo lie then two reads, two writes and two waits, and nothing else.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// What can be ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Signals,
    Keeper,
    /// The user has typed.
    User,
    /// The engine has written.
    Engine,
    /// The engine takes what waits for it.
    EngineTakes,
    /// The terminal takes what waits for it.
    TerminalTakes,
    Editor,
}

/// The sources that are ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Ready(u8);

impl Ready {
    pub(super) fn has(self, source: Source) -> bool {
        self.0 & 1 << source as u8 != 0
    }
}

/// What is waited for.
#[derive(Debug, Default)]
pub(super) struct Wait<'fd> {
    fds: Vec<PollFd<'fd>>,
    sources: Vec<Source>,
}

impl<'fd> Wait<'fd> {
    /// Adds a descriptor. Without flags it is left out: a closed one would be ready for ever.
    pub(super) fn on(&mut self, source: Source, fd: BorrowedFd<'fd>, flags: PollFlags) {
        if !flags.is_empty() {
            self.fds.push(PollFd::new(fd, flags));
            self.sources.push(source);
        }
    }

    /// Waits. Nothing is ready at the deadline and when a signal came.
    pub(super) fn until(mut self, deadline: Option<Instant>) -> Ready {
        let mut ready = Ready::default();
        if poll(&mut self.fds, timeout(deadline, Instant::now())).is_ok_and(|n| n > 0) {
            for (fd, source) in self.fds.iter().zip(self.sources) {
                // An error or a hang-up is found by the read or write that follows.
                if fd.any().unwrap_or(true) {
                    ready.0 |= 1 << source as u8;
                }
            }
        }
        ready
    }
}

/// Rounded up: woken too early the loop would turn without anything to do.
fn timeout(deadline: Option<Instant>, now: Instant) -> PollTimeout {
    let Some(deadline) = deadline else { return PollTimeout::NONE };
    let left = deadline.saturating_duration_since(now) + Duration::from_nanos(999_999);
    PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn what_is_ready_is_told_and_no_more() {
        let (mut one, other) = UnixStream::pair().expect("pair");
        one.write_all(b"x").expect("write");
        let mut wait = Wait::default();
        wait.on(Source::User, other.as_fd(), PollFlags::POLLIN);
        wait.on(Source::Engine, one.as_fd(), PollFlags::POLLIN);
        wait.on(Source::EngineTakes, one.as_fd(), PollFlags::empty());
        let ready = wait.until(None);
        assert!(ready.has(Source::User));
        assert!(!ready.has(Source::Engine) && !ready.has(Source::EngineTakes));
    }

    #[test]
    fn a_deadline_is_not_met_too_early() {
        let now = Instant::now();
        let after = |left| timeout(Some(now + left), now);
        assert_eq!(after(Duration::ZERO), PollTimeout::ZERO);
        assert_eq!(after(Duration::from_micros(1)), PollTimeout::from(1u8));
        assert_eq!(after(Duration::from_micros(1_001)), PollTimeout::from(2u8));
        assert_eq!(timeout(None, now), PollTimeout::NONE);
    }
}
