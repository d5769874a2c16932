//! `omni-run project`: registering folders under ids.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::gather::current_dir;
use super::{here, now_ms, own_paths, print, print_json, table};
use crate::cli::{ProjectAction, ProjectArgs};
use crate::error::Failure;
use crate::paths::Paths;
use crate::project::{Project, registry};
use crate::session::{SessionFilter, Store};
use crate::ui::{Ui, one_line};

/// Carries the command out.
pub(super) fn project(args: ProjectArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let paths = own_paths();
    match args.action.unwrap_or(ProjectAction::Ls { json: false }) {
        ProjectAction::Add { folder, id } => {
            let here = current_dir();
            let folder = folder.map_or(here.clone(), |folder| here.join(folder));
            let added = registry::add(&Store::open(&paths)?, &folder, id.as_deref(), now_ms())?;
            let id = added.id.unwrap_or_default();
            ui.status(&format!("{} is the project `{id}` now", here::shown(&added.folder)));
            if !added.folder.join(".claude/docs").is_dir() {
                ui.status(&format!("it has no docs yet: `omni-run docs add FILE --project {id}`"));
            }
        }
        ProjectAction::Ls { json } => return ls(&paths, json, ui),
        ProjectAction::Show { project, json } => return show(&paths, project, json, ui),
        ProjectAction::Rm { project } => {
            let gone = registry::remove(&Store::open(&paths)?, &project)?;
            ui.status(&format!(
                "`{}` is forgotten, with the order and the instruction flags of its docs; its \
                 folder {} and its sessions stay",
                one_line(&project),
                here::shown(&gone.folder)
            ));
        }
        ProjectAction::Rename { from, to } => {
            registry::rename(&Store::open(&paths)?, &from, &to, now_ms())?;
            ui.status(&format!("`{}` is `{to}` now, its sessions too", one_line(&from)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn ls(paths: &Paths, as_json: bool, ui: Ui) -> Result<ExitCode, Failure> {
    let projects = match Store::open_if_there(paths)? {
        None => Vec::new(),
        Some(store) => registry::list(&store)?,
    };
    if as_json {
        return print_json(ui, &projects.iter().map(as_value).collect());
    }
    if projects.is_empty() {
        ui.status("no project is registered; `omni-run project add FOLDER` does it");
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = vec![["ID", "FOLDER", ""].map(str::to_owned).to_vec()];
    rows.extend(projects.iter().map(|project| {
        let gone = if project.folder.is_dir() { "" } else { "(the folder is gone)" };
        let id = project.id.clone().unwrap_or_default();
        vec![id, here::shown(&project.folder), gone.to_owned()]
    }));
    print(ui, &table::table(&rows, &[]))
}

fn as_value(project: &Project) -> Value {
    let flags: Vec<&str> = project.docs.flags.iter().map(|flag| flag.name.as_str()).collect();
    json!({
        "id": project.id,
        "folder": project.folder.to_string_lossy(),
        "created_at": project.created_at,
        "order": project.docs.order,
        "instructions": flags,
    })
}

fn show(paths: &Paths, named: Option<String>, as_json: bool, ui: Ui) -> Result<ExitCode, Failure> {
    let project = here::project(paths, named.as_deref(), ui)?.ok_or_else(here::no_project)?;
    let store = Store::open_reading(paths).ok();
    let sessions = match (&store, &project.id) {
        (Some(store), Some(id)) => {
            let filter = SessionFilter { project: Some(id.clone()), ..SessionFilter::default() };
            store.sessions(&filter)?.len()
        }
        _ => 0,
    };
    let folder = project.root.as_deref();
    if as_json {
        return print_json(
            ui,
            &json!({
                "id": project.id,
                "folder": folder.map(|folder| folder.to_string_lossy()),
                "order": project.order,
                "instructions": project.instructions,
                "sessions": sessions,
            }),
        );
    }
    let names = |names: &[String]| match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    };
    let order = if project.order.is_empty() { "by name".to_owned() } else { names(&project.order) };
    let rows = [
        ("id", project.id.clone().unwrap_or_else(|| "none (never registered)".to_owned())),
        ("folder", folder.map_or("none".to_owned(), here::shown)),
        ("order of docs", order),
        ("instructions", names(&project.instructions)),
        ("sessions", sessions.to_string()),
    ];
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|(key, value)| vec![format!("{key}:"), value]).collect();
    print(ui, &table::table(&rows, &[]))
}
