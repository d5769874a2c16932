//! The pipe on which an engine gives its answer one-shot. It is wide, because what Node has not got rid of
//! when it exits is lost: its writes to a pipe do not block, and `process.exit` does not wait for them.
//! Seen with 400 KB of docs and a reader that does not get to run, which a busy machine is enough for: of a
//! pipe of the usual 64 KB the answer is missing, with code 0, on Gemini CLI 0.61.0 (`stream-json` begins
//! with the whole sent text) and OpenClaw 2026.9.6 (its envelope quotes it). `tests/real/asleep.rs`.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{ChildStdout, Stdio};

/// Bytes that wait in the pipe. Linux lets any user have as much (`/proc/sys/fs/pipe-max-size`).
#[cfg(target_os = "linux")]
const ROOM: i32 = 1 << 20;

/// The end that is read here, and the one that the engine gets as its stdout.
///
/// # Errors
/// When no descriptor is left. A pipe that cannot be made wide stays as it is.
pub(super) fn wide() -> io::Result<(ChildStdout, Stdio)> {
    let (reader, writer) = io::pipe()?;
    #[cfg(target_os = "linux")]
    let _ = nix::fcntl::fcntl(&writer, nix::fcntl::FcntlArg::F_SETPIPE_SZ(ROOM));
    Ok((ChildStdout::from(OwnedFd::from(reader)), writer.into()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_usual_64_kb_wait_in_it() {
        let (reader, _writer) = wide().unwrap();
        let room = nix::fcntl::fcntl(&reader, nix::fcntl::FcntlArg::F_GETPIPE_SZ).unwrap();
        assert_eq!(room, ROOM);
    }
}
