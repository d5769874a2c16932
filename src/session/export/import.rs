//! Reads an export back: all of it or nothing. Every line is looked at before the first row is
//! written, and the rows are written in one transaction. A session that is there already and the
//! same is passed over; another one under the same id is an error.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};

use rusqlite::{Connection, params};

use super::wire::{FORMAT, Header, SessionLine, VERSION};
use super::{Transcript, transcript};
use crate::error::{ExitKind, Failure};
use crate::session::error::StoreError;
use crate::session::path_text::path_to_sql;
use crate::session::record::SessionId;
use crate::session::rows::{insert_message, insert_receipt};
use crate::session::store::Store;

/// The longest line that is read, in bytes, so that a file without line ends costs no more memory.
/// The longest answer that is stored has 8 MB: 48 MB where each byte has to be an escape.
const LONGEST_LINE: u64 = 256 << 20;

/// Why nothing was imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file can't be read.
    #[error("the export cannot be read: {0}")]
    Read(#[from] io::Error),
    /// Something else.
    #[error("line 1 is not the head of an omni-run export: {reason}")]
    NotAnExport {
        /// Why.
        reason: String,
    },
    /// Written by a newer omni-run.
    #[error("the export has version {theirs}, this omni-run reads up to {VERSION}")]
    Newer {
        /// Its version.
        theirs: u64,
    },
    /// A line that is no session.
    #[error("line {line} is damaged: {reason}")]
    Damaged {
        /// Which, from 1.
        line: u64,
        /// Why.
        reason: String,
    },
    /// Fewer sessions than its head says.
    #[error("the export is cut off: it has {found} of {expected} sessions")]
    CutOff {
        /// What the head says.
        expected: u64,
        /// What there is.
        found: u64,
    },
    /// Another session is stored under this id.
    #[error("line {line}: session {id} is stored already and is not the same")]
    Differs {
        /// Which line, from 1.
        line: u64,
        /// The session.
        id: SessionId,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Failure {
        let failure = Failure::new(ExitKind::BadPrompt, error.to_string());
        let failure = match error {
            ImportError::Store(error) => return error.into(),
            ImportError::Read(_) => Failure::new(ExitKind::NotFound, failure.message),
            ImportError::NotAnExport { .. } => failure.hint(
                "`omni-run export ID > FILE` writes one; Markdown and HTML can't be read back",
            ),
            ImportError::Newer { .. } => failure.hint("update omni-run"),
            ImportError::Damaged { .. } | ImportError::CutOff { .. } => {
                failure.hint("export it again, or copy it again")
            }
            ImportError::Differs { id, .. } => failure.hint(format!(
                "`omni-run sessions show {id}` shows the stored one; `omni-run sessions rm {id}` \
                 makes room"
            )),
        };
        failure.hint("nothing was changed")
    }
}

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Imported {
    /// Sessions that are new in the store.
    pub added: usize,
    /// Sessions that were there already, the same.
    pub known: usize,
}

/// A file with an export that was read through once and found whole.
#[derive(Debug)]
pub struct Checked {
    file: File,
}

impl Checked {
    /// Reads `input` through. What can be read only once, a pipe, is kept in a nameless file.
    ///
    /// # Errors
    /// All of [`ImportError`] but those of the store.
    pub fn read(input: File) -> Result<Checked, ImportError> {
        let mut file = input;
        if !file.metadata()?.is_file() {
            let mut kept = tempfile::tempfile()?;
            io::copy(&mut file, &mut kept)?;
            file = kept;
        }
        file.rewind()?;
        for_each(&file, |_, _| Ok(()))?;
        Ok(Checked { file })
    }

    /// Writes the sessions into `store`, each with its messages and receipt, all or none.
    ///
    /// # Errors
    /// [`ImportError::Differs`], those of the store, and all others should the file change.
    pub fn import(&self, store: &Store) -> Result<Imported, ImportError> {
        (&self.file).rewind()?;
        let mut imported = Imported::default();
        store.write_or_undo(|c| {
            for_each(&self.file, |line, new| {
                let failed = |error| ImportError::Store(store.error(&error));
                let id = new.row.id;
                match transcript(c, id).map_err(failed)? {
                    None => {
                        insert(c, &new).map_err(failed)?;
                        imported.added += 1;
                    }
                    Some(known) if SessionLine::of(&known) == SessionLine::of(&new) => {
                        imported.known += 1;
                    }
                    Some(_) => return Err(ImportError::Differs { line, id }),
                }
                Ok(())
            })
        })?;
        Ok(imported)
    }
}

/// Calls `visit` with each session and its line.
fn for_each(
    file: &File,
    mut visit: impl FnMut(u64, Transcript) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let mut input = BufReader::with_capacity(1 << 16, file);
    let mut bytes = Vec::new();
    let header = match next_line(&mut input, &mut bytes, 1)? {
        true => header(&bytes)?,
        false => return Err(ImportError::NotAnExport { reason: "the file is empty".to_owned() }),
    };
    let (mut line, mut found) = (1, 0);
    loop {
        line += 1;
        if !next_line(&mut input, &mut bytes, line)? {
            break;
        }
        let damaged = |reason: String| ImportError::Damaged { line, reason };
        if bytes.trim_ascii().is_empty() {
            // An editor's empty line at the end.
            continue;
        }
        if found == header.sessions {
            let reason = match read_header(&bytes) {
                Some(_) => "a second export begins here; import them one by one".to_owned(),
                None => format!("there are more than the {found} sessions that the head says"),
            };
            return Err(damaged(reason));
        }
        let session: SessionLine =
            serde_json::from_slice(&bytes).map_err(|e| damaged(column_only(&e)))?;
        found += 1;
        visit(line, session.into_transcript())?;
    }
    if found < header.sessions {
        return Err(ImportError::CutOff { expected: header.sessions, found });
    }
    Ok(())
}

/// The next line into `bytes`; `false` at the end of the file.
fn next_line(
    input: &mut impl BufRead,
    bytes: &mut Vec<u8>,
    line: u64,
) -> Result<bool, ImportError> {
    bytes.clear();
    input.take(LONGEST_LINE + 1).read_until(b'\n', bytes)?;
    if bytes.len() as u64 > LONGEST_LINE {
        let reason = format!("it is longer than {} MB", LONGEST_LINE >> 20);
        return Err(ImportError::Damaged { line, reason });
    }
    Ok(!bytes.is_empty())
}

fn header(bytes: &[u8]) -> Result<Header, ImportError> {
    let no = |reason: &str| ImportError::NotAnExport { reason: reason.to_owned() };
    // Some editors put the mark in front.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let value: serde_json::Value =
        serde_json::from_slice(bytes).map_err(|e| no(&column_only(&e)))?;
    if value["format"] != FORMAT {
        return Err(no(&format!("`format` is not \"{FORMAT}\"")));
    }
    match value["version"].as_u64() {
        None | Some(0) => return Err(no("`version` is no version")),
        Some(theirs) if theirs > VERSION => return Err(ImportError::Newer { theirs }),
        Some(_) => {}
    }
    read_header(bytes).ok_or_else(|| no("`sessions` is no number"))
}

fn read_header(bytes: &[u8]) -> Option<Header> {
    serde_json::from_slice(bytes).ok()
}

/// The words of an error; its "line 1" would be taken for the file's.
fn column_only(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

/// The whole session. The messages go the way that all messages go.
fn insert(c: &Connection, new: &Transcript) -> rusqlite::Result<()> {
    let row = &new.row;
    let id = row.id.to_string();
    c.execute(
        "INSERT INTO sessions
           (id, engine, model, project_id, project_path, cwd, mode, engine_session_id, argv_json,
            started_at, ended_at, exit_code, signal, outcome)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
        params![
            id,
            row.engine,
            row.model,
            row.project,
            row.project_root.as_deref().map(path_to_sql),
            path_to_sql(&row.cwd),
            row.mode.as_str(),
            row.engine_session_id,
            serde_json::Value::from(row.argv.clone()).to_string(),
            row.started_at,
            row.ended_at,
            row.exit_code,
            row.signal,
            row.outcome.as_str(),
        ],
    )?;
    for message in &new.messages {
        insert_message(c, &id, message.role, &message.text, message.created_at)?;
    }
    if let Some(receipt) = &new.receipt {
        insert_receipt(c, &id, &receipt.delivered, receipt.created_at)?;
    }
    Ok(())
}
