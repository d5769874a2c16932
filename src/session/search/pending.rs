//! Puts messages into the index that were stored before there was one. A launch never does; the first
//! search does, in short transactions with pauses, so that a launch beside it finds the store free.

use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

use crate::session::error::StoreError;
use crate::session::search::candidates;
use crate::session::store::Store;

/// How long one transaction should take: so long a launch may have to wait.
const TURN: Duration = Duration::from_millis(100);
/// The pause between two. SQLite looks again after 25 ms and less in the first tenth of a second.
const PAUSE: Duration = Duration::from_millis(25);
/// Row ids of the first transaction, and of the smallest and the largest.
const ROWS: (i64, i64, i64) = (256, 16, 16_384);

impl Store {
    /// How many row ids, at most, wait to go into the index.
    pub fn waiting_for_index(&self) -> Result<i64, StoreError> {
        self.read(candidates::pending)
    }

    /// Puts all that waits into the index. It may be ended at any moment: what is in stays in.
    pub fn fill_index(&self) -> Result<(), StoreError> {
        let (mut rows, least, most) = ROWS;
        loop {
            let start = Instant::now();
            if self.fill_index_by(rows)? == 0 {
                return Ok(());
            }
            match start.elapsed() {
                taken if taken > TURN => rows = (rows / 2).max(least),
                taken if taken < TURN / 2 => rows = (rows * 2).min(most),
                _ => {}
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// The newest of those that wait, in one transaction; gives how many row ids are left.
    pub(in crate::session) fn fill_index_by(&self, rows: i64) -> Result<i64, StoreError> {
        self.write(|c| enter(c, rows))
    }
}

fn enter(c: &Connection, rows: i64) -> rusqlite::Result<i64> {
    let upto = candidates::pending(c)?;
    // Within one transaction FTS5 takes row ids in ascending order without writing a segment for each.
    let sql = "INSERT INTO message_enters
               SELECT row_id FROM messages WHERE row_id > ?1 AND row_id <= ?2 ORDER BY row_id";
    let left = (upto - rows).max(0);
    c.prepare_cached("UPDATE search_pending SET upto = ?1")?.execute([left])?;
    c.prepare_cached(sql)?.execute(params![left, upto])?;
    Ok(left)
}
