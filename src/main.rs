//! The `omni-run` binary: parse, dispatch, print the error, exit code.

use std::process::ExitCode;
use std::time::Instant;

use omni_run::commands;
use omni_run::launch::editor_socket::{EDITOR_SUBCOMMAND, helper_main};
use omni_run::ui::Ui;

fn main() -> ExitCode {
    omni_run::session::ignore_file_size_signal();
    // As the engine's external editor: before the command line is read as ours.
    let args: Vec<std::ffi::OsString> = std::env::args_os().collect();
    if args.get(1).is_some_and(|word| word == EDITOR_SUBCOMMAND) {
        return helper_main(&args[2..]);
    }
    let (cli, command) = match commands::parse(args) {
        Ok(parsed) => parsed,
        Err(code) => return code,
    };
    let ui = Ui { quiet: cli.quiet };
    let started = Instant::now();
    let result = omni_run::logging::start(cli.log_file.as_deref(), commands::log_level);
    let result = result.and_then(|()| {
        tracing::info!(version = env!("CARGO_PKG_VERSION"), command, "omni-run");
        commands::dispatch(cli.command, ui)
    });
    let code = result.unwrap_or_else(|failure| {
        ui.failure(&failure);
        ExitCode::from(failure.kind.code())
    });
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    tracing::info!(ms, "done");
    code
}
