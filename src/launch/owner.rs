//! Which process a session belongs to, told so that it can be judged later whether that process
//! still lives: host, boot, pid, and when the pid was started. A pid alone comes back; with its start
//! time, and the boot that it counts from, it does not.
//!
//! What differs between systems stays here. The lock that a living session holds is
//! `session::live`'s; this is what is left where no lock could be had.

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// A process, as it is written down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The machine; two of them may share a home folder.
    pub host: String,
    /// The run of its system, from one start to the next.
    pub boot: String,
    /// The process.
    pub pid: i32,
    /// When the process was started, in the system's own count; 0: not known.
    pub started: u64,
}

/// What is known of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It runs.
    Lives,
    /// It ended on a system that still runs.
    Ended,
    /// The system was started anew since.
    SystemRestarted,
    /// Another machine's: nothing can be said from here.
    Elsewhere,
}

impl Owner {
    /// This process.
    pub fn this_process() -> Owner {
        Owner::of(Pid::this())
    }

    /// A process of this machine.
    pub fn of(pid: Pid) -> Owner {
        Owner {
            host: host(),
            boot: boot(),
            pid: pid.as_raw(),
            started: started(pid.as_raw()).unwrap_or(0),
        }
    }

    /// The machine's name, as people call it.
    pub fn machine(&self) -> &str {
        self.host.rsplit('/').next().unwrap_or_default()
    }

    /// What has become of it. Never [`Fate::Ended`] for one that may live.
    pub fn fate(&self) -> Fate {
        if self.host != host() {
            return Fate::Elsewhere;
        }
        if self.boot.is_empty() || self.boot != boot() {
            return if self.boot.is_empty() { Fate::Elsewhere } else { Fate::SystemRestarted };
        }
        // `EPERM`: it is there, and another user's.
        if kill(Pid::from_raw(self.pid), None) == Err(Errno::ESRCH) {
            return Fate::Ended;
        }
        match started(self.pid) {
            Some(started) if self.started != 0 && started != self.started => Fate::Ended,
            _ => Fate::Lives,
        }
    }
}

/// Names the machine: its own id where it has one, and the name that people gave it. Both, since a
/// copied machine keeps the first.
fn host() -> String {
    let name = nix::unistd::gethostname().map(|name| name.to_string_lossy().into_owned());
    let id = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    format!("{}/{}", id.trim(), name.unwrap_or_default())
}

#[cfg(target_os = "linux")]
fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .map(|id| id.trim().to_owned())
        .unwrap_or_default()
}

/// In clock ticks since the boot. A zombie has ended: it holds nothing and does nothing.
#[cfg(target_os = "linux")]
fn started(pid: i32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything; what follows does not.
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        // No process starts at this time, so that the comparison tells it apart.
        return Some(u64::MAX);
    }
    // The state is field 3 of proc(5), the start time field 22.
    fields.nth(18)?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn boot() -> String {
    let mut value = [0u8; 64];
    let mut len = value.len();
    // SAFETY: the name is a C string, and `len` says how much room the value has.
    #[expect(unsafe_code)]
    let result = unsafe {
        nix::libc::sysctlbyname(
            c"kern.bootsessionuuid".as_ptr(),
            value.as_mut_ptr().cast(),
            &mut len,
            std::ptr::null_mut(),
            0,
        )
    };
    if result != 0 {
        return String::new();
    }
    let text = value.get(..len).unwrap_or_default();
    String::from_utf8_lossy(text).trim_end_matches('\0').to_owned()
}

/// Not asked there: a pid that is in use counts as the one that was meant.
#[cfg(not(target_os = "linux"))]
fn started(_pid: i32) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_lives_until_it_has_ended() {
        let mut child =
            std::process::Command::new("sleep").arg("600").spawn().expect("a process to look at");
        let owner = Owner::of(Pid::from_raw(child.id().cast_signed()));
        assert_eq!(owner.fate(), Fate::Lives);
        child.kill().expect("kill");
        child.wait().expect("wait");
        assert_eq!(owner.fate(), Fate::Ended);
        assert_eq!(Owner::this_process().fate(), Fate::Lives);
    }

    #[test]
    fn a_pid_that_came_back_is_another_process() {
        let this = Owner::this_process();
        let earlier = Owner { started: this.started.wrapping_sub(1), ..this.clone() };
        let expected = if cfg!(target_os = "linux") { Fate::Ended } else { Fate::Lives };
        assert_eq!(earlier.fate(), expected);
        let unknown = Owner { started: 0, ..this };
        assert_eq!(unknown.fate(), Fate::Lives, "in doubt it lives");
    }

    #[test]
    fn another_boot_and_another_machine_are_told_apart() {
        let this = Owner::this_process();
        let before = Owner { boot: "another".into(), ..this.clone() };
        assert_eq!(before.fate(), Fate::SystemRestarted);
        let elsewhere = Owner { host: "another".into(), boot: "another".into(), ..this.clone() };
        assert_eq!(elsewhere.fate(), Fate::Elsewhere);
        assert_eq!(Owner { boot: String::new(), ..this }.fate(), Fate::Elsewhere);
    }
}
