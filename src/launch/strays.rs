//! Processes that an engine has started and that left its group (`setsid`, a daemon's double fork): a
//! signal to the group does not reach them. When a run is ended from outside they are looked for and
//! ended too.
//!
//! On Linux only. There this process is made the one to which orphans fall (a "subreaper"), so that
//! every process below the engine stays below this one. Other systems have nothing like it: there a
//! stray that has left the group lives on.

use nix::sys::signal::Signal;
use nix::unistd::Pid;

/// The children that this process had before the engine: none of them is the engine's.
#[derive(Debug)]
pub(super) struct Strays {
    before: Vec<Pid>,
}

impl Strays {
    /// From here on orphans of the engine, which is still to be started, are found.
    pub(super) fn watch() -> Strays {
        #[cfg(target_os = "linux")]
        let _ = nix::sys::prctl::set_child_subreaper(true);
        Strays { before: own_children() }
    }

    /// Takes the status of orphans that have ended. Not the engine's: that is for whoever waits for it.
    #[cfg(target_os = "linux")]
    pub(super) fn reap(&self, engine: Pid) {
        use nix::sys::wait::{Id, WaitPidFlag, waitid, waitpid};
        let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        while let Ok(status) = waitid(Id::All, look)
            && let Some(pid) = status.pid().filter(|pid| *pid != engine)
            && !self.before.contains(&pid)
        {
            let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
        }
    }

    /// Nothing falls to this process here.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn reap(&self, _engine: Pid) {}

    /// Sends a signal to all of them.
    pub(super) fn signal(&self, engine: Pid, signal: Signal) {
        for pid in self.list(engine) {
            let _ = nix::sys::signal::kill(pid, signal);
        }
    }

    /// Ends those that are left. The engine itself has ended.
    #[cfg(target_os = "linux")]
    pub(super) fn end(&self, engine: Pid) {
        use nix::sys::wait::{WaitPidFlag, waitpid};
        /// A killed process is gone at once; one that hangs in the kernel is not waited for.
        const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);
        let begin = std::time::Instant::now();
        loop {
            let left = self.list(engine);
            if left.is_empty() || begin.elapsed() > PATIENCE {
                return;
            }
            for pid in left {
                let _ = nix::sys::signal::kill(pid, Signal::SIGKILL);
                // Its own children fall to us next, and are found in the next round.
                let _ = waitpid(pid, Some(WaitPidFlag::WNOHANG));
            }
            // Most are not our children, whose end could be waited for.
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    /// Ends those that are left.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn end(&self, _engine: Pid) {}

    /// All processes below the engine, and those that have fallen to us from there. Zombies of ours too,
    /// which a second look no longer shows.
    fn list(&self, engine: Pid) -> Vec<Pid> {
        let parents = parents();
        let mut found = children_of(Pid::this(), &parents);
        found.retain(|pid| *pid != engine && !self.before.contains(pid));
        found.extend(children_of(engine, &parents));
        let mut at = 0;
        while at < found.len() {
            found.extend(children_of(found[at], &parents));
            at += 1;
        }
        found
    }
}

/// The children of this process, which has one thread yet: from its own list, where the kernel keeps
/// one, because a look at all processes takes a millisecond.
fn own_children() -> Vec<Pid> {
    let listed = std::fs::read_to_string(format!("/proc/self/task/{}/children", Pid::this()));
    match listed {
        Ok(list) => {
            list.split_whitespace().filter_map(|pid| pid.parse().ok()).map(Pid::from_raw).collect()
        }
        Err(_) => children_of(Pid::this(), &parents()),
    }
}

fn children_of(parent: Pid, parents: &[(Pid, Pid)]) -> Vec<Pid> {
    parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid).collect()
}

/// All processes with their parents.
#[cfg(target_os = "linux")]
fn parents() -> Vec<(Pid, Pid)> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: i32| Some((Pid::from_raw(pid), super::below::parent_of(pid)?)))
        .map(|(pid, parent)| (pid, Pid::from_raw(parent)))
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn parents() -> Vec<(Pid, Pid)> {
    Vec::new()
}
