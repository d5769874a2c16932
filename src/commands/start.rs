//! What a launch needs, gathered in the order of DESIGN's "way of a first message"; nothing later
//! asks the folder, the config or the clock again. How the engine then runs is in `run` (pipes) and
//! `tui` (terminal).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use super::gather::{
    LookedUp, Standing, attach_paths, check_secrets, current_dir, keep_prompt, look_up,
    read_prompt, snapshot_request, switches, unknown_engine, warn_untried, working_dir,
};
use super::here::reconcile;
use super::recording::Ids;
use super::resumed::Resumed;
use super::{Workplace, now_ms};
use crate::cli::{Output, RunArgs, RunOptions};
use crate::context::{
    Delivery, DisplayText, FirstMessage, InstructionRoute, Reading, SnapshotRequest, Switches,
    chip, folder,
};
use crate::engines::gate_spec::GateRoute;
use crate::engines::{Engine, EngineSpec, Host, InstructionChannel, LaunchMode, detect};
use crate::error::{ExitKind, Failure};
use crate::launch::below::{SESSION_VARIABLE, TOKEN_VARIABLE};
use crate::launch::plan::{LaunchPlan, PlanError};
use crate::launch::request::LaunchRequest;
use crate::launch::run_folder::RunFolder;
use crate::paths::Paths;
use crate::project::Resolved;
use crate::session::{RunLock, SessionRow};
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
    /// The row whose message is sent again.
    pub(super) again: Option<SessionRow>,
    pub(super) attach: Vec<PathBuf>,
    pub(super) switches: Switches,
    delivery: Delivery,
    pub(super) chip: bool,
    /// Actions that wait for the person.
    pub(super) approvals: usize,
    pub(super) mode: LaunchMode,
}

/// A message that is sent again: its row, and the message as it was typed.
pub(super) struct Again {
    pub(super) row: SessionRow,
    pub(super) display: DisplayText,
}

