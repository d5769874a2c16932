//! The mark of a living session: a file in the data folder that its process holds locked, named by
//! the attempt. The lock ends with the process however that dies; the file's lines tell what is known
//! so far, for the one who finds it: whose it is, the engine's process, the engine's own id, that the
//! message was taken. A line costs one write, and no wait for the disk: what a power cut takes away is
//! counted as not known, never as not having been. The database is for the start and the end.
//!
//! The file is removed at the end, else by who finds it (`settle`). Where it can't be made the
//! session runs without, and its process alone tells whether it lives.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use serde::{Deserialize, Serialize};

use crate::launch::owner::{Fate, Owner};
use crate::paths::{Paths, create_private_dir};
use crate::session::path_text;
use crate::session::record::SessionId;

/// A file that was not finished within this is nobody's any more.
const DRAFT_AGE: Duration = Duration::from_secs(60);
/// Far over what is written; in bytes.
const MOST: u64 = 1 << 20;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LiveNote {
    /// The first line.
    Begin {
        /// The session.
        session: SessionId,
        /// Its process.
        owner: Owner,
        /// The launch's files.
        #[serde(with = "path_text::json::option")]
        run_dir: Option<PathBuf>,
    },
    /// The engine is about to be started: without this line it was not.
    Starting,
    /// The engine was started.
    Engine {
        /// Its process.
        process: Owner,
    },
    /// The engine's own id of the session.
    Session {
        /// The id.
        id: String,
    },
    /// The engine took the message.
    Accepted {
        /// How that is known.
        how: String,
    },
}

/// The mark, held while the session lasts.
#[derive(Debug)]
pub struct Live {
    owner: Owner,
    held: Option<(Flock<File>, PathBuf)>,
    accepted: Option<String>,
    session: Option<String>,
}

impl Live {
    /// Takes the mark. It is there, and locked, before anybody can find it.
    pub fn begin(
        paths: &Paths,
        attempt: SessionId,
        session: SessionId,
        run_dir: Option<&Path>,
    ) -> Live {
        let owner = Owner::this_process();
        let held = take(&folder(paths), attempt);
        let mut live =
            Live { owner: owner.clone(), held: held.ok(), accepted: None, session: None };
        live.write(&LiveNote::Begin { session, owner, run_dir: run_dir.map(Path::to_owned) });
        live.publish(attempt);
        live
    }

    /// The process, as the session's row has it.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// How it is known that the engine took the message, if it is.
    pub fn accepted(&self) -> Option<&str> {
        self.accepted.as_deref()
    }

    /// The engine's own id of the session, if it was noted.
    pub fn engine_session_id(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Adds a line; one that says nothing new is left out.
    pub fn note(&mut self, note: &LiveNote) {
        let news = match note {
            LiveNote::Begin { .. } | LiveNote::Starting | LiveNote::Engine { .. } => true,
            LiveNote::Session { id } => self.session.replace(id.clone()).as_ref() != Some(id),
            LiveNote::Accepted { how } => {
                let news = self.accepted.is_none();
                self.accepted.get_or_insert_with(|| how.clone());
                news
            }
        };
        if news {
            self.write(note);
        }
    }

    fn write(&mut self, note: &LiveNote) {
        let (Some((file, _)), Ok(mut line)) = (&mut self.held, serde_json::to_vec(note)) else {
            return;
        };
        line.push(b'\n');
        if file.write_all(&line).is_err() {
            // What is not in a mark counts as not having been: none is better than half of one.
            self.remove();
        }
    }

    fn remove(&mut self) {
        if let Some((_, path)) = self.held.take() {
            let _ = fs::remove_file(path);
        }
    }

    /// Gives the finished file its name, by which it is looked for.
    fn publish(&mut self, attempt: SessionId) {
        let Some((_, path)) = &mut self.held else { return };
        let name = path.with_file_name(format!("{attempt}{ENDING}"));
        match fs::rename(&*path, &name) {
            Ok(()) => *path = name,
            Err(_) => self.remove(),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // Before the lock goes: nobody finds it without its holder.
        if let Some((_, path)) = &self.held {
            let _ = fs::remove_file(path);
        }
    }
}

const ENDING: &str = ".live";

fn folder(paths: &Paths) -> PathBuf {
    paths.data.join("live")
}

fn take(folder: &Path, attempt: SessionId) -> io::Result<(Flock<File>, PathBuf)> {
    create_private_dir(folder)?;
    let path = folder.join(format!(".{attempt}.draft"));
    // Read as well: some network disks ask that of an exclusive lock.
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(nix::libc::O_CLOEXEC)
        .open(&path)?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok((lock, path)),
        Err((_, errno)) => {
            let _ = fs::remove_file(&path);
            Err(errno.into())
        }
    }
}

/// A mark as it is found.
#[derive(Debug, Default)]
pub struct Mark {
    /// The file.
    pub path: PathBuf,
    /// Somebody holds it.
    pub held: bool,
    /// The session; `None`: the file says nothing.
    pub session: Option<SessionId>,
    /// Its process.
    pub owner: Option<Owner>,
    /// The launch's files.
    pub run_dir: Option<PathBuf>,
    /// The engine was about to be started.
    pub starting: bool,
    /// The engine's process, where it was started.
    pub engine: Option<Owner>,
    /// The engine's own id.
    pub engine_session_id: Option<String>,
    /// How it is known that the engine took the message.
    pub accepted: Option<String>,
}

impl Mark {
    fn parse(text: &str) -> Mark {
        let mut mark = Mark::default();
        for line in text.lines() {
            match serde_json::from_str(line) {
                Ok(LiveNote::Begin { session, owner, run_dir }) => {
                    (mark.session, mark.owner) = (Some(session), Some(owner));
                    mark.run_dir = run_dir;
                }
                Ok(LiveNote::Starting) => mark.starting = true,
                Ok(LiveNote::Engine { process }) => mark.engine = Some(process),
                Ok(LiveNote::Session { id }) => mark.engine_session_id = Some(id),
                Ok(LiveNote::Accepted { how }) => mark.accepted = Some(how),
                // The last line of a power cut.
                Err(_) => {}
            }
        }
        mark
    }

