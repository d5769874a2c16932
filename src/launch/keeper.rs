//! The keeper: a tiny forked process between omni-run and the engine, with three duties.
//!
//! 1. It leads the session of the engine's pseudo-terminal, so that the engine has a parent there as
//!    it has under a shell. An engine that leads its own session is an orphaned process group, and
//!    the kernel drops SIGTSTP for those: Ctrl-Z would do nothing.
//! 2. It reaps the engine and reports stops and the real end, signal included.
//! 3. When omni-run dies (SIGKILL, abort), it puts the terminal back and ends the engine's group. It
//!    knows by the end of a socket.
//!
//! It never touches the engine's bytes, and has nothing of the docs in it.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{
    SaFlags, SigAction, SigHandler, SigSet, SigmaskHow, Signal, killpg, sigaction, sigprocmask,
};
use nix::sys::stat::Mode;
use nix::sys::termios::Termios;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{ForkResult, Pid, fork, setsid};

use super::terminal::{restore_if_raw, write_within};
use super::watcher::{close_all_but, exit};
use crate::engines::EngineEnd;

/// After omni-run's death: from SIGHUP to SIGTERM, and from there to SIGKILL. D17 allows 5 s in all;
/// the slowest engine needs about 3 s to end well.
const TO_TERM: Duration = Duration::from_millis(500);
/// See [`TO_TERM`].
const TO_KILL: Duration = Duration::from_secs(3);
const _: () = assert!(TO_KILL.as_secs() < 5, "D17");
/// How long a terminal that takes nothing may keep the engine's end waiting.
const TERMINAL_PATIENCE: Duration = Duration::from_millis(500);
/// A look at a group that is to end. Its members are not ours to wait for.
const LOOK: u16 = 20;
/// Messages to the keeper that may wait; the ledger's orders are a few hundred bytes.
const BACKLOG: usize = 64 << 10;

const SHELL: &CStr = c"/bin/sh";
const UNDO: u8 = b'U';
const RELEASE: u8 = b'R';

/// What is to be started.
pub(super) struct Start {
    pub(super) program: CString,
    pub(super) args: Vec<CString>,
    pub(super) env: Vec<CString>,
    pub(super) cwd: CString,
    /// Standard input where it is not the terminal.
    pub(super) stdin: Option<CString>,
    /// The slave's device.
    pub(super) tty: CString,
}

/// What the keeper tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Report {
    /// The engine runs; its pid is its group.
    Started(Pid),
    /// It could not be started.
    Failed(Errno),
    /// It was stopped.
    Stopped,
    /// It has ended.
    Ended(EngineEnd),
}

const REPORT: usize = 5;

