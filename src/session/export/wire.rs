//! The lines of an export as types, one field each of the documented schema (README, "Export and
//! share"). What is written is what [`super::import`] reads; a field that it does not know is an
//! error there, so a new field means a new version.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::ser::{CompactFormatter, Formatter};

use super::{StoredReceipt, Transcript};
use crate::session::options::LaunchOptions;
use crate::session::path_text;
use crate::session::record::{Message, Outcome, Role, SessionId, SessionMode, SessionRow, UnixMs};
use crate::ui::is_unprintable;

/// Stands in the first line of every export.
pub const FORMAT: &str = "omni-run-export";
/// The version of the lines that this binary writes, and the newest that it reads.
pub const VERSION: u64 = 1;

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Header {
    /// [`FORMAT`].
    pub(super) format: String,
    /// [`VERSION`].
    pub(super) version: u64,
    /// How many lines follow: a file that was cut off is noticed.
    pub(super) sessions: u64,
}

/// Each further line: a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionLine {
    id: SessionId,
    engine: String,
    model: Option<String>,
    project: Option<String>,
    #[serde(with = "path_text::json::option", default)]
    project_folder: Option<PathBuf>,
    #[serde(with = "path_text::json")]
    cwd: PathBuf,
    mode: SessionMode,
    outcome: Outcome,
    exit_code: Option<i32>,
    signal: Option<i32>,
    started_at: UnixMs,
    ended_at: Option<UnixMs>,
    engine_session: Option<String>,
    argv: Vec<String>,
    messages: Vec<MessageLine>,
    receipt: Option<ReceiptLine>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageLine {
    role: Role,
    text: String,
    created_at: UnixMs,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReceiptLine {
    created_at: UnixMs,
    delivered: serde_json::Value,
}

impl SessionLine {
    pub(super) fn of(transcript: &Transcript) -> SessionLine {
        let row = &transcript.row;
        SessionLine {
            id: row.id,
            engine: row.engine.clone(),
            model: row.model.clone(),
            project: row.project.clone(),
            project_folder: row.project_root.clone(),
            cwd: row.cwd.clone(),
            mode: row.mode,
            outcome: row.outcome,
            exit_code: row.exit_code,
            signal: row.signal,
            started_at: row.started_at,
            ended_at: row.ended_at,
            engine_session: row.engine_session_id.clone(),
            argv: row.argv.clone(),
            messages: transcript
                .messages
                .iter()
                .map(|m| MessageLine {
                    role: m.role,
                    text: m.text.clone(),
                    created_at: m.created_at,
                })
                .collect(),
            receipt: transcript
                .receipt
                .clone()
                .map(|r| ReceiptLine { created_at: r.created_at, delivered: r.delivered }),
        }
    }

    pub(super) fn into_transcript(self) -> Transcript {
        let messages = self.messages.into_iter().zip(1..);
        Transcript {
            row: SessionRow {
                id: self.id,
                engine: self.engine,
                model: self.model,
                project: self.project,
                project_root: self.project_folder,
                cwd: self.cwd,
                mode: self.mode,
                engine_session_id: self.engine_session,
                argv: self.argv,
                started_at: self.started_at,
                ended_at: self.ended_at,
                exit_code: self.exit_code,
                signal: self.signal,
                outcome: self.outcome,
                first_words: String::new(),
                // Of the machine on which it ran; they are not exported.
                resumes: None,
                options: LaunchOptions::default(),
                accepted: None,
                attempts: 1,
                owner: None,
            },
            messages: messages
                .map(|(m, seq)| Message {
                    seq,
                    role: m.role,
                    text: m.text,
                    created_at: m.created_at,
                })
                .collect(),
            receipt: self
                .receipt
                .map(|r| StoredReceipt { created_at: r.created_at, delivered: r.delivered }),
        }
    }
}

/// A value as one line with its end. Terminals obey some characters that JSON leaves as they are;
/// those are escaped, so that a file and a screen get the same bytes.
pub(super) fn line(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    let mut to = serde_json::Serializer::with_formatter(&mut bytes, Printable(CompactFormatter));
    // Strings, numbers and lists only, into memory: nothing can fail.
    let _ = value.serialize(&mut to);
    bytes.push(b'\n');
    String::from_utf8(bytes).unwrap_or_default()
}

struct Printable(CompactFormatter);

impl Formatter for Printable {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        to: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_unprintable) {
            let c = rest[at..].chars().next().unwrap_or_default();
            to.write_all(&rest.as_bytes()[..at])?;
            // All of them lie in the first plane.
            write!(to, "\\u{:04x}", c as u32)?;
            rest = &rest[at + c.len_utf8()..];
        }
        self.0.write_string_fragment(to, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_obeys_nothing_of_a_line() {
        let text = "a\u{9b}1m\u{7f}\u{202e}\n\u{1b}[2J\"\\ 世界 😀";
        let line = line(&serde_json::json!({ "a": text }));
        assert!(!line.trim_end().chars().any(is_unprintable), "{line:?}");
        let back: serde_json::Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(back["a"], text);
    }
}
