//! Sessions as files: lines of JSON that [`import`] reads back, Markdown and HTML for people. A
//! format turns transcripts into text; where that goes, and who is asked, is `commands`' business.
//! The order is that of the starts, and the same store gives the same bytes.

mod facts;
mod html;
pub mod import;
mod lines;
mod markdown;
mod mask;
mod render;
mod wire;

use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension, params};

use crate::session::error::StoreError;
use crate::session::path_text::path_to_sql;
use crate::session::record::{Message, SessionId, SessionRow, UnixMs};
use crate::session::rows::{self, COLUMNS, session_from_row};
use crate::session::store::Store;

pub use html::share_page;
pub use mask::{Masked, Masker};
pub use wire::{FORMAT, VERSION};

/// All that is stored of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// The session.
    pub row: SessionRow,
    /// What was typed and answered, in order.
    pub messages: Vec<Message>,
    /// What was delivered, where it is known.
    pub receipt: Option<StoredReceipt>,
}

/// A receipt as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredReceipt {
    /// When it was written.
    pub created_at: UnixMs,
    /// Names, figures and hashes.
    pub delivered: serde_json::Value,
}

/// Which sessions.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Only this project's: its id …
    pub project: Option<String>,
    /// … or its folder.
    pub project_root: Option<PathBuf>,
    /// Only this engine's.
    pub engine: Option<String>,
    /// Only those that began at this moment or later.
    pub since: Option<UnixMs>,
}

impl Store {
    /// The sessions of `selection`, oldest first, ties by id.
    pub fn selected(&self, selection: &Selection) -> Result<Vec<SessionRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM sessions
             WHERE ((?1 IS NULL AND ?2 IS NULL) OR project_id = ?1 OR project_path = ?2)
               AND (?3 IS NULL OR engine = ?3) AND (?4 IS NULL OR started_at >= ?4)
             ORDER BY started_at, id"
        );
        let root = selection.project_root.as_deref().map(path_to_sql);
        self.read(|c| {
            c.prepare(&sql)?
                .query_map(
                    params![selection.project, root, selection.engine, selection.since],
                    session_from_row,
                )?
                .collect()
        })
    }

    /// All of one session as it is at this moment; `None` where it is gone.
    pub fn transcript(&self, id: SessionId) -> Result<Option<Transcript>, StoreError> {
        self.read(|c| transcript(c, id))
    }
}

fn transcript(c: &Connection, id: SessionId) -> rusqlite::Result<Option<Transcript>> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1");
    let Some(row) = c.query_row(&sql, [id.to_string()], session_from_row).optional()? else {
        return Ok(None);
    };
    let messages = rows::messages_of(c, id)?;
    let receipt = rows::receipt_of(c, id)?
        .map(|(created_at, delivered)| StoredReceipt { created_at, delivered });
    Ok(Some(Transcript { row, messages, receipt }))
}

/// The formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Lines of JSON: whole, and read back by [`import`].
    Jsonl,
    /// Markdown.
    Markdown,
    /// One page that loads nothing.
    Html,
}

/// One export being written: text in the order of the calls.
pub trait Sheet {
    /// The head; `heads` are the sessions that follow.
    fn begin(&mut self, heads: &[SessionRow]) -> String;
    /// One session.
    fn session(&mut self, transcript: &Transcript) -> String;
    /// The tail.
    fn end(&mut self) -> String;
}

impl Format {
    /// An empty export.
    pub fn sheet(self) -> Box<dyn Sheet> {
        match self {
            Format::Jsonl => Box::new(lines::Lines),
            Format::Markdown => Box::new(markdown::Markdown),
            Format::Html => Box::new(html::Html::default()),
        }
    }
}
