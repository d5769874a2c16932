//! Runs a command wrapped: what the tests of the terminal side drive, and what the bench compares
//! with the bare command.
//!
//! `wrap-probe PROGRAM ARGS…`. `WRAP_PROBE_NOTES=FILE` gets the outcome as JSON,
//! `WRAP_PROBE_PID=FILE` the process id.
//! `WRAP_PROBE_GATE`: unset, an open gate; `editor`, a naive gate that takes the first Enter for a
//! message and sends it by the editor; `armed`, one that passes everything on and is never done; `panic`, one
//! with a fault.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use omni_run::context::first_message::DisplayText;
use omni_run::launch::editor_socket::{EDITOR_SUBCOMMAND, EditorPlan, helper_main};
use omni_run::launch::gate::{EditorReply, Effect, GateEvent, Gatekeeper, OpenGate, TimerId};
use omni_run::launch::wrapped::{Hooks, WrappedPlan, run};

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().skip(1).collect();
    let Some((program, args)) = args.split_first() else { return ExitCode::from(2) };
    if program == EDITOR_SUBCOMMAND {
        return helper_main(args);
    }
    if let Some(file) = std::env::var_os("WRAP_PROBE_PID") {
        std::fs::write(file, std::process::id().to_string()).expect("write the pid");
    }
    let cwd = std::env::current_dir().expect("cwd");
    let mut plan = WrappedPlan::bare(Path::new(&program), &cwd);
    plan.args = args.to_vec();
    let gate: Box<dyn Gatekeeper> = match std::env::var("WRAP_PROBE_GATE").as_deref() {
        Ok("editor") => {
            plan.editor = Some(EditorPlan {
                run_dir: cwd.clone(),
                program: std::env::current_exe().expect("own path"),
                user_editor: std::env::var_os("VISUAL"),
            });
            Box::new(EditorGate::default())
        }
        Ok("armed") => {
            plan.plugin_receipt = std::env::var_os("WRAP_PROBE_RECEIPT").map(PathBuf::from);
            Box::new(ArmedGate)
        }
        Ok("panic") => Box::new(PanicGate),
        _ => Box::new(OpenGate),
    };
    let mut recorded = Vec::new();
    let record = &mut |text: &_| recorded.push(DisplayText::as_str(text).to_owned());
    let hooks = Hooks { record, notice: &mut |_| {} };
    match run(&plan, gate, hooks) {
        Ok(outcome) => {
            if let Some(file) = std::env::var_os("WRAP_PROBE_NOTES") {
                let text = serde_json::json!({
                    "undone": String::from_utf8_lossy(&outcome.undone),
                    "notes": outcome.notes,
                    "forwarded": outcome.forwarded,
                    "recorded": recorded,
                    "gate_done": outcome.gate_done,
                });
                std::fs::write(file, text.to_string()).expect("write the outcome");
            }
            ExitCode::from(outcome.exit_code())
        }
        Err(error) => {
            omni_run::ui::Ui::default().warning(&error.to_string());
            ExitCode::from(69)
        }
    }
}

/// The naive one.
#[derive(Default)]
struct EditorGate {
    asked: bool,
    done: bool,
}

const EDITOR_KEY: u8 = 0x07;
const SETTLE: TimerId = TimerId(1);
const CANCELLED: TimerId = TimerId(2);

impl Gatekeeper for EditorGate {
    fn event(&mut self, event: GateEvent<'_>, _: Instant) -> Vec<Effect> {
        match event {
            GateEvent::UserBytes(b"\r") => {
                self.asked = true;
                vec![
                    Effect::SetTimer { id: CANCELLED, after: Duration::from_millis(1) },
                    Effect::CancelTimer(CANCELLED),
                    Effect::ToEngine(vec![EDITOR_KEY]),
                ]
            }
            GateEvent::UserBytes(bytes) => vec![Effect::ToEngine(bytes.to_vec())],
            GateEvent::EditorCalled { text } if self.asked => vec![
                Effect::Record(DisplayText::new(text.clone())),
                Effect::EditorReply(EditorReply::Write(format!("THE BLOCK\n\n{text}"))),
            ],
            GateEvent::EditorCalled { .. } => {
                vec![Effect::EditorReply(EditorReply::RunUsersEditor)]
            }
            GateEvent::EditorReturned if self.asked => {
                vec![Effect::SetTimer { id: SETTLE, after: Duration::from_millis(300) }]
            }
            GateEvent::Timer(SETTLE) => {
                self.done = true;
                vec![Effect::ToEngine(b"\r".to_vec()), Effect::Done]
            }
            GateEvent::Timer(_) => vec![Effect::Note("a cancelled timer has struck".into())],
            GateEvent::EditorReturned
            | GateEvent::EngineBytes(_)
            | GateEvent::PluginReport(_)
            | GateEvent::Resized { .. } => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

/// Passes everything on and types what a plugin reports.
struct ArmedGate;

impl Gatekeeper for ArmedGate {
    fn event(&mut self, event: GateEvent<'_>, _: Instant) -> Vec<Effect> {
        match event {
            GateEvent::UserBytes(bytes) => vec![Effect::ToEngine(bytes.to_vec())],
            GateEvent::PluginReport(report) => {
                let text = format!("[{} {}]", report.event, report.text.unwrap_or_default());
                vec![Effect::ToEngine(text.into_bytes())]
            }
            _ => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        false
    }
}

/// Has a fault that the first key brings out.
struct PanicGate;

impl Gatekeeper for PanicGate {
    fn event(&mut self, event: GateEvent<'_>, _: Instant) -> Vec<Effect> {
        match event {
            GateEvent::UserBytes(_) => panic!("a fault of the gate"),
            _ => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        false
    }
}
