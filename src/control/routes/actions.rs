//! What was asked for: putting it into the queue, and looking what became of it. Nothing here
//! decides on an action.

use axum::http::header::LOCATION;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;

use super::{Answer, Parameter, Route, Values, Verb, Work, projects, shape};
use crate::context::names::shown_path;
use crate::control::actions::{
    Action, ActionId, Ask, Enqueued, Filter, Idempotency, Outcome, Payload, ProjectRef,
    QUEUE_LIMIT, Queue, Status, Wish,
};
use crate::control::api::Api;
use crate::control::call::Call;
use crate::control::error::{ApiError, ErrorCode};
use crate::control::{answer, wire};
use crate::session::{Store, UnixMs};

/// Characters of a prompt in a list: two thousand whole ones could be a hundred megabytes.
const PROMPT_HEAD: usize = 200;

/// How many are listed where decided ones are among them: nothing else bounds those.
const DECIDED_LISTED: u32 = 500;

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/actions",
        summary: "What was asked for and waits or is being done, oldest first",
        query: &[
            Parameter {
                name: "decided",
                about: "`true`: also what is decided",
                values: Values::Words(&["true", "false"]),
            },
            Parameter { name: "project", about: "Only of this project", values: Values::Text },
            Parameter {
                name: "limit",
                about: "The newest so many; with `decided=true` at most 500",
                values: Values::UpTo(QUEUE_LIMIT),
            },
        ],
        body: None,
        status: 200,
        answer: Answer::Json(shape::<wire::Actions>),
        errors: &[],
        work: Work::Answer(list),
    },
    Route {
        verb: Verb::Get,
        path: "/actions/{id}",
        summary: "One action: where it stands and what came of it",
        query: &[],
        body: None,
        status: 200,
        answer: Answer::Json(shape::<wire::ActionView>),
        errors: &[ErrorCode::ActionNotFound],
        work: Work::Answer(show),
    },
];

/// Puts a wish into the queue, as that of the project in the path where it is about one.
pub(super) fn ask(
    api: &Api,
    call: &Call,
    wish: Wish,
    of_project: bool,
) -> Result<Enqueued, ApiError> {
    let store = Store::open(&api.paths)?;
    let project = match of_project {
        false => None,
        true => {
            let project = projects::named(&store, call)?;
            let id = project.id.unwrap_or_default();
            Some(ProjectRef { id, folder: project.folder })
        }
    };
    let asked_by = if call.agent.is_empty() { "a program".to_owned() } else { call.agent.clone() };
    let route = call.route.clone();
    let idempotency = call.key.clone().map(|key| Idempotency { key, route });
    let queue = Queue::new(store, &api.paths);
    api.backend.enqueue(&queue, &Ask { wish, project, asked_by, idempotency }, now())
}

/// The answer to a request that waits now: also to a repeated one, whatever became of it since.
pub(super) fn accepted(taken: &Enqueued) -> Result<Response, ApiError> {
    let id = taken.action.id.to_string();
    let location = HeaderValue::from_str(&format!("/actions/{id}"));
    let body = wire::Accepted { action_id: id, status: "pending" };
    let mut response = answer::json(StatusCode::ACCEPTED, &body);
    if let Ok(location) = location {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

fn list(api: &Api, call: &Call) -> Result<Response, ApiError> {
    let decided = match call.asked("decided") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => {
            let text = "`decided` is `true` or `false`";
            return Err(ApiError::new(ErrorCode::InvalidRequest, text));
        }
    };
    let most = if decided { DECIDED_LISTED } else { QUEUE_LIMIT };
    let filter = Filter {
        decided,
        project: call.asked("project").map(str::to_owned),
        limit: Some(call.number("limit", most, most)?),
    };
    let actions = match projects::open(api)? {
        Some(store) => Queue::new(store, &api.paths).list(&filter)?,
        None => Vec::new(),
    };
    let now = now();
    let actions = actions
        .into_iter()
        .filter(|action| decided || status(action, now).is_open())
        .map(|action| view(action, now, PROMPT_HEAD))
        .collect();
    Ok(answer::json(StatusCode::OK, &wire::Actions { actions }))
}

fn show(api: &Api, call: &Call) -> Result<Response, ApiError> {
    let unknown = || ApiError::new(ErrorCode::ActionNotFound, "no action has this id");
    let id: ActionId = call.segment(0).parse().map_err(|_| unknown())?;
    let store = projects::open(api)?.ok_or_else(unknown)?;
    let action = Queue::new(store, &api.paths).get(id)?;
    Ok(answer::json(StatusCode::OK, &view(action, now(), usize::MAX)))
}

/// Where it stands. What is out of date has expired also before somebody writes that down: looking
/// writes nothing.
fn status(action: &Action, now: UnixMs) -> Status {
    match action.status {
        Status::Pending if action.expires_at <= now => Status::Expired,
        status => status,
    }
}

fn now() -> UnixMs {
    jiff::Timestamp::now().as_millisecond()
}

/// An action on the wire as it stands at `now`; its prompt is cut after `prompt_head` characters.
pub(in crate::control) fn view(
    action: Action,
    now: UnixMs,
    prompt_head: usize,
) -> wire::ActionView {
    let status = status(&action, now);
    let outcome = action.outcome.or_else(|| (status == Status::Expired).then(Outcome::expired));
    let outcome = outcome.map(|outcome| wire::ActionOutcome {
        code: outcome.code.as_str(),
        message: outcome.message,
        session_id: outcome.session.map(|id| id.to_string()),
    });
    wire::ActionView {
        id: action.id.to_string(),
        kind: action.kind.as_str(),
        project: action.project,
        payload: payload(action.payload, prompt_head),
        content_hash: action.content_hash,
        size_bytes: action.size_bytes,
        asked_by: action.asked_by,
        asked_at: action.asked_at,
        expires_at: action.expires_at,
        status: status.as_str(),
        decided_at: action.decided_at,
        applied_at: action.applied_at,
        outcome,
    }
}

fn payload(payload: Payload, prompt_head: usize) -> wire::PayloadView {
    match payload {
        Payload::AddDoc(add) => wire::PayloadView::AddDoc {
            path: shown_path(&add.path),
            filename: add.file_name,
            bucket: add.bucket.into(),
            replace: add.replace,
        },
        Payload::DeleteDoc(doc) => {
            wire::PayloadView::DeleteDoc { filename: doc.file_name, bucket: doc.bucket.into() }
        }
        Payload::Launch(launch) => wire::PayloadView::Launch {
            engine: launch.engine,
            prompt: launch.prompt.chars().take(prompt_head).collect(),
            model: launch.model,
        },
        Payload::Settings(change) => {
            let entries = change.entries().into_iter();
            let settings = entries.map(|(key, value)| (key.to_owned(), value)).collect();
            wire::PayloadView::Settings { settings }
        }
    }
}
