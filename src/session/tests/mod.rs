//! Tests of the store as a whole, named by the case they show (CASES group g).

mod concurrency;
mod damage;
mod export;
mod limits;
mod listing;
mod properties;
mod removing;
mod rows;
mod searching;
mod spooling;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::store::Opening;
use super::*;
use crate::context::DisplayText;
use crate::paths::Paths;

/// A data folder and a temporary folder of a test's own.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("tmp")).unwrap();
        Place { folder }
    }

    fn paths(&self) -> Paths {
        paths_in(self.folder.path())
    }

    fn opening(&self) -> Opening {
        opening_in(self.folder.path())
    }

    fn open(&self) -> Result<Store, StoreError> {
        Store::open_with(&self.paths(), &self.opening())
    }

    fn start(&self, session: NewSession) -> (Recorder, Option<String>) {
        Recorder::start_with(&self.paths(), self.opening(), session)
    }

    fn database(&self) -> PathBuf {
        self.paths().database()
    }

    /// Another program's hands on the file.
    fn raw(&self) -> rusqlite::Connection {
        let raw = rusqlite::Connection::open(self.database()).unwrap();
        search::register(&raw).unwrap();
        raw
    }

    fn spooled(&self) -> Vec<PathBuf> {
        let [spool, fallback] = spool::folders(&self.paths(), &self.folder.path().join("tmp"));
        files_of(&spool).into_iter().chain(files_of(&fallback)).collect()
    }
}

fn files_of(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> =
        entries.map(|e| e.unwrap().path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

fn paths_in(folder: &Path) -> Paths {
    Paths {
        config: folder.join("config"),
        data: folder.join("data"),
        runs: folder.join("runs"),
        home: None,
    }
}

/// Short waits: the tests show what happens at the end of one, not its length.
fn opening_in(folder: &Path) -> Opening {
    Opening { busy: Some(Duration::from_millis(60)), vfs: None, temp: folder.join("tmp") }
}

fn session(text: &str) -> NewSession {
    NewSession {
        id: SessionId::generate(),
        engine: "echo".to_owned(),
        model: Some("small".to_owned()),
        project: Some("p1".to_owned()),
        project_root: Some(PathBuf::from("/work/p1")),
        cwd: PathBuf::from("/work/p1/sub"),
        mode: SessionMode::OneShot,
        argv: vec!["echo-engine".to_owned(), "--print".to_owned()],
        started_at: 1_796_000_000_000,
        display: DisplayText::new(text),
    }
}

fn end() -> SessionEnd {
    SessionEnd {
        ended_at: 1_796_000_005_000,
        exit_code: Some(0),
        signal: None,
        outcome: Outcome::Ok,
        engine_session_id: None,
        reply: Some("done".to_owned()),
        receipt: Some(serde_json::json!({"block_hash": "ab", "bytes": 3})),
    }
}

fn all(store: &Store) -> Vec<SessionRow> {
    store.sessions(&SessionFilter::default()).unwrap()
}

/// The variable that turns a test into the body of a child process.
const CHILD: &str = "OMNI_RUN_TEST_CHILD";

/// This test binary once more, running only `test` (its path in this module) with `folder` as its
/// place.
fn child(test: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", &format!("session::tests::{test}"), "--nocapture", "--test-threads=1"])
        .env_clear()
        .env(CHILD, folder)
        .env("TMPDIR", folder.join("tmp"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// The place of a child process; `None` in the test process itself.
fn child_place() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

#[track_caller]
fn assert_success(output: &std::process::Output) {
    assert!(
        output.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
