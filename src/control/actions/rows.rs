//! The rows of `cli_pending_actions`: written, read, marked. What may become of which is decided by
//! the callers; each runs in a transaction of theirs.

use std::path::PathBuf;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::control::actions::ask::Idempotency;
use crate::control::actions::claim::Claim;
use crate::control::actions::payload::Payload;
use crate::control::actions::types::{Action, ActionId, ActionKind, Outcome, Status};
use crate::session::{UnixMs, path_from_sql, path_to_sql, word};

/// The columns of [`from_row`], in its order.
pub(super) const COLUMNS: &str = "id, kind, project_id, project_path, payload_json, content_hash,
    size_bytes, asked_by, asked_at, status, decided_by, decided_at, applied_at, outcome, expires_at";

/// Reads a row of [`COLUMNS`].
pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Action> {
    let kind = word(row, 1, ActionKind::parse)?;
    let payload: String = row.get(4)?;
    let payload = Payload::parse(kind, &payload)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(4, Type::Text, error.into()))?;
    let outcome: Option<String> = row.get(13)?;
    let outcome = outcome.map(|text| serde_json::from_str::<Outcome>(&text)).transpose();
    let project_folder: Option<PathBuf> = path_from_sql(row, 3)?;
    Ok(Action {
        id: word(row, 0, |id| id.parse().ok())?,
        kind,
        project: row.get(2)?,
        project_folder,
        payload,
        content_hash: row.get(5)?,
        size_bytes: row.get::<_, Option<i64>>(6)?.and_then(|size| u64::try_from(size).ok()),
        asked_by: row.get(7)?,
        asked_at: row.get(8)?,
        status: word(row, 9, Status::parse)?,
        decided_by: row.get(10)?,
        decided_at: row.get(11)?,
        applied_at: row.get(12)?,
        outcome: outcome.map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(13, Type::Text, error.into())
        })?,
        expires_at: row.get(14)?,
    })
}

/// The action with this id.
pub(super) fn get(c: &Connection, id: ActionId) -> rusqlite::Result<Option<Action>> {
    let sql = format!("SELECT {COLUMNS} FROM cli_pending_actions WHERE id = ?1");
    c.query_row(&sql, [id.to_string()], from_row).optional()
}

/// How many ids an ambiguous prefix names.
const AMBIGUOUS_SHOWN: i64 = 10;

/// The newest actions whose id begins so.
pub(super) fn by_prefix(c: &Connection, from: &str) -> rusqlite::Result<Vec<Action>> {
    // `g` follows every hex digit and the hyphen.
    let sql = format!(
        "SELECT {COLUMNS} FROM cli_pending_actions WHERE id >= ?1 AND id < ?1 || 'g'
         ORDER BY id DESC LIMIT ?2"
    );
    c.prepare(&sql)?.query_map(params![from, AMBIGUOUS_SHOWN], from_row)?.collect()
}

/// The action that a key belongs to, with the fingerprint of its request.
pub(super) fn by_key(c: &Connection, key: &str) -> rusqlite::Result<Option<(Action, String)>> {
    let sql = format!(
        "SELECT {COLUMNS}, request_hash FROM cli_pending_actions WHERE idempotency_key = ?1"
    );
    c.query_row(&sql, [key], |row| {
        Ok((from_row(row)?, row.get::<_, Option<String>>(15)?.unwrap_or_default()))
    })
    .optional()
}

/// Writes a new action.
pub(super) fn insert(
    c: &Connection,
    action: &Action,
    idempotency: Option<&Idempotency>,
    fingerprint: &str,
) -> rusqlite::Result<()> {
    c.execute(
        "INSERT INTO cli_pending_actions (id, kind, project_id, project_path, payload_json,
           content_hash, size_bytes, asked_by, asked_at, status, expires_at, idempotency_key,
           request_hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        params![
            action.id.to_string(),
            action.kind.as_str(),
            action.project,
            action.project_folder.as_deref().map(path_to_sql),
            json(&action.payload)?,
            action.content_hash,
            action.size_bytes.and_then(|size| i64::try_from(size).ok()),
            action.asked_by,
            action.asked_at,
            action.status.as_str(),
            action.expires_at,
            idempotency.map(|idempotency| idempotency.key.as_str()),
            idempotency.map(|_| fingerprint),
        ],
    )?;
    Ok(())
}

/// How many wait.
pub(super) fn waiting(c: &Connection, now: UnixMs) -> rusqlite::Result<u32> {
    let sql =
        "SELECT count(*) FROM cli_pending_actions WHERE status = 'pending' AND expires_at > ?1";
    c.query_row(sql, [now], |row| row.get(0))
}

