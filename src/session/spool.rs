//! Rows that the database could not take, as plain files: one JSON line each, 0600, written whole
//! or not at all. The next open for writing takes them in, each once, whoever comes first: rows are
//! keyed by the session's id, and a file goes only after the commit.
//!
//! Two places: the spool in the data folder, and a folder of this user in the temporary folder for
//! the times when the data folder can't be written. The second serves several databases, so a file
//! there counts only for the one that it names.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::context::DisplayText;
use crate::paths::{Paths, create_private_dir};
use crate::session::error::StoreError;
use crate::session::path_text;
use crate::session::record::{NewSession, SessionEnd, SessionId, SessionMode, UnixMs};
use crate::session::rows::{insert_end, insert_session};
use crate::session::store::Store;

/// Of the file format. A file of a newer omni-run is left for it.
const FORMAT: u32 = 1;

/// One spooled row: a session, and its end where that is what was to be written.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SpooledRow {
    format: u32,
    #[serde(with = "path_text::json")]
    database: PathBuf,
    /// The session was in the database already: if it is gone now, the user removed it.
    known: bool,
    session: SpooledSession,
    end: Option<SessionEnd>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SpooledSession {
    id: SessionId,
    engine: String,
    model: Option<String>,
    project: Option<String>,
    #[serde(with = "path_text::json::option")]
    project_root: Option<PathBuf>,
    #[serde(with = "path_text::json")]
    cwd: PathBuf,
    mode: SessionMode,
    argv: Vec<String>,
    started_at: UnixMs,
    text: String,
}

impl SpooledRow {
    pub(super) fn new(
        database: PathBuf,
        session: &NewSession,
        known: bool,
        end: Option<SessionEnd>,
    ) -> SpooledRow {
        let session = SpooledSession {
            id: session.id,
            engine: session.engine.clone(),
            model: session.model.clone(),
            project: session.project.clone(),
            project_root: session.project_root.clone(),
            cwd: session.cwd.clone(),
            mode: session.mode,
            argv: session.argv_without_text().into_iter().map(str::to_owned).collect(),
            started_at: session.started_at,
            text: session.display.as_str().to_owned(),
        };
        SpooledRow { format: FORMAT, database, known, session, end }
    }

    /// Start and end have names of their own: the end must not be lost when another process takes
    /// in the start, and removes its file, at the same moment.
    fn file_name(&self) -> String {
        let part = if self.end.is_some() { END } else { START };
        format!("{}{part}", self.session.id)
    }

    fn apply(self, c: &rusqlite::Connection) -> rusqlite::Result<()> {
        let s = self.session;
        let session = NewSession {
            id: s.id,
            engine: s.engine,
            model: s.model,
            project: s.project,
            project_root: s.project_root,
            cwd: s.cwd,
            mode: s.mode,
            argv: s.argv,
            started_at: s.started_at,
            display: DisplayText::new(s.text),
        };
        if !self.known {
            insert_session(c, &session)?;
        }
        if let Some(end) = &self.end {
            insert_end(c, session.id, end)?;
        }
        Ok(())
    }
}

/// Where damaged files are kept.
const DAMAGED: &str = "damaged";
/// Characters of a session's id, with which a file's name begins.
const ID_LENGTH: usize = 36;

const START: &str = ".start.json";
const END: &str = ".end.json";

/// The two places, in the order in which they are tried.
pub(super) fn folders(paths: &Paths, temp: &Path) -> [PathBuf; 2] {
    let user = nix::unistd::geteuid();
    [paths.spool(), temp.join(format!("omni-run-spool-{user}"))]
}

/// Writes a row into the first folder that takes it. `Err`: why each of them did not.
pub(super) fn put(row: &SpooledRow, paths: &Paths, temp: &Path) -> Result<PathBuf, String> {
    let mut reasons = Vec::new();
    for folder in folders(paths, temp) {
        match put_in(row, &folder) {
            Ok(file) => return Ok(file),
            Err(error) => reasons.push(format!("`{}`: {error}", folder.display())),
        }
    }
    Err(reasons.join("; "))
}

fn put_in(row: &SpooledRow, folder: &Path) -> io::Result<PathBuf> {
    create_private_dir(folder)?;
    require_own(folder)?;
    let mut line = serde_json::to_vec(row)?;
    line.push(b'\n');
    let file = folder.join(row.file_name());
    let draft = folder.join(format!(".{}.draft", row.file_name()));
    let write = || -> io::Result<()> {
        let mut out =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        out.write_all(&line)?;
        out.sync_all()?;
        fs::rename(&draft, &file)
    };
    if let Err(error) = write() {
        let _ = fs::remove_file(&draft);
        return Err(error);
    }
    // Some file systems can't sync a folder; the file itself is safe by then.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(file)
}

