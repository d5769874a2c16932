//! What a launch needs, gathered in the order of DESIGN's "way of a first message"; nothing later
//! asks the folder, the config or the clock again. How the engine then runs is in `run` (pipes) and
//! `tui` (terminal).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use super::gather::{
    LookedUp, Resumed, attach_paths, check_secrets, current_dir, keep_prompt, look_up, read_prompt,
    snapshot_request, switches, unknown_engine, warn_untried, working_dir,
};
use super::here::reconcile;
use super::{Workplace, now_ms};
use crate::cli::{Output, RunArgs, RunOptions};
use crate::context::{DisplayText, FirstMessage, Reading, SnapshotRequest, chip, folder};
use crate::engines::gate_spec::GateRoute;
use crate::engines::{Engine, EngineSpec, Host, LaunchMode, detect};
use crate::error::{ExitKind, Failure};
use crate::launch::below::{SESSION_VARIABLE, TOKEN_VARIABLE};
use crate::launch::plan::{LaunchPlan, PlanError};
use crate::launch::request::LaunchRequest;
use crate::launch::run_folder::RunFolder;
use crate::paths::Paths;
use crate::project::Resolved;
use crate::session::{NewSession, Outcome, RunLock, SessionEnd, SessionId, SessionMode};
use crate::ui::Ui;

/// All that was gathered for a launch.
pub(super) struct Start {
    pub(super) args: RunOptions,
    pub(super) ui: Ui,
    pub(super) paths: Paths,
    pub(super) runs: PathBuf,
    pub(super) engine: Box<dyn Engine>,
    pub(super) program: PathBuf,
    pub(super) version: Option<String>,
    pub(super) project: Option<Resolved>,
    pub(super) cwd: PathBuf,
    pub(super) model: Option<String>,
    pub(super) first: FirstMessage,
    pub(super) env: BTreeMap<String, OsString>,
    pub(super) resume: Option<Resumed>,
    pub(super) chip: bool,
    /// Actions that wait for the person.
    pub(super) approvals: usize,
    pub(super) mode: LaunchMode,
}

