//! Which project a run belongs to (S50, S55). Works without the store, then by folders alone. Reads
//! a few folder entries and one row; writes nothing; never guesses `/`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::{ExitKind, Failure};
use crate::project::names::shown;
use crate::project::registry::{self, Project};
use crate::session::{Store, StoreError};

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// `--project`: an id, a `__name__` sentinel or a folder.
    pub named: Option<&'a OsStr>,
    /// The current folder.
    pub cwd: &'a Path,
    /// The user's home, for `__claude__`.
    pub home: Option<&'a Path>,
}

/// The project of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// `None`: a folder with docs that was never registered.
    pub id: Option<String>,
    /// Absolute, without links. `None` only for a virtual project without a folder.
    pub root: Option<PathBuf>,
    /// A `__name__` sentinel: gets no block.
    pub virtual_: bool,
    /// The saved order of its docs.
    pub order: Vec<String>,
    /// Its flagged docs.
    pub instructions: Vec<String>,
}

/// The answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resolution {
    /// `None`: no project, which is no error.
    pub project: Option<Resolved>,
    /// For the person.
    pub warnings: Vec<String>,
}

/// Finds the project. `store` as it could be opened: one that is merely missing is an empty one.
pub fn resolve(ask: Ask<'_>, store: Result<&Store, &StoreError>) -> Result<Resolution, Failure> {
    let mut registry = Registry { store: store.ok(), warnings: Vec::new() };
    if let Err(error) = store
        && !matches!(error, StoreError::Missing { .. })
    {
        registry.warn(error);
    }
    let project = match ask.named {
        Some(named) => Some(registry.named(named, ask)?),
        None => registry.around(ask.cwd),
    };
    Ok(Resolution { project, warnings: registry.warnings })
}

/// The store as far as it can be asked; its first error is the last question.
struct Registry<'a> {
    store: Option<&'a Store>,
    warnings: Vec<String>,
}

impl Registry<'_> {
    fn warn(&mut self, error: &StoreError) {
        self.store = None;
        self.warnings.push(format!(
            "{error}; the project is found by its folder only, order and flags of its docs are not \
             known"
        ));
    }

    fn ask<T: Default>(&mut self, question: impl FnOnce(&Store) -> Result<T, StoreError>) -> T {
        let Some(store) = self.store else { return T::default() };
        question(store).unwrap_or_else(|error| {
            self.warn(&error);
            T::default()
        })
    }

    /// An id first; else a folder, relative to the current one.
    fn named(&mut self, named: &OsStr, ask: Ask<'_>) -> Result<Resolved, Failure> {
        if let Some(sentinel) = named.to_str().filter(|name| is_sentinel(name)) {
            return Ok(virtual_project(sentinel, ask.home));
        }
        let folder = ask.cwd.join(named);
        let path_like =
            named.as_bytes().contains(&b'/') || [".", ".."].map(OsStr::new).contains(&named);
        if path_like {
            return match folder.canonicalize() {
                Ok(root) if root.is_dir() => Ok(self.in_folder(root)),
                Ok(_) => Err(no_project(named, "is not a folder")),
                Err(error) => Err(no_project(named, &format!("cannot be used: {error}"))),
            };
        }
        let unknown = match (named.to_str(), self.store) {
            (Some(id), Some(store)) => match registry::show(store, id) {
                Ok(project) if project.folder.is_dir() => return Ok(registered(project)),
                Ok(project) => {
                    let reason = format!("has its folder `{}` no more", project.folder.display());
                    return Err(no_project(named, &reason).hint(format!(
                        "`omni-run project rm {id}` forgets it; `omni-run project add FOLDER --id \
                         {id}` gives it a new folder"
                    )));
                }
                Err(registry::RegistryError::Store(error)) => {
                    self.warn(&error);
                    no_project(named, "is not known")
                }
                Err(unknown) => unknown.into(),
            },
            _ => no_project(named, "is not known"),
        };
        match folder.canonicalize() {
            Ok(root) if !named.is_empty() && root.is_dir() => Ok(self.in_folder(root)),
            _ => Err(match self.warnings.last() {
                Some(why) => unknown.hint(why.clone()).hint("give the project's folder instead"),
                None => unknown,
            }),
        }
    }

    /// The deepest registered project around the folder, else the nearest folder with docs.
    fn around(&mut self, cwd: &Path) -> Option<Resolved> {
        // A folder that was deleted under us has no other name than the one we know.
        let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        let folders: Vec<&Path> = cwd.ancestors().filter(|dir| dir.parent().is_some()).collect();
        if folders.is_empty() {
            return None;
        }
        if let Some(project) = self.ask(|store| registry::deepest_of(store, &folders)) {
            return Some(registered(project));
        }
        let root = folders.into_iter().find(|dir| has_docs(dir))?;
        Some(self.in_folder(root.to_owned()))
    }

    fn in_folder(&mut self, root: PathBuf) -> Resolved {
        match self.ask(|store| registry::of_folder(store, &root)) {
            Some(project) => registered(project),
            None => Resolved {
                id: None,
                root: Some(root),
                virtual_: false,
                order: Vec::new(),
                instructions: Vec::new(),
            },
        }
    }
}

/// The project of a row.
pub fn registered(project: Project) -> Resolved {
    Resolved {
        id: project.id,
        root: Some(project.folder),
        virtual_: false,
        order: project.docs.order,
        instructions: project.docs.flags.into_iter().map(|flag| flag.name).collect(),
    }
}

fn no_project(named: &OsStr, reason: &str) -> Failure {
    Failure::new(ExitKind::NotFound, format!("the project `{}` {reason}", shown(named)))
}

fn is_sentinel(name: &str) -> bool {
    let inner = name.strip_prefix("__").and_then(|rest| rest.strip_suffix("__"));
    inner.is_some_and(|inner| !inner.is_empty() && !inner.contains('/'))
}

/// `__claude__` works in `~/Claude`; what other sentinels there are has no folder.
fn virtual_project(name: &str, home: Option<&Path>) -> Resolved {
    let root = match name {
        "__claude__" => home
            .and_then(|home| home.join("Claude").canonicalize().ok())
            .filter(|folder| folder.is_dir()),
        _ => None,
    };
    Resolved {
        id: Some(name.to_owned()),
        root,
        virtual_: true,
        order: Vec::new(),
        instructions: Vec::new(),
    }
}

/// Real folders only: a link out of the project is not its docs folder (S1).
fn has_docs(root: &Path) -> bool {
    let is_dir = |path: &Path| path.symlink_metadata().is_ok_and(|about| about.is_dir());
    let folder = root.join(".claude");
    is_dir(&folder) && is_dir(&folder.join("docs"))
}
