//! What is written about a session and read back. Each write is one immediate transaction; the same
//! two functions serve a live run and a row from the spool, and both may run twice without harm.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::session::error::StoreError;
use crate::session::path_text::{path_from_sql, path_to_sql};
use crate::session::record::{
    Message, NewSession, Outcome, Role, SessionEnd, SessionId, SessionMode, SessionRow, UnixMs,
};
use crate::session::store::Store;

/// How many ids an ambiguous prefix names.
const AMBIGUOUS_SHOWN: usize = 10;

impl Store {
    /// Records the start of a session with its operator row. Durable when it returns (S60).
    pub fn begin(&self, session: &NewSession) -> Result<(), StoreError> {
        self.write(|c| insert_session(c, session)).map(|_| ())
    }

    /// Records the end. The first end counts; a second one changes nothing.
    pub fn finish(&self, id: SessionId, end: &SessionEnd) -> Result<(), StoreError> {
        if self.write(|c| insert_end(c, id, end))? {
            Ok(())
        } else {
            Err(StoreError::UnknownSession { prefix: id.to_string() })
        }
    }

    /// Another text in the operator's first row.
    pub(super) fn set_display(&self, id: SessionId, text: &str) -> Result<(), StoreError> {
        let sql = "UPDATE messages SET text = ?2
                   WHERE session_id = ?1 AND seq = 1 AND role = 'operator'";
        match self.write(|c| c.execute(sql, params![id.to_string(), text]))? {
            0 => Err(StoreError::UnknownSession { prefix: id.to_string() }),
            _ => Ok(()),
        }
    }

    /// Keeps the engine's own id of a session as soon as it is known.
    pub fn set_engine_session_id(&self, id: SessionId, engines: &str) -> Result<(), StoreError> {
        let sql = "UPDATE sessions SET engine_session_id = ?2 WHERE id = ?1";
        match self.write(|c| c.execute(sql, params![id.to_string(), engines]))? {
            0 => Err(StoreError::UnknownSession { prefix: id.to_string() }),
            _ => Ok(()),
        }
    }

    /// The session whose id begins with `prefix`, with or without hyphens.
    pub fn session_by_prefix(&self, prefix: &str) -> Result<SessionRow, StoreError> {
        let unknown = || StoreError::UnknownSession { prefix: prefix.to_owned() };
        let from = hyphenated(prefix).ok_or_else(unknown)?;
        // `g` follows every hex digit and the hyphen.
        let below = format!("{from}g");
        let sql = format!(
            "SELECT {COLUMNS} FROM sessions WHERE id >= ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3"
        );
        let mut found: Vec<SessionRow> = self.read(|c| {
            c.prepare(&sql)?
                .query_map(params![from, below, AMBIGUOUS_SHOWN as i64], session_from_row)?
                .collect()
        })?;
        match (found.pop(), found.is_empty()) {
            (None, _) => Err(unknown()),
            (Some(only), true) => Ok(only),
            (Some(last), false) => {
                let matches = found.iter().map(|row| row.id).chain([last.id]).collect();
                Err(StoreError::AmbiguousSession { prefix: prefix.to_owned(), matches })
            }
        }
    }

    /// The messages of a session, in order.
    pub fn messages(&self, id: SessionId) -> Result<Vec<Message>, StoreError> {
        self.read(|c| messages_of(c, id))
    }

    /// What was typed to an engine, newest first, at most `limit` texts.
    pub fn typed_texts(&self, engine: &str, limit: u32) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT text FROM messages JOIN sessions ON sessions.id = session_id
                   WHERE role = 'operator' AND engine = ?1
                   ORDER BY started_at DESC LIMIT ?2";
        self.read(|c| {
            c.prepare(sql)?.query_map(params![engine, limit], |row| row.get(0))?.collect()
        })
    }

    /// What was delivered in a session, where it is known.
    pub fn receipt(&self, id: SessionId) -> Result<Option<serde_json::Value>, StoreError> {
        Ok(self.read(|c| receipt_of(c, id))?.map(|(_, receipt)| receipt))
    }

    /// The different `front` marks in the receipts of an engine, newest first, at most so many.
    pub fn fronts(&self, engine: &str, limit: u32) -> Result<Vec<serde_json::Value>, StoreError> {
        let sql = "SELECT json_extract(receipt_json, '$.front') AS front
                   FROM receipts JOIN sessions ON sessions.id = receipts.session_id
                   WHERE engine = ?1 AND front IS NOT NULL
                   GROUP BY front ORDER BY max(started_at) DESC LIMIT ?2";
        self.read(|c| {
            c.prepare(sql)?.query_map(params![engine, limit], |row| json(row, 0))?.collect()
        })
    }
}

/// The messages of a session, in order.
pub(super) fn messages_of(c: &Connection, id: SessionId) -> rusqlite::Result<Vec<Message>> {
    let sql = "SELECT seq, role, text, created_at FROM messages WHERE session_id = ?1
               ORDER BY seq";
    let mut statement = c.prepare(sql)?;
    let rows = statement.query_map([id.to_string()], |row| {
        Ok(Message {
            seq: row.get(0)?,
            role: word(row, 1, Role::parse)?,
            text: row.get(2)?,
            created_at: row.get(3)?,
        })
    })?;
    rows.collect()
}

/// The receipt of a session and when it was written.
pub(super) fn receipt_of(
    c: &Connection,
    id: SessionId,
) -> rusqlite::Result<Option<(UnixMs, serde_json::Value)>> {
    let sql = "SELECT created_at, receipt_json FROM receipts WHERE session_id = ?1";
    c.query_row(sql, [id.to_string()], |row| Ok((row.get(0)?, json(row, 1)?))).optional()
}

