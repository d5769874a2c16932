//! `omni-run docs preview`: on stdout the bytes of the block (or of the instructions) and nothing
//! else; what the person should know goes to stderr.

use std::process::ExitCode;

use super::target::{self, Target};
use super::{Workplace, here, print_exact};
use crate::context::{InstructionRoute, Reading, figures};
use crate::error::Failure;
use crate::ui::Ui;

/// Prints what a first message from here would carry.
pub(super) fn preview(
    place: &Workplace,
    named: Option<&str>,
    engine: Option<&str>,
    model: Option<&str>,
    instructions: bool,
    ui: Ui,
) -> Result<ExitCode, Failure> {
    let project = here::project(&place.paths, named, ui)?;
    let cwd = target::cwd(project.as_ref())?;
    let target = Target::choose(place, engine, model, &cwd)?;
    let reading = Reading::UpTo(target.budget());
    let snapshot = target::snapshot(place, project.as_ref(), &cwd, reading);
    let built = target.build(&snapshot);
    for warning in &built.report().warnings {
        ui.warning(warning);
    }
    for attachment in built.attachments() {
        let (name, size) = (&attachment.shown, figures::bytes(attachment.size));
        ui.status(&match &attachment.by_path {
            None => format!("attached: {name} ({size})"),
            Some(why) => format!("by path only: {name} ({size}): {why}"),
        });
    }
    let text = if instructions { built.instructions() } else { built.block() };
    if text.is_none() {
        let at_head = target.delivery.instructions == InstructionRoute::HeadOfBlock;
        ui.status(match (instructions, at_head, &project) {
            (true, true, _) => {
                "this engine has no route for instructions: they stand at the head of the block"
            }
            (true, false, _) => "no instructions",
            (false, _, Some(_)) => "no block: there is nothing to put into it",
            (false, _, None) => "no block: there is no project here",
        });
    }
    print_exact(ui, text.unwrap_or_default())
}
