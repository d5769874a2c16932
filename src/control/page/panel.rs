//! The Auto Context panel: a project's docs, and a person's own changes to them. They need no
//! approval, and take effect with the next session's first message.

use std::ffi::{OsStr, OsString};

use axum::http::StatusCode;
use axum::response::Response;

use super::view::{EngineName, InstructionBody, MoveBody, OrderBody, Panel};
use super::{PageCall, now_ms};
use crate::context::kinds::{NameKind, by_name};
use crate::context::names::{shown, shown_path};
use crate::control::actions::ActionError;
use crate::control::answer;
use crate::control::api::Api;
use crate::control::error::{ApiError, ErrorCode};
use crate::project::{Bucket, DocsError, Project, RegistryError, docs, registry, transfer};
use crate::session::Store;

pub(super) fn show(api: &Api, call: &PageCall) -> Result<Response, ApiError> {
    let project = project(&Store::open_reading(&api.paths)?, call)?;
    panel(api, &project, call.query("engine").as_deref())
}

pub(super) fn order(api: &Api, call: &PageCall) -> Result<Response, ApiError> {
    let OrderBody { names } = call.json()?;
    change(api, call, |store, project| {
        let known = names_of(project, Bucket::Always)?;
        let wanted: Vec<OsString> =
            names.iter().map(|name| find(&known, name)).collect::<Result<_, _>>()?;
        docs::set_order(store, &project.folder, &wanted, now_ms()).map_err(of_docs)?;
        Ok(())
    })
}

pub(super) fn instruction(api: &Api, call: &PageCall) -> Result<Response, ApiError> {
    let InstructionBody { name, on } = call.json()?;
    change(api, call, |store, project| {
        let root = &project.folder;
        let name = find(&names_of(project, Bucket::Always)?, &name)?;
        if on {
            docs::instruct(store, root, &name, is_text, now_ms()).map_err(of_docs)?;
        } else {
            match docs::uninstruct(store, root, &name, now_ms()) {
                // Another click was first.
                Ok(()) | Err(DocsError::NotFlagged { .. }) => {}
                Err(error) => return Err(of_docs(error)),
            }
        }
        Ok(())
    })
}

pub(super) fn move_doc(api: &Api, call: &PageCall) -> Result<Response, ApiError> {
    let MoveBody { name, from } = call.json()?;
    let from = Bucket::from(from);
    change(api, call, |store, project| {
        let name = find(&names_of(project, from)?, &name)?;
        transfer(store, &project.folder, &name, from, now_ms()).map_err(of_docs)
    })
}

/// Does it, and gives the panel as it is then.
fn change(
    api: &Api,
    call: &PageCall,
    work: impl FnOnce(&Store, &Project) -> Result<(), ApiError>,
) -> Result<Response, ApiError> {
    let store = Store::open(&api.paths)?;
    let project = project(&store, call)?;
    work(&store, &project)?;
    // Read again: order and flags are part of it.
    let project = self::project(&store, call)?;
    drop(store);
    panel(api, &project, call.query("engine").as_deref())
}

fn panel(api: &Api, project: &Project, engine: Option<&str>) -> Result<Response, ApiError> {
    let engine = engine.filter(|engine| !engine.is_empty());
    let docs = api.backend.docs(project, engine, None)?;
    let engines = api.backend.engines()?.into_iter().map(|(id, name)| EngineName { id, name });
    let engines = engines.collect();
    Ok(answer::json(StatusCode::OK, &Panel { docs: &docs, engines }))
}

fn project(store: &Store, call: &PageCall) -> Result<Project, ApiError> {
    match registry::show(store, call.segment(0)) {
        Ok(project) if project.folder.is_dir() => Ok(project),
        Ok(project) => {
            let text = format!("the folder `{}` is gone", shown_path(&project.folder));
            Err(ApiError::new(ErrorCode::ProjectNotFound, text))
        }
        Err(RegistryError::Store(error)) => Err(error.into()),
        Err(_) => Err(ApiError::new(ErrorCode::ProjectNotFound, "no project has this id")),
    }
}

fn names_of(project: &Project, bucket: Bucket) -> Result<Vec<OsString>, ApiError> {
    let files = docs::files(&project.folder, bucket)
        .map_err(|error| ApiError::new(ErrorCode::Io, format!("the docs folder: {error}")))?;
    Ok(files.into_iter().map(|(name, _)| name).collect())
}

/// The name on disk of what the page calls so: the page knows names as they are shown.
fn find(known: &[OsString], wanted: &str) -> Result<OsString, ApiError> {
    let found = known.iter().find(|name| shown(name) == wanted);
    found.cloned().ok_or_else(|| {
        let text = format!("there is no doc `{}` any more", crate::ui::one_line(wanted));
        ApiError::new(ErrorCode::DocNotFound, text).hint("the list shows what is there now")
    })
}

fn is_text(name: &OsStr) -> bool {
    by_name(name) == NameKind::Text
}

fn of_docs(error: DocsError) -> ApiError {
    ActionError::Docs(error).into()
}