/// A folder that somebody else made for us, or a link, is not trusted with what the user typed, and
/// nothing is believed that lies in it.
fn require_own(folder: &Path) -> io::Result<()> {
    let about = fs::symlink_metadata(folder)?;
    if !about.is_dir() || about.uid() != nix::unistd::geteuid().as_raw() {
        return Err(io::Error::other("it is not a folder of this user"));
    }
    Ok(())
}

/// Takes in every spooled row of this database, and sets damaged files aside. Gives the notes for
/// the person.
pub(super) fn take_in(
    store: &Store,
    paths: &Paths,
    temp: &Path,
) -> Result<Vec<String>, StoreError> {
    let waiting: Vec<PathBuf> =
        folders(paths, temp).iter().flat_map(|folder| waiting_in(folder)).collect();
    if waiting.is_empty() {
        return Ok(Vec::new());
    }
    let (taken, damaged) = store.write(|c| {
        let (mut taken, mut damaged) = (Vec::new(), Vec::new());
        for file in &waiting {
            // Read under the write lock: what another process took in before is gone by now.
            match read_row(file) {
                Ok(Some(row)) if row.format > FORMAT || row.database != store.file() => {}
                Ok(Some(row)) => {
                    row.apply(c)?;
                    taken.push(file);
                }
                Ok(None) => {}
                Err(reason) => damaged.push((file, reason)),
            }
        }
        Ok((taken, damaged))
    })?;
    for file in taken {
        let _ = fs::remove_file(file);
    }
    Ok(damaged.into_iter().filter_map(|(file, reason)| set_aside(file, &reason)).collect())
}

/// Removes what the spool has of these sessions: rows that wait, drafts, and damaged files. Gives the
/// files that could not be removed, and why.
pub(super) fn remove(ids: &[SessionId], paths: &Paths, temp: &Path) -> Vec<(PathBuf, String)> {
    let names: std::collections::HashSet<String> = ids.iter().map(SessionId::to_string).collect();
    let mut left = Vec::new();
    for folder in folders(paths, temp) {
        if require_own(&folder).is_err() {
            continue;
        }
        for folder in [folder.join(DAMAGED), folder] {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let name = entry.file_name();
                let of_session = name.to_str().and_then(|name| {
                    let id = name.trim_start_matches('.').get(..ID_LENGTH)?;
                    names.get(id)
                });
                if of_session.is_some()
                    && let Err(error) = fs::remove_file(entry.path())
                    && error.kind() != io::ErrorKind::NotFound
                {
                    left.push((entry.path(), error.to_string()));
                }
            }
        }
    }
    left
}

/// How many files wait, of whatever database.
pub(super) fn waiting(paths: &Paths, temp: &Path) -> usize {
    folders(paths, temp).iter().map(|folder| waiting_in(folder).len()).sum()
}

/// Whole spool files of a folder, starts before ends.
fn waiting_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    if require_own(folder).is_err() {
        return Vec::new();
    }
    let ends_with = |file: &Path, ending: &str| {
        file.file_name().is_some_and(|name| {
            !name.as_bytes().starts_with(b".") && name.as_bytes().ends_with(ending.as_bytes())
        })
    };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|file| ends_with(file, START) || ends_with(file, END))
        .collect();
    files.sort_by_key(|file| (ends_with(file, END), file.clone()));
    files
}

/// `None`: it is gone or out of reach. `Err`: it can't be understood, and why.
fn read_row(file: &Path) -> Result<Option<SpooledRow>, String> {
    let mut text = String::new();
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK)
        .open(file);
    match opened.and_then(|mut file| file.read_to_string(&mut text)) {
        Ok(_) => serde_json::from_str(&text).map(Some).map_err(|e| e.to_string()),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(error.to_string()),
        // Taken in by another process, or not ours to read: nothing to judge.
        Err(_) => Ok(None),
    }
}

/// Moves a damaged file out of the way, so that it is named once. The note is `None` where another
/// process has just done so.
fn set_aside(file: &Path, reason: &str) -> Option<String> {
    let folder = file.parent()?.join(DAMAGED);
    create_private_dir(&folder).ok()?;
    let aside = folder.join(file.file_name()?);
    fs::rename(file, &aside).ok()?;
    Some(format!(
        "a spooled session could not be read ({reason}); the file is kept as `{}`",
        aside.display()
    ))
}
