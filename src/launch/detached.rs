//! A launch without a terminal and without a parent that waits: what the starting process has put on
//! its streams is taken off them, so that neither the engine nor anything else gets it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::unistd::{dup2_stdin, dup2_stdout, setsid};

/// The most that is kept of standard error, in bytes: its end, where the reason stands.
const STDERR_KEPT: u64 = 2_000;

/// What a detached launch has got from the process that started it.
#[derive(Debug)]
pub struct Detached {
    /// The file whose lock says that this process is at work. From standard input.
    pub lock: File,
    /// Its end tells the starting process that there is something to know. From standard output.
    pub word: File,
}

/// Makes the command lead a session of its own from its first moment: neither a Ctrl-C, nor the end
/// of the terminal or of the process that starts it, is its end.
pub fn leave_terminal(command: &mut Command) {
    let leave = || setsid().map(drop).map_err(io::Error::from);
    // SAFETY: between fork and exec only setsid is called, which is async-signal-safe.
    #[expect(unsafe_code)]
    unsafe {
        command.pre_exec(leave);
    }
}

/// Takes the two files off the streams; both are `/dev/null` then.
///
/// # Errors
/// When a stream can't be had or replaced.
pub fn detach() -> io::Result<Detached> {
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    // The copies are closed on exec, the streams would not be.
    let lock = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let word = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    Ok(Detached { lock, word })
}

/// The end of what this process and its engine have said on standard error, where that is a file.
pub fn said_on_stderr() -> Option<String> {
    let file = File::from(io::stderr().as_fd().try_clone_to_owned().ok()?);
    tail(&file)
}

/// The end of a file, without moving its place: others may be writing there.
pub fn tail(file: &File) -> Option<String> {
    let about = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let from = about.len().saturating_sub(STDERR_KEPT);
    let mut bytes = vec![0; usize::try_from(about.len() - from).ok()?];
    let read = file.read_at(&mut bytes, from).ok()?;
    let text = String::from_utf8_lossy(&bytes[..read]);
    let text = text.trim_start_matches('\u{fffd}').trim();
    (!text.is_empty()).then(|| text.to_owned())
}
