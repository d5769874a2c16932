//! Carrying out a launch: a process of its own that outlives this one and is started at most once.
//!
//! The action stays `applying` until that process is ready to start the engine. Then it marks the
//! action itself, with a token that only this claim has; the mark and the end by a later look exclude
//! each other. So a kill at any moment leaves either a session or an action that says that none was
//! started. The prompt is read from the store: nothing of it stands in an argument.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::control::actions::claim::Claim;
use crate::control::actions::error::ActionError;
use crate::control::actions::lock::ActionLock;
use crate::control::actions::queue::Queue;
use crate::control::actions::rows;
use crate::control::actions::types::{Action, Outcome, OutcomeCode, Status};
use crate::failpoint;
use crate::launch::detached;
use crate::session::UnixMs;

/// The hidden subcommand that the process runs: `omni-run __approved ID TOKEN`.
pub const SUBCOMMAND: &str = "__approved";

/// How long the first word of the process is waited for, in ms. It takes that long only where an
/// engine is asked for its version for the first time.
const FIRST_WORD: u16 = 30_000;

/// Starts the process and waits for its first word.
pub(super) fn start(
    queue: &Queue,
    action: &Action,
    claim: &Claim,
    lock: ActionLock,
    now: UnixMs,
) -> Result<(), ActionError> {
    let not_started = |message: String, stderr: Option<String>| {
        let outcome = Outcome { stderr, ..Outcome::new(OutcomeCode::NotStarted, message) };
        queue.store().write(|c| rows::finish(c, action.id, Status::Failed, &outcome, now))
    };
    let (mut child, said) = match spawn(queue, action, claim, &lock) {
        Ok(spawned) => spawned,
        Err(error) => {
            not_started(format!("the process for it cannot be started: {error}"), None)?;
            lock.retire();
            return Ok(());
        }
    };
    failpoint::reach("spawned");
    // The process has it now; so does its end.
    drop(lock);
    let spoke = first_word(&mut child);
    std::thread::spawn(move || child.wait());
    // Waits: of a process that was killed, the files are closed one after another.
    if spoke && let Some(lock) = ActionLock::wait(queue.paths(), action.id)? {
        if queue.get(action.id)?.status == Status::Applying {
            let message = "the process for it ended before it could start the engine".to_owned();
            not_started(message, detached::tail(&said))?;
        }
        lock.retire();
    }
    Ok(())
}

fn spawn(
    queue: &Queue,
    action: &Action,
    claim: &Claim,
    lock: &ActionLock,
) -> std::io::Result<(Child, File)> {
    // Without a name: it goes with the last process that has it open.
    let said = tempfile::tempfile_in(&queue.paths().data)?;
    let mut command = Command::new(queue.program()?);
    command
        .args([SUBCOMMAND, &action.id.to_string(), &claim.token])
        .stdin(Stdio::from(lock.share()?))
        .stdout(Stdio::piped())
        .stderr(Stdio::from(said.try_clone()?));
    if let Some(folder) = &action.project_folder {
        command.current_dir(folder);
    }
    detached::leave_terminal(&mut command);
    Ok((command.spawn()?, said))
}

/// Waits until the process has closed its output, which is its word. `false`: it takes long.
fn first_word(child: &mut Child) -> bool {
    let Some(mut word) = child.stdout.take() else { return true };
    let mut fds = [PollFd::new(word.as_fd(), PollFlags::POLLIN)];
    match poll(&mut fds, PollTimeout::from(FIRST_WORD)) {
        Ok(0) | Err(_) => false,
        // It writes nothing: what comes is the end.
        Ok(_) => word.read(&mut [0; 16]).is_ok(),
    }
}
