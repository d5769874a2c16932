//! The `omni-run` binary: parse, dispatch, print the error, exit code.

use std::process::ExitCode;

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
    let cli = match commands::parse(args) {
        Ok(cli) => cli,
        Err(code) => return code,
    };
    let ui = Ui { quiet: cli.quiet };
    let result = omni_run::logging::start(cli.log_file.as_deref())
        .and_then(|()| commands::dispatch(cli.command, ui));
    match result {
        Ok(code) => code,
        Err(failure) => {
            ui.failure(&failure);
            ExitCode::from(failure.kind.code())
        }
    }
}
