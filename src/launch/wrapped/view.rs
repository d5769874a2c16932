//! The user's terminal as the session sees it: what it is given, which modes that leaves, and the way
//! back. Bytes are passed as they are.
//!
//! The ledger looks at them first: a SIGKILL can strike right after a write (the reader wakes and we
//! are put aside), and the keeper must know the undo by then. The look costs about a microsecond for
//! what follows a key. The gate, which costs more, looks after.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use nix::errno::Errno;
use nix::unistd::{getpgrp, tcgetpgrp, write};

use super::outbox::Outbox;
use crate::launch::keeper::{Keeper, Report};
use crate::launch::ledger::Ledger;
use crate::launch::pty::Size;
use crate::launch::terminal::Terminal;

/// How long a terminal that takes nothing may hold up the way back: D16 wants the end within 1 s.
const PATIENCE: Duration = Duration::from_millis(700);

/// Orders that pile up behind a terminal that takes nothing; in bytes. One is about 100.
const MOST_ORDERED: usize = 4 << 10;

pub(super) struct View {
    terminal: Terminal,
    ledger: Ledger,
    /// Gone at the end, or when it was killed.
    keeper: Option<Keeper>,
    pub(super) outbox: Outbox,
    /// It takes no more bytes: hung up.
    pub(super) gone: bool,
    /// The undo that the keeper has, and the ledger's count when it was made.
    ordered: Vec<u8>,
    ordered_at: u64,
    /// The keeper's undo is good for before and after what is being written.
    for_both: bool,
}

impl View {
    pub(super) fn new(terminal: Terminal, keeper: Keeper) -> View {
        let ledger = Ledger::new(terminal.size().or_fallback().rows);
        View {
            terminal,
            ledger,
            keeper: Some(keeper),
            outbox: Outbox::default(),
            gone: false,
            ordered: Vec::new(),
            ordered_at: 0,
            for_both: false,
        }
    }

    /// The size now, told to the ledger as well.
    pub(super) fn size(&mut self) -> Size {
        let size = self.terminal.size().or_fallback();
        self.ledger.set_rows(size.rows);
        size
    }

    /// Where the user's keys come from.
    pub(super) fn input(&self) -> BorrowedFd<'_> {
        self.terminal.input()
    }

    /// Whether the terminal is this process's group's now.
    pub(super) fn is_foreground(&self) -> bool {
        tcgetpgrp(self.terminal.input()).is_ok_and(|group| group == getpgrp())
    }

    /// Where the screen is.
    pub(super) fn output(&self) -> BorrowedFd<'_> {
        self.terminal.output()
    }

    /// Ready when the keeper has a report.
    pub(super) fn keeper_fd(&self) -> Option<BorrowedFd<'_>> {
        self.keeper.as_ref().map(Keeper::fd)
    }

    /// Passes engine output on, at once where the terminal takes it.
    pub(super) fn give(&mut self, bytes: &[u8]) {
        if self.gone {
            return;
        }
        self.ledger.feed(bytes);
        self.order_for_both();
        let mut done = 0;
        if self.outbox.is_empty() {
            match write(self.terminal.output(), bytes) {
                Ok(n) => done = n,
                Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(_) => return self.hang_up(),
            }
        }
        self.outbox.push(&bytes[done..]);
        self.order_exact();
    }

    /// Writes as much of what waits as the terminal takes now.
    pub(super) fn write_waiting(&mut self) {
        match write(self.terminal.output(), self.outbox.waiting()) {
            Ok(n) => self.took(n),
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(_) => self.hang_up(),
        }
    }

    /// The terminal has taken so many of the waiting bytes.
    fn took(&mut self, n: usize) {
        self.outbox.take(n);
        self.order_exact();
    }

    /// Nobody sees the screen any more.
    pub(super) fn hang_up(&mut self) {
        self.gone = true;
        self.outbox.clear();
    }

    /// Before a write that changes modes: the keeper gets an undo that fits whether it came to pass
    /// or not. Undoing what is not set does no harm.
    fn order_for_both(&mut self) {
        if self.ledger.changes() == self.ordered_at {
            return;
        }
        self.ordered_at = self.ledger.changes();
        let undo = self.ledger.standing_undo();
        if undo != self.ordered && self.ordered.len() < MOST_ORDERED {
            let both = [undo.as_slice(), &self.ordered].concat();
            self.order(&both);
            self.ordered = both;
            self.for_both = true;
        }
    }

    /// After it.
    fn order_exact(&mut self) {
        if self.for_both && self.outbox.is_empty() {
            self.for_both = false;
            let exact = self.ledger.standing_undo();
            self.order(&exact);
            self.ordered = exact;
        }
    }

    fn order(&mut self, undo: &[u8]) {
        if let Some(keeper) = &mut self.keeper {
            keeper.set_undo(undo);
        }
    }

    /// The keeper's next report; `Err`: it is gone.
    pub(super) fn report(&mut self) -> std::io::Result<Option<Report>> {
        match &mut self.keeper {
            Some(keeper) => keeper.report(),
            None => Ok(None),
        }
    }

    /// Writes what waits, as far as a slow terminal takes it in time.
    pub(super) fn flush(&mut self) {
        let n = self.terminal.write_all(self.outbox.waiting(), PATIENCE);
        self.took(n);
    }

    /// Raw mode.
    pub(super) fn raw(&mut self) {
        if self.terminal.raw().is_err() {
            self.hang_up();
        }
    }

    /// Puts modes and settings back; what was undone.
    pub(super) fn leave(&mut self) -> Vec<u8> {
        let undo = self.ledger.undo();
        if !self.gone && !undo.is_empty() {
            self.terminal.write_all(&undo, PATIENCE);
        }
        self.terminal.restore();
        if !self.ordered.is_empty() {
            self.order(&[]);
            self.ordered = Vec::new();
        }
        undo
    }

    /// After a stop: raw mode and the modes that [`View::leave`] has undone.
    pub(super) fn come_back(&mut self) {
        self.raw();
        let undo = self.ledger.standing_undo();
        self.order(&undo);
        self.ordered = undo;
        if !self.gone {
            self.terminal.write_all(&self.ledger.redo(), PATIENCE);
        }
    }

    /// The end: the terminal as it was, the keeper let go.
    pub(super) fn close(mut self) -> Vec<u8> {
        let undone = self.leave();
        self.ledger = Ledger::default();
        if let Some(keeper) = self.keeper.take() {
            keeper.release();
        }
        undone
    }
}

impl Drop for View {
    /// On every path, a panic's too.
    fn drop(&mut self) {
        self.leave();
    }
}