impl Report {
    fn to_bytes(self) -> [u8; REPORT] {
        let (tag, value) = match self {
            Report::Started(pid) => (b's', pid.as_raw()),
            Report::Failed(errno) => (b'f', errno as i32),
            Report::Stopped => (b't', 0),
            Report::Ended(EngineEnd { signal: Some(signal), .. }) => (b'k', signal),
            Report::Ended(end) => (b'e', end.code.unwrap_or(0)),
        };
        let mut bytes = [tag, 0, 0, 0, 0];
        bytes[1..].copy_from_slice(&value.to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: [u8; REPORT]) -> Option<Report> {
        let value = i32::from_le_bytes(bytes[1..].try_into().ok()?);
        Some(match bytes[0] {
            b's' => Report::Started(Pid::from_raw(value)),
            b'f' => Report::Failed(Errno::from_raw(value)),
            b't' => Report::Stopped,
            b'k' => Report::Ended(EngineEnd { code: None, signal: Some(value) }),
            b'e' => Report::Ended(EngineEnd { code: Some(value), signal: None }),
            _ => return None,
        })
    }
}

/// omni-run's side.
pub(super) struct Keeper {
    socket: UnixStream,
    pid: Pid,
    pending: Vec<u8>,
    partial: Vec<u8>,
}

impl Keeper {
    /// Forks the keeper, which starts the engine. `terminal`: output and settings of the user's
    /// terminal. The process should have one thread only: what another one holds locked at this
    /// moment stays locked in the keeper (which uses neither locks nor, before the engine runs, the
    /// allocator).
    pub(super) fn start(
        start: &Start,
        terminal: Option<(BorrowedFd<'_>, &Termios)>,
    ) -> io::Result<Keeper> {
        let (ours, theirs) = UnixStream::pair()?;
        // SAFETY: the child calls only `keep`, which never returns; see above for locks.
        #[expect(unsafe_code)]
        match unsafe { fork() }? {
            ForkResult::Child => {
                drop(ours);
                keep(theirs, start, terminal)
            }
            ForkResult::Parent { child } => {
                Ok(Keeper { socket: ours, pid: child, pending: Vec::new(), partial: Vec::new() })
            }
        }
    }

    /// Waits for the first report: started or failed.
    pub(super) fn first_report(&mut self) -> io::Result<Report> {
        let mut bytes = [0; REPORT];
        self.socket.read_exact(&mut bytes)?;
        self.socket.set_nonblocking(true)?;
        Report::from_bytes(bytes).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// For the loop to wait on.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The next report, if it is there; an error when the keeper is gone.
    pub(super) fn report(&mut self) -> io::Result<Option<Report>> {
        let mut bytes = [0; REPORT];
        let want = REPORT - self.partial.len();
        match (&self.socket).read(&mut bytes[..want]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => self.partial.extend_from_slice(&bytes[..n]),
            Err(e) => return Err(e),
        }
        let Ok(whole) = <[u8; REPORT]>::try_from(self.partial.as_slice()) else { return Ok(None) };
        self.partial.clear();
        Ok(Report::from_bytes(whole))
    }

    /// What to write to the terminal should omni-run be killed.
    pub(super) fn set_undo(&mut self, undo: &[u8]) {
        if self.pending.len() + undo.len() > BACKLOG {
            return;
        }
        self.pending.push(UNDO);
        self.pending.extend_from_slice(&u32::try_from(undo.len()).unwrap_or(0).to_le_bytes());
        self.pending.extend_from_slice(undo);
        self.flush();
    }

    fn flush(&mut self) {
        while !self.pending.is_empty() {
            match (&self.socket).write(&self.pending) {
                Ok(n) => drop(self.pending.drain(..n)),
                // A keeper that does not read now gets it with the next message.
                Err(_) => return,
            }
        }
    }

    /// The engine has ended and the terminal is as it was: nothing is left to keep.
    pub(super) fn release(mut self) {
        // At the end there is time to wait for it.
        let _ = self.socket.set_nonblocking(false);
        self.pending.extend_from_slice(&[RELEASE, 0, 0, 0, 0]);
        self.flush();
        let _ = waitpid(self.pid, None);
    }
}

/// The write end of the pipe by which SIGCHLD wakes the keeper's poll.
static WAKE: AtomicI32 = AtomicI32::new(-1);

extern "C" fn child_changed(_: i32) {
    let fd = WAKE.load(Ordering::Relaxed);
    // SAFETY: write is safe in a signal handler; the descriptor stays open for the process's life.
    #[expect(unsafe_code)]
    unsafe {
        nix::libc::write(fd, b"!".as_ptr().cast(), 1);
    }
}

/// The keeper's whole life.
fn keep(socket: UnixStream, start: &Start, terminal: Option<(BorrowedFd<'_>, &Termios)>) -> ! {
    let mut mask = SigSet::empty();
    // Out of reach of every signal but SIGCHLD: a hang-up is for the others.
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), Some(&mut mask));
    let engine = match begin(start, &mask) {
        Ok(pid) => pid,
        Err(errno) => {
            let _ = (&socket).write_all(&Report::Failed(errno).to_bytes());
            exit(0)
        }
    };
    let _ = (&socket).write_all(&Report::Started(engine.pid).to_bytes());
    let mut kept = vec![socket.as_raw_fd(), engine.tty.as_raw_fd()];
    kept.extend(terminal.map(|(fd, _)| fd.as_raw_fd()));
    close_all_but(&kept);
    #[cfg(target_os = "linux")]
    // `pkill omni-run` is meant for the other one: this one then cleans up.
    let _ = nix::sys::prctl::set_name(c"omnikeeper");
    let undo = watch(&socket, engine.pid);
    if let Some((fd, settings)) = terminal {
        write_within(fd, &undo, TERMINAL_PATIENCE);
        restore_if_raw(fd, settings);
    }
    end_group(engine.pid);
    exit(0)
}

/// Reports until omni-run releases the keeper or dies; then the undo that it last ordered.
fn watch(mut socket: &UnixStream, engine: Pid) -> Vec<u8> {
    let Ok((wake, write)) = nix::unistd::pipe() else { exit(1) };
    WAKE.store(write.as_raw_fd(), Ordering::Relaxed);
    let action =
        SigAction::new(SigHandler::Handler(child_changed), SaFlags::empty(), SigSet::empty());
    // SAFETY: the handler does nothing but a write.
    #[expect(unsafe_code)]
    let _ = unsafe { sigaction(Signal::SIGCHLD, &action) };
    let mut only_child = SigSet::all();
    only_child.remove(Signal::SIGCHLD);
    let _ = sigprocmask(SigmaskHow::SIG_SETMASK, Some(&only_child), None);
    let mut wake = File::from(wake);
    let (mut undo, mut orders, mut buf) = (Vec::new(), Vec::new(), [0; 4096]);
    let mut reaped = false;
    loop {
        // Before the first wait as well: the engine may have ended already.
        while let Some(report) = (!reaped).then(|| look(engine)).flatten() {
            reaped = matches!(report, Report::Ended(_));
            let _ = socket.write_all(&report.to_bytes());
        }
        let mut fds = [
            PollFd::new(socket.as_fd(), PollFlags::POLLIN),
            PollFd::new(wake.as_fd(), PollFlags::POLLIN),
        ];
        let woken = poll(&mut fds, PollTimeout::NONE).is_ok();
        let ready = |at: usize| woken && fds[at].any().unwrap_or(false);
        let (from_socket, from_wake) = (ready(0), ready(1));
        if from_wake {
            let _ = wake.read(&mut buf);
        }
        if from_socket {
            match socket.read(&mut buf) {
                Ok(n) if n > 0 => orders.extend_from_slice(&buf[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                _ => return undo,
            }
        }
        while let Some((tag, text, len)) = first_order(&orders) {
            match tag {
                UNDO => undo = text.to_vec(),
                _ => exit(0),
            }
            orders.drain(..len);
        }
    }
}

fn first_order(bytes: &[u8]) -> Option<(u8, &[u8], usize)> {
    let (tag, rest) = bytes.split_first()?;
    let (len, rest) = rest.split_first_chunk::<4>()?;
    let text = rest.get(..u32::from_le_bytes(*len) as usize)?;
    Some((*tag, text, 5 + text.len()))
}

/// What has become of the engine, if something has.
///
/// nix has no name for a real-time signal and makes an error of an end by one: the engine would be
/// gone without a report. So the status is read as it is.
fn look(engine: Pid) -> Option<Report> {
    use nix::libc::{
        WEXITSTATUS, WIFEXITED, WIFSIGNALED, WIFSTOPPED, WNOHANG, WTERMSIG, WUNTRACED,
    };
    let mut status = 0;
    // SAFETY: the call writes one number, to a place of ours.
    #[expect(unsafe_code)]
    let pid = unsafe { nix::libc::waitpid(engine.as_raw(), &raw mut status, WNOHANG | WUNTRACED) };
    if pid != engine.as_raw() {
        return None;
    }
    if WIFEXITED(status) {
        return Some(Report::Ended(EngineEnd { code: Some(WEXITSTATUS(status)), signal: None }));
    }
    if WIFSIGNALED(status) {
        return Some(Report::Ended(EngineEnd { code: None, signal: Some(WTERMSIG(status)) }));
    }
    WIFSTOPPED(status).then_some(Report::Stopped)
}

/// HUP (with CONT, for a stopped one), TERM, KILL.
fn end_group(group: Pid) {
    let _ = killpg(group, Signal::SIGHUP);
    let _ = killpg(group, Signal::SIGCONT);
    let begin = Instant::now();
    let mut steps = [(TO_TERM, Signal::SIGTERM), (TO_KILL, Signal::SIGKILL)].into_iter();
    let mut next = steps.next();
    loop {
        let _ = waitpid(group, Some(WaitPidFlag::WNOHANG));
        if killpg(group, None).is_err() {
            return;
        }
        match next {
            Some((after, signal)) if begin.elapsed() >= after => {
                let _ = killpg(group, signal);
                next = steps.next();
            }
            // After SIGKILL there is nothing more to do.
            None => return,
            Some(_) => drop(poll(&mut [], PollTimeout::from(LOOK))),
        }
    }
}

struct Engine {
    pid: Pid,
    /// Held open, so that the last output can be read after the engine's end on every system.
    tty: OwnedFd,
}

/// Makes this process the leader of the pseudo-terminal's session and starts the engine in it.
fn begin(start: &Start, mask: &SigSet) -> Result<Engine, Errno> {
    setsid()?;
    // The first terminal that a session leader opens becomes its controlling one.
    let tty = open(start.tty.as_c_str(), OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty())?;
    // SAFETY: plain ioctl without a pointer; harmless where the opening has done it.
    #[expect(unsafe_code)]
    unsafe {
        nix::libc::ioctl(tty.as_raw_fd(), nix::libc::TIOCSCTTY as _, 0);
    }
    let (told, tell) = nix::unistd::pipe()?;
    for fd in [&told, &tell] {
        use nix::fcntl::{FcntlArg, FdFlag, fcntl};
        fcntl(fd, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    }
    let args = pointers(&start.args);
    // A script without `#!` is the shell's, as execvp has it.
    let script = [SHELL.as_ptr(), start.program.as_ptr()]
        .into_iter()
        .chain(args.iter().skip(1).copied())
        .collect::<Vec<_>>();
    let env = pointers(&start.env);
    // SAFETY: the child calls only async-signal-safe functions until exec or _exit.
    #[expect(unsafe_code)]
    match unsafe { fork() }? {
        ForkResult::Child => {
            let errno = become_engine(start, &args, &script, &env, &tty, mask);
            let _ = nix::unistd::write(&tell, &(errno as i32).to_le_bytes());
            exit(127)
        }
        ForkResult::Parent { child } => {
            drop(tell);
            let mut errno = [0; 4];
            match File::from(told).read_exact(&mut errno) {
                Ok(()) => {
                    let _ = waitpid(child, None);
                    Err(Errno::from_raw(i32::from_le_bytes(errno)))
                }
                // The pipe closed by exec.
                Err(_) => Ok(Engine { pid: child, tty }),
            }
        }
    }
}

fn pointers(strings: &[CString]) -> Vec<*const nix::libc::c_char> {
    strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect()
}

/// As a shell starts a program in the foreground; returns only on failure.
fn become_engine(
    start: &Start,
    args: &[*const nix::libc::c_char],
    script: &[*const nix::libc::c_char],
    env: &[*const nix::libc::c_char],
    tty: &OwnedFd,
    mask: &SigSet,
) -> Errno {
    let prepared = || -> Result<(), Errno> {
        use nix::unistd::{
            chdir, dup2_stderr, dup2_stdin, dup2_stdout, getpid, setpgid, tcsetpgrp,
        };
        setpgid(Pid::from_raw(0), Pid::from_raw(0))?;
        // Every signal is blocked, SIGTTOU among them.
        tcsetpgrp(tty, getpid())?;
        match &start.stdin {
            Some(path) => dup2_stdin(open(path.as_c_str(), OFlag::O_RDONLY, Mode::empty())?)?,
            None => dup2_stdin(tty)?,
        }
        dup2_stdout(tty)?;
        dup2_stderr(tty)?;
        chdir(start.cwd.as_c_str())?;
        // Rust ignores SIGPIPE; a program expects it to work.
        let default = SigAction::new(SigHandler::SigDfl, SaFlags::empty(), SigSet::empty());
        // SAFETY: sets the default action.
        #[expect(unsafe_code)]
        unsafe { sigaction(Signal::SIGPIPE, &default) }?;
        sigprocmask(SigmaskHow::SIG_SETMASK, Some(mask), None)
    };
    if let Err(errno) = prepared() {
        return errno;
    }
    // SAFETY: the arrays end with a null pointer and point into `start`.
    #[expect(unsafe_code)]
    unsafe {
        nix::libc::execve(start.program.as_ptr(), args.as_ptr(), env.as_ptr());
        if Errno::last() == Errno::ENOEXEC {
            nix::libc::execve(SHELL.as_ptr(), script.as_ptr(), env.as_ptr());
        }
    }
    Errno::last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_survive_the_way() {
        for report in [
            Report::Started(Pid::from_raw(77)),
            Report::Failed(Errno::ENOENT),
            Report::Stopped,
            Report::Ended(EngineEnd { code: Some(3), signal: None }),
            Report::Ended(EngineEnd { code: None, signal: Some(9) }),
        ] {
            assert_eq!(Report::from_bytes(report.to_bytes()), Some(report));
        }
    }

    #[test]
    fn orders_are_taken_whole() {
        assert_eq!(first_order(b"U\x02\0\0\0a"), None);
        assert_eq!(first_order(b"U\x02\0\0\0abR"), Some((b'U', b"ab".as_slice(), 7)));
    }
}
