//! The other side of an approved launch: the process that was started for it and marks it.

use crate::control::actions::error::ActionError;
use crate::control::actions::payload::{Launch, Payload};
use crate::control::actions::queue::Queue;
use crate::control::actions::rows;
use crate::control::actions::types::{Action, ActionId, Outcome, OutcomeCode, Status};
use crate::launch::detached::{self, Detached};
use crate::paths::Paths;
use crate::session::{SessionId, UnixMs};

/// A launch that this process has to carry out.
#[derive(Debug)]
pub struct Handover {
    paths: Paths,
    id: ActionId,
    token: String,
    session: Option<SessionId>,
    detached: Option<Detached>,
}

impl Handover {
    /// Takes the launch over. `None`: it is not this process's (any more), and nothing may be
    /// started.
    pub fn take(
        paths: &Paths,
        id: ActionId,
        token: &str,
        detached: Detached,
    ) -> Result<Option<(Handover, Action, Launch)>, ActionError> {
        let queue = Queue::open(paths)?;
        let action = queue.get(id)?;
        let claim = queue.store().read(|c| rows::claim_of(c, id))?;
        let ours = claim.is_some_and(|claim| claim.token == token);
        let Payload::Launch(launch) = action.payload.clone() else { return Ok(None) };
        if !ours || action.status != Status::Applying {
            return Ok(None);
        }
        let handover = Handover {
            paths: paths.clone(),
            id,
            token: token.to_owned(),
            session: None,
            detached: Some(detached),
        };
        Ok(Some((handover, action, launch)))
    }

    /// Marks the launch as done: the engine starts next. `false`: a look has ended it in the
    /// meantime, and nothing may be started.
    pub fn begin(&mut self, session: SessionId, now: UnixMs) -> Result<bool, ActionError> {
        let outcome = Outcome {
            session: Some(session),
            ..Outcome::new(OutcomeCode::Started, format!("started session {session}"))
        };
        let begun = self.mark(Status::Applied, &outcome, now)?;
        self.session = Some(session);
        Ok(begun)
    }

    /// The engine can't be started: says why.
    pub fn fail(mut self, why: &str, now: UnixMs) -> Result<(), ActionError> {
        let outcome = Outcome {
            stderr: detached::said_on_stderr(),
            ..Outcome::new(OutcomeCode::NotStarted, why)
        };
        self.mark(Status::Failed, &outcome, now).map(drop)
    }

    /// The engine has ended, or did not start after all: `failure`. How it ended is the session's
    /// business; here only what it said on standard error is kept.
    pub fn end(self, failure: Option<&str>) -> Result<(), ActionError> {
        let stderr = detached::said_on_stderr();
        if failure.is_none() && stderr.is_none() {
            return Ok(());
        }
        let queue = Queue::open(&self.paths)?;
        let action = queue.get(self.id)?;
        let Some(started) = action.outcome else { return Ok(()) };
        let (status, outcome) = match failure {
            None => (Status::Applied, Outcome { stderr, ..started }),
            Some(why) => {
                let failed = Outcome::new(OutcomeCode::NotStarted, why);
                (Status::Failed, Outcome { session: started.session, stderr, ..failed })
            }
        };
        Ok(queue.store().write(|c| rows::amend(c, self.id, status, &outcome))?)
    }

    /// The mark, then the word: who waits finds the row decided.
    fn mark(
        &mut self,
        status: Status,
        outcome: &Outcome,
        now: UnixMs,
    ) -> Result<bool, ActionError> {
        let queue = Queue::open(&self.paths)?;
        let marked = queue
            .store()
            .write(|c| rows::finish_by(c, self.id, &self.token, status, outcome, now))?;
        let _ = std::fs::remove_file(super::lock::file_of(&self.paths, self.id));
        self.detached = None;
        Ok(marked)
    }
}
