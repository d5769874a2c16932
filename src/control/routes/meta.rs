//! About the server itself: its health, the description of its routes, its events.

use axum::http::StatusCode;
use axum::response::Response;

use super::{Answer, Route, Verb, Work, shape};
use crate::control::api::Api;
use crate::control::call::Call;
use crate::control::error::{ApiError, ErrorCode};
use crate::control::{answer, openapi, wire};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/healthz",
        summary: "Whether the server answers",
        query: &[],
        body: None,
        status: 200,
        answer: Answer::Json(shape::<wire::Health>),
        errors: &[],
        work: Work::Answer(health),
    },
    Route {
        verb: Verb::Get,
        path: "/openapi.json",
        summary: "This document",
        query: &[],
        body: None,
        status: 200,
        answer: Answer::Json(openapi::any),
        errors: &[],
        work: Work::Answer(document),
    },
    Route {
        verb: Verb::Get,
        path: "/events",
        summary: "Server-sent events: `ready` at the start, `action`, `session` and `docs` on each change",
        query: &[],
        body: None,
        status: 200,
        answer: Answer::Events,
        errors: &[ErrorCode::TooManyStreams],
        work: Work::Events,
    },
];

fn health(_: &Api, _: &Call) -> Result<Response, ApiError> {
    let health = wire::Health { status: "ok", version: env!("CARGO_PKG_VERSION") };
    Ok(answer::json(StatusCode::OK, &health))
}

fn document(_: &Api, _: &Call) -> Result<Response, ApiError> {
    Ok(answer::json(StatusCode::OK, &openapi::document()))
}
