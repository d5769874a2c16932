//! `omni-run ENGINE …`: from the command line to a finished session. Gathers what is needed, in the
//! order of DESIGN's "way of a first message"; nothing later asks the folder, the config or the
//! clock again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::gather::{
    Resumed, attach_paths, check_secrets, current_dir, keep_prompt, look_up, read_prompt,
    snapshot_request, switches, unknown_engine, warn_untried, working_dir,
};
use super::here::reconcile;
use super::{Workplace, now_ms};
use crate::cli::{Output, RunArgs};
use crate::context::{FirstMessage, Reading, SnapshotRequest, folder};
use crate::engines::{Engine, Host, detect};
use crate::error::{ExitKind, Failure};
use crate::launch::one_shot::{self, Limits, Outcome as RunOutcome};
use crate::launch::plan::{LaunchPlan, PlanError};
use crate::launch::plugin_report::PluginReport;
use crate::launch::receipt::Receipt;
use crate::launch::request::LaunchRequest;
use crate::launch::run_folder::{RunFolder, carry_back};
use crate::launch::watcher::Watcher;
use crate::paths::Paths;
use crate::project::Resolved;
use crate::session::{NewSession, Outcome, Recorder, RunLock, SessionEnd, SessionId, SessionMode};
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
    start.launch()
}

/// All that was gathered for a launch.
struct Start {
    args: RunArgs,
    ui: Ui,
    paths: Paths,
    engine: Box<dyn Engine>,
    program: PathBuf,
    version: Option<String>,
    project: Option<Resolved>,
    cwd: PathBuf,
    model: Option<String>,
    first: FirstMessage,
    env: BTreeMap<String, OsString>,
    resume: Option<Resumed>,
    chip: bool,
}

impl Start {
    fn gather(args: RunArgs, ui: Ui) -> Result<Start, Failure> {
        let Workplace { paths, config, catalogue } = Workplace::open()?;
        let wanted = args.engine.clone().or(config.default_engine.value).ok_or_else(|| {
            Failure::new(ExitKind::Usage, "no engine is named and none is the default")
                .hint("omni-run ENGINE \"prompt\"; `omni-run engines` lists them")
        })?;
        let spec = catalogue
            .get(&wanted)
            .ok_or_else(|| unknown_engine(&wanted, catalogue.iter().map(|(id, _)| id)))?;
        let engine = crate::engines::engine(&wanted, spec);
        let env_path = std::env::var_os("PATH");
        let display = read_prompt(&args, &paths, ui)?;
        let found = detect::find(&wanted, spec, env_path.as_deref())
            .map_err(|failure| keep_prompt(failure, &display, &paths))?;
        let child_path = detect::child_path(spec, &found, env_path.as_deref());
        let cache = paths.data.join("engine-versions.json");
        let version = detect::version(&found, spec, &cache, &child_path);
        warn_untried(ui, spec, version.as_deref());

        let here = current_dir();
        let (resolution, resume) = look_up(&args, &paths, &here)?;
        for warning in &resolution.warnings {
            ui.warning(warning);
        }
        let mut project = resolution.project;
        if let Some(project) = &mut project
            && !project.instructions.is_empty()
        {
            for note in reconcile(project, &paths) {
                ui.warning(&note);
            }
        }
        if project.is_none() && args.output == Output::Text {
            ui.status("no project here: the prompt goes out without docs");
        }
        let cwd = working_dir(&args, &here, project.as_ref(), resume.as_ref().map(|r| &r.row))?;
        let mut env: BTreeMap<String, OsString> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .collect();
        env.insert("PATH".into(), child_path);
        let host = Host {
            env: env.clone(),
            home: paths.home.clone(),
            cwd: cwd.clone(),
            version: version.clone(),
        };
        let configured = engine.configured(&host);
        let model = args.model.clone().or_else(|| config.models.value.get(&wanted).cloned());
        let known_model = model.clone().or(configured.model);
        let window = match (&model, configured.window) {
            (None, Some(window)) => window,
            _ => spec.window(known_model.as_deref(), version.as_deref()),
        };
        let delivery = engine.delivery(window);
        // A resumed session has its block, unless a plugin has to put it back on each request.
        let again = resume.as_ref().is_some_and(|r| !(r.had_block && engine.reapplies_block()));
        let snapshot = folder::snapshot(&SnapshotRequest {
            switches: switches(&args, config.profile.value, project.as_ref(), again),
            attach: attach_paths(&args, &here)?,
            reading: Reading::UpTo(delivery.budget().bytes()),
            ..snapshot_request(&paths, project.as_ref(), &cwd)
        });
        check_secrets(&snapshot, config.secrets.value, &display, &paths, ui)?;
        let auto = engine.first_message_auto_context(&snapshot, &delivery);
        let first = FirstMessage::compose(auto, display);
        Ok(Start {
            args,
            ui,
            paths,
            engine,
            program: found.program,
            version,
            project,
            cwd,
            model,
            first,
            env,
            resume,
            chip: config.chip.value,
        })
    }

