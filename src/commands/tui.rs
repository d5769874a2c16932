//! The engine's own interface in the user's terminal, wrapped: with a given first message or without.
//! The session's row is written when there is a message: at once for a given one, else when the gate
//! releases the first that the user submits. A conversation that is gone on with has its first message
//! already: its row, without a message of its own, is written at once, and no gate stands in the way.

use std::ffi::OsString;
use std::process::ExitCode;

use super::not_found::NotFound;
use super::now_ms;
use super::recording::{Ids, not_started, note};
use super::start::Start;
use crate::context::DisplayText;
use crate::context::front::{FrontMark, Fronts};
use crate::engines::LaunchMode;
use crate::engines::gate_spec::GateRoute;
use crate::error::{ExitKind, Failure};
use crate::launch::editor_socket::{EDITOR_SUBCOMMAND, EditorPlan};
use crate::launch::gate::{self, Gatekeeper};
use crate::launch::notice::Notice;
use crate::launch::plan::{LaunchPlan, StdinPlan};
use crate::launch::plugin_report::PluginReport;
use crate::launch::receipt::Receipt;
use crate::launch::run_folder::carry_back;
use crate::launch::wrapped::{self, Hooks, WrappedOutcome, WrappedPlan};
use crate::session::{Outcome, Recorder, SessionEnd, Store};

/// How many of the newest typed texts are looked through; an engine's history is hardly longer.
const EARLIER_TEXTS: u32 = 10_000;
/// So many different fronts are known again; a history does not reach further back than the docs
/// change.
const FRONTS_KNOWN: u32 = 500;

/// Runs the engine in the terminal to its end.
pub(super) fn run(start: &Start, ids: Ids, plan: &LaunchPlan) -> Result<ExitCode, Failure> {
    let folder = start.run_folder(ids, plan)?;
    let begun = begun(start);
    let mut recording = Recording { recorder: None, early: Vec::new(), warnings: Vec::new() };
    if begun {
        recording.recorder = Some(start.record(ids, plan, start.first.display(), &folder)?);
    }
    start.say_before(plan);
    let fronts = earlier_fronts(start, &start.engine.catalogue().gate);
    let shared = std::cell::RefCell::new(&mut recording);
    let mut record = |display: &DisplayText| {
        let mut recording = shared.borrow_mut();
        let display = as_typed(start, &fronts, display);
        if let Some(recorder) = &mut recording.recorder {
            let warning = recorder.set_display(&display);
            recording.warnings.extend(warning);
        } else {
            recording.begin(start.record(ids, plan, &display, &folder));
        }
    };
    let mut notice = |news| shared.borrow_mut().note(news);
    let outcome = wrapped::run(
        &wrapped_plan(start, plan, folder.path()),
        gate(start, plan, fronts.clone()),
        Hooks { record: &mut record, notice: &mut notice },
    );
    let Recording { recorder, warnings, .. } = recording;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            if let Some(recorder) = recorder {
                start.warn(recorder.finish(not_started()));
            }
            let message = format!("{} will not start: {error}", start.name());
            return Err(Failure::new(ExitKind::EngineUnavailable, message)
                .hint(format!("reinstall it: {}", start.engine.catalogue().install)));
        }
    };
    for warning in warnings {
        start.ui.warning(&warning);
    }
    for note in &outcome.notes {
        start.ui.warning(&format!("{}: {note}", start.name()));
    }
    if let Some(missing) = NotFound::after(start, outcome.exit_code(), b"") {
        missing.say(start);
    }
    finish(start, plan, recorder, &outcome);
    drop(folder);
    Ok(ExitCode::from(outcome.exit_code()))
}

/// What the composer held, less the block of an earlier session that came with it out of the engine's
/// history.
fn as_typed(start: &Start, fronts: &Fronts, display: &DisplayText) -> DisplayText {
    let earlier = || {
        Store::open_reading(&start.paths)
            .and_then(|store| store.typed_texts(start.engine.id().as_str(), EARLIER_TEXTS))
            .unwrap_or_default()
    };
    DisplayText::new(fronts.typed(display.as_str(), earlier))
}

/// The fronts of this engine's earlier sessions, where they went in by keys and so into its history.
/// Without a readable store none is known; that is said elsewhere.
fn earlier_fronts(start: &Start, spec: &gate::GateSpec) -> Fronts {
    if matches!(spec.route, GateRoute::None | GateRoute::Plugin) {
        return Fronts::default();
    }
    let marks = Store::open_reading(&start.paths)
        .and_then(|store| store.fronts(start.engine.id().as_str(), FRONTS_KNOWN));
    let marks = marks.unwrap_or_default().into_iter();
    Fronts::new(marks.filter_map(|mark| serde_json::from_value(mark).ok()).collect())
}

