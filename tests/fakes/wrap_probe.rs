//! Runs a command wrapped, with an open gate: what the tests of the terminal side drive, and what
//! the bench compares with the bare command.
//!
//! `wrap-probe PROGRAM ARGS…`; `WRAP_PROBE_NOTES=FILE` gets the outcome as JSON.

use std::path::Path;
use std::process::ExitCode;

use omni_run::launch::wrapped::{Hooks, OpenGate, WrappedPlan, run};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let Some(program) = args.next() else { return ExitCode::from(2) };
    let cwd = std::env::current_dir().expect("cwd");
    let mut plan = WrappedPlan::bare(Path::new(&program), &cwd);
    plan.args = args.collect();
    let hooks = Hooks { record: &mut |_| {} };
    match run(&plan, Box::new(OpenGate), hooks) {
        Ok(outcome) => {
            if let Some(file) = std::env::var_os("WRAP_PROBE_NOTES") {
                let text = serde_json::json!({
                    "undone": String::from_utf8_lossy(&outcome.undone),
                    "notes": outcome.notes,
                    "forwarded": outcome.forwarded,
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
