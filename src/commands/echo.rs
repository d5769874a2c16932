//! The process of the built-in engine.

use std::process::ExitCode;

use crate::cli::EchoCommand;
use crate::engines::{EchoArgs, echo_main};
use crate::error::Failure;

/// Answers on stdout what came on stdin.
pub(super) fn echo(args: &EchoCommand) -> Result<ExitCode, Failure> {
    let args = EchoArgs {
        instructions: args.instructions.clone(),
        attach: args.attach.clone(),
        session: args.session.clone(),
        model: args.model.clone(),
    };
    echo_main(&args, &mut std::io::stdin(), &mut std::io::stdout())
        .map_err(|e| Failure::from(anyhow::Error::new(e).context("echo")))?;
    Ok(ExitCode::SUCCESS)
}
