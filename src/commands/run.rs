//! `omni-run ENGINE …`: a launch from its command line to its exit code. It chooses the way to run;
//! `one_shot` and `tui` carry it out.

use std::process::ExitCode;

use super::not_found::NotFound;
use super::script_output::{Told, answering};
use super::start::{Again, Start};
use super::{print, print_exact, tui};
use crate::cli::RunArgs;
use crate::engines::LaunchMode;
use crate::error::Failure;
use crate::ui::Ui;

/// Starts an engine.
pub(super) fn run(args: RunArgs, ui: Ui) -> Result<ExitCode, Failure> {
    answering(args.options.output(), ui, |told| launch(args, told, ui))
}

/// The launch itself. What it is to print in a JSON mode goes through `told`.
pub(super) fn launch(args: RunArgs, told: &mut Told, ui: Ui) -> Result<ExitCode, Failure> {
    launch_or_again(args, None, told, ui)
}

/// The same; `again`: with the message of a session whose engine died.
pub(super) fn launch_or_again(
    args: RunArgs,
    again: Option<Again>,
    told: &mut Told,
    ui: Ui,
) -> Result<ExitCode, Failure> {
    let start = Start::gather(args, ui, again)?;
    told.gathered(&start);
    if start.args.show_sent {
        return print_exact(ui, &start.first.sent().to_text());
    }
    let ids = start.ids();
    let plan = start.plan(ids)?;
    if start.args.dry_run {
        return print(ui, &plan.describe(&start.first));
    }
    NotFound::before(&start)?;
    let _lock = start.lock()?;
    match start.mode {
        LaunchMode::OneShot => start.one_shot(ids, plan, told),
        LaunchMode::Prompted | LaunchMode::Wrapped => tui::run(&start, ids, &plan),
    }
}
