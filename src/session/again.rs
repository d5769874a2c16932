//! What is read and written of a session that is gone on with or started once more: its first
//! session, the sessions of a place, and the change of a dead row into a running one.

use rusqlite::{OptionalExtension, params};

use crate::launch::owner::Owner;
use crate::session::error::StoreError;
use crate::session::record::{NewSession, SessionId, SessionRow};
use crate::session::rows::{COLUMNS, session_from_row};
use crate::session::settle::owner_text;
use crate::session::store::Store;

/// The longest chain of sessions that go on with each other; a longer one is cut, not followed in
/// circles.
const LONGEST_CHAIN: usize = 1_000;

impl Store {
    /// The session with this very id.
    pub fn session(&self, id: SessionId) -> Result<Option<SessionRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1");
        self.read(|c| c.query_row(&sql, [id.to_string()], session_from_row).optional())
    }

    /// The session that began the conversation which `row` goes on with; `row` itself where it began
    /// one, or where the first is no longer there.
    pub fn first_of(&self, row: &SessionRow) -> Result<SessionRow, StoreError> {
        let mut first = row.clone();
        for _ in 0..LONGEST_CHAIN {
            let Some(earlier) = first.resumes else { break };
            match self.session(earlier)? {
                Some(row) => first = row,
                None => break,
            }
        }
        Ok(first)
    }

    /// Which of these ids of the engine's own belong to sessions other than `than`.
    pub fn engine_sessions_of_others(
        &self,
        engine: &str,
        than: SessionId,
    ) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT engine_session_id FROM sessions
                   WHERE engine = ?1 AND id <> ?2 AND engine_session_id IS NOT NULL";
        self.read(|c| {
            c.prepare(sql)?
                .query_map(params![engine, than.to_string()], |row| row.get(0))?
                .collect()
        })
    }

    /// Makes the row of `was` that of a running session again, with the process and the arguments of
    /// the new start. Its operator row stays the one it has.
    ///
    /// # Errors
    /// [`StoreError::Changed`] where the row is not any more as it was judged.
    pub(super) fn begin_again(
        &self,
        session: &NewSession,
        owner: &Owner,
        was: &SessionRow,
    ) -> Result<(), StoreError> {
        let argv = serde_json::Value::from(session.argv_without_text()).to_string();
        let changed = self.write(|c| {
            let changed = c.execute(
                "UPDATE sessions SET outcome = 'running', ended_at = NULL, exit_code = NULL,
                   signal = NULL, accepted = NULL, attempts = attempts + 1, mode = ?2,
                   argv_json = ?3, engine_session_id = ?4, launch_json = ?5, owner_json = ?6
                 WHERE id = ?1 AND outcome = ?7 AND attempts = ?8",
                params![
                    session.id.to_string(),
                    session.mode.as_str(),
                    argv,
                    session.engine_session_id,
                    serde_json::to_string(&session.options).ok(),
                    owner_text(owner),
                    was.outcome.as_str(),
                    was.attempts,
                ],
            )?;
            if changed == 1 {
                // What it says is about the start that failed.
                let sql = "DELETE FROM receipts WHERE session_id = ?1";
                c.execute(sql, [session.id.to_string()])?;
            }
            Ok(changed)
        })?;
        if changed == 1 {
            return Ok(());
        }
        Err(StoreError::Changed { id: session.id })
    }
}
