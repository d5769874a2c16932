//! `omni-run import`: reads back what `export` wrote.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;

use super::gather::current_dir;
use super::{here, own_paths};
use crate::cli::ImportArgs;
use crate::context::figures::counted;
use crate::error::{ExitKind, Failure};
use crate::session::Store;
use crate::session::export::import::Checked;
use crate::ui::Ui;

/// Carries the command out.
pub(super) fn import(args: &ImportArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let (name, input) = open(&args.file)?;
    let named = |mut failure: Failure| {
        failure.message = format!("{name}: {failure}");
        failure
    };
    // Read through before the store is opened, which would make a new one.
    let checked = Checked::read(input).map_err(|e| named(e.into()))?;
    let store = Store::open(&own_paths())?;
    for note in store.notes() {
        ui.warning(note);
    }
    let imported = checked.import(&store).map_err(|e| named(e.into()))?;
    let added = counted(imported.added, "session is", "sessions are");
    let known = match imported.known {
        0 => String::new(),
        n => format!(", {} stored already", counted(n, "was", "were")),
    };
    ui.status(&format!("{added} imported{known}"));
    Ok(ExitCode::SUCCESS)
}

fn open(file: &Path) -> Result<(String, File), Failure> {
    let (name, opened) = if file == Path::new("-") {
        let own = io::stdin().as_fd().try_clone_to_owned();
        ("standard input".to_owned(), own.map(File::from))
    } else {
        let path = current_dir().join(file);
        (here::shown(file), File::open(path))
    };
    match opened {
        Ok(input) if input.metadata().is_ok_and(|meta| meta.is_dir()) => {
            Err(Failure::new(ExitKind::NotFound, format!("{name} is a folder")))
        }
        Ok(input) => Ok((name, input)),
        Err(error) => {
            Err(Failure::new(ExitKind::NotFound, format!("{name} cannot be opened: {error}")))
        }
    }
}
