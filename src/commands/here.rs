//! Which project a command is about, with its instruction flags as the folder has them now (S35).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::gather::current_dir;
use super::now_ms;
use crate::context::kinds::{NameKind, by_name};
use crate::engines::Catalogue;
use crate::error::{ExitKind, Failure, did_you_mean};
use crate::paths::Paths;
use crate::project::docs::reconcile_flags;
use crate::project::{Ask, Resolution, Resolved, resolve};
use crate::session::{SessionId, Store};
use crate::ui::{Ui, one_line};

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

/// The project that an option names, for lists of what is stored. One that was removed, or never was
/// registered, may have sessions all the same.
pub(super) struct Named {
    /// Its id.
    pub(super) id: Option<String>,
    /// Its folder, for what was stored before it had an id.
    pub(super) folder: Option<PathBuf>,
    unknown: Option<Failure>,
}

impl Named {
    pub(super) fn of(paths: &Paths, named: Option<&str>, ui: Ui) -> Named {
        let Some(name) = named else { return Named { id: None, folder: None, unknown: None } };
        match look_up(paths, named, ui) {
            Ok(Some(Resolved { id, root, .. })) => Named { id, folder: root, unknown: None },
            Ok(None) => Named { id: Some(name.to_owned()), folder: None, unknown: None },
            Err(failure) => {
                Named { id: Some(name.to_owned()), folder: None, unknown: Some(failure) }
            }
        }
    }

    /// Nothing was found: an error where there is no such project.
    pub(super) fn require(self) -> Result<(), Failure> {
        self.unknown.map_or(Ok(()), Err)
    }
}

/// How many characters of ids to show: each tells its session from all others in the store.
pub(super) fn digits(
    store: &Store,
    ids: impl IntoIterator<Item = SessionId>,
) -> Result<usize, Failure> {
    Ok(store.telling_digits(ids)?.clamp(super::ids::SHORTEST, 36))
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

/// Where nothing was found: says so of an engine that the catalogue does not have. One that was taken
/// out of it may still have sessions.
pub(super) fn warn_of_engine(paths: &Paths, engine: Option<&str>, ui: Ui) {
    let Some(id) = engine else { return };
    let Ok(catalogue) = Catalogue::load(&paths.config.join("engines.toml")) else { return };
    if catalogue.get(id).is_some() {
        return;
    }
    let near = did_you_mean(id, catalogue.iter().map(|(id, _)| id));
    let near = near.first().map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    ui.warning(&format!("there is no engine `{}`{near}", one_line(id)));
}
