//! `omni-run ENGINE …`: a launch from its command line to its exit code. It chooses the way to run;
//! `one_shot` and `tui` carry it out.

use std::process::ExitCode;

use super::script_output::{Told, answering};
use super::start::Start;
use super::{print, print_exact, tui};
use crate::cli::RunArgs;
use crate::engines::LaunchMode;
use crate::error::Failure;
use crate::session::SessionId;
use crate::ui::Ui;

/// Starts an engine.
pub(super) fn run(args: RunArgs, ui: Ui) -> Result<ExitCode, Failure> {
    answering(args.options.output(), ui, |told| launch(args, told, ui))
}

/// The launch itself. What it is to print in a JSON mode goes through `told`.
pub(super) fn launch(args: RunArgs, told: &mut Told, ui: Ui) -> Result<ExitCode, Failure> {
    let start = Start::gather(args, ui)?;
    told.gathered(&start);
    if start.args.show_sent {
        return print_exact(ui, &start.first.sent().to_text());
    }
    let id = SessionId::generate();
    let plan = start.plan(id, id)?;
    if start.args.dry_run {
        return print(ui, &plan.describe(&start.first));
    }
    let _lock = start.lock()?;
    match start.mode {
        LaunchMode::OneShot => start.one_shot(id, plan, told),
        LaunchMode::Prompted | LaunchMode::Wrapped => tui::run(&start, id, &plan),
    }
}
