//! Taking an action in: what can be said against it is said now, so that a person sees only what can
//! be done. Everything is looked at again when it is done.

use std::ffi::OsStr;
use std::path::Path;

use crate::context::kinds::{NameKind, by_name};
use crate::control::actions::ask::{Ask, ProjectRef, Wish};
use crate::control::actions::error::ActionError;
use crate::control::actions::payload::{AddDoc, DeleteDoc, Launch, Payload};
use crate::control::actions::queue::Queue;
use crate::control::actions::source::open_source;
use crate::control::actions::types::{Action, ActionId, Status};
use crate::control::actions::{PROMPTS_LIMIT, QUEUE_LIMIT, WAITS_FOR, quota, rows};
use crate::engines::Catalogue;
use crate::error::did_you_mean;
use crate::project::{Bucket, DocsError, doc_files};
use crate::session::UnixMs;

/// The longest name of a client that is kept, in characters.
const LONGEST_NAME: usize = 200;

/// The longest name of a model, in bytes.
const LONGEST_MODEL: usize = 200;

/// An action that was taken in, now or by an earlier request with the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enqueued {
    /// The action as it is now. The answer to a repeated request is that to the first one: its id,
    /// and `pending`.
    pub action: Action,
    /// An earlier request has brought it.
    pub replayed: bool,
}

/// What is known of an action before it has an id.
struct Draft {
    payload: Payload,
    content_hash: Option<String>,
    size_bytes: Option<u64>,
}

pub(super) fn enqueue(
    queue: &Queue,
    ask: &Ask,
    catalogue: &Catalogue,
    now: UnixMs,
) -> Result<Enqueued, ActionError> {
    let fingerprint = ask.fingerprint();
    // Before anything is looked at: a repeated request gets its answer also when the source is gone.
    if let Some(known) = queue.store().read(|c| replay(c, ask, &fingerprint))? {
        return known;
    }
    let draft = match &ask.wish {
        Wish::AddDoc { path, file_name, bucket, replace } => {
            add_doc(project(ask)?, path, file_name.as_deref(), *bucket, *replace)?
        }
        Wish::DeleteDoc { file_name, bucket } => delete_doc(project(ask)?, file_name, *bucket)?,
        Wish::Launch { engine, prompt, model } => {
            project(ask)?;
            launch(engine, prompt, model.as_deref(), catalogue)?
        }
        Wish::Settings(change) => Draft {
            payload: Payload::Settings(change.clone()),
            content_hash: None,
            size_bytes: None,
        },
    };
    let id = ActionId::generate();
    let action = Action {
        id,
        kind: draft.payload.kind(),
        project: ask.project.as_ref().map(|project| project.id.clone()),
        project_folder: ask.project.as_ref().map(|project| project.folder.clone()),
        payload: draft.payload,
        content_hash: draft.content_hash,
        size_bytes: draft.size_bytes,
        asked_by: ask.asked_by.chars().take(LONGEST_NAME).collect(),
        asked_at: now,
        status: Status::Pending,
        decided_by: None,
        decided_at: None,
        applied_at: None,
        outcome: None,
        expires_at: now.saturating_add(i64::try_from(WAITS_FOR.as_millis()).unwrap_or(i64::MAX)),
    };
    queue.store().write(|c| {
        // Once more under the write lock: of fifty at once, one is first.
        if let Some(known) = replay(c, ask, &fingerprint)? {
            return Ok(known);
        }
        if rows::waiting(c, now)? >= QUEUE_LIMIT {
            return Ok(Err(ActionError::QueueFull { limit: QUEUE_LIMIT }));
        }
        if let Payload::Launch(launch) = &action.payload
            && rows::waiting_prompts(c, now)? + launch.prompt.len() as u64 > PROMPTS_LIMIT
        {
            return Ok(Err(ActionError::PromptsFull { limit: PROMPTS_LIMIT }));
        }
        if let (Payload::AddDoc(add), Some(root)) = (&action.payload, &action.project_folder)
            && add.bucket == Bucket::Always
        {
            let waiting = quota::waiting(c, root, now)?;
            let replaced = add.replace.then_some(add.file_name.as_str());
            let size = action.size_bytes.unwrap_or_default();
            if let Err(error) = quota::check(root, replaced, size, waiting) {
                return Ok(Err(error));
            }
        }
        rows::insert(c, &action, ask.idempotency.as_ref(), &fingerprint)?;
        Ok(Ok(Enqueued { action, replayed: false }))
    })?
}

