//! A person's word on an action, and the looks that keep the queue in order: each action is carried
//! out once, also when two approve it at the same moment or omni-run dies in the middle.

use crate::control::actions::claim::{Claim, Place};
use crate::control::actions::error::ActionError;
use crate::control::actions::lock::{self, ActionLock, ChangeLock};
use crate::control::actions::payload::Payload;
use crate::control::actions::queue::Queue;
use crate::control::actions::types::{Action, ActionId, Outcome, OutcomeCode, Status};
use crate::control::actions::{apply_docs, apply_launch, apply_settings, rows};
use crate::failpoint;
use crate::session::UnixMs;

/// An action after a person's word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// The action as it is now.
    pub action: Action,
    /// It was this word that decided it. `false`: it had been decided before, and nothing was done.
    pub first: bool,
}

/// How an attempt to carry something out ended: what came of it, or why it can't be told yet.
pub(super) type Attempt = Result<Result<Outcome, Outcome>, ActionError>;

pub(super) fn approve(
    queue: &Queue,
    id: ActionId,
    by: &str,
    now: UnixMs,
) -> Result<Decided, ActionError> {
    queue.get(id)?;
    let Some(lock) = ActionLock::wait(queue.paths(), id)? else {
        // Somebody is still at it after a minute: what is known is the answer.
        return Ok(Decided { action: queue.get(id)?, first: false });
    };
    queue.store().write(|c| rows::expire(c, now))?;
    let action = queue.get(id)?;
    match action.status {
        Status::Pending => {}
        Status::Applying => {
            let action = recover(queue, action, now)?;
            lock.retire();
            return Ok(Decided { action, first: false });
        }
        Status::Applied | Status::Rejected | Status::Failed | Status::Expired => {
            lock.retire();
            return Ok(Decided { action, first: false });
        }
    }
    let change = change_lock(queue, &action)?;
    let claim = Claim::new(Place::of(queue, &action));
    if !queue.store().write(|c| rows::claim(c, id, by, now, &claim))? {
        // Rejected in the meantime: that needs no lock.
        lock.retire();
        return Ok(Decided { action: queue.get(id)?, first: false });
    }
    tracing::info!(action = %id, by, "approved");
    failpoint::reach("claimed");
    if let Payload::Launch(_) = action.payload {
        apply_launch::start(queue, &action, &claim, lock, now)?;
    } else {
        let result = carry_out(queue, &action, now)?;
        finish(queue, id, result, now)?;
        lock.retire();
    }
    drop(change);
    Ok(Decided { action: queue.get(id)?, first: true })
}

pub(super) fn reject(
    queue: &Queue,
    id: ActionId,
    by: &str,
    now: UnixMs,
) -> Result<Decided, ActionError> {
    queue.get(id)?;
    let outcome = Outcome::new(OutcomeCode::Rejected, "a person said no");
    let first = queue.store().write(|c| {
        rows::expire(c, now)?;
        rows::reject(c, id, by, now, &outcome)
    })?;
    tracing::info!(action = %id, by, first, "rejected");
    Ok(Decided { action: queue.get(id)?, first })
}

/// Expires what nobody decided, and ends what an omni-run that died has left in the middle.
pub(super) fn look(queue: &Queue, now: UnixMs) -> Result<(), ActionError> {
    let due = queue.store().read(|c| rows::due(c, now))?;
    if due.expired {
        queue.store().write(|c| rows::expire(c, now))?;
    }
    for id in due.applying {
        let Some(lock) = ActionLock::if_free(queue.paths(), id)? else { continue };
        let action = queue.get(id)?;
        if action.status == Status::Applying {
            recover(queue, action, now)?;
        }
        lock.retire();
    }
    // What a kill after the last mark has left.
    for id in lock::with_file(queue.paths()) {
        if !queue.store().read(|c| rows::get(c, id))?.is_some_and(|a| a.status.is_open()) {
            let _ = std::fs::remove_file(lock::file_of(queue.paths(), id));
        }
    }
    Ok(())
}

/// Ends an action whose omni-run died. The caller holds its lock.
///
/// What landed is marked as done. What surely did not happen is done now: a person has approved it.
/// What can't be told, because somebody has changed the place since, is left as it is and said.
fn recover(queue: &Queue, action: Action, now: UnixMs) -> Result<Action, ActionError> {
    let _change = change_lock(queue, &action)?;
    if let Payload::AddDoc(add) = &action.payload {
        apply_docs::tidy(&action, add);
    }
    let claim = queue.store().read(|c| rows::claim_of(c, action.id))?;
    let before = claim.map_or(Place::Unclear, |claim| claim.before);
    let place = Place::of(queue, &action);
    let died = |message: &str| {
        let message = format!("omni-run was killed while it applied this; {message}");
        Outcome::new(OutcomeCode::Interrupted, message)
    };
    let result = if let Some(done) = landed(queue, &action, &before, &place, now)? {
        Ok(done)
    } else if let Payload::Launch(_) = action.payload {
        // Whoever was to start it has no lock, and its token is worth nothing after this mark.
        Err(died("no engine was started"))
    } else if place != before || before == Place::Unclear {
        Err(died("the file has been changed since, and is left as it is"))
    } else if action.expires_at <= now {
        Err(died("nothing was changed, and the approval is out of date"))
    } else {
        carry_out(queue, &action, now)?
    };
    finish(queue, action.id, result, now)?;
    queue.get(action.id)
}

/// Whether the place looks as it does after the action; tidies up what belongs to it.
fn landed(
    queue: &Queue,
    action: &Action,
    before: &Place,
    place: &Place,
    now: UnixMs,
) -> Result<Option<Outcome>, ActionError> {
    match &action.payload {
        Payload::AddDoc(add) => apply_docs::added(queue, action, add, before, place, now),
        Payload::DeleteDoc(doc) => apply_docs::deleted(queue, action, doc, place, now),
        Payload::Settings(change) => Ok(apply_settings::changed(queue, change)),
        Payload::Launch(_) => Ok(None),
    }
}

fn carry_out(queue: &Queue, action: &Action, now: UnixMs) -> Attempt {
    match &action.payload {
        Payload::AddDoc(add) => apply_docs::add(queue, action, add, now),
        Payload::DeleteDoc(doc) => apply_docs::delete(queue, action, doc, now),
        Payload::Settings(change) => Ok(apply_settings::apply(queue, change)),
        Payload::Launch(_) => Ok(Err(Outcome::new(OutcomeCode::NotStarted, "it is started apart"))),
    }
}

fn finish(
    queue: &Queue,
    id: ActionId,
    result: Result<Outcome, Outcome>,
    now: UnixMs,
) -> Result<(), ActionError> {
    failpoint::reach("done");
    let (status, outcome) = match result {
        Ok(outcome) => (Status::Applied, outcome),
        Err(outcome) => (Status::Failed, outcome),
    };
    tracing::info!(action = %id, status = status.as_str(), code = outcome.code.as_str(), "end");
    queue.store().write(|c| rows::finish(c, id, status, &outcome, now))?;
    failpoint::reach("marked");
    Ok(())
}

/// Docs and settings are changed one at a time; launches are nobody's neighbour.
fn change_lock(queue: &Queue, action: &Action) -> Result<Option<ChangeLock>, ActionError> {
    match action.payload {
        Payload::AddDoc(_) | Payload::DeleteDoc(_) | Payload::Settings(_) => {
            ChangeLock::wait(queue.paths()).map(Some)
        }
        Payload::Launch(_) => Ok(None),
    }
}
