//! Sessions whose omni-run was killed, or whose machine went down, say `running` until somebody
//! looks: this is the look. What the mark of such a session tells is taken into its row, and the row
//! says `crashed` or `lost`. One that lives is never touched, and a row that gets its real end after
//! all (it waited in the spool) takes that one.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use crate::launch::owner::{Fate, Owner};
use crate::launch::plugin_report::PluginReport;
use crate::paths::Paths;
use crate::session::error::StoreError;
use crate::session::live::{self, Mark};
use crate::session::record::{Outcome, SessionId};
use crate::session::store::Store;

/// How far to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// At the marks alone: what a launch has time for.
    Marks,
    /// At every row that says `running` as well.
    Everything,
}

/// Looks, and writes what it finds. Without something to write the database is not opened for
/// writing.
///
/// # Errors
/// When there is something to write and the store can't take it; the next look finds it again.
pub fn settle(paths: &Paths, look: Look) -> Result<(), StoreError> {
    let (living, dead): (Vec<Mark>, Vec<Mark>) =
        live::marks(paths).into_iter().partition(Mark::may_live);
    let orphans = match look {
        Look::Marks => Vec::new(),
        Look::Everything => orphans(paths, &living, &dead)?,
    };
    if dead.is_empty() && orphans.is_empty() {
        return Ok(());
    }
    let store = Store::open(paths)?;
    store.write(|c| {
        for mark in &dead {
            write_mark(c, mark)?;
        }
        for (id, owner, fate) in &orphans {
            write_fate(c, *id, owner, *fate)?;
        }
        Ok(())
    })?;
    for mark in dead {
        let _ = std::fs::remove_file(&mark.path);
    }
    Ok(())
}

/// The same for who can go on without it: a failure is for the log alone.
pub fn settle_if_can(paths: &Paths, look: Look) {
    if let Err(error) = settle(paths, look) {
        tracing::info!(%error, "dead sessions are not marked");
    }
}

/// Rows that say `running` and have no mark any more, with their process and its fate.
fn orphans(
    paths: &Paths,
    living: &[Mark],
    dead: &[Mark],
) -> Result<Vec<(SessionId, Owner, Fate)>, StoreError> {
    let Some(store) = Store::open_if_there(paths)? else { return Ok(Vec::new()) };
    let marked: HashSet<SessionId> =
        living.iter().chain(dead).filter_map(|mark| mark.session).collect();
    let found = store.running()?.into_iter().filter(|(id, _)| !marked.contains(id));
    Ok(found
        .map(|(id, owner)| {
            let fate = owner.fate();
            (id, owner, fate)
        })
        .filter(|(_, _, fate)| matches!(fate, Fate::Ended | Fate::SystemRestarted))
        .collect())
}

fn write_mark(c: &Connection, mark: &Mark) -> rusqlite::Result<()> {
    let (Some(id), Some(owner)) = (mark.session, &mark.owner) else { return Ok(()) };
    let report = mark.run_dir.as_deref().map(PluginReport::of_run).unwrap_or_default();
    let accepted = mark.accepted.clone().or_else(|| report.proof());
    let engines = mark.engine_session_id.clone().or_else(|| report.session.clone());
    c.execute(
        "UPDATE sessions SET accepted = coalesce(accepted, ?3),
           engine_session_id = coalesce(?4, engine_session_id)
         WHERE id = ?1 AND owner_json = ?2 AND ended_at IS NULL",
        params![id.to_string(), owner_text(owner), accepted, engines],
    )?;
    let fate = owner.fate();
    if fate == Fate::Ended && !mark.starting {
        // Killed before that; a line that was written is there, whatever killed the process.
        return write_outcome(c, id, owner, Outcome::NotStarted);
    }
    write_fate(c, id, owner, fate)
}

fn write_fate(c: &Connection, id: SessionId, owner: &Owner, fate: Fate) -> rusqlite::Result<()> {
    let outcome = match fate {
        Fate::Ended => Outcome::Crashed,
        Fate::SystemRestarted => Outcome::Lost,
        Fate::Lives | Fate::Elsewhere => return Ok(()),
    };
    write_outcome(c, id, owner, outcome)
}

/// The owner is compared, so that a row which another process has taken over since is left alone. No
/// end is written: nobody knows when it was, and the real one still counts if it comes.
fn write_outcome(
    c: &Connection,
    id: SessionId,
    owner: &Owner,
    outcome: Outcome,
) -> rusqlite::Result<()> {
    c.execute(
        "UPDATE sessions SET outcome = ?3
         WHERE id = ?1 AND owner_json = ?2 AND outcome = 'running' AND ended_at IS NULL",
        params![id.to_string(), owner_text(owner), outcome.as_str()],
    )?;
    Ok(())
}

/// An owner as its column has it.
pub(super) fn owner_text(owner: &Owner) -> String {
    serde_json::to_string(owner).unwrap_or_default()
}
