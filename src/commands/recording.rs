//! What a launch writes about itself: its row with the options that make it repeatable, what is
//! noticed while it runs, and at its end the engine's own id where only the engine's record tells it.

use std::time::Duration;

use super::now_ms;
use super::start::Start;
use crate::context::DisplayText;
use crate::engines::{Answer, Host, LaunchMode, Query};
use crate::error::Failure;
use crate::launch::notice::Notice;
use crate::launch::owner::Owner;
use crate::launch::plan::LaunchPlan;
use crate::launch::run_folder::RunFolder;
use crate::paths::Paths;
use crate::session::{
    LaunchOptions, LiveNote, Look, NewSession, Outcome, Recorder, SessionEnd, SessionId,
    SessionMode, Store, settle_if_can,
};

/// Which row a launch writes, and which start of the engine this is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ids {
    /// The row's.
    pub(super) session: SessionId,
    /// The start's; the engine's own id is made of it, and one is good for one start only.
    pub(super) attempt: SessionId,
}

impl Ids {
    /// Of a new session.
    pub(super) fn new(session: SessionId) -> Ids {
        Ids { session, attempt: session }
    }

    /// Of another start of the engine in the same session.
    pub(super) fn next_try(self) -> Ids {
        Ids { attempt: SessionId::generate(), ..self }
    }
}

impl Start {
    /// New ones; for a message that is sent again the row's own with a new attempt.
    pub(super) fn ids(&self) -> Ids {
        let attempt = SessionId::generate();
        Ids { session: self.again.as_ref().map_or(attempt, |row| row.id), attempt }
    }

    /// Marks sessions whose omni-run was killed, before their run folders are swept away.
    pub(super) fn settle_others(&self) {
        settle_if_can(&self.paths, Look::Marks);
    }

    /// Records the start; durable when it returns (S60).
    ///
    /// # Errors
    /// Only for a message that is sent again: without a record nothing is.
    pub(super) fn record(
        &self,
        ids: Ids,
        plan: &LaunchPlan,
        display: &DisplayText,
        run_folder: &RunFolder,
    ) -> Result<Recorder, Failure> {
        let session = NewSession {
            id: ids.session,
            engine: self.engine.id().to_string(),
            model: self.model.clone(),
            project: self.project.as_ref().and_then(|p| p.id.clone()),
            project_root: self.project.as_ref().and_then(|p| p.root.clone()),
            cwd: self.cwd.clone(),
            mode: match self.mode {
                LaunchMode::OneShot => SessionMode::OneShot,
                LaunchMode::Prompted => SessionMode::Prompted,
                LaunchMode::Wrapped => SessionMode::Wrapped,
            },
            argv: plan.argv_without_text(),
            started_at: now_ms(),
            display: display.clone(),
            attempt: ids.attempt,
            engine_session_id: plan.engine_session.clone(),
            resumes: self.resume.as_ref().map(|resumed| resumed.row.id),
            options: self.options(plan),
            run_dir: Some(run_folder.path().to_owned()),
        };
        if let Some(was) = &self.again {
            return Ok(Recorder::start_again(&self.paths, session, was)?);
        }
        let (recorder, warning) = Recorder::start(&self.paths, session);
        self.warn(warning);
        Ok(recorder)
    }

    fn options(&self, plan: &LaunchPlan) -> LaunchOptions {
        let args = &self.args;
        let switches = self.switches;
        LaunchOptions {
            attach: self.attach.iter().cloned().map(Into::into).collect(),
            engine_args: args.engine_args.iter().cloned().map(Into::into).collect(),
            // As it was decided, by option, variable or config: a repetition decides the same.
            no_docs: !switches.inline && self.resume.is_none(),
            no_attach: !switches.attachments && self.resume.is_none(),
            no_instructions: args.no_instructions,
            no_profile: !switches.profile && self.resume.is_none(),
            strict: args.strict,
            timeout: args.timeout.as_ref().map(Duration::as_secs),
            retries: args.retries,
            block_on_wire: Some(plan.block_on_wire),
            instructions_in_talk: Some(self.instructions_in_talk(plan)),
            engine_version: self.version.clone(),
            kept_in: self.engine.kept_in(&self.host()).map(Into::into),
        }
    }

    /// The machine as the engine sees it.
    pub(super) fn host(&self) -> Host {
        Host {
            env: self.env.clone(),
            home: self.paths.home.clone(),
            cwd: self.cwd.clone(),
            version: self.version.clone(),
        }
    }

    /// The engine's own id of a session that has ended, from the engine's record.
    pub(super) fn learn_id(&self, recorder: &Recorder) -> Option<String> {
        let session = recorder.session();
        let query = Query {
            id: None,
            cwd: &self.cwd,
            since: session.started_at,
            text: session.display.as_str(),
        };
        learn(self.engine.look_up(&self.host(), &query), &self.paths, &session.engine, session.id)
    }
}

/// The one id of an answer that no other session has.
pub(super) fn learn(
    answer: Answer,
    paths: &Paths,
    engine: &str,
    session: SessionId,
) -> Option<String> {
    let found = match answer {
        Answer::There { id, .. } => vec![id],
        Answer::Several(ids) => ids,
        Answer::Unknown | Answer::Absent => return None,
    };
    let others = Store::open_reading(paths)
        .and_then(|store| store.engine_sessions_of_others(engine, session))
        .unwrap_or_default();
    let mut free = found.into_iter().filter(|id| !others.contains(id));
    free.next().filter(|_| free.next().is_none())
}

/// A notice as a line of the session's mark.
pub(super) fn note(recorder: &mut Recorder, notice: Notice) {
    recorder.note(&match notice {
        Notice::Starting => LiveNote::Starting,
        Notice::Started(pid) => LiveNote::Engine { process: Owner::of(pid) },
        Notice::Session(id) => LiveNote::Session { id },
        Notice::Accepted(how) => LiveNote::Accepted { how: how.to_owned() },
    });
}

/// The end of a session whose engine did not start.
pub(super) fn not_started() -> SessionEnd {
    SessionEnd {
        ended_at: now_ms(),
        exit_code: None,
        signal: None,
        outcome: Outcome::NotStarted,
        engine_session_id: None,
        accepted: None,
        reply: None,
        receipt: None,
    }
}