    fn launch(self) -> Result<ExitCode, Failure> {
        let id = SessionId::generate();
        let run_dir = self.paths.runs.join(id.to_string());
        let plan = self.plan(id, &run_dir)?;
        if self.args.dry_run {
            self.ui.data(plan.describe(&self.first).as_bytes()).map_err(anyhow::Error::from)?;
            return Ok(ExitCode::SUCCESS);
        }
        let _lock = self.lock()?;
        // The fork comes before the first thread: the store and the loop start some.
        let mut watcher = Watcher::start().ok();
        let folder = RunFolder::create(&self.paths.runs, &id.to_string())
            .and_then(|folder| folder.fill(&plan).map(|()| folder))
            .map_err(|e| {
                let message = format!("the run folder {} cannot be made: {e}", run_dir.display());
                let failure = Failure::new(ExitKind::CannotCreate, message)
                    .hint("set XDG_RUNTIME_DIR or TMPDIR to a folder that you can write");
                keep_prompt(failure, self.first.display(), &self.paths)
            })?;
        let (mut recorder, warning) = Recorder::start(&self.paths, self.new_session(id, &plan));
        self.warn(warning);
        self.say_before(&plan);

        let mut dialogue = self.engine.dialogue(&plan, &self.first);
        let limits =
            Limits { timeout: self.args.timeout, hold_answer: self.args.output != Output::Text };
        let outcome = one_shot::run(&plan, dialogue.as_mut(), limits, watcher.as_mut());
        if let Some(watcher) = watcher {
            watcher.release();
        }
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                self.warn(recorder.finish(SessionEnd {
                    ended_at: now_ms(),
                    exit_code: None,
                    signal: None,
                    outcome: Outcome::NotStarted,
                    engine_session_id: None,
                    reply: None,
                    receipt: None,
                }));
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
        if self.args.output != Output::Text {
            self.print_json(id, code, &outcome, &receipt)?;
        }
        Ok(ExitCode::from(code))
    }

    fn plan(&self, id: SessionId, run_dir: &Path) -> Result<LaunchPlan, Failure> {
        let host = Host {
            env: self.env.clone(),
            home: self.paths.home.clone(),
            cwd: self.cwd.clone(),
            version: self.version.clone(),
        };
        let resume = match &self.resume {
            None => None,
            Some(Resumed { row, .. }) => Some(row.engine_session_id.clone().ok_or_else(|| {
                Failure::new(
                    ExitKind::NotFound,
                    format!("session {} has no id of the engine to resume by", row.id),
                )
                .hint("the engine ended before it told one; start a new session")
            })?),
        };
        let request = LaunchRequest {
            engine: self.engine.id().clone(),
            program: self.program.clone(),
            session: id.to_string(),
            resume,
            first_message: self.resume.as_ref().and_then(|r| r.first_message.clone()),
            first_display: self.resume.as_ref().and_then(|r| r.first_display.clone()),
            cwd: self.cwd.clone(),
            model: self.model.clone(),
            engine_args: self.args.engine_args.clone(),
            run_dir: run_dir.to_owned(),
            survey: self.engine.survey(&host, &self.first),
        };
        let mut plan = self.engine.plan(&request, &self.first).map_err(|error| {
            let kind = match error {
                PlanError::NoResume(_) => ExitKind::EngineUnavailable,
                PlanError::TooLong { .. } => ExitKind::BadPrompt,
            };
            keep_prompt(Failure::new(kind, error.to_string()), self.first.display(), &self.paths)
        })?;
        if let Some(path) = self.env.get("PATH") {
            plan.env.push(("PATH".into(), path.clone()));
        }
        Ok(plan)
    }

    fn lock(&self) -> Result<Option<RunLock>, Failure> {
        let Some(key) = &self.args.no_overlap else { return Ok(None) };
        let key = key.clone().unwrap_or_else(|| {
            let project = self.project.as_ref().and_then(|p| p.id.clone());
            let root = self.project.as_ref().and_then(|p| p.root.as_ref());
            let place = project.or(root.map(|r| r.display().to_string())).unwrap_or_default();
            format!("{} {place}", self.engine.id())
        });
        let command = format!("omni-run {}", self.engine.id());
        Ok(Some(RunLock::acquire(&self.paths, &key, &command, now_ms())?))
    }

    fn new_session(&self, id: SessionId, plan: &LaunchPlan) -> NewSession {
        NewSession {
            id,
            engine: self.engine.id().to_string(),
            model: self.model.clone(),
            project: self.project.as_ref().and_then(|p| p.id.clone()),
            project_root: self.project.as_ref().and_then(|p| p.root.clone()),
            cwd: self.cwd.clone(),
            mode: SessionMode::OneShot,
            argv: plan.argv_without_text(),
            started_at: now_ms(),
            display: self.first.display().clone(),
        }
    }

    fn say_before(&self, plan: &LaunchPlan) {
        if self.args.output == Output::Text {
            for warning in &self.first.auto().report().warnings {
                self.ui.warning(warning);
            }
            let chip = self.first.auto().report().chip(0);
            if self.chip && !chip.is_empty() {
                self.ui.status(&chip);
            }
        }
        for warning in &plan.warnings {
            self.ui.warning(warning);
        }
    }

    fn exit_code(&self, outcome: &RunOutcome) -> u8 {
        if outcome.timed_out {
            return ExitKind::TimedOut.code();
        }
        // An engine that was told to end may call that a success; it was not.
        if let Some(signal) = outcome.end.signal.or(outcome.forwarded) {
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
        let mut line = object.to_string();
        line.push('\n');
        self.ui.data(line.as_bytes()).map_err(|e| anyhow::Error::from(e).into())
    }

    fn name(&self) -> &str {
        &self.engine.catalogue().name
    }

    fn warn(&self, warning: Option<String>) {
        if let Some(warning) = warning {
            self.ui.warning(&warning);
        }
    }
}