    /// Whether the engine itself still runs: it may outlive a killed omni-run for some seconds.
    pub fn engine_lives(&self) -> bool {
        self.engine.as_ref().is_some_and(|engine| engine.fate() == Fate::Lives)
    }

    /// Whether session or engine may live: the lock is held, or a process is there all the same
    /// (some disks do not keep locks).
    pub fn may_live(&self) -> bool {
        let lives = |owner: &Owner| matches!(owner.fate(), Fate::Lives | Fate::Elsewhere);
        self.held || self.owner.as_ref().is_some_and(lives) || self.engine_lives()
    }
}

/// Every mark that there is.
pub fn marks(paths: &Paths) -> Vec<Mark> {
    let Ok(entries) = fs::read_dir(folder(paths)) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let name = name.to_string_lossy();
        if name.starts_with('.') {
            sweep_draft(&path);
        } else if name.ends_with(ENDING)
            && let Some((text, held)) = look(&path)
        {
            found.push(Mark { path, held, ..Mark::parse(&text) });
        }
    }
    found
}

/// The text of a mark and whether it is held; `None`: it is gone. A shared lock, so that two that look
/// at the same time do not take each other for its holder.
fn look(path: &Path) -> Option<(String, bool)> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK | nix::libc::O_CLOEXEC)
        .open(path)
        .ok()?;
    match Flock::lock(file, FlockArg::LockSharedNonblock) {
        Ok(file) => Some((text_of(&file)?, false)),
        Err((file, Errno::EWOULDBLOCK)) => Some((text_of(&file)?, true)),
        // No locks here: the process alone tells.
        Err((file, _)) => Some((text_of(&file)?, false)),
    }
}

fn text_of(file: &File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn sweep_draft(path: &Path) {
    let age = fs::metadata(path).and_then(|about| about.modified()).map(|at| at.elapsed());
    if matches!(age, Ok(Ok(age)) if age > DRAFT_AGE) {
        let _ = fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> (tempfile::TempDir, Paths) {
        let dir = tempfile::tempdir().expect("dir");
        let paths = Paths {
            config: dir.path().join("config"),
            data: dir.path().join("data"),
            runs: dir.path().join("runs"),
            home: None,
        };
        (dir, paths)
    }

    #[test]
    fn a_mark_is_held_says_what_is_known_and_goes_with_its_session() {
        let (_dir, paths) = place();
        let id = SessionId::generate();
        let mut live = Live::begin(&paths, id, id, Some(Path::new("/run/x")));
        for _ in 0..2 {
            live.note(&LiveNote::Session { id: "theirs".into() });
            live.note(&LiveNote::Accepted { how: "it answered".into() });
        }
        let marks_now = marks(&paths);
        let [mark] = marks_now.as_slice() else { panic!("{marks_now:?}") };
        assert!(mark.held && mark.may_live());
        assert_eq!((mark.session, mark.run_dir.as_deref()), (Some(id), Some(Path::new("/run/x"))));
        assert_eq!(mark.engine_session_id.as_deref(), Some("theirs"));
        assert_eq!(mark.accepted.as_deref(), Some("it answered"));
        let lines = fs::read_to_string(&mark.path).expect("mark").lines().count();
        assert_eq!(lines, 3, "what is known already is not said again");
        drop(live);
        assert!(marks(&paths).is_empty());
    }

    #[test]
    fn a_mark_of_an_ended_process_is_dead_and_a_torn_line_costs_itself_only() {
        let (_dir, paths) = place();
        let id = SessionId::generate();
        let path = {
            let live = Live::begin(&paths, id, id, None);
            let path = live.held.as_ref().expect("held").1.clone();
            let text = fs::read_to_string(&path).expect("text");
            std::mem::forget(live);
            // The lock of this process stays; a copy stands for one whose process was killed.
            let ended = text.replace(&format!("\"pid\":{}", std::process::id()), "\"pid\":1999999");
            let other = path.with_file_name("copy.live");
            fs::write(&other, format!("{ended}{{\"event\":\"acc")).expect("write");
            other
        };
        let all = marks(&paths);
        let dead = all.iter().find(|mark| mark.path == path).expect("the copy");
        assert!(!dead.may_live() && dead.session == Some(id) && dead.accepted.is_none());
        assert_eq!(all.iter().filter(|mark| mark.may_live()).count(), 1);
    }

    #[test]
    fn without_a_folder_a_session_runs_without_a_mark() {
        let (_dir, paths) = place();
        fs::write(&paths.data, "not a folder").expect("write");
        let id = SessionId::generate();
        let mut live = Live::begin(&paths, id, id, None);
        live.note(&LiveNote::Accepted { how: "x".into() });
        assert!(live.held.is_none() && live.accepted() == Some("x") && marks(&paths).is_empty());
    }
}
