//! Asking for a launch (S85). Approved, it runs through the same path as a launch by hand.

use axum::response::Response;

use super::actions::{accepted, ask};
use super::{Answer, Route, Verb, Work, shape};
use crate::control::actions::Wish;
use crate::control::api::Api;
use crate::control::call::Call;
use crate::control::error::{ApiError, ErrorCode};
use crate::control::wire;

pub(super) const ROUTES: &[Route] = &[Route {
    verb: Verb::Post,
    path: "/project/{id}/new",
    summary: "Asks that an engine is started with a prompt; waits for a person",
    query: &[],
    body: Some(shape::<wire::LaunchBody>),
    status: 202,
    answer: Answer::Json(shape::<wire::Accepted>),
    errors: &[
        ErrorCode::UnknownEngine,
        ErrorCode::BadPrompt,
        ErrorCode::BadModel,
        ErrorCode::BadIdempotencyKey,
        ErrorCode::ProjectNotFound,
        ErrorCode::IdempotencyKeyReused,
        ErrorCode::QueueFull,
    ],
    work: Work::Answer(new),
}];

fn new(api: &Api, call: &Call) -> Result<Response, ApiError> {
    let wire::LaunchBody { engine, prompt, model } = call.json()?;
    accepted(&ask(api, call, Wish::Launch { engine, prompt, model }, true)?)
}
