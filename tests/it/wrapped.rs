//! What the tests of the wrapped session share.

use std::path::PathBuf;

use crate::pty_driver::{Log, PtyDriver, Run};

pub const PROBE: &str = env!("CARGO_BIN_EXE_wrap-probe");
pub const ENGINE: &str = env!("CARGO_BIN_EXE_fake-tui-engine");

/// The stand-in, wrapped, in a folder of its own.
pub struct Wrapped {
    pub term: PtyDriver,
    pub log: Log,
    pub dir: tempfile::TempDir,
}

pub fn outcome(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("outcome.json")
}

/// Starts the stand-in with these switches and waits until it shows its composer.
#[track_caller]
pub fn wrapped(switches: &[(&str, &str)]) -> Wrapped {
    let wrapped = start(switches, |run| run);
    wrapped.log.wait_for("ready", |_| true);
    wrapped.term.wait_for("\u{276f}");
    wrapped
}

/// Starts it, changed by `with`, and waits for nothing.
pub fn start(switches: &[(&str, &str)], with: impl FnOnce(Run) -> Run) -> Wrapped {
    let dir = tempfile::tempdir().expect("dir");
    let log = Log(dir.path().join("log.jsonl"));
    let mut run = Run::new(PROBE)
        .args([ENGINE])
        .cwd(dir.path())
        .env("FAKE_LOG", &log.0)
        .env("WRAP_PROBE_NOTES", outcome(&dir));
    for (name, value) in switches {
        run = run.env(&format!("FAKE_{name}"), value);
    }
    Wrapped { term: with(run).start(), log, dir }
}
