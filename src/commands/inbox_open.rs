//! `omni-run inbox open`: a one-time link to the inbox page, for the eyes of the person at the
//! terminal only.

use std::io::IsTerminal;
use std::process::ExitCode;

use super::inbox::person;
use super::{now_ms, print};
use crate::control::page::keys;
use crate::control::place;
use crate::error::{ExitKind, Failure};
use crate::paths::Paths;
use crate::ui::Ui;

/// Prints the link.
///
/// # Errors
/// [`ExitKind::Refused`] where the link would not go to a person's terminal,
/// [`ExitKind::NotFound`] without a server.
pub(super) fn open(paths: &Paths, ui: Ui) -> Result<ExitCode, Failure> {
    person()?;
    if !std::io::stdout().is_terminal() {
        let message = "the link is for a person, and standard output is no terminal";
        return Err(Failure::new(ExitKind::Refused, message).hint("run it without `>` and `|`"));
    }
    let Some(port) = place::running(paths) else {
        let message = "no `omni-run serve` with a port runs for this data folder";
        return Err(Failure::new(ExitKind::NotFound, message)
            .hint("start one: `omni-run serve`")
            .hint("`omni-run inbox approve ID` decides at the terminal, without a server"));
    };
    let key = keys::make(paths, now_ms()).map_err(|error| {
        let folder = paths.data.display();
        Failure::new(ExitKind::CannotCreate, format!("a link cannot be made in {folder}: {error}"))
    })?;
    let minutes = keys::LIFETIME_MS / 60_000;
    ui.status(&format!("open this in your browser; it works once, within {minutes} minutes:"));
    print(ui, &format!("http://127.0.0.1:{port}/inbox/open#{key}\n"))
}
