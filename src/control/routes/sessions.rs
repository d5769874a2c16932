//! Past and running sessions: the list by pages, and one with what was typed and the final text. The
//! block is nowhere in the store, so none of this can show a byte of it.

use axum::http::StatusCode;
use axum::response::Response;

use super::{Answer, Parameter, Route, Values, Verb, Work, projects, shape};
use crate::context::names::shown_path;
use crate::control::api::Api;
use crate::control::call::Call;
use crate::control::error::{ApiError, ErrorCode};
use crate::control::{answer, wire};
use crate::session::{Look, Role, SessionFilter, SessionId, SessionRow, settle_if_can};

/// Sessions of a page unless told, and at most.
const PAGE: (u32, u32) = (50, 200);

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/sessions",
        summary: "Sessions, newest first, by pages",
        query: &[
            Parameter { name: "project", about: "Only of this project", values: Values::Text },
            Parameter { name: "engine", about: "Only of this engine", values: Values::Text },
            Parameter {
                name: "limit",
                about: "At most so many; default 50",
                values: Values::UpTo(PAGE.1),
            },
            Parameter {
                name: "cursor",
                about: "The `nextCursor` of the page before",
                values: Values::Text,
            },
        ],
        body: None,
        status: 200,
        answer: Answer::Json(shape::<wire::Sessions>),
        errors: &[],
        work: Work::Answer(list),
    },
    Route {
        verb: Verb::Get,
        path: "/sessions/{id}",
        summary: "One session, by its id or the start of it: status, typed text, final text",
        query: &[],
        body: None,
        status: 200,
        answer: Answer::Json(shape::<wire::SessionDetail>),
        errors: &[ErrorCode::SessionNotFound, ErrorCode::AmbiguousId],
        work: Work::Answer(show),
    },
];

fn list(api: &Api, call: &Call) -> Result<Response, ApiError> {
    let limit = call.number("limit", PAGE.1, PAGE.0)?;
    let before = match call.asked("cursor") {
        None => None,
        Some(text) => Some(text.parse::<SessionId>().map_err(|_| {
            ApiError::new(ErrorCode::InvalidRequest, "`cursor` is not one that was given out")
        })?),
    };
    let filter = SessionFilter {
        project: call.asked("project").map(str::to_owned),
        engine: call.asked("engine").map(str::to_owned),
        // One more tells whether there is a next page.
        limit: Some(limit + 1),
        before,
        ..SessionFilter::default()
    };
    mark_dead(api);
    let mut rows = match projects::open(api)? {
        Some(store) => store.sessions(&filter)?,
        None => Vec::new(),
    };
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let next_cursor = rows.last().filter(|_| more).map(|row| row.id.to_string());
    let sessions = rows.into_iter().map(view).collect();
    Ok(answer::json(StatusCode::OK, &wire::Sessions { sessions, next_cursor }))
}

fn show(api: &Api, call: &Call) -> Result<Response, ApiError> {
    mark_dead(api);
    let unknown = || ApiError::new(ErrorCode::SessionNotFound, "no session has this id");
    let store = projects::open(api)?.ok_or_else(unknown)?;
    let row = store.session_by_prefix(call.segment(0))?;
    let (mut typed, mut text) = (None, None);
    for message in store.messages(row.id)? {
        match message.role {
            Role::Operator => typed = typed.or(Some(message.text)),
            Role::Engine => text = Some(message.text),
        }
    }
    let detail = wire::SessionDetail { session: view(row), typed, text };
    Ok(answer::json(StatusCode::OK, &detail))
}

/// Sessions whose omni-run was killed are not shown as running. What can't be written now is found
/// again the next time.
fn mark_dead(api: &Api) {
    settle_if_can(&api.paths, Look::Everything);
}

fn view(row: SessionRow) -> wire::SessionView {
    wire::SessionView {
        id: row.id.to_string(),
        engine: row.engine,
        model: row.model,
        project: row.project,
        cwd: shown_path(&row.cwd),
        mode: row.mode.as_str(),
        status: row.outcome.as_str(),
        exit_code: row.exit_code,
        signal: row.signal,
        started_at: row.started_at,
        ended_at: row.ended_at,
        first_words: row.first_words,
    }
}
