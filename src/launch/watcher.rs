//! The watcher: a tiny forked process that outlives a killed omni-run just long enough to end the
//! engine's process group. It knows of omni-run's end by the end of a pipe; it touches nothing else.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::time::Duration;

use nix::sys::signal::{SigSet, SigmaskHow, Signal, killpg, sigprocmask};
use nix::unistd::{ForkResult, Pid, fork, pipe, setsid};

/// From the polite signal to SIGKILL, when omni-run itself is gone.
const GRACE: Duration = Duration::from_secs(2);

/// omni-run's end of the pipe.
#[derive(Debug)]
pub struct Watcher {
    pipe: std::fs::File,
    pid: Pid,
}

impl Watcher {
    /// Forks the watcher. Must be called while the process has one thread only.
    ///
    /// # Errors
    /// When there is no process or descriptor left; the launch can go on without.
    pub fn start() -> std::io::Result<Watcher> {
        let (read, write) = pipe()?;
        // SAFETY: called before any thread is started (see `commands::run`), so the child may use
        // the allocator and locks freely; it never returns from `watch`.
        #[expect(unsafe_code)]
        match unsafe { fork() }? {
            ForkResult::Child => {
                drop(write);
                watch(read)
            }
            ForkResult::Parent { child } => {
                drop(read);
                use nix::fcntl::{FcntlArg, FdFlag, fcntl};
                fcntl(&write, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
                Ok(Watcher { pipe: write.into(), pid: child })
            }
        }
    }

    /// Tells which group to end if omni-run dies.
    pub fn guard(&mut self, group: Pid) {
        let _ = self.pipe.write_all(&group.as_raw().to_le_bytes());
    }

    /// That group has ended and another may follow.
    pub fn idle(&mut self) {
        let _ = self.pipe.write_all(&(-1i32).to_le_bytes());
    }

    /// The engine has ended: nothing is left to guard.
    pub fn release(mut self) {
        let _ = self.pipe.write_all(&0i32.to_le_bytes());
        drop(self.pipe);
        let _ = nix::sys::wait::waitpid(self.pid, None);
    }
}

/// The watcher's whole life. Numbers on the pipe: a group to guard, -1 for none, 0 for "released".
fn watch(pipe: OwnedFd) -> ! {
    // Out of the terminal's reach: a Ctrl-C or a hang-up is for the others.
    let _ = setsid();
    let _ = sigprocmask(SigmaskHow::SIG_BLOCK, Some(&SigSet::all()), None);
    close_all_but(&[std::os::fd::AsRawFd::as_raw_fd(&pipe)]);
    let mut pipe = std::fs::File::from(pipe);
    let (mut group, mut number) = (None, [0u8; 4]);
    while pipe.read_exact(&mut number).is_ok() {
        match i32::from_le_bytes(number) {
            0 => exit(0),
            -1 => group = None,
            pid => group = Some(Pid::from_raw(pid)),
        }
    }
    if let Some(group) = group {
        for signal in [Signal::SIGHUP, Signal::SIGTERM] {
            let _ = killpg(group, signal);
        }
        // Not a wait for an event: the group is not ours to wait for, only to end.
        let step = GRACE / 20;
        for _ in 0..20 {
            std::thread::sleep(step);
            if killpg(group, None).is_err() {
                exit(0);
            }
        }
        let _ = killpg(group, Signal::SIGKILL);
    }
    exit(0)
}

/// A forked guard holds no pipe, terminal or lock of the run beyond its own: it would keep them open
/// after their end.
pub(super) fn close_all_but(keep: &[i32]) {
    let listed: Vec<i32> = std::fs::read_dir("/dev/fd")
        .map(|dir| dir.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok()).collect())
        .unwrap_or_else(|_| (0..256).collect());
    for fd in listed.into_iter().filter(|fd| !keep.contains(fd)) {
        let _ = nix::unistd::close(fd);
    }
}

pub(super) fn exit(code: i32) -> ! {
    // SAFETY: `_exit` ends this process at once, without the parent's exit handlers.
    #[expect(unsafe_code)]
    unsafe {
        nix::libc::_exit(code)
    }
}
