//! `omni-run recipe`: a recipe found, filled in, and run as any other launch. What a list or a person
//! sees of one is in `recipe_view`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::gather::current_dir;
use super::here::{resolution, shown};
use super::script_output::answering;
use super::{own_paths, recipe_view, run};
use crate::cli::{RecipeAction, RecipeArgs, RecipeRunArgs, RunArgs, RunOptions};
use crate::error::{ExitKind, Failure};
use crate::paths::Paths;
use crate::project::Resolved;
use crate::recipes::find::{Shelves, nearest};
use crate::recipes::front_matter::Overlap;
use crate::recipes::{Origin, Recipe};
use crate::ui::{Ui, one_line};

/// Carries the command out.
pub(super) fn recipe(args: RecipeArgs, ui: Ui) -> Result<ExitCode, Failure> {
    match args.action.unwrap_or(RecipeAction::Ls { project: None, json: false }) {
        RecipeAction::Ls { project, json } => {
            recipe_view::ls(&Place::told(project.as_deref(), ui)?.shelves(), json, ui)
        }
        RecipeAction::Show { recipe, project, json } => {
            let place = Place::told(project.as_deref(), ui)?;
            recipe_view::show(&place.shelves().find(&recipe)?, json, ui)
        }
        RecipeAction::Run(args) => run_recipe(*args, ui),
    }
}

/// Where recipes are looked for.
pub(super) struct Place {
    pub(super) paths: Paths,
    /// The folder whose recipes count, and which the run is about.
    pub(super) root: Option<PathBuf>,
    warnings: Vec<String>,
}

impl Place {
    /// The project that is named, or the one around the current folder (S50); a folder that has
    /// nothing but recipes is one too.
    pub(super) fn of(named: Option<&str>) -> Result<Place, Failure> {
        let paths = own_paths();
        let found = resolution(&paths, named)?;
        let root = match found.project {
            Some(project) => project.root,
            None => nearest(&current_dir()),
        };
        Ok(Place { paths, root, warnings: found.warnings })
    }

    /// The same for a command that starts nothing: what is wrong with the store is said here.
    fn told(named: Option<&str>, ui: Ui) -> Result<Place, Failure> {
        let place = Place::of(named)?;
        for warning in &place.warnings {
            ui.warning(warning);
        }
        Ok(place)
    }

    pub(super) fn shelves(&self) -> Shelves {
        Shelves { project: self.root.clone(), own: self.paths.config.join("recipes") }
    }
}

fn run_recipe(args: RecipeRunArgs, ui: Ui) -> Result<ExitCode, Failure> {
    answering(args.options.output(), ui, |told| {
        let place = Place::of(args.options.project.as_deref())?;
        let recipe = place.shelves().find(&args.recipe)?;
        let launch = prepare(&place, &recipe, args, ui)?;
        told.output = launch.options.output();
        run::launch(launch, told, ui)
    })
}

/// The launch that a recipe and the options over it make.
pub(super) fn prepare(
    place: &Place,
    recipe: &Recipe,
    args: RecipeRunArgs,
    ui: Ui,
) -> Result<RunArgs, Failure> {
    let prompt = recipe.expand(&values(&args.set)?)?;
    for parameter in recipe.parameters().iter().filter(|parameter| !parameter.used) {
        ui.warning(&format!(
            "{}: the prompt does not name the parameter `{}`",
            shown(&recipe.file),
            parameter.name
        ));
    }
    let settings = &recipe.settings;
    let mut options = args.options;
    let project = match (&options.project, &settings.project) {
        (Some(_), _) => options.project.clone(),
        (None, Some(named)) => {
            ui.status(&format!("the recipe runs in the project {}", one_line(named)));
            Some(against(named, &recipe.origin, &place.paths))
        }
        // A session goes on in its own project.
        (None, None) if options.resume.is_some() => None,
        // Also where the project has nothing but recipes, and a launch would not know it.
        (None, None) => place.root.as_ref().and_then(|root| root.to_str()).map(str::to_owned),
    };
    let launched = match &project {
        Some(named) => resolution(&place.paths, Some(named))?.project,
        None => None,
    };
    let root = launched.as_ref().and_then(|project| project.root.clone());
    let mut attach = attachments(recipe, root.as_deref(), &place.paths)?;
    attach.append(&mut options.attach);
    let overlap = match (options.no_overlap.take(), &settings.no_overlap) {
        (Some(Some(key)), _) => Some(key),
        (None, Overlap::OfKey(key)) => Some(key.clone()),
        (Some(None), _) | (None, Overlap::OfThisRecipe) => Some(own_key(recipe, launched.as_ref())),
        (None, Overlap::Allowed) => None,
    };
    let mut engine_args: Vec<OsString> = settings.engine_args.iter().map(OsString::from).collect();
    engine_args.append(&mut options.engine_args);
    Ok(RunArgs {
        engine: args.engine.or_else(|| settings.engine.clone()),
        prompt: None,
        prompt_option: Some(prompt.into()),
        prompt_file: None,
        options: RunOptions {
            project,
            attach,
            engine_args,
            model: options.model.take().or_else(|| settings.model.clone()),
            timeout: options.timeout.or(settings.timeout),
            retries: options.retries.or(settings.retries),
            output: options.output.or(settings.output),
            no_overlap: overlap.map(Some),
            ..options
        },
    })
}

