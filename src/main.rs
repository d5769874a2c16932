//! The `omni-run` binary: parse, dispatch, print the error, exit code.

use std::process::ExitCode;

use clap::Parser;
use omni_run::cli::Cli;
use omni_run::commands;
use omni_run::ui::Ui;

fn main() -> ExitCode {
    omni_run::session::ignore_file_size_signal();
    let cli = Cli::parse_from(commands::with_run_inserted(std::env::args_os()));
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
