//! The queue on the page: what waits, what an approval would do, and a person's word.

use std::sync::{Mutex, PoisonError};

use axum::http::StatusCode;
use axum::response::Response;

use super::view::{Card, Looked, PreviewView, State};
use super::{PageCall, now_ms};
use crate::context::names::shown_path;
use crate::control::actions::{Action, ActionId, Filter, Payload, QUEUE_LIMIT, Queue, Status};
use crate::control::answer;
use crate::control::api::Api;
use crate::control::error::{ApiError, ErrorCode};
use crate::control::routes::{action_view, project_views};
use crate::session::Store;

/// Cards on the page at once. Who has decided on these gets the next.
const CARDS: usize = 100;

/// Decided ones that are listed.
const DECIDED: usize = 30;

/// Characters of a prompt in the list; the card's own request has it whole.
const PROMPT_HEAD: usize = 200;

pub(super) fn state(api: &Api, _: &PageCall) -> Result<Response, ApiError> {
    let queue = queue(api)?;
    let now = now_ms();
    queue.look(now)?;
    let open = queue.list(&Filter { decided: false, project: None, limit: Some(QUEUE_LIMIT) })?;
    let recent = Filter { decided: true, project: None, limit: Some(CARDS as u32) };
    let mut decided: Vec<Action> =
        queue.list(&recent)?.into_iter().filter(|action| !action.status.is_open()).collect();
    decided.sort_by_key(|action| std::cmp::Reverse(action.applied_at.or(action.decided_at)));
    decided.truncate(DECIDED);
    let state = State {
        now,
        waiting: open.iter().filter(|action| action.status == Status::Pending).count(),
        actions: open.into_iter().take(CARDS).map(|action| card(action, PROMPT_HEAD)).collect(),
        decided: decided.into_iter().map(|action| card(action, PROMPT_HEAD)).collect(),
        projects: project_views(queue.store())?,
    };
    Ok(answer::json(StatusCode::OK, &state))
}

/// Held by who makes a preview.
static PREVIEWS: Mutex<()> = Mutex::new(());

pub(super) fn show(api: &Api, call: &PageCall) -> Result<Response, ApiError> {
    let queue = queue(api)?;
    let action = queue.get(id(call)?)?;
    let picture = picture_of(&queue, &action).is_some();
    // A preview of a doc of 25 MB needs several times that; one at a time.
    let _one = PREVIEWS.lock().unwrap_or_else(PoisonError::into_inner);
    let preview = PreviewView::new(queue.preview(&action), picture);
    Ok(answer::json(StatusCode::OK, &Looked { action: card(action, usize::MAX), preview }))
}

pub(super) fn image(api: &Api, call: &PageCall) -> Result<Response, ApiError> {
    let queue = queue(api)?;
    let action = queue.get(id(call)?)?;
    let (kind, bytes) = picture_of(&queue, &action)
        .ok_or_else(|| ApiError::new(ErrorCode::NotFound, "there is no picture to show"))?;
    Ok(answer::with_type(StatusCode::OK, kind, bytes))
}

pub(super) fn approve(api: &Api, call: &PageCall) -> Result<Response, ApiError> {
    let queue = queue(api)?;
    decided(queue.approve(id(call)?, &person(), now_ms())?.action)
}

pub(super) fn reject(api: &Api, call: &PageCall) -> Result<Response, ApiError> {
    let queue = queue(api)?;
    decided(queue.reject(id(call)?, &person(), now_ms())?.action)
}

fn decided(action: Action) -> Result<Response, ApiError> {
    Ok(answer::json(StatusCode::OK, &card(action, PROMPT_HEAD)))
}

fn queue(api: &Api) -> Result<Queue, ApiError> {
    Ok(Queue::new(Store::open(&api.paths)?, &api.paths))
}

fn id(call: &PageCall) -> Result<ActionId, ApiError> {
    let unknown = |_| ApiError::new(ErrorCode::ActionNotFound, "no action has this id");
    call.segment(0).parse().map_err(unknown)
}

/// Whose word it is: the page's link was shown on a terminal of this user.
fn person() -> String {
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).ok().flatten();
    let user = user.map_or_else(|| nix::unistd::getuid().to_string(), |user| user.name);
    format!("{user} at the inbox page")
}

fn card(action: Action, prompt_head: usize) -> Card {
    Card {
        project_folder: action.project_folder.as_deref().map(shown_path),
        decided_by: action.decided_by.clone(),
        action: action_view(action, now_ms(), prompt_head),
    }
}

/// The bytes of a picture that is to be added, with the type that its own first bytes say. SVG is
/// text that can hold scripts, and is shown as text.
fn picture_of(queue: &Queue, action: &Action) -> Option<(&'static str, Vec<u8>)> {
    let Payload::AddDoc(_) = action.payload else { return None };
    if action.status != Status::Pending {
        return None;
    }
    let bytes = queue.source(action).ok()?;
    let kind = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "image/gif",
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => "image/webp",
        _ => return None,
    };
    Some((kind, bytes))
}
