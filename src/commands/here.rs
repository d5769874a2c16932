//! Which project a command is about, with its instruction flags as the folder has them now (S35).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::gather::current_dir;
use super::now_ms;
use crate::context::kinds::{NameKind, by_name};
use crate::error::{ExitKind, Failure};
use crate::paths::Paths;
use crate::project::docs::reconcile_flags;
use crate::project::{Ask, Resolution, Resolved, resolve};
use crate::session::Store;
use crate::ui::Ui;

/// The project that is named, or the one around the current folder, with its flags reconciled;
/// `None` is no error.
pub(super) fn project(
    paths: &Paths,
    named: Option<&str>,
    ui: Ui,
) -> Result<Option<Resolved>, Failure> {
    let mut project = look_up(paths, named, ui)?;
    if let Some(project) = &mut project {
        for note in reconcile(project, paths) {
            ui.warning(&note);
        }
    }
    Ok(project)
}

/// The project as the store knows it: for commands that are not about its docs.
pub(super) fn look_up(
    paths: &Paths,
    named: Option<&str>,
    ui: Ui,
) -> Result<Option<Resolved>, Failure> {
    let resolution = resolution(paths, named)?;
    for warning in &resolution.warnings {
        ui.warning(warning);
    }
    Ok(resolution.project)
}

/// The same with its warnings, for a command after which a launch says them.
pub(super) fn resolution(paths: &Paths, named: Option<&str>) -> Result<Resolution, Failure> {
    let store = Store::open_reading(paths);
    let here = current_dir();
    let ask = Ask { named: named.map(OsStr::new), cwd: &here, home: paths.home.as_deref() };
    resolve(ask, store.as_ref())
}

/// The same as [`project`] where there must be one with docs: the project and its folder.
pub(super) fn docs_project(
    paths: &Paths,
    named: Option<&str>,
    ui: Ui,
) -> Result<(Resolved, PathBuf), Failure> {
    let Some(project) = project(paths, named, ui)? else {
        return Err(no_project());
    };
    match project.root.clone().filter(|_| !project.virtual_) {
        Some(root) => Ok((project, root)),
        None => {
            let name = project.id.unwrap_or_default();
            Err(Failure::new(ExitKind::Usage, format!("the virtual project `{name}` has no docs")))
        }
    }
}

/// There is no project around the current folder.
pub(super) fn no_project() -> Failure {
    Failure::new(ExitKind::NotFound, "there is no project here")
        .hint("`omni-run project add` makes this folder one; `--project ID|PATH` names another")
}

/// Lets the instruction flags of a project follow files that were renamed or deleted outside, and
/// puts the flags that count into it. Gives the notes for the person. Touches the store only where
/// there are flags; where it can't be written the answer is right all the same.
pub(super) fn reconcile(project: &mut Resolved, paths: &Paths) -> Vec<String> {
    let Some(root) = project.root.clone().filter(|_| !project.instructions.is_empty()) else {
        return Vec::new();
    };
    let store = Store::open(paths).or_else(|_| Store::open_reading(paths));
    let reconciled = store.and_then(|store| reconcile_flags(&store, &root, is_text, now_ms()));
    match reconciled {
        Ok(reconciled) => {
            project.instructions = reconciled.instructions;
            reconciled.notes
        }
        Err(error) => vec![format!("{error}; the instruction flags are used as they were read")],
    }
}

/// Whether a name is that of a text file.
pub(super) fn is_text(name: &OsStr) -> bool {
    by_name(name) == NameKind::Text
}

/// A path for people, on one line.
pub(super) fn shown(path: &Path) -> String {
    crate::context::names::shown_path(path)
}
