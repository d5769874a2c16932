//! A launch on pipes: one session, one or several tries, one receipt.
//!
//! All tries are one session: what was typed is recorded once, before the first. Each try gets a run
//! folder and, where omni-run chooses it, an engine's session id of its own, since engines refuse an
//! id that they have seen. Time-out and lock are those of all tries together.

use std::process::ExitCode;
use std::time::Instant;

use super::not_found::NotFound;
use super::now_ms;
use super::recording::{Ids, not_started, note};
use super::script_output::Told;
use super::start::Start;
use super::tries::{is_worth_another, may_start_later, pause_after};
use crate::cli::Output;
use crate::error::{ExitKind, Failure};
use crate::launch::notice::Notice;
use crate::launch::one_shot::{AnswerWay, Limits, OneShot, Outcome as RunOutcome};
use crate::launch::plan::LaunchPlan;
use crate::launch::plugin_report::PluginReport;
use crate::launch::receipt::{FailedTry, Receipt};
use crate::launch::run_folder::{RunFolder, carry_back};
use crate::launch::watcher::Watcher;
use crate::session::{Outcome, Recorder, SessionEnd};

/// The code for a failure that the engine's own code denies.
const DENIED_FAILURE: u8 = 1;

/// What came of one try.
struct Tried {
    outcome: RunOutcome,
    plugin: PluginReport,
    complaints: Vec<String>,
    plan: LaunchPlan,
    code: u8,
}

/// The session whose tries these are.
struct Trying<'a> {
    ids: Ids,
    recorder: &'a mut Recorder,
    told: &'a mut Told,
}

impl Start {
    /// Starts the engine, again where that is asked for and worth it, and records what came of it.
    pub(super) fn one_shot(
        &self,
        ids: Ids,
        plan: LaunchPlan,
        told: &mut Told,
    ) -> Result<ExitCode, Failure> {
        let id = ids.session;
        // The fork comes before the first thread: the store and the loop start some.
        let mut watcher = Watcher::start().ok();
        let folder = self.run_folder(ids, &plan)?;
        let mut recorder = self.record(ids, &plan, self.first.display(), &folder)?;
        crate::failpoint::reach("recorded");
        self.say_before(&plan);
        told.started(id, self)?;
        let mut failed = Vec::new();
        let tried =
            OneShot::new().map_err(|error| self.will_not_start(&error)).and_then(|mut engine| {
                let first = (plan, folder);
                let mut session = Trying { ids, recorder: &mut recorder, told };
                let tried =
                    self.tries(&mut session, &mut engine, first, &mut failed, watcher.as_mut());
                engine.shutdown();
                tried
            });
        if let Some(watcher) = watcher {
            watcher.release();
        }
        let Tried { outcome, plugin, complaints, plan, code } = match tried {
            Ok(tried) => tried,
            Err(failure) => {
                self.warn(recorder.finish(not_started()));
                return Err(failure.hint(format!("what you typed is kept as session {id}")));
            }
        };
        let engine_session = outcome.engine_session.clone().or(plugin.session.clone());
        let engine_session = engine_session.or_else(|| self.learn_id(&recorder));
        if let Some(missing) = NotFound::after(self, code, &outcome.stderr_end) {
            missing.say(self);
        }
        let tries = u32::try_from(failed.len()).unwrap_or(u32::MAX).saturating_add(1);
        tracing::info!(
            session = %id,
            code,
            tries,
            timed_out = outcome.timed_out,
            signal = outcome.end.signal.or(outcome.forwarded),
            answer_bytes = outcome.answered,
            "ended"
        );
        let receipt = Receipt {
            version: 1,
            engine_version: self.version.clone(),
            channels: plan.channels,
            sent_bytes: self.first.sent().len(),
            context: self.first.auto().report().clone(),
            verified: outcome.verdict.verified.clone().or(plugin.verified()),
            resumed: self.resume.is_some(),
            first_message: plugin.first_message.clone(),
            front: None,
            complaints: complaints.iter().map(|c| self.first.complaint_to_store(c)).collect(),
            failed_tries: failed,
        };
        self.warn(
            recorder.finish(SessionEnd {
                ended_at: now_ms(),
                exit_code: outcome.end.code,
                signal: outcome.end.signal.or(outcome.forwarded),
                outcome: match (outcome.timed_out, code) {
                    (true, _) => Outcome::TimedOut,
                    (false, 0) if outcome.verdict.failure.is_none() => Outcome::Ok,
                    (false, _) => Outcome::Failed,
                },
                engine_session_id: engine_session,
                accepted: None,
                reply: Some(self.first.answer_to_store(&outcome.verdict.reply))
                    .filter(|reply| !reply.is_empty()),
                receipt: Some(receipt.to_json()),
            }),
        );
        told.ended(code, &outcome, tries, &receipt)?;
        Ok(ExitCode::from(code))
    }