/// Whether there is a row before the engine starts.
fn begun(start: &Start) -> bool {
    start.mode == LaunchMode::Prompted || start.resume.is_some()
}

fn gate(start: &Start, plan: &LaunchPlan, fronts: Fronts) -> Box<dyn Gatekeeper> {
    let given = start.mode == LaunchMode::Prompted;
    if plan.carries_message || (start.resume.is_some() && !given) {
        // The engine has the first message: nothing is left to decide.
        return gate::for_engine(
            &gate::GateSpec::default(),
            String::new(),
            None,
            Fronts::default(),
        );
    }
    let draft = given.then(|| start.first.display().clone());
    let spec = &start.engine.catalogue().gate;
    gate::for_engine(spec, plan.gate_prefix.clone(), draft, fronts)
}

/// The record of a session that may begin while the engine runs.
struct Recording {
    recorder: Option<Recorder>,
    /// What was noticed before.
    early: Vec<Notice>,
    warnings: Vec<String>,
}

impl Recording {
    fn begin(&mut self, started: Result<Recorder, Failure>) {
        match started {
            Ok(mut recorder) => {
                for notice in self.early.drain(..) {
                    note(&mut recorder, notice);
                }
                self.recorder = Some(recorder);
            }
            Err(failure) => self.warnings.push(failure.message),
        }
    }

    fn note(&mut self, notice: Notice) {
        match &mut self.recorder {
            Some(recorder) => note(recorder, notice),
            None => self.early.push(notice),
        }
    }
}

fn wrapped_plan(start: &Start, plan: &LaunchPlan, run_dir: &std::path::Path) -> WrappedPlan {
    // Inside a wrapped engine the variables name our own helper, which is no editor.
    let is_helper = |value: &OsString| value.to_string_lossy().contains(EDITOR_SUBCOMMAND);
    let own = |name: &str| {
        start.env.get(name).filter(|value| !value.is_empty() && !is_helper(value)).cloned()
    };
    let editor = start.engine.catalogue().gate.needs_editor().then(|| EditorPlan {
        run_dir: run_dir.to_owned(),
        program: std::env::current_exe().unwrap_or_else(|_| "omni-run".into()),
        user_editor: own("VISUAL").or_else(|| own("EDITOR")),
    });
    WrappedPlan {
        args: plan.args.clone(),
        env: plan.env.clone(),
        env_remove: plan.env_remove.clone(),
        stdin: match &plan.stdin {
            StdinPlan::File(file) => Some(file.clone()),
            StdinPlan::Null | StdinPlan::Dialogue => None,
        },
        editor,
        plugin_receipt: plan.plugin_receipt.clone(),
        ..WrappedPlan::bare(&plan.program, &plan.cwd)
    }
}

/// The end of the session: receipt and row. Without a message there was no session.
fn finish(start: &Start, plan: &LaunchPlan, recorder: Option<Recorder>, outcome: &WrappedOutcome) {
    let mut complaints = outcome.notes.clone();
    if let Some(back) = &plan.carry_back {
        complaints.extend(carry_back(back));
    }
    let plugin = plan.plugin_receipt.as_deref().map(PluginReport::read).unwrap_or_default();
    complaints.extend(plugin.errors.iter().cloned());
    let Some(recorder) = recorder else { return };
    let code = outcome.exit_code();
    tracing::info!(code, first_message = outcome.gate_done, "ended");
    let engine_session = plan.engine_session.clone().or(plugin.session.clone());
    let engine_session = engine_session.or_else(|| start.learn_id(&recorder));
    let receipt = Receipt {
        version: 1,
        engine_version: start.version.clone(),
        channels: plan.channels,
        sent_bytes: start.first.sent().prefix().len(),
        context: start.first.auto().report().clone(),
        verified: plugin.verified().or_else(|| {
            let done = outcome.gate_done && outcome.notes.is_empty() && !plan.carries_message;
            done.then(|| "the engine's composer emptied".to_owned())
        }),
        front: FrontMark::of(&plan.gate_prefix),
        resumed: start.resume.is_some(),
        first_message: plugin.first_message.clone(),
        complaints: complaints.iter().map(|c| start.first.complaint_to_store(c)).collect(),
        failed_tries: Vec::new(),
    };
    start.warn(recorder.finish(SessionEnd {
        ended_at: now_ms(),
        exit_code: outcome.end.code,
        signal: outcome.end.signal.or(outcome.forwarded),
        outcome: if code == 0 { Outcome::Ok } else { Outcome::Failed },
        engine_session_id: engine_session,
        accepted: None,
        reply: None,
        receipt: Some(receipt.to_json()),
    }));
}
