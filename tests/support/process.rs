//! Child processes that always come to an end: input given, output read, a time limit, and the
//! whole process group killed when it is over.
//!
//! For plain pipes only; terminals are driven elsewhere.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// OpenClaw needs 20 to 30 s of processor time for one turn, and took 80 s on two cores that were
/// shared with other builds. A hang is found all the same.
pub const LIMIT: Duration = Duration::from_secs(240);

/// A process that ran to its end.
#[derive(Debug)]
pub struct Finished {
    /// Exit code or signal.
    pub status: ExitStatus,
    /// Lossy UTF-8.
    pub stdout: String,
    /// Lossy UTF-8.
    pub stderr: String,
    /// From the start to the end of the process.
    pub took: Duration,
}

impl Finished {
    /// The exit code; fails when a signal ended it.
    #[track_caller]
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("ended by a signal: {self:?}"))
    }

    /// Fails with everything the process said unless it ended with code 0.
    #[track_caller]
    pub fn expect_success(self) -> Self {
        assert!(
            self.status.success(),
            "{}\n--- stdout\n{}\n--- stderr\n{}",
            self.status,
            self.stdout,
            self.stderr
        );
        self
    }
}

/// Runs the command with this text on stdin, which then ends, within [`LIMIT`].
#[track_caller]
pub fn run(command: &mut Command, stdin: impl AsRef<[u8]>) -> Finished {
    run_within(command, stdin, LIMIT)
}

/// [`run`] with another limit. A process over the limit is killed and the test fails.
#[track_caller]
pub fn run_within(command: &mut Command, stdin: impl AsRef<[u8]>, limit: Duration) -> Finished {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap_or_else(|e| panic!("start {command:?}: {e}"));
    let group = Pid::from_raw(child.id().cast_signed());

    let input = stdin.as_ref().to_owned();
    let mut pipe = child.stdin.take().expect("piped stdin");
    // An engine that does not read its input ends the pipe; that is for the test to notice.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&input)));
    let stdout = drain(child.stdout.take().expect("piped stdout"));
    let stderr = drain(child.stderr.take().expect("piped stderr"));
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = ended.send(child.wait());
    });

    let status = end.recv_timeout(limit);
    let took = started.elapsed();
    // What the engine left behind holds the pipes open and would outlive the test.
    let _ = killpg(group, Signal::SIGKILL);
    let _ = writer.join();
    let stdout = stdout.join().expect("stdout reader");
    let stderr = stderr.join().expect("stderr reader");
    let Ok(status) = status else {
        panic!("{command:?} ran over {limit:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}");
    };
    Finished { status: status.expect("wait for the child"), stdout, stderr, took }
}

fn drain(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Says something to the person who runs the tests, past the capture of the test harness.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