/// Writes the session and its operator row, unless the session is there already. `false`: it was.
pub(super) fn insert_session(c: &Connection, session: &NewSession) -> rusqlite::Result<bool> {
    let id = session.id.to_string();
    let argv = serde_json::Value::from(session.argv_without_text()).to_string();
    let new = c.execute(
        "INSERT OR IGNORE INTO sessions
           (id, engine, model, project_id, project_path, cwd, mode, argv_json, started_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        params![
            id,
            session.engine,
            session.model,
            session.project,
            session.project_root.as_deref().map(path_to_sql),
            path_to_sql(&session.cwd),
            session.mode.as_str(),
            argv,
            session.started_at,
        ],
    )? == 1;
    if new {
        insert_message(c, &id, Role::Operator, session.display.as_str(), session.started_at)?;
    }
    Ok(new)
}

/// Writes the end, unless there is one already. `false`: there is no such session.
pub(super) fn insert_end(
    c: &Connection,
    id: SessionId,
    end: &SessionEnd,
) -> rusqlite::Result<bool> {
    let id = id.to_string();
    let ended = c.execute(
        "UPDATE sessions SET ended_at = ?2, exit_code = ?3, signal = ?4, outcome = ?5,
           engine_session_id = coalesce(?6, engine_session_id)
         WHERE id = ?1 AND ended_at IS NULL",
        params![
            id,
            end.ended_at,
            end.exit_code,
            end.signal,
            end.outcome.as_str(),
            end.engine_session_id,
        ],
    )?;
    if ended == 0 {
        let sql = "SELECT EXISTS (SELECT 1 FROM sessions WHERE id = ?1)";
        return c.query_row(sql, [&id], |row| row.get(0));
    }
    if let Some(reply) = &end.reply {
        insert_message(c, &id, Role::Engine, reply, end.ended_at)?;
    }
    if let Some(receipt) = &end.receipt {
        insert_receipt(c, &id, receipt, end.ended_at)?;
    }
    Ok(true)
}

pub(super) fn insert_receipt(
    c: &Connection,
    session: &str,
    receipt: &serde_json::Value,
    created_at: UnixMs,
) -> rusqlite::Result<()> {
    c.execute(
        "INSERT OR REPLACE INTO receipts (session_id, receipt_json, created_at)
         VALUES (?1, ?2, ?3)",
        params![session, receipt.to_string(), created_at],
    )?;
    Ok(())
}

pub(super) fn insert_message(
    c: &Connection,
    session: &str,
    role: Role,
    text: &str,
    created_at: i64,
) -> rusqlite::Result<()> {
    c.execute(
        "INSERT INTO messages (session_id, seq, role, text, created_at)
         SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4 FROM messages WHERE session_id = ?1",
        params![session, role.as_str(), text, created_at],
    )?;
    Ok(())
}

/// In the order of [`session_from_row`].
pub(super) const COLUMNS: &str =
    "id, engine, model, project_id, project_path, cwd, mode, engine_session_id,
    argv_json, started_at, ended_at, exit_code, signal, outcome,
    coalesce((SELECT substr(CAST(text AS BLOB), 1, 800) FROM messages
              WHERE session_id = sessions.id AND role = 'operator' ORDER BY seq LIMIT 1), x'')";

pub(super) fn session_from_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        id: word(row, 0, |id| id.parse().ok())?,
        engine: row.get(1)?,
        model: row.get(2)?,
        project: row.get(3)?,
        project_root: path_from_sql(row, 4)?,
        cwd: path_from_sql(row, 5)?.unwrap_or_default(),
        mode: word(row, 6, SessionMode::parse)?,
        engine_session_id: row.get(7)?,
        argv: json(row, 8)?,
        started_at: row.get(9)?,
        ended_at: row.get(10)?,
        exit_code: row.get(11)?,
        signal: row.get(12)?,
        outcome: word(row, 13, Outcome::parse)?,
        first_words: head(row.get_ref(14)?.as_bytes()?),
    })
}

/// The session of an id that is there.
pub(super) fn session(c: &Connection, id: &str) -> rusqlite::Result<SessionRow> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1");
    c.prepare_cached(&sql)?.query_row([id], session_from_row)
}

/// The first 200 characters. They are whole in the first 800 bytes. Bytes, because SQLite's
/// functions end a text at its first NUL.
fn head(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(200).collect()
}

/// A column that holds one of a closed set of words.
pub(crate) fn word<T>(
    row: &Row<'_>,
    column: usize,
    parse: impl FnOnce(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    parse(&text).ok_or_else(|| {
        let reason = format!("`{text}` is not a known value");
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, reason.into())
    })
}

/// A column that holds JSON.
pub(crate) fn json<T: serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text)
        .map_err(|e| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, e.into()))
}

/// A prefix of a UUID as it is stored: lower case, hyphens where they belong. `None`: can't be one.
pub(crate) fn hyphenated(prefix: &str) -> Option<String> {
    let digits: Vec<char> = prefix.chars().filter(|c| *c != '-').collect();
    if digits.is_empty() || digits.len() > 32 || !digits.iter().all(char::is_ascii_hexdigit) {
        return None;
    }
    let mut text = String::new();
    for (index, digit) in digits.into_iter().enumerate() {
        if matches!(index, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(digit.to_ascii_lowercase());
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_gets_its_hyphens() {
        assert_eq!(hyphenated("0199A1B2c").as_deref(), Some("0199a1b2-c"));
        assert_eq!(hyphenated("0199a1b2-c").as_deref(), Some("0199a1b2-c"));
        assert_eq!(hyphenated(""), None);
        assert_eq!(hyphenated("last"), None);
        assert_eq!(hyphenated(&"a".repeat(33)), None);
    }
}
