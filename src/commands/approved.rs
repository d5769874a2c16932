//! `omni-run __approved ID TOKEN`: the process that an approval starts for a launch. The launch is
//! that of the command line; what is special is only that nobody waits for it and that it marks its
//! action.

use std::process::ExitCode;

use super::recording::Ids;
use super::script_output::Told;
use super::start::Start;
use super::{now_ms, own_paths};
use crate::cli::{ApprovedCommand, RunArgs, RunOptions};
use crate::control::actions::payload::Launch;
use crate::control::actions::{Action, ActionId, Handover};
use crate::error::{ExitKind, Failure};
use crate::launch::detached::detach;
use crate::launch::plan::LaunchPlan;
use crate::session::SessionId;
use crate::ui::Ui;

/// Carries the launch out.
pub(super) fn approved(args: &ApprovedCommand) -> Result<ExitCode, Failure> {
    let detached = detach().map_err(anyhow::Error::from)?;
    let id: ActionId = args
        .action
        .parse()
        .map_err(|_| Failure::new(ExitKind::Usage, "this is a command of omni-run itself"))?;
    let taken = Handover::take(&own_paths(), id, &args.token, detached)?;
    let Some((mut handover, action, launch)) = taken else {
        return Err(Failure::new(ExitKind::Refused, "nothing is approved under this token"));
    };
    crate::failpoint::reach("handed");
    let session = SessionId::generate();
    let (start, plan) = match prepare(&action, launch, session) {
        Ok(prepared) => prepared,
        Err(failure) => {
            handover.fail(&in_one(&failure), now_ms())?;
            return Err(failure);
        }
    };
    if !handover.begin(session, now_ms())? {
        return Err(Failure::new(ExitKind::Refused, "the approval was ended meanwhile"));
    }
    crate::failpoint::reach("begun");
    let result = start.one_shot(Ids::new(session), plan, &mut Told::nothing());
    let failure = result.as_ref().err();
    if let Some(failure) = failure {
        start.ui.failure(failure);
    }
    handover.end(failure.map(in_one).as_deref())?;
    result
}

/// The launch as the command line would gather it, without any argument of the engine's.
fn prepare(
    action: &Action,
    launch: Launch,
    session: SessionId,
) -> Result<(Start, LaunchPlan), Failure> {
    let args = RunArgs {
        engine: Some(launch.engine),
        prompt_option: Some(launch.prompt.into()),
        options: RunOptions {
            print: true,
            project: action.project.clone(),
            cwd: action.project_folder.clone(),
            model: launch.model,
            ..RunOptions::default()
        },
        ..RunArgs::default()
    };
    let start = Start::gather(args, Ui { quiet: true }, None)?;
    let plan = start.plan(Ids::new(session))?;
    Ok((start, plan))
}

fn in_one(failure: &Failure) -> String {
    let parts: Vec<&str> =
        [&failure.message].into_iter().chain(&failure.hints).map(String::as_str).collect();
    parts.join("; ")
}
