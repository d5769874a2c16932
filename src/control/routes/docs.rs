//! A project's docs: the list, and the two requests that wait for a person (S80–S82).

use axum::http::StatusCode;
use axum::response::Response;

use super::actions::{accepted, ask};
use super::projects;
use super::{Answer, Parameter, Route, Values, Verb, Work, shape};
use crate::control::actions::Wish;
use crate::control::api::Api;
use crate::control::call::Call;
use crate::control::error::{ApiError, ErrorCode};
use crate::control::{answer, wire};
use crate::project::Bucket;

const BUCKET: Parameter = Parameter {
    name: "bucket",
    about: "Where the doc is; needed where both buckets have the name",
    values: Values::Words(&["always", "rag"]),
};

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/project/{id}/docs",
        summary: "The docs of a project and what becomes of each in a first message",
        query: &[
            Parameter {
                name: "engine",
                about: "For which engine the states hold; default: the configured one, else that \
                        with the widest budget",
                values: Values::Text,
            },
            Parameter { name: "model", about: "For which of its models", values: Values::Text },
        ],
        body: None,
        status: 200,
        answer: Answer::Json(shape::<wire::Docs>),
        errors: &[ErrorCode::UnknownEngine, ErrorCode::ProjectNotFound],
        work: Work::Answer(list),
    },
    Route {
        verb: Verb::Post,
        path: "/project/{id}/docs",
        summary: "Asks that a file of this machine becomes a doc; waits for a person",
        query: &[],
        body: Some(shape::<wire::AddDocBody>),
        status: 202,
        answer: Answer::Json(shape::<wire::Accepted>),
        errors: &[
            ErrorCode::BadName,
            ErrorCode::BadPath,
            ErrorCode::SourceNotFound,
            ErrorCode::BadSource,
            ErrorCode::BadIdempotencyKey,
            ErrorCode::ProjectNotFound,
            ErrorCode::Exists,
            ErrorCode::OverQuota,
            ErrorCode::TooLarge,
            ErrorCode::IdempotencyKeyReused,
            ErrorCode::QueueFull,
        ],
        work: Work::Answer(add),
    },
    Route {
        verb: Verb::Delete,
        path: "/project/{id}/docs/{filename}",
        summary: "Asks that a doc is deleted; waits for a person",
        query: &[BUCKET],
        body: None,
        status: 202,
        answer: Answer::Json(shape::<wire::Accepted>),
        errors: &[
            ErrorCode::BadName,
            ErrorCode::BadIdempotencyKey,
            ErrorCode::ProjectNotFound,
            ErrorCode::DocNotFound,
            ErrorCode::Ambiguous,
            ErrorCode::IdempotencyKeyReused,
            ErrorCode::QueueFull,
        ],
        work: Work::Answer(delete),
    },
];

fn list(api: &Api, call: &Call) -> Result<Response, ApiError> {
    let store = projects::open(api)?.ok_or_else(projects::none)?;
    let project = projects::named(&store, call)?;
    drop(store);
    let docs = api.backend.docs(&project, call.asked("engine"), call.asked("model"))?;
    Ok(answer::json(StatusCode::OK, docs.as_ref()))
}

fn add(api: &Api, call: &Call) -> Result<Response, ApiError> {
    let body: wire::AddDocBody = call.json()?;

    let wish = Wish::AddDoc {
        path: body.path,
        file_name: body.filename,
        bucket: body.bucket.into(),
        replace: body.replace,
    };
    accepted(&ask(api, call, wish, true)?)
}

fn delete(api: &Api, call: &Call) -> Result<Response, ApiError> {
    let bucket = call.asked("bucket").map(|word| {
        Bucket::parse(word).ok_or_else(|| {
            ApiError::new(ErrorCode::InvalidRequest, "`bucket` is `always` or `rag`")
        })
    });
    let wish =
        Wish::DeleteDoc { file_name: call.segment(1).to_owned(), bucket: bucket.transpose()? };
    accepted(&ask(api, call, wish, true)?)
}