/// The answer to a request whose key is known.
fn replay(
    c: &rusqlite::Connection,
    ask: &Ask,
    fingerprint: &str,
) -> rusqlite::Result<Option<Result<Enqueued, ActionError>>> {
    let Some(idempotency) = &ask.idempotency else { return Ok(None) };
    Ok(rows::by_key(c, idempotency.key.as_str())?.map(|(action, known)| {
        if known == fingerprint {
            Ok(Enqueued { action, replayed: true })
        } else {
            Err(ActionError::KeyReused)
        }
    }))
}

fn project(ask: &Ask) -> Result<&ProjectRef, ActionError> {
    ask.project.as_ref().ok_or(ActionError::NoProject)
}

fn add_doc(
    project: &ProjectRef,
    path: &str,
    file_name: Option<&str>,
    bucket: Bucket,
    replace: bool,
) -> Result<Draft, ActionError> {
    let path = Path::new(path);
    let file_name = match file_name {
        Some(name) => name,
        None => path.file_name().and_then(OsStr::to_str).unwrap_or_default(),
    };
    doc_files::check_addition(&project.folder, OsStr::new(file_name), bucket, replace, is_text)?;
    let seen = open_source(path)?.look(path)?;
    let replaces = if replace {
        match doc_files::exactly(&project.folder, OsStr::new(file_name), bucket) {
            Ok(doc) => doc.hash,
            Err(DocsError::NotFound { .. }) => None,
            Err(error) => return Err(error.into()),
        }
    } else {
        None
    };
    let (path, file_name) = (path.to_owned(), file_name.to_owned());
    let add = AddDoc { path, file_name, bucket, replace, replaces };
    Ok(Draft {
        payload: Payload::AddDoc(add),
        content_hash: Some(seen.hash),
        size_bytes: Some(seen.size),
    })
}

fn delete_doc(
    project: &ProjectRef,
    file_name: &str,
    bucket: Option<Bucket>,
) -> Result<Draft, ActionError> {
    let bad = |reason: &str| DocsError::BadName {
        name: crate::ui::one_line(file_name),
        reason: reason.to_owned(),
    };
    // The name is looked for among those in the folder, so it leads nowhere; but a client that sends
    // such names is told so.
    if file_name.is_empty() || file_name == "." || file_name == ".." {
        return Err(bad("it names no file").into());
    }
    if file_name.contains(['/', '\\']) {
        return Err(bad("the name has a path separator").into());
    }
    if file_name.chars().any(crate::ui::is_unprintable) {
        return Err(bad("the name has a control character").into());
    }
    let doc = doc_files::look_at(&project.folder, OsStr::new(file_name), bucket)?;
    let file_name = doc.name.into_string().map_err(|_| bad("the name is not UTF-8"))?;
    Ok(Draft {
        payload: Payload::DeleteDoc(DeleteDoc { file_name, bucket: doc.bucket }),
        content_hash: doc.hash,
        size_bytes: Some(doc.size),
    })
}

fn launch(
    engine: &str,
    prompt: &str,
    model: Option<&str>,
    catalogue: &Catalogue,
) -> Result<Draft, ActionError> {
    if catalogue.get(engine).is_none() {
        let near = did_you_mean(engine, catalogue.iter().map(|(id, _)| id));
        return Err(ActionError::UnknownEngine {
            engine: crate::ui::one_line(engine),
            near: near.into_iter().map(str::to_owned).collect(),
        });
    }
    let bad_prompt = |reason: &str| ActionError::BadPrompt { reason: reason.to_owned() };
    if prompt.trim().is_empty() {
        return Err(bad_prompt("it is empty"));
    }
    if prompt.contains('\0') {
        return Err(bad_prompt("it has a NUL"));
    }
    if let Some(model) = model {
        let bad = |reason: &str| ActionError::BadModel {
            model: crate::ui::one_line(model),
            reason: reason.to_owned(),
        };
        if model.is_empty() || model.len() > LONGEST_MODEL {
            return Err(bad("it has no character, or more than 200 bytes"));
        }
        if model.starts_with('-') {
            return Err(bad("an engine would take it for an option"));
        }
        if model.chars().any(|c| crate::ui::is_unprintable(c) || c.is_whitespace()) {
            return Err(bad("it has a blank or a control character"));
        }
    }
    let launch = Launch {
        engine: engine.to_owned(),
        prompt: prompt.to_owned(),
        model: model.map(str::to_owned),
    };
    let size_bytes = u64::try_from(prompt.len()).ok();
    Ok(Draft { payload: Payload::Launch(launch), content_hash: None, size_bytes })
}

/// Whether a name is that of a text file.
pub(super) fn is_text(name: &OsStr) -> bool {
    by_name(name) == NameKind::Text
}
