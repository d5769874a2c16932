//! The user's terminal: opened anew so that its flags are ours alone, put into raw mode and back.
//! It knows nothing of the engine's modes; those are the ledger's.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl, open};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::stat::{Mode, fstat};
use nix::sys::termios::{LocalFlags, SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::{ttyname, write};

use super::pty::Size;

/// The user's terminal. Dropping it puts its settings back.
#[derive(Debug)]
pub struct Terminal {
    input: Side,
    output: Side,
    saved: Termios,
    is_raw: bool,
}

#[derive(Debug)]
struct Side {
    fd: OwnedFd,
    /// The flags of a descriptor that others share, to be put back.
    shared_flags: Option<OFlag>,
}

impl Terminal {
    /// Opens the terminal on stdin and stdout.
    ///
    /// # Errors
    /// When one of them is no terminal.
    pub fn open() -> io::Result<Terminal> {
        let input = Side::open(std::io::stdin().as_fd())?;
        let output = Side::open(std::io::stdout().as_fd())?;
        let saved = tcgetattr(&input.fd)?;
        Ok(Terminal { input, output, saved, is_raw: false })
    }

    /// Where the user's keys come from; non-blocking.
    pub fn input(&self) -> BorrowedFd<'_> {
        self.input.fd.as_fd()
    }

    /// Where the screen is; non-blocking.
    pub fn output(&self) -> BorrowedFd<'_> {
        self.output.fd.as_fd()
    }

    /// The settings at the start.
    pub fn saved(&self) -> &Termios {
        &self.saved
    }

    /// Every key reaches the engine, nothing is echoed or translated here. In the background this
    /// stops the process until it is the foreground again, as it stops any program.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub fn raw(&mut self) -> io::Result<()> {
        let mut raw = self.saved.clone();
        cfmakeraw(&mut raw);
        set(self.input(), &raw)?;
        self.is_raw = true;
        Ok(())
    }

    /// The settings of the start again.
    pub fn restore(&mut self) {
        if self.is_raw {
            // A terminal that is gone needs no settings.
            let _ = set(self.input(), &self.saved);
            self.is_raw = false;
        }
    }

    /// Its size now; 0 by 0 where it has none.
    pub fn size(&self) -> Size {
        size(self.output()).or_else(|| size(self.input())).unwrap_or(Size {
            rows: 0,
            cols: 0,
            pixel_width: 0,
            pixel_height: 0,
        })
    }

    /// Writes all of it, waiting for a slow terminal no longer than `patience`.
    pub fn write_all(&self, bytes: &[u8], patience: Duration) -> usize {
        write_within(self.output(), bytes, patience)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.restore();
    }
}

impl Side {
    /// An own opening of the terminal behind `fd`. Where that is refused (after `su` the device is
    /// another user's; in a container it may have no name), `/dev/tty` serves, else the descriptor
    /// itself with its flags put back at the end: the shell shares it.
    fn open(fd: BorrowedFd<'_>) -> io::Result<Side> {
        let name = ttyname(fd);
        if let Err(Errno::ENOTTY | Errno::EBADF) = name {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "not a terminal"));
        }
        let named = name.ok().filter(|path| is_same_device(path, fd));
        for path in named.into_iter().chain([PathBuf::from("/dev/tty")]) {
            let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
            if let Ok(fd) = open(&path, flags, Mode::empty()) {
                return Ok(Side { fd, shared_flags: None });
            }
        }
        let own = fd.try_clone_to_owned()?;
        let flags = OFlag::from_bits_retain(fcntl(&own, FcntlArg::F_GETFL)?);
        fcntl(&own, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        Ok(Side { fd: own, shared_flags: Some(flags) })
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        if let Some(flags) = self.shared_flags {
            let _ = fcntl(&self.fd, FcntlArg::F_SETFL(flags));
        }
    }
}

fn is_same_device(path: &Path, fd: BorrowedFd<'_>) -> bool {
    let named = nix::sys::stat::stat(path).map(|s| s.st_rdev);
    named.is_ok() && named == fstat(fd).map(|s| s.st_rdev)
}

fn set(fd: BorrowedFd<'_>, settings: &Termios) -> io::Result<()> {
    // TCSANOW: waiting for a stopped terminal to take its output could be for ever, and what the
    // user has typed ahead is not thrown away.
    loop {
        match tcsetattr(fd, SetArg::TCSANOW, settings) {
            Err(Errno::EINTR) => {}
            other => return other.map_err(io::Error::from),
        }
    }
}

/// Puts the settings back only if they are still the raw ones: a shell that was quicker has set its
/// own by now, and they must stay.
pub(super) fn restore_if_raw(fd: BorrowedFd<'_>, saved: &Termios) {
    let cooked = LocalFlags::ICANON | LocalFlags::ISIG;
    if tcgetattr(fd).is_ok_and(|now| !now.local_flags.intersects(cooked)) {
        let _ = set(fd, saved);
    }
}

/// Writes to a non-blocking descriptor, waiting at most `patience` in all; how much was taken.
pub(super) fn write_within(fd: BorrowedFd<'_>, bytes: &[u8], patience: Duration) -> usize {
    let until = Instant::now() + patience;
    let mut done = 0;
    while done < bytes.len() {
        match write(fd, &bytes[done..]) {
            Ok(n) => done += n,
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
                let _ = poll(&mut [PollFd::new(fd, PollFlags::POLLOUT)], timeout);
            }
            Err(_) => break,
        }
    }
    done
}

/// The columns of the terminal that `stream` is; `None`: it is none, or does not say.
pub fn columns(stream: &impl AsFd) -> Option<usize> {
    size(stream.as_fd()).map(|size| usize::from(size.cols)).filter(|columns| *columns > 0)
}

mod ioctl {
    nix::ioctl_read_bad!(window_size, nix::libc::TIOCGWINSZ, nix::libc::winsize);
}

fn size(fd: BorrowedFd<'_>) -> Option<Size> {
    use std::os::fd::AsRawFd;
    let mut size = nix::libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: `size` is a winsize, which TIOCGWINSZ fills; `fd` is open while it is borrowed.
    #[expect(unsafe_code)]
    unsafe { ioctl::window_size(fd.as_raw_fd(), &raw mut size) }.ok()?;
    Some(Size {
        rows: size.ws_row,
        cols: size.ws_col,
        pixel_width: size.ws_xpixel,
        pixel_height: size.ws_ypixel,
    })
}
