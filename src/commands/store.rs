//! `omni-run store`: where the database is, whether it is sound, a copy of it (S64).

use std::process::ExitCode;

use super::gather::current_dir;
use super::{here, own_paths, print};
use crate::cli::{StoreAction, StoreArgs};
use crate::context::figures::counted;
use crate::error::{ExitKind, Failure};
use crate::session::Store;
use crate::session::backup::{backup, check};
use crate::ui::Ui;

/// Carries the command out.
pub(super) fn store(args: &StoreArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let paths = own_paths();
    match &args.action {
        StoreAction::Path => print(ui, &format!("{}\n", paths.database().display())),
        StoreAction::Check => {
            let store = Store::open(&paths)?;
            for note in store.notes() {
                ui.warning(note);
            }
            let report = check(&store, &paths)?;
            let sessions =
                counted(usize::try_from(report.sessions).unwrap_or(0), "session", "sessions");
            let mut text = format!(
                "{}: schema version {}, journal {}, {sessions}\n",
                here::shown(&report.file),
                report.schema_version,
                report.journal_mode,
            );
            if report.spooled > 0 {
                let files = counted(report.spooled, "spooled file waits", "spooled files wait");
                text.push_str(&format!("{files}\n"));
            }
            for problem in &report.problems {
                text.push_str(&format!("problem: {}\n", crate::ui::one_line(problem)));
            }
            if report.problems.is_empty() {
                text.push_str("no damage found\n");
                return print(ui, &text);
            }
            print(ui, &text)?;
            Err(Failure::new(ExitKind::Internal, "the database is damaged").hint(
                "`omni-run store backup FILE` saves what can be read; then move the database away",
            ))
        }
        StoreAction::Backup { file } => {
            let file = current_dir().join(file);
            backup(&Store::open_reading(&paths)?, &file)?;
            ui.status(&format!("the store is copied to {}", here::shown(&file)));
            Ok(ExitCode::SUCCESS)
        }
    }
}