/// The `--set` values by name.
pub(super) fn values(set: &[OsString]) -> Result<BTreeMap<String, String>, Failure> {
    let mut values = BTreeMap::new();
    for pair in set {
        let shown = || one_line(pair.to_string_lossy().split('=').next().unwrap_or_default());
        let text = pair.to_str().ok_or_else(|| {
            Failure::new(ExitKind::BadPrompt, format!("the value of `{}` is not UTF-8", shown()))
        })?;
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Failure::new(ExitKind::Usage, format!("`--set {}` has no `=`", shown()))
                .hint("write it as --set NAME=VALUE")
                .logged_as("a `--set` has no `=`")
        })?;
        if values.insert(name.to_owned(), value.to_owned()).is_some() {
            let message = format!("the parameter `{}` is set twice", one_line(name));
            return Err(Failure::new(ExitKind::Usage, message));
        }
    }
    Ok(values)
}

/// A `project` of the front matter: an id, or a folder relative to the recipe's project; `~/` is the
/// user's home.
fn against(named: &str, origin: &Origin, paths: &Paths) -> String {
    let path = match (named.strip_prefix("~/"), &paths.home, origin) {
        (Some(tail), Some(home), _) => home.join(tail),
        (None, _, Origin::Project(root)) if named.contains('/') || named.starts_with('.') => {
            root.join(named)
        }
        _ => return named.to_owned(),
    };
    path.to_str().map_or_else(|| named.to_owned(), str::to_owned)
}

/// The recipe's attachments, each a file that is there. A project's recipe can't reach out of its
/// project: with a cloned repository it would send any file of the user's along.
fn attachments(
    recipe: &Recipe,
    root: Option<&Path>,
    paths: &Paths,
) -> Result<Vec<PathBuf>, Failure> {
    let base = root.map_or_else(current_dir, Path::to_owned);
    let fail = |kind, file: &Path, why: &str| {
        let message = format!("{}: the attachment {} {why}", shown(&recipe.file), shown(file));
        Err(Failure::new(kind, message))
    };
    let mut found = Vec::new();
    for named in &recipe.settings.attachments {
        let path = match (named.strip_prefix("~"), &paths.home) {
            (Ok(tail), Some(home)) => home.join(tail),
            _ => base.join(named),
        };
        match std::fs::metadata(&path) {
            Ok(meta) if meta.is_file() => {}
            Ok(_) => return fail(ExitKind::NotFound, &path, "is not a file"),
            Err(error) => {
                let why = crate::context::dir::io_reason(&error);
                return fail(ExitKind::NotFound, &path, &format!("cannot be used: {why}"));
            }
        }
        if let Origin::Project(own) = &recipe.origin {
            let inside = match (path.canonicalize(), own.canonicalize()) {
                (Ok(path), Ok(own)) => path.starts_with(own),
                _ => false,
            };
            if !inside {
                return fail(
                    ExitKind::Refused,
                    &path,
                    "is outside the recipe's project; attach it yourself with --attach FILE",
                );
            }
        }
        found.push(path);
    }
    Ok(found)
}

/// The key of `no-overlap` without one: runs of other recipes are none of its business.
fn own_key(recipe: &Recipe, project: Option<&Resolved>) -> String {
    let id = project.and_then(|project| project.id.clone());
    let root = project.and_then(|project| project.root.as_ref());
    let place = id.or(root.map(|root| root.display().to_string())).unwrap_or_default();
    format!("recipe {} {place}", recipe.name)
}