    /// One try after the other; the last.
    fn tries(
        &self,
        session: &mut Trying<'_>,
        engine: &mut OneShot,
        first: (LaunchPlan, RunFolder),
        failed: &mut Vec<FailedTry>,
        mut watcher: Option<&mut Watcher>,
    ) -> Result<Tried, Failure> {
        let deadline = self.args.timeout.map(|time| Instant::now() + time);
        let most = self.args.retries.unwrap_or(0);
        let (mut plan, mut folder) = first;
        let last = loop {
            let number = u32::try_from(failed.len()).unwrap_or(u32::MAX).saturating_add(1);
            let tried = self.try_once(session, engine, (plan, folder), deadline, &mut watcher);
            let (code, why) = match &tried {
                Ok(tried) if is_worth_another(self.spec(), &tried.outcome, tried.code) => {
                    (tried.code, tried.outcome.verdict.failure.clone())
                }
                Err(error) if may_start_later(error) => {
                    (ExitKind::EngineUnavailable.code(), Some(error.to_string()))
                }
                Ok(_) | Err(_) => break tried,
            };
            let pause = pause_after(number);
            let in_time = deadline.is_none_or(|at| Instant::now() + pause < at);
            if number > most || !in_time {
                break tried;
            }
            self.ui.warning(&format!(
                "{}: try {number} of {} failed before it answered (exit code {code}); the next in {} s",
                self.name(),
                most.saturating_add(1),
                pause.as_secs()
            ));
            session.told.again(number, code, pause.as_secs());
            // What an engine says may quote what it was sent.
            let why = why.map(|why| self.first.complaint_to_store(&why));
            failed.push(FailedTry { exit_code: code, why });
            if let Some(signal) = engine.pause(pause) {
                break tried.map(|tried| Tried {
                    code: u8::try_from(128 + signal).unwrap_or(u8::MAX),
                    outcome: RunOutcome { forwarded: Some(signal), ..tried.outcome },
                    ..tried
                });
            }
            let next = session.ids.next_try();
            plan = self.plan(next)?;
            folder = self.run_folder(next, &plan)?;
            if let Some(id) = &plan.engine_session {
                note(session.recorder, Notice::Session(id.clone()));
            }
        };
        last.map_err(|error| self.will_not_start(&error))
    }

    /// Starts the engine and waits for its end. What went wrong in a try that ran is said at once.
    fn try_once(
        &self,
        session: &mut Trying<'_>,
        engine: &mut OneShot,
        (plan, folder): (LaunchPlan, RunFolder),
        deadline: Option<Instant>,
        watcher: &mut Option<&mut Watcher>,
    ) -> std::io::Result<Tried> {
        let mut dialogue = self.engine.dialogue(&plan, &self.first);
        let answer = match self.args.output() {
            Output::Text => AnswerWay::Plain,
            Output::Json => AnswerWay::Held,
            Output::StreamJson => AnswerWay::Events,
        };
        let timeout = deadline.map(|at| at.saturating_duration_since(Instant::now()));
        let keeps_stderr = self.resume.is_some() && NotFound::has_words(self);
        let limits = Limits { timeout, answer, keeps_stderr };
        let id = session.ids.session;
        let mut notice = |news| note(session.recorder, news);
        let name = self.engine.id();
        tracing::info!(session = %id, engine = %name, program = %plan.program.display(), "starting");
        let watching = watcher.as_deref_mut();
        let outcome = engine.run(&plan, dialogue.as_mut(), limits, watching, &mut notice);
        if let Some(watcher) = watcher {
            watcher.idle();
        }
        let outcome = outcome?;
        let mut complaints = outcome.complaints.clone();
        if let Some(back) = &plan.carry_back {
            complaints.extend(carry_back(back));
        }
        let plugin = plan.plugin_receipt.as_deref().map(PluginReport::read).unwrap_or_default();
        complaints.extend(plugin.errors.iter().cloned());
        drop(folder);
        for complaint in &complaints {
            self.ui.quoted_warning(self.name(), complaint);
        }
        if let Some(failure) = &outcome.verdict.failure {
            self.ui.quoted_warning(self.name(), failure);
        }
        if outcome.timed_out {
            self.ui.warning(&format!("{}: ended by the time-out", self.name()));
        }
        let code = self.exit_code(&outcome);
        Ok(Tried { outcome, plugin, complaints, plan, code })
    }

    fn will_not_start(&self, error: &std::io::Error) -> Failure {
        let message =
            format!("{} will not start: {}: {error}", self.name(), self.program.display());
        Failure::new(ExitKind::EngineUnavailable, message)
            .hint(format!("reinstall it: {}", self.spec().install))
    }

    fn exit_code(&self, outcome: &RunOutcome) -> u8 {
        if outcome.timed_out {
            return ExitKind::TimedOut.code();
        }
        // An engine that was told to end may call that a success; it was not.
        let lied = outcome.forwarded.filter(|_| outcome.end.is_success());
        if let Some(signal) = outcome.end.signal.or(lied) {
            return u8::try_from(128 + signal).unwrap_or(u8::MAX);
        }
        let code = u8::try_from(outcome.end.code.unwrap_or(1) & 0xff).unwrap_or(1);
        let denied = outcome.verdict.failure.is_some();
        let empty = self.args.strict && outcome.verdict.reply.trim().is_empty();
        if code == 0 && (denied || empty) { DENIED_FAILURE } else { code }
    }
}