impl Start {
    pub(super) fn gather(mut asked: RunArgs, ui: Ui) -> Result<Start, Failure> {
        let Workplace { paths, config, catalogue } = Workplace::open()?;
        // No engine's name has white space in it: with a default engine this is the prompt.
        let is_prompt = |word: &String| word.contains(char::is_whitespace);
        let given =
            asked.prompt.is_some() || asked.prompt_option.is_some() || asked.prompt_file.is_some();
        if config.default_engine.value.is_some() && !given {
            asked.prompt = asked.engine.take_if(|word| is_prompt(word)).map(OsString::from);
        }
        let wanted = asked.engine.clone().or(config.default_engine.value).ok_or_else(|| {
            Failure::new(ExitKind::Usage, "no engine is named and none is the default")
                .hint("omni-run ENGINE \"prompt\"; `omni-run engines` lists them")
        })?;
        let spec = catalogue
            .get(&wanted)
            .ok_or_else(|| unknown_engine(&wanted, catalogue.iter().map(|(id, _)| id)))?;
        let engine = crate::engines::engine(&wanted, spec);
        let env_path = std::env::var_os("PATH");
        let mode = mode(&asked, spec);
        let display = match mode {
            LaunchMode::Wrapped => DisplayText::new(""),
            LaunchMode::OneShot | LaunchMode::Prompted => read_prompt(&asked, &paths, ui)?,
        };
        let args = asked.options;
        let found = detect::find(&wanted, spec, env_path.as_deref())
            .map_err(|failure| keep_prompt(failure, &display, &paths))?;
        let child_path = detect::child_path(spec, &found, env_path.as_deref());
        let cache = paths.data.join("engine-versions.json");
        let version = detect::version(&found, spec, &cache, &child_path);
        warn_untried(ui, spec, version.as_deref());

        let here = current_dir();
        let LookedUp { resolution, resume, approvals } = look_up(&args, &paths, &here)?;
        if let Some(Resumed { row, .. }) = resume.as_ref().filter(|r| r.row.engine != wanted) {
            let message = format!("session {} is one of {}, not of {wanted}", row.id, row.engine);
            let failure = Failure::new(ExitKind::Usage, message)
                .hint(format!("omni-run {} --resume {}", row.engine, row.id));
            return Err(keep_prompt(failure, &display, &paths));
        }
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
        if project.is_none() && args.output() == Output::Text {
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
        let model = args.model.clone().or_else(|| config.models.value.get(&wanted).cloned());
        let window = engine.configured(&host).window(spec, model.as_deref(), version.as_deref());
        let delivery = engine.delivery(window, mode);
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
            runs: RunFolder::parent(&paths),
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
            approvals,
            mode,
        })
    }

    /// The plan of one try: `attempt` is the session itself, or for a later try an id of its own.
    pub(super) fn plan(
        &self,
        session: SessionId,
        attempt: SessionId,
    ) -> Result<LaunchPlan, Failure> {
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
            session: attempt.to_string(),
            resume,
            first_message: self.resume.as_ref().and_then(|r| r.first_message.clone()),
            first_display: self.resume.as_ref().and_then(|r| r.first_display.clone()),
            cwd: self.cwd.clone(),
            model: self.model.clone(),
            engine_args: self.args.engine_args.clone(),
            run_dir: self.runs.join(attempt.to_string()),
            survey: self.engine.survey(&host, &self.first),
        };
        let plan = match self.mode {
            LaunchMode::OneShot => self.engine.plan(&request, &self.first),
            LaunchMode::Prompted | LaunchMode::Wrapped => {
                self.engine.plan_tui(&request, &self.first, self.mode)
            }
        };
        let mut plan = plan.map_err(|error| {
            let kind = match error {
                PlanError::NoResume(_) => ExitKind::EngineUnavailable,
                PlanError::TooLong { .. } => ExitKind::BadPrompt,
            };
            keep_prompt(Failure::new(kind, error.to_string()), self.first.display(), &self.paths)
        })?;
        // By it a command below the engine knows that no person has typed it.
        plan.env.push((SESSION_VARIABLE.into(), session.to_string().into()));
        if self.env.contains_key(TOKEN_VARIABLE) {
            plan.env_remove.push(TOKEN_VARIABLE.to_owned());
        }
        if let Some(path) = self.env.get("PATH") {
            plan.env.push(("PATH".into(), path.clone()));
        }
        Ok(plan)
    }

    /// The run folder with the plan's files.
    pub(super) fn run_folder(
        &self,
        attempt: SessionId,
        plan: &LaunchPlan,
    ) -> Result<RunFolder, Failure> {
        RunFolder::create(&self.runs, &attempt.to_string())
            .and_then(|folder| folder.fill(plan).map(|()| folder))
            .map_err(|e| {
                let place = self.runs.display();
                let message = format!("the run folder in {place} cannot be made: {e}");
                let failure = Failure::new(ExitKind::CannotCreate, message)
                    .hint("set XDG_RUNTIME_DIR or TMPDIR to a folder that you can write");
                keep_prompt(failure, self.first.display(), &self.paths)
            })
    }

    pub(super) fn lock(&self) -> Result<Option<RunLock>, Failure> {
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

    pub(super) fn new_session(
        &self,
        id: SessionId,
        plan: &LaunchPlan,
        display: &DisplayText,
    ) -> NewSession {
        NewSession {
            id,
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
        }
    }

    pub(super) fn say_before(&self, plan: &LaunchPlan) {
        self.log(plan);
        if self.args.output() == Output::Text {
            for warning in &self.first.auto().report().warnings {
                self.ui.warning(warning);
            }
            let chip = self.first.auto().report().chip(self.approvals);
            if self.chip && !chip.is_empty() {
                self.ui.status(&chip);
            } else if self.approvals > 0 {
                // The chip can be switched off, what waits for a person not.
                self.ui.status(&chip::waiting(self.approvals));
            }
        }
        let no_recipe = self.engine.catalogue().gate.route == GateRoute::None;
        if self.mode == LaunchMode::Wrapped && no_recipe && plan.plugin_receipt.is_none() {
            self.ui.warning(&format!(
                "{}: engines.toml has no `gate` for it; the docs do not go along in terminal use",
                self.name()
            ));
        }
        for warning in &plan.warnings {
            self.ui.warning(warning);
        }
    }

    /// The launch for `--log-file`: names and figures.
    fn log(&self, plan: &LaunchPlan) {
        let project = self.project.as_ref();
        let word = |value: serde_json::Result<serde_json::Value>| {
            value.ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
        };
        let report = self.first.auto().report();
        tracing::info!(
            engine = %self.engine.id(),
            version = self.version,
            program = %self.program.display(),
            model = self.model,
            mode = ?self.mode,
            project = project.and_then(|p| p.id.as_deref()),
            folder = project.and_then(|p| p.root.as_ref()).map(|root| root.display().to_string()),
            cwd = %self.cwd.display(),
            resumed = self.resume.is_some(),
            "resolved"
        );
        tracing::info!(
            text = word(serde_json::to_value(plan.channels.message)),
            instructions = word(serde_json::to_value(plan.channels.instructions)),
            attachments = word(serde_json::to_value(plan.channels.attachments)),
            typed_bytes = self.first.display().as_str().len(),
            sent_bytes = self.first.sent().len(),
            block_bytes = report.block_bytes,
            instruction_bytes = report.instruction_bytes,
            docs = report.docs.len(),
            attached = self.first.auto().attachments().len(),
            "delivers"
        );
    }

    pub(super) fn spec(&self) -> &EngineSpec {
        self.engine.catalogue()
    }

    pub(super) fn name(&self) -> &str {
        &self.spec().name
    }

    pub(super) fn warn(&self, warning: Option<String>) {
        if let Some(warning) = warning {
            self.ui.warning(&warning);
        }
    }
}

/// One-shot where it is asked for or there is no terminal; else the engine's own interface, with a
/// first message if one is given (SPEC section 6).
fn mode(asked: &RunArgs, spec: &EngineSpec) -> LaunchMode {
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let given =
        asked.prompt.is_some() || asked.prompt_option.is_some() || asked.prompt_file.is_some();
    // An engine of the user's own without a recipe takes a given message on pipes.
    let takes_given = spec.gate.route != GateRoute::None || !spec.tui.prompt_args.is_empty();
    if asked.options.wants_one_answer() || !terminal {
        LaunchMode::OneShot
    } else if !given {
        LaunchMode::Wrapped
    } else if takes_given {
        LaunchMode::Prompted
    } else {
        LaunchMode::OneShot
    }
}

/// The end of a session whose engine did not start.
pub(super) fn not_started() -> SessionEnd {
    SessionEnd {
        ended_at: now_ms(),
        exit_code: None,
        signal: None,
        outcome: Outcome::NotStarted,
        engine_session_id: None,
        reply: None,
        receipt: None,
    }
}
