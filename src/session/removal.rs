//! Removes sessions for good: rows, index and spool (S61). Nothing of their text is left in the
//! database file or its log: SQLite overwrites what it frees (`secure_delete`), the index takes an
//! entry out of its segments, and the log is emptied.

use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension, params};

use crate::paths::Paths;
use crate::session::error::StoreError;
use crate::session::record::{Outcome, SessionId};
use crate::session::spool;
use crate::session::store::Store;

/// Sessions of one transaction: other processes can write between two of them.
const AT_ONCE: usize = 50;

/// From so many messages on it is quicker to let the index be merged than to take each term out.
const MANY: i64 = 5_000;

/// Pages of the index that one step of that merge works on.
const MERGED_AT_ONCE: i64 = 1_000;

/// What was removed, and what is left of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed {
    /// How many sessions.
    pub sessions: usize,
    /// Bytes that the file could give back.
    pub free_bytes: u64,
    /// Files of the spool that hold something of them still, and why.
    pub left: Vec<(PathBuf, String)>,
    /// Another process reads the database; the log can't be emptied before it ends.
    pub log_left: bool,
}

impl Store {
    /// Removes sessions; those that are not there, and those that run (unless `running` allows it),
    /// are left out.
    pub fn remove(
        &self,
        paths: &Paths,
        ids: &[SessionId],
        running: bool,
    ) -> Result<Removed, StoreError> {
        self.remove_from(paths, &crate::paths::temp_folder(), ids, running, MANY)
    }

    pub(super) fn remove_from(
        &self,
        paths: &Paths,
        temp: &std::path::Path,
        ids: &[SessionId],
        running: bool,
        many: i64,
    ) -> Result<Removed, StoreError> {
        let merge = 2 * ids.len() as i64 > many;
        let mut removed = Removed::default();
        let mut gone = Vec::new();
        for some in ids.chunks(AT_ONCE) {
            let of_these = self.write(|c| {
                if merge {
                    set_index(c, "secure-delete", 0)?;
                }
                let mut of_these = Vec::new();
                for id in some {
                    if remove_one(c, *id, running)? {
                        of_these.push(*id);
                    }
                }
                if merge {
                    set_index(c, "secure-delete", 1)?;
                }
                Ok(of_these)
            })?;
            gone.extend(of_these);
        }
        removed.sessions = gone.len();
        if merge && !gone.is_empty() {
            self.merge_index()?;
        }
        removed.left = spool::remove(&gone, paths, temp);
        removed.log_left = !self.empty_log()?;
        removed.free_bytes = self.free_bytes()?;
        Ok(removed)
    }

    /// Merges the index into one segment, in steps: what was taken out of it is in no segment then.
    fn merge_index(&self) -> Result<(), StoreError> {
        let changes = || self.connection().total_changes();
        // A negative number begins a merge of all segments; positive ones go on with it.
        let mut pages = -MERGED_AT_ONCE;
        loop {
            let before = changes();
            self.write(|c| set_index(c, "merge", pages))?;
            // FTS5: fewer than two changes mean that there was nothing to do.
            if changes() - before < 2 && pages > 0 {
                return Ok(());
            }
            pages = MERGED_AT_ONCE;
        }
    }

    /// Copies the log into the database and empties it. `false`: somebody reads an older state.
    fn empty_log(&self) -> Result<bool, StoreError> {
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy = self.connection().query_row(sql, [], |row| row.get::<_, i64>(0));
        busy.map(|busy| busy == 0).map_err(|e| self.error(&e))
    }

    fn free_bytes(&self) -> Result<u64, StoreError> {
        self.read(|c| {
            let number = |sql| c.query_row(sql, [], |row| row.get::<_, i64>(0));
            let bytes = number("PRAGMA freelist_count")? * number("PRAGMA page_size")?;
            Ok(u64::try_from(bytes).unwrap_or(0))
        })
    }

    /// Gives what is free in the file back to the disk. It needs the database for itself, and room
    /// for a copy.
    pub fn compact(&self) -> Result<(), StoreError> {
        self.connection().execute_batch("VACUUM").map_err(|e| self.error(&e))?;
        self.empty_log().map(|_| ())
    }
}

fn set_index(c: &Connection, name: &str, value: i64) -> rusqlite::Result<()> {
    let sql = "INSERT INTO message_index (message_index, rank) VALUES (?1, ?2)";
    c.prepare_cached(sql)?.execute(params![name, value]).map(|_| ())
}

/// The triggers of the schema take the messages out of the index.
fn remove_one(c: &Connection, id: SessionId, running: bool) -> rusqlite::Result<bool> {
    let id = id.to_string();
    let sql = "SELECT outcome FROM sessions WHERE id = ?1";
    let outcome: Option<String> =
        c.prepare_cached(sql)?.query_row([&id], |row| row.get(0)).optional()?;
    let Some(outcome) = outcome else { return Ok(false) };
    if !running && outcome == Outcome::Running.as_str() {
        return Ok(false);
    }
    Ok(c.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute([&id])? == 1)
}
