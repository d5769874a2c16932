//! The pseudo-terminal that the engine runs in: portable-pty opens and sizes it, the rest is ours.
//!
//! Not used of portable-pty: its writer (dropping it types a newline and EOF into the engine), its
//! reader (it blocks) and its spawn (it makes the engine a session leader, whose group the kernel
//! never stops on Ctrl-Z: see `keeper`).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use portable_pty::{MasterPty, PtySize, SlavePty, native_pty_system};

/// What a terminal without a size gets (`script` under cron, a serial line): D14.
const FALLBACK: (u16, u16) = (24, 80);

/// Lines, columns, pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Lines.
    pub rows: u16,
    /// Columns.
    pub cols: u16,
    /// Of the whole window; 0: not known.
    pub pixel_width: u16,
    /// Of the whole window; 0: not known.
    pub pixel_height: u16,
}

impl Size {
    /// The size with a sane default where the outside has none.
    #[must_use]
    pub fn or_fallback(self) -> Size {
        match (self.rows, self.cols) {
            (0, _) | (_, 0) => Size { rows: FALLBACK.0, cols: FALLBACK.1, ..self },
            _ => self,
        }
    }
}

/// The master side, non-blocking, and the slave until the engine has it.
pub struct Pty {
    master: Box<dyn MasterPty + Send>,
    slave: Option<Box<dyn SlavePty + Send>>,
    path: PathBuf,
    fd: OwnedFd,
}

impl Pty {
    /// Opens one of this size whose line discipline starts as the user's own terminal has it: erase
    /// key, UTF-8, flow control.
    ///
    /// # Errors
    /// When the system has no pseudo-terminal or descriptor left.
    pub fn open(size: Size, like: Option<&Termios>) -> io::Result<Pty> {
        let pair = native_pty_system().openpty(pty_size(size)).map_err(io::Error::other)?;
        let path = pair.master.tty_name().ok_or_else(|| io::Error::other("no name for the pty"))?;
        let raw = pair.master.as_raw_fd().ok_or_else(|| io::Error::other("no pty descriptor"))?;
        // SAFETY: `raw` belongs to `pair.master`, which outlives this borrow.
        #[expect(unsafe_code)]
        let fd = unsafe { BorrowedFd::borrow_raw(raw) }.try_clone_to_owned()?;
        fcntl(&fd, FcntlArg::F_SETFL(OFlag::O_RDWR | OFlag::O_NONBLOCK))?;
        if let Some(like) = like {
            // A terminal that refuses this starts with the system's own settings.
            let _ = tcsetattr(&fd, SetArg::TCSANOW, like);
        }
        Ok(Pty { master: pair.master, slave: Some(pair.slave), path, fd })
    }

    /// The slave's device.
    pub fn path(&self) -> &PathBuf {
        &self.path
    }

    /// The master, for reading and writing; non-blocking.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Closes our own hold on the slave: the engine's side has it now.
    pub fn close_slave(&mut self) {
        self.slave = None;
    }

    /// Tells the engine another size (SIGWINCH comes from the kernel).
    pub fn resize(&self, size: Size) {
        // Fails only when the engine's side is gone, which the loop learns otherwise.
        let _ = self.master.resize(pty_size(size));
    }

    /// Whether the engine still reads whole lines: then the kernel cuts a line at 1,024 (macOS) or
    /// 4,095 (Linux) bytes.
    pub fn is_canonical(&self) -> bool {
        tcgetattr(&self.fd).is_ok_and(|t| t.local_flags.contains(LocalFlags::ICANON))
    }
}

fn pty_size(size: Size) -> PtySize {
    PtySize {
        rows: size.rows,
        cols: size.cols,
        pixel_width: size.pixel_width,
        pixel_height: size.pixel_height,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d14_a_terminal_without_a_size_gets_a_sane_one() {
        let none = Size { rows: 0, cols: 0, pixel_width: 0, pixel_height: 0 };
        assert_eq!((none.or_fallback().rows, none.or_fallback().cols), (24, 80));
        let some = Size { rows: 41, cols: 97, pixel_width: 0, pixel_height: 0 };
        assert_eq!(some.or_fallback(), some);
        let pty = Pty::open(some, None).expect("pty");
        assert!(pty.is_canonical() && pty.path().starts_with("/dev"));
    }
}
