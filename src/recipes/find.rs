//! Where recipes lie and which of them a name means. Reads folders and files, writes nothing.
//!
//! A project's `.claude/recipes/` is read like its docs: no link in it is followed, or a cloned
//! repository could send a file of the user's along. The user's own folder may be made of links.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Origin, Recipe, bad};
use crate::context::dir::{Child, Dir, open_named, read_up_to};
use crate::context::names::{shown, shown_path};
use crate::error::{ExitKind, Failure, did_you_mean};

/// The ending of a recipe's file.
const ENDING: &str = ".md";
/// Largest file of a recipe, in bytes: it is a prompt, and larger things are attached or piped in.
const LARGEST: u64 = 1 << 20;
/// Longest name, in bytes: with the ending it fits every file system.
const LONGEST_NAME: usize = 200;

/// The folders that are looked into.
#[derive(Debug, Clone)]
pub struct Shelves {
    /// The project's own folder, which holds `.claude/recipes/`.
    pub project: Option<PathBuf>,
    /// The user's `recipes/`.
    pub own: PathBuf,
}

/// A recipe in a list; one with a mistake is listed with it.
#[derive(Debug)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub origin: Origin,
    /// Its file.
    pub file: PathBuf,
    /// What it is.
    pub recipe: Result<Recipe, Failure>,
    /// The project has one of the same name, which is taken.
    pub hidden: bool,
}

impl Shelves {
    /// All recipes by name, the project's before the user's own.
    pub fn list(&self) -> Vec<Listed> {
        let mut listed: Vec<Listed> = Vec::new();
        for origin in self.origins() {
            for name in self.names(&origin) {
                let hidden = listed.iter().any(|known| known.name == name);
                let file = self.file(&origin, &name);
                let recipe = self.load(&origin, &name).unwrap_or_else(|| Err(gone(&file)));
                listed.push(Listed { name, origin: origin.clone(), file, recipe, hidden });
            }
        }
        listed.sort_by(|a, b| (&a.name, a.hidden).cmp(&(&b.name, b.hidden)));
        listed
    }

    /// The recipe of this name: the project's, else the user's own.
    ///
    /// # Errors
    /// [`ExitKind::Usage`] for a name that no recipe can have, [`ExitKind::NotFound`] with what is
    /// near, [`ExitKind::Config`] for one with a mistake.
    pub fn find(&self, name: &str) -> Result<Recipe, Failure> {
        check_name(name).map_err(|why| {
            let message = format!("`{}` cannot be a recipe: {why}", crate::ui::one_line(name));
            Failure::new(ExitKind::Usage, message)
                .hint("a recipe is named by its file's name without `.md`, never by a path")
        })?;
        for origin in self.origins() {
            if let Some(recipe) = self.load(&origin, name) {
                return recipe;
            }
        }
        let known: Vec<String> = self.origins().iter().flat_map(|o| self.names(o)).collect();
        let failure = Failure::new(ExitKind::NotFound, format!("there is no recipe `{name}`"));
        let failure = match did_you_mean(name, known.iter().map(String::as_str)).first() {
            Some(near) => failure.hint(format!("did you mean `{near}`?")),
            None => failure,
        };
        let places: Vec<String> =
            self.origins().iter().map(|origin| shown_path(&self.folder(origin))).collect();
        Err(failure.hint(format!("looked in {}", places.join(" and "))))
    }

    fn origins(&self) -> Vec<Origin> {
        self.project.iter().cloned().map(Origin::Project).chain([Origin::Own]).collect()
    }

    /// The folder of an origin.
    pub fn folder(&self, origin: &Origin) -> PathBuf {
        match origin {
            Origin::Project(root) => root.join(".claude/recipes"),
            Origin::Own => self.own.clone(),
        }
    }

    fn file(&self, origin: &Origin, name: &str) -> PathBuf {
        self.folder(origin).join(format!("{name}{ENDING}"))
    }

    /// The names in one folder, sorted. Names that can't be given on the command line are left out.
    pub fn names(&self, origin: &Origin) -> Vec<String> {
        let found: Vec<_> = match origin {
            Origin::Project(root) => match project_folder(root) {
                Some(folder) => folder.names().found.into_iter().map(|(name, _)| name).collect(),
                None => Vec::new(),
            },
            Origin::Own => std::fs::read_dir(&self.own)
                .map(|entries| entries.flatten().map(|entry| entry.file_name()).collect())
                .unwrap_or_default(),
        };
        let mut names: Vec<String> = found.iter().filter_map(|name| stem(name)).collect();
        names.sort();
        names
    }

    /// `None` where there is no such file.
    fn load(&self, origin: &Origin, name: &str) -> Option<Result<Recipe, Failure>> {
        let file = self.file(origin, name);
        let opened = match origin {
            Origin::Project(root) => {
                let folder = project_folder(root)?;
                let entry = format!("{name}{ENDING}");
                folder.lstat(OsStr::new(&entry)).ok()?;
                folder.open_file(OsStr::new(&entry))
            }
            Origin::Own => {
                file.symlink_metadata().ok()?;
                open_named(&file)
            }
        };
        let bytes = opened.and_then(|(open, size)| {
            if size > LARGEST {
                return Err("is larger than 1 MiB; attach such a text or pipe it in".to_owned());
            }
            read_up_to(&open, size, LARGEST)
        });
        Some(match bytes {
            Ok(bytes) => Recipe::parse(name, origin.clone(), &file, bytes),
            Err(why) => Err(bad(&file, None, &why)),
        })
    }
}

/// The nearest folder from `from` upwards that has recipes: for a project without docs that was
/// never registered.
pub fn nearest(from: &Path) -> Option<PathBuf> {
    let from = from.canonicalize().unwrap_or_else(|_| from.to_owned());
    let mut folders = from.ancestors().filter(|folder| folder.parent().is_some());
    folders.find(|folder| project_folder(folder).is_some()).map(Path::to_owned)
}

fn project_folder(root: &Path) -> Option<Dir> {
    match Dir::open(root).ok()?.child(".claude") {
        Child::Opened(hidden) => match hidden.child("recipes") {
            Child::Opened(folder) => Some(folder),
            Child::Absent | Child::Refused(_) => None,
        },
        Child::Absent | Child::Refused(_) => None,
    }
}

fn stem(name: &OsStr) -> Option<String> {
    let stem = name.to_str()?.strip_suffix(ENDING)?;
    check_name(stem).ok().map(|()| stem.to_owned())
}

/// Why a recipe can't have this name: it is one component of a path, and no option.
fn check_name(name: &str) -> Result<(), &'static str> {
    if name.is_empty() {
        Err("the name is empty")
    } else if name.contains(['/', '\\']) {
        Err("the name has a path separator")
    } else if name.starts_with('.') {
        Err("the name has a leading dot")
    } else if name.starts_with('-') {
        Err("the name has a leading dash")
    } else if name.chars().any(crate::ui::is_unprintable) {
        Err("the name has a control character")
    } else if name.len() > LONGEST_NAME {
        Err("the name is too long")
    } else {
        Ok(())
    }
}

fn gone(file: &Path) -> Failure {
    let name = shown(file.file_name().unwrap_or_default());
    Failure::new(ExitKind::NotFound, format!("`{name}` was removed while it was read"))
}
