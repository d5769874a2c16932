//! `omni-run ENGINE …`: chooses the way to run, and carries out the one on pipes.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::now_ms;
use super::start::{Start, not_started};
use super::tui;
use crate::cli::{Output, RunArgs};
use crate::engines::LaunchMode;
use crate::error::{ExitKind, Failure};
use crate::launch::one_shot::{self, AnswerWay, Limits, Outcome as RunOutcome};
use crate::launch::plan::LaunchPlan;
use crate::launch::plugin_report::PluginReport;
use crate::launch::receipt::Receipt;
use crate::launch::run_folder::carry_back;
use crate::launch::watcher::Watcher;
use crate::session::{Outcome, Recorder, SessionEnd, SessionId};
use crate::ui::Ui;

/// The code for a failure that the engine's own code denies.
const DENIED_FAILURE: u8 = 1;

/// Starts an engine.
pub(super) fn run(args: RunArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let start = Start::gather(args, ui)?;
    if start.args.show_sent {
        ui.data(start.first.sent().to_text().as_bytes()).map_err(anyhow::Error::from)?;
        return Ok(ExitCode::SUCCESS);
    }
    let id = SessionId::generate();
    let run_dir = start.runs.join(id.to_string());
    let plan = start.plan(id, &run_dir)?;
    if start.args.dry_run {
        ui.data(plan.describe(&start.first).as_bytes()).map_err(anyhow::Error::from)?;
        return Ok(ExitCode::SUCCESS);
    }
    let _lock = start.lock()?;
    match start.mode {
        LaunchMode::OneShot => start.one_shot(id, &plan),
        LaunchMode::Prompted | LaunchMode::Wrapped => tui::run(&start, id, &plan),
    }
}

impl Start {
    pub(super) fn one_shot(&self, id: SessionId, plan: &LaunchPlan) -> Result<ExitCode, Failure> {
        // The fork comes before the first thread: the store and the loop start some.
        let mut watcher = Watcher::start().ok();
        let folder = self.run_folder(id, plan)?;
        let (mut recorder, warning) =
            Recorder::start(&self.paths, self.new_session(id, plan, self.first.display()));
        self.warn(warning);
        self.say_before(plan);

        let mut dialogue = self.engine.dialogue(plan, &self.first);
        let answer = match self.args.output() {
            Output::Text => AnswerWay::Plain,
            Output::Json => AnswerWay::Held,
            Output::StreamJson => AnswerWay::Events,
        };
        let limits = Limits { timeout: self.args.timeout, answer };
        let engine = self.engine.id();
        if answer == AnswerWay::Events {
            let start =
                json!({"type": "start", "session": id.to_string(), "engine": engine.as_str()});
            self.print_line(&start)?;
        }
        tracing::info!(session = %id, %engine, program = %plan.program.display(), "start");
        let outcome = one_shot::run(plan, dialogue.as_mut(), limits, watcher.as_mut());
        if let Some(watcher) = watcher {
            watcher.release();
        }
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                self.warn(recorder.finish(not_started()));
                let message =
                    format!("{} will not start: {}: {error}", self.name(), self.program.display());
                return Err(Failure::new(ExitKind::EngineUnavailable, message)
                    .hint(format!("reinstall it: {}", self.engine.catalogue().install))
                    .hint(format!("what you typed is kept as session {id}")));
            }
        };
        let mut complaints = outcome.complaints.clone();
        if let Some(back) = &plan.carry_back {
            complaints.extend(carry_back(back));
        }
        let plugin = plan.plugin_receipt.as_deref().map(PluginReport::read).unwrap_or_default();
        let engine_session = outcome.engine_session.clone().or(plugin.session.clone());
        if let Some(session) = &engine_session {
            recorder.note_engine_session_id(session);
        }
        complaints.extend(plugin.errors.iter().cloned());
        drop(folder);

        let code = self.exit_code(&outcome);
        tracing::info!(session = %id, code, timed_out = outcome.timed_out, "end");
        let receipt = Receipt {
            version: 1,
            engine_version: self.version.clone(),
            channels: plan.channels,
            sent_bytes: self.first.sent().len(),
            context: self.first.auto().report().clone(),
            verified: outcome.verdict.verified.clone().or(plugin.verified()),
            resumed: self.resume.is_some(),
            first_message: plugin.first_message.clone(),
            complaints: complaints.clone(),
        };
        for complaint in &complaints {
            self.ui.warning(&format!("{}: {complaint}", self.name()));
        }
        if let Some(failure) = &outcome.verdict.failure {
            self.ui.warning(&format!("{}: {failure}", self.name()));
        }
        if outcome.timed_out {
            self.ui.warning(&format!("{}: ended by the time-out", self.name()));
        }
        self.warn(recorder.finish(SessionEnd {
            ended_at: now_ms(),
            exit_code: outcome.end.code,
            signal: outcome.end.signal.or(outcome.forwarded),
            outcome: match (outcome.timed_out, code) {
                (true, _) => Outcome::TimedOut,
                (false, 0) if outcome.verdict.failure.is_none() => Outcome::Ok,
                (false, _) => Outcome::Failed,
            },
            engine_session_id: engine_session,
            reply: Some(outcome.verdict.reply.clone()).filter(|reply| !reply.is_empty()),
            receipt: Some(receipt.to_json()),
        }));
        if self.args.output() != Output::Text {
            self.print_json(id, code, &outcome, &receipt)?;
        }
        Ok(ExitCode::from(code))
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

    fn print_json(
        &self,
        id: SessionId,
        code: u8,
        outcome: &RunOutcome,
        receipt: &Receipt,
    ) -> Result<(), Failure> {
        let mut object = serde_json::json!({
            "session": id.to_string(),
            "engine": self.engine.id().to_string(),
            "exit_code": code,
            "text": outcome.verdict.reply,
            "receipt": receipt.to_json(),
        });
        if let Some(failure) = &outcome.verdict.failure {
            object["failure"] = failure.as_str().into();
        }
        if self.args.output() == Output::StreamJson {
            object["type"] = "end".into();
        }
        self.print_line(&object)
    }

    /// One object on a line of stdout. A reader that has left is no failure.
    fn print_line(&self, object: &Value) -> Result<(), Failure> {
        let line = format!("{object}\n");
        match self.ui.data(line.as_bytes()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                Err(Failure::new(ExitKind::CannotCreate, format!("standard output: {error}")))
            }
            _ => Ok(()),
        }
    }
}
