//! How much room docs may take (S81): 25 MB a file, 100 MB the always bucket of a project, decimal
//! as all sizes that omni-run shows. The rag bucket is exempt: it is never read as a whole.

use std::path::Path;

use rusqlite::{Connection, params};

use crate::control::actions::error::ActionError;
use crate::project::doc_files;
use crate::session::path_to_sql;

/// The largest source, in bytes.
pub const FILE_LIMIT: u64 = 25_000_000;

/// The largest always bucket, in bytes, with the uploads that wait for it.
pub const ALWAYS_LIMIT: u64 = 100_000_000;

/// Whether a file of `size` may come to the always bucket of `root`. `waiting`: the uploads that
/// wait beside it. The doc that it replaces, if any, makes room.
pub(super) fn check(
    root: &Path,
    replaced: Option<&str>,
    size: u64,
    waiting: u64,
) -> Result<(), ActionError> {
    let used = doc_files::always_bytes(root, replaced)?;
    if used.saturating_add(waiting).saturating_add(size) > ALWAYS_LIMIT {
        return Err(ActionError::OverQuota { used, waiting, size, limit: ALWAYS_LIMIT });
    }
    Ok(())
}

/// The uploads that wait for the always bucket of `root`, in bytes.
pub(super) fn waiting(c: &Connection, root: &Path, now: i64) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce(sum(size_bytes), 0) FROM cli_pending_actions
               WHERE status IN ('pending', 'applying') AND expires_at > ?2
                 AND kind = 'add_doc' AND project_path = ?1
                 AND json_extract(payload_json, '$.bucket') = 'always'";
    let sum: i64 = c.query_row(sql, params![path_to_sql(root), now], |row| row.get(0))?;
    Ok(u64::try_from(sum).unwrap_or_default())
}
