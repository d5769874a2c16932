//! The projects: which there are, and the one that a path names. Only a registered id names one; a
//! folder or a `..` in its place finds nothing.

use axum::http::StatusCode;
use axum::response::Response;

use super::{Answer, Route, Verb, Work, shape};
use crate::context::names::shown_path;
use crate::control::api::Api;
use crate::control::call::Call;
use crate::control::error::{ApiError, ErrorCode};
use crate::control::{answer, wire};
use crate::project::{Project, RegistryError, registry};
use crate::session::Store;

pub(super) const ROUTES: &[Route] = &[Route {
    verb: Verb::Get,
    path: "/projects",
    summary: "The registered projects",
    query: &[],
    body: None,
    status: 200,
    answer: Answer::Json(shape::<wire::Projects>),
    errors: &[],
    work: Work::Answer(list),
}];

fn list(api: &Api, _: &Call) -> Result<Response, ApiError> {
    let projects = match open(api)? {
        Some(store) => views(&store)?,
        None => Vec::new(),
    };
    Ok(answer::json(StatusCode::OK, &wire::Projects { projects }))
}

/// The registered projects on the wire.
pub(in crate::control) fn views(store: &Store) -> Result<Vec<wire::ProjectView>, ApiError> {
    let projects = registry::list(store)?.into_iter().map(|project| wire::ProjectView {
        id: project.id.unwrap_or_default(),
        folder: shown_path(&project.folder),
        created_at: project.created_at,
    });
    Ok(projects.collect())
}

/// The store, to be read; `None` where there is none yet.
pub(super) fn open(api: &Api) -> Result<Option<Store>, ApiError> {
    Ok(Store::open_if_there(&api.paths)?)
}

/// The project that the path names.
pub(super) fn named(store: &Store, call: &Call) -> Result<Project, ApiError> {
    match registry::show(store, call.segment(0)) {
        Ok(project) if project.folder.is_dir() => Ok(project),
        Ok(project) => {
            let text = format!("the folder `{}` is gone", shown_path(&project.folder));
            Err(ApiError::new(ErrorCode::ProjectNotFound, text))
        }
        Err(RegistryError::Store(error)) => Err(error.into()),
        // What is no id is not said back.
        Err(_) => Err(none()),
    }
}

pub(super) fn none() -> ApiError {
    ApiError::new(ErrorCode::ProjectNotFound, "no project has this id")
}