impl Start {
    pub(super) fn gather(
        mut asked: RunArgs,
        ui: Ui,
        again: Option<Again>,
    ) -> Result<Start, Failure> {
        let Workplace { paths, config, catalogue } = Workplace::open()?;
        // No engine's name has white space in it: with a default engine this is the prompt.
        let is_prompt = |word: &String| word.contains(char::is_whitespace);
        if config.default_engine.value.is_some() && !asked.has_prompt() {
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
        let mode = mode(&asked, spec, again.is_some());
        let display = match (&again, mode) {
            (Some(again), _) => again.display.clone(),
            (None, LaunchMode::Wrapped) => DisplayText::new(""),
            (None, LaunchMode::OneShot | LaunchMode::Prompted) => read_prompt(&asked, &paths, ui)?,
        };
        let mut args = asked.options;
        let found = detect::find(&wanted, spec, env_path.as_deref())
            .map_err(|failure| keep_prompt(failure, &display, &paths))?;
        let child_path = detect::child_path(spec, &found, env_path.as_deref());
        let cache = paths.data.join("engine-versions.json");
        let version = detect::version(&found, spec, &cache, &child_path);
        warn_untried(ui, spec, version.as_deref());

        let here = current_dir();
        let of_row = again.as_ref().map(|again| &again.row);
        let LookedUp { resolution, mut resume, approvals } = look_up(&args, &paths, &here, of_row)?;
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
        // A conversation goes on with the model that it began with.
        let earlier = resume.as_ref().and_then(|resumed| resumed.row.model.clone());
        let model = args.model.clone().or(earlier);
        let model = model.or_else(|| config.models.value.get(&wanted).cloned());
        let window = engine.configured(&host).window(spec, model.as_deref(), version.as_deref());
        let delivery = engine.delivery(window, mode);
        let mut attach = attach_paths(&args, &here)?;
        let mut standing = Standing::default();
        if let Some(resumed) = &mut resume {
            resumed.learn_id(engine.as_ref(), &host, &paths);
            standing.block = !resumed.repeats_block(engine.as_ref());
            let in_block = delivery.instructions == InstructionRoute::HeadOfBlock;
            standing.instructions = in_block || resumed.first.instructions_in_talk == Some(true);
            if !standing.block {
                // The first message is built anew, as it was asked for.
                attach.splice(..0, resumed.attachments(ui));
                args.no_docs |= resumed.first.no_docs;
                args.no_attach |= resumed.first.no_attach;
                args.no_profile |= resumed.first.no_profile;
            }
        }
        let switches = switches(&args, config.profile.value, project.as_ref(), standing);
        let snapshot = folder::snapshot(&SnapshotRequest {
            switches,
            attach: attach.clone(),
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
            again: again.map(|again| again.row),
            attach,
            switches,
            delivery,
            chip: config.chip.value,
            approvals,
            mode,
        })
    }

    pub(super) fn plan(&self, ids: Ids) -> Result<LaunchPlan, Failure> {
        let resume = self.resume.as_ref().map(|resumed| resumed.engine_id(self.engine.as_ref()));
        let request = LaunchRequest {
            engine: self.engine.id().clone(),
            program: self.program.clone(),
            session: ids.attempt.to_string(),
            resume: resume.transpose()?,
            first_message: self.resume.as_ref().and_then(|r| r.first_message.clone()),
            first_display: self.resume.as_ref().and_then(|r| r.first_display.clone()),
            cwd: self.cwd.clone(),
            model: self.model.clone(),
            engine_args: self.args.engine_args.clone(),
            run_dir: self.runs.join(ids.attempt.to_string()),
            survey: self.engine.survey(&self.host(), &self.first),
        };
        let plan = match self.mode {
            LaunchMode::OneShot => self.engine.plan(&request, &self.first),
            LaunchMode::Prompted | LaunchMode::Wrapped => {
                self.engine.plan_tui(&request, &self.first, self.mode)
            }
        };
        let mut plan = plan.map_err(|error| {
            let kind = match error {
                PlanError::NoResume { .. } => ExitKind::EngineUnavailable,
                PlanError::TooLong { .. } => ExitKind::BadPrompt,
            };
            keep_prompt(Failure::new(kind, error.to_string()), self.first.display(), &self.paths)
        })?;
        // By it a command below the engine knows that no person has typed it.
        plan.env.push((SESSION_VARIABLE.into(), ids.session.to_string().into()));
        if self.env.contains_key(TOKEN_VARIABLE) {
            plan.env_remove.push(TOKEN_VARIABLE.to_owned());
        }
        if let Some(path) = self.env.get("PATH") {
            plan.env.push(("PATH".into(), path.clone()));
        }
        let first = self.resume.as_ref().map(|resumed| &resumed.first);
        if first.is_some_and(|first| first.block_on_wire == Some(true)) && !plan.block_on_wire {
            plan.warnings.push(format!(
                "{}: this way it gets the conversation without the docs of its first message; they \
                 ride on a plugin that is not loaded here",
                self.name()
            ));
        }
        Ok(plan)
    }

    /// Whether the instructions stand in the conversation instead of the system prompt.
    pub(super) fn instructions_in_talk(&self, plan: &LaunchPlan) -> bool {
        self.delivery.instructions == InstructionRoute::HeadOfBlock
            || plan.channels.instructions == InstructionChannel::HeadOfBlock
    }

    /// The run folder with the plan's files.
    pub(super) fn run_folder(&self, ids: Ids, plan: &LaunchPlan) -> Result<RunFolder, Failure> {
        self.settle_others();
        RunFolder::create(&self.runs, &ids.attempt.to_string())
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
        let begins = self.mode == LaunchMode::Wrapped && self.resume.is_none();
        if begins && no_recipe && plan.plugin_receipt.is_none() {
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
fn mode(asked: &RunArgs, spec: &EngineSpec, again: bool) -> LaunchMode {
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let given = again || asked.has_prompt();
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
