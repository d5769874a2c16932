//! The routes of the API as one table: what is routed, what the OpenAPI document says and what the
//! tests walk through is the same list. Each route's work is in the file of its noun.

mod actions;
mod docs;
mod launch;
mod meta;
mod projects;
mod sessions;
mod settings;

pub(super) use actions::view as action_view;
pub(super) use projects::views as project_views;

use axum::response::Response;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::api::Api;
use super::call::Call;
use super::error::{ApiError, ErrorCode};

/// One route.
#[derive(Debug)]
pub(in crate::control) struct Route {
    /// The method.
    pub verb: Verb,
    /// The path, parameters in braces.
    pub path: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What the query may have.
    pub query: &'static [Parameter],
    /// The type of the body; `None`: a body is not read.
    pub body: Option<Shape>,
    /// The status of success.
    pub status: u16,
    /// What it answers.
    pub answer: Answer,
    /// The errors of its own; those of every route are not named.
    pub errors: &'static [ErrorCode],
    /// What does it.
    pub(super) work: Work,
}

/// The methods there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::control) enum Verb {
    /// Reads.
    Get,
    /// Asks for something new.
    Post,
    /// Asks for a change.
    Patch,
    /// Asks for an end.
    Delete,
}

impl Verb {
    /// As HTTP says it.
    pub(in crate::control) fn as_str(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Patch => "PATCH",
            Verb::Delete => "DELETE",
        }
    }
}

/// A parameter of the query.
#[derive(Debug, Clone, Copy)]
pub(in crate::control) struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The values that it may have.
    pub values: Values,
}

/// The values of a parameter.
#[derive(Debug, Clone, Copy)]
pub(in crate::control) enum Values {
    /// Any text.
    Text,
    /// One of these words.
    Words(&'static [&'static str]),
    /// From 1 to this number.
    UpTo(u32),
}

/// The schema of a type.
pub(in crate::control) type Shape = fn(&mut SchemaGenerator) -> Schema;

/// What comes back.
#[derive(Debug, Clone, Copy)]
pub(in crate::control) enum Answer {
    /// JSON of this type.
    Json(Shape),
    /// Server-sent events.
    Events,
}

/// Who does it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    /// A function that may wait for the disk.
    Answer(fn(&Api, &Call) -> Result<Response, ApiError>),
    /// The hub of events.
    Events,
}

/// The routes, in the order of the document.
pub(in crate::control) fn table() -> impl Iterator<Item = &'static Route> {
    [
        meta::ROUTES,
        projects::ROUTES,
        docs::ROUTES,
        launch::ROUTES,
        actions::ROUTES,
        sessions::ROUTES,
        settings::ROUTES,
    ]
    .into_iter()
    .flatten()
}

fn shape<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}
