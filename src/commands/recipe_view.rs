//! What is shown of recipes: the list, and one in full.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::here::shown;
use super::{print, print_exact, print_json, table};
use crate::error::Failure;
use crate::recipes::find::Shelves;
use crate::recipes::front_matter::Overlap;
use crate::recipes::{Origin, Parameter, Recipe};
use crate::ui::{Ui, one_line};

/// Prints the list.
pub(super) fn ls(shelves: &Shelves, as_json: bool, ui: Ui) -> Result<ExitCode, Failure> {
    let listed = shelves.list();
    if as_json {
        let values = listed.iter().map(|entry| {
            let recipe = entry.recipe.as_ref().ok();
            let mut value = json!({
                "name": entry.name,
                "origin": word(&entry.origin),
                "file": entry.file.to_string_lossy(),
                "hidden": entry.hidden,
                "description": recipe.map(Recipe::description),
                "engine": recipe.and_then(|r| r.settings.engine.clone()),
                "model": recipe.and_then(|r| r.settings.model.clone()),
                "parameters": recipe.map_or(Value::Array(Vec::new()), parameters_value),
                "error": Value::Null,
            });
            if let Err(failure) = &entry.recipe {
                value["error"] = failure.message.as_str().into();
            }
            value
        });
        return print_json(ui, &values.collect());
    }
    if listed.is_empty() {
        let mut places = vec![shown(&shelves.own)];
        if let Some(root) = &shelves.project {
            places.insert(0, shown(&shelves.folder(&Origin::Project(root.clone()))));
        }
        ui.status(&format!("no recipes; a recipe is a file NAME.md in {}", places.join(" or ")));
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = vec![["NAME", "FROM", "PARAMETERS", "WHAT"].map(str::to_owned).to_vec()];
    for entry in &listed {
        let from = match (&entry.origin, entry.hidden) {
            (origin, false) => word(origin).to_owned(),
            (origin, true) => format!("{}, hidden by the project's", word(origin)),
        };
        let (parameters, what) = match &entry.recipe {
            Ok(recipe) => (briefly(&recipe.parameters()), recipe.description()),
            Err(failure) => (String::new(), format!("error: {failure}")),
        };
        rows.push(vec![entry.name.clone(), from, parameters, what]);
    }
    print(ui, &table::table(&rows, &[]))
}

/// Prints one.
pub(super) fn show(recipe: &Recipe, as_json: bool, ui: Ui) -> Result<ExitCode, Failure> {
    if as_json {
        return print_json(ui, &in_full(recipe));
    }
    let settings = &recipe.settings;
    let words = |values: &[String]| values.join(" ");
    let attachments: Vec<String> =
        settings.attachments.iter().map(|path| path.display().to_string()).collect();
    let overlap = match &settings.no_overlap {
        Overlap::Allowed => None,
        Overlap::OfThisRecipe => Some("one run of this recipe at a time".to_owned()),
        Overlap::OfKey(key) => Some(format!("one run that holds `{key}` at a time")),
    };
    let lines = [
        ("recipe", Some(recipe.name.clone())),
        ("file", Some(shown(&recipe.file))),
        ("from", Some(word(&recipe.origin).to_owned())),
        ("what", Some(recipe.description())),
        ("engine", settings.engine.clone()),
        ("model", settings.model.clone()),
        ("project", settings.project.clone()),
        ("time-out", settings.timeout.map(|time| format!("{} s", time.as_secs()))),
        ("retries", settings.retries.map(|n| n.to_string())),
        ("output", settings.output.map(|output| output.word().to_owned())),
        ("no overlap", overlap),
        ("attachments", Some(words(&attachments)).filter(|text| !text.is_empty())),
        ("engine args", Some(words(&settings.engine_args)).filter(|text| !text.is_empty())),
    ];
    let rows: Vec<Vec<String>> = lines
        .into_iter()
        .filter_map(|(key, value)| Some(vec![format!("{key}:"), value?]))
        .collect();
    let mut text = table::table(&rows, &[]);
    let parameters = recipe.parameters();
    if !parameters.is_empty() {
        text.push_str("\nparameters:\n");
        let rows: Vec<Vec<String>> = parameters.iter().map(parameter_row).collect();
        text.push_str(&table::table(&rows, &[]));
    }
    text.push_str("\n--- prompt\n");
    print(ui, &text)?;
    print_exact(ui, &format!("{}\n", recipe.template.source()))
}

fn parameter_row(parameter: &Parameter) -> Vec<String> {
    let value = match &parameter.default {
        Some(default) => format!("default: {}", one_line(default)),
        None => "required".to_owned(),
    };
    let mut what = parameter.description.clone().unwrap_or_default();
    if !parameter.used {
        what = format!("{what} (not in the prompt)").trim_start().to_owned();
    }
    vec![format!("  {}", parameter.name), value, what]
}

/// `since language=English`.
fn briefly(parameters: &[Parameter]) -> String {
    let each = parameters.iter().map(|parameter| match &parameter.default {
        Some(default) => format!("{}={default}", parameter.name),
        None => parameter.name.clone(),
    });
    each.collect::<Vec<_>>().join(" ")
}

fn word(origin: &Origin) -> &'static str {
    match origin {
        Origin::Project(_) => "project",
        Origin::Own => "own",
    }
}

fn parameters_value(recipe: &Recipe) -> Value {
    let value = |parameter: &Parameter| {
        json!({
            "name": parameter.name,
            "required": parameter.default.is_none(),
            "default": parameter.default,
            "description": parameter.description,
        })
    };
    recipe.parameters().iter().map(value).collect()
}

fn in_full(recipe: &Recipe) -> Value {
    let settings = &recipe.settings;
    json!({
        "name": recipe.name,
        "origin": word(&recipe.origin),
        "file": recipe.file.to_string_lossy(),
        "description": recipe.description(),
        "engine": settings.engine,
        "model": settings.model,
        "project": settings.project,
        "timeout_seconds": settings.timeout.map(|time| time.as_secs()),
        "retries": settings.retries,
        "output": settings.output.map(|output| output.word()),
        "no_overlap": match &settings.no_overlap {
            Overlap::Allowed => json!(false),
            Overlap::OfThisRecipe => json!(true),
            Overlap::OfKey(key) => json!(key),
        },
        "attachments": settings.attachments,
        "engine_args": settings.engine_args,
        "parameters": parameters_value(recipe),
        "prompt": recipe.template.source(),
    })
}
