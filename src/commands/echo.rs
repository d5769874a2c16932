//! The process of the built-in engine.

use std::process::ExitCode;

use crate::cli::EchoCommand;
use crate::engines::{EchoArgs, echo_main, echo_tui};
use crate::error::Failure;

/// Answers on stdout what came on stdin.
pub(super) fn echo(command: &EchoCommand) -> Result<ExitCode, Failure> {
    let args = EchoArgs {
        instructions: command.instructions.clone(),
        attach: command.attach.clone(),
        session: command.session.clone(),
        model: command.model.clone(),
        typed_bytes: command.typed_bytes,
    };
    if command.tui {
        echo_tui(&args, command.message.clone())
            .map_err(|e| Failure::from(anyhow::Error::new(e).context("echo")))?;
        return Ok(ExitCode::SUCCESS);
    }
    echo_main(&args, &mut std::io::stdin(), &mut std::io::stdout())
        .map_err(|e| Failure::from(anyhow::Error::new(e).context("echo")))?;
    Ok(ExitCode::SUCCESS)
}