/// The prompts that wait for a person, in bytes.
pub(super) fn waiting_prompts(c: &Connection, now: UnixMs) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce(sum(size_bytes), 0) FROM cli_pending_actions
               WHERE status = 'pending' AND expires_at > ?1 AND kind = 'launch'";
    let sum: i64 = c.query_row(sql, [now], |row| row.get(0))?;
    Ok(u64::try_from(sum).unwrap_or_default())
}

/// What a look has to do.
pub(super) struct Due {
    /// Some have waited too long.
    pub(super) expired: bool,
    /// Being applied, or left in the middle.
    pub(super) applying: Vec<ActionId>,
}

/// Looks for what a look has to do.
pub(super) fn due(c: &Connection, now: UnixMs) -> rusqlite::Result<Due> {
    let sql = "SELECT EXISTS (SELECT 1 FROM cli_pending_actions
                              WHERE status = 'pending' AND expires_at <= ?1)";
    let expired = c.query_row(sql, [now], |row| row.get(0))?;
    let mut statement =
        c.prepare("SELECT id FROM cli_pending_actions WHERE status = 'applying' ORDER BY id")?;
    let ids = statement.query_map([], |row| word(row, 0, |id| id.parse().ok()))?;
    Ok(Due { expired, applying: ids.collect::<Result<_, _>>()? })
}

/// Ends what nobody decided in time.
pub(super) fn expire(c: &Connection, now: UnixMs) -> rusqlite::Result<()> {
    let outcome = Outcome::expired();
    let sql = "UPDATE cli_pending_actions SET status = 'expired', outcome = ?2
               WHERE status = 'pending' AND expires_at <= ?1";
    c.execute(sql, params![now, json(&outcome)?]).map(drop)
}

/// Marks an action as being applied. `false`: it does not wait any more.
pub(super) fn claim(
    c: &Connection,
    id: ActionId,
    by: &str,
    now: UnixMs,
    claim: &Claim,
) -> rusqlite::Result<bool> {
    let sql = "UPDATE cli_pending_actions
               SET status = 'applying', decided_by = ?2, decided_at = ?3, claim_json = ?4
               WHERE id = ?1 AND status = 'pending' AND expires_at > ?3";
    Ok(c.execute(sql, params![id.to_string(), by, now, json(claim)?])? == 1)
}

/// The claim on an action; `None` where there is none that can be read.
pub(super) fn claim_of(c: &Connection, id: ActionId) -> rusqlite::Result<Option<Claim>> {
    let sql = "SELECT claim_json FROM cli_pending_actions WHERE id = ?1";
    let text: Option<String> =
        c.query_row(sql, [id.to_string()], |row| row.get(0)).optional()?.flatten();
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Marks an action that was being applied with what came of it.
pub(super) fn finish(
    c: &Connection,
    id: ActionId,
    status: Status,
    outcome: &Outcome,
    now: UnixMs,
) -> rusqlite::Result<bool> {
    let sql = "UPDATE cli_pending_actions SET status = ?2, outcome = ?3, applied_at = ?4
               WHERE id = ?1 AND status = 'applying'";
    Ok(c.execute(sql, params![id.to_string(), status.as_str(), json(outcome)?, now])? == 1)
}

/// The same by the process that has the token of the claim.
pub(super) fn finish_by(
    c: &Connection,
    id: ActionId,
    token: &str,
    status: Status,
    outcome: &Outcome,
    now: UnixMs,
) -> rusqlite::Result<bool> {
    match claim_of(c, id)? {
        Some(claim) if claim.token == token => finish(c, id, status, outcome, now),
        Some(_) | None => Ok(false),
    }
}

/// Marks a waiting action as rejected. `false`: it does not wait any more.
pub(super) fn reject(
    c: &Connection,
    id: ActionId,
    by: &str,
    now: UnixMs,
    outcome: &Outcome,
) -> rusqlite::Result<bool> {
    let sql = "UPDATE cli_pending_actions
               SET status = 'rejected', decided_by = ?2, decided_at = ?3, outcome = ?4
               WHERE id = ?1 AND status = 'pending'";
    Ok(c.execute(sql, params![id.to_string(), by, now, json(outcome)?])? == 1)
}

/// Changes what came of an action that is decided already: the end of a session that it started.
pub(super) fn amend(
    c: &Connection,
    id: ActionId,
    status: Status,
    outcome: &Outcome,
) -> rusqlite::Result<()> {
    let sql = "UPDATE cli_pending_actions SET status = ?2, outcome = ?3
               WHERE id = ?1 AND status = 'applied'";
    c.execute(sql, params![id.to_string(), status.as_str(), json(outcome)?]).map(drop)
}

/// A value for a column of JSON.
pub(super) fn json<T: serde::Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
