//! What the server asks of the program: the docs as an engine would get them, by the same way as
//! `docs ls`; the engines; the settings.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::docs_memo::{DocsMemo, Key};
use super::here::is_text;
use super::target::{self, Programs, Target};
use super::{Workplace, now_ms};
use crate::config::Config;
use crate::context::first_message::DocState;
use crate::context::kinds::{NameKind, by_name, no_doc};
use crate::context::names::{shown, sort_by_name};
use crate::context::snapshot::{DocEntry, DocKind};
use crate::context::{ContextSnapshot, Reading};
use crate::control::actions::settings::ALLOWED;
use crate::control::actions::{Ask, Enqueued, Queue};
use crate::control::{ApiError, Backend, ErrorCode, wire};
use crate::error::{ExitKind, Failure};
use crate::paths::Paths;
use crate::project::docs::{self, Seen};
use crate::project::{Project, registered};
use crate::session::{Store, StoreError, UnixMs};

/// The program behind the server.
pub(super) struct ServeBackend {
    paths: Paths,
    /// The config files as they were read last, and what told them apart then.
    place: Mutex<Option<([Stamp; 2], Arc<Workplace>)>>,
    memo: DocsMemo,
}

/// What changes with a file; `None`: it is not there.
type Stamp = Option<(u64, u64, i64, i64)>;

impl ServeBackend {
    pub(super) fn new(paths: Paths) -> ServeBackend {
        ServeBackend { paths, place: Mutex::new(None), memo: DocsMemo::default() }
    }

    /// Config and engines as they are now; read again only where a file has changed.
    fn place(&self) -> Result<Arc<Workplace>, ApiError> {
        let stamps =
            ["config.toml", "engines.toml"].map(|name| stamp(&self.paths.config.join(name)));
        // A thread that died with the lock left the last good one.
        let mut known = self.place.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match &*known {
            Some((old, place)) if *old == stamps => Ok(place.clone()),
            _ => {
                let place = Arc::new(Workplace::open().map_err(of_config)?);
                *known = Some((stamps, place.clone()));
                Ok(place)
            }
        }
    }
}

fn stamp(file: &Path) -> Stamp {
    let about = std::fs::metadata(file).ok()?;
    Some((about.ino(), about.len(), about.ctime(), about.ctime_nsec()))
}

impl Backend for ServeBackend {
    fn docs(
        &self,
        project: &Project,
        engine: Option<&str>,
        model: Option<&str>,
    ) -> Result<Arc<wire::Docs>, ApiError> {
        let place = self.place()?;
        let mut resolved = registered(project.clone());
        // Opened for reading: the flags are told as they are now, nothing is kept of that.
        let flags = Store::open_reading(&self.paths)
            .and_then(|store| docs::reconcile_flags(&store, &project.folder, is_text, now_ms()));
        match flags {
            Ok(reconciled) => resolved.instructions = reconciled.instructions,
            Err(StoreError::Missing { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let cwd = &project.folder;
        let target = Target::choose_with(&place, engine, model, cwd, Programs::LeaveAlone)
            .map_err(of_engine)?;
        let unreadable = |error| {
            ApiError::new(ErrorCode::Io, format!("the docs folder cannot be read: {error}"))
        };
        let key = Key::new(cwd, &resolved, &target, &self.paths).map_err(unreadable)?;
        if let Some(docs) = self.memo.find(&key) {
            return Ok(docs);
        }
        let reading = Reading::UpTo(target.budget());
        let snapshot = target::snapshot(&place, Some(&resolved), cwd, reading);
        let docs = Arc::new(list(&target, &snapshot, key.rag()));
        self.memo.keep(key, &docs);
        Ok(docs)
    }

    fn engines(&self) -> Result<Vec<(String, String)>, ApiError> {
        let place = self.place()?;
        Ok(place.catalogue.iter().map(|(id, spec)| (id.to_owned(), spec.name.clone())).collect())
    }

    fn enqueue(&self, queue: &Queue, ask: &Ask, now: UnixMs) -> Result<Enqueued, ApiError> {
        Ok(queue.enqueue(ask, &self.place()?.catalogue, now)?)
    }

    fn settings(&self) -> Result<Vec<wire::SettingView>, ApiError> {
        let place = self.place()?;
        let Config { default_engine, models, secrets, chip, profile, retention_days, log_level } =
            &place.config;
        let view = |key: &str, value: Value, source: crate::config::Source| wire::SettingView {
            key: key.to_owned(),
            value,
            source: source.shown(),
            changeable: ALLOWED.contains(&key),
        };
        let secrets_word = format!("{:?}", secrets.value).to_lowercase();
        Ok(vec![
            view("default-engine", serde_json::json!(default_engine.value), default_engine.source),
            view("models", serde_json::json!(models.value), models.source),
            view("secrets", secrets_word.into(), secrets.source),
            view("chip", chip.value.into(), chip.source),
            view("profile", profile.value.into(), profile.source),
            view("retention-days", retention_days.value.into(), retention_days.source),
            view("log-level", log_level.value.as_str().into(), log_level.source),
        ])
    }
}

/// The list of what is in a snapshot, and of all that lies in `rag/`.
fn list<'a>(
    target: &Target,
    snapshot: &ContextSnapshot,
    rag: impl Iterator<Item = &'a Seen>,
) -> wire::Docs {
    let built = target.build(snapshot);
    let mut entries: Vec<_> = snapshot.docs.iter().zip(&built.report().docs).collect();
    entries.sort_by_key(|(entry, _)| matches!(entry.kind, DocKind::Ignored(_)));
    let files: Vec<wire::DocFile> = entries
        .into_iter()
        .zip(1..)
        .map(|((entry, report), at)| doc_file(entry, &report.state, at))
        .collect();
    let docs = files.iter().filter(|file| file.kind != wire::DocKind::Ignored);
    let total_bytes = docs.map(|file| file.size).sum();
    let rag_files = rag_files(rag, snapshot);
    wire::Docs {
        rag_total_bytes: rag_files.iter().map(|file| file.size).sum(),
        files,
        rag_files,
        total_bytes,
        budget: wire::DocsBudget {
            engine: target.id().to_owned(),
            model: target.model.clone(),
            bytes: built.report().budget,
            used_bytes: built.report().used,
        },
    }
}

/// A config file that went wrong after the start.
fn of_config(failure: Failure) -> ApiError {
    ApiError::new(ErrorCode::Internal, failure.message).hint("see `omni-run doctor`")
}

fn of_engine(failure: Failure) -> ApiError {
    match failure.kind {
        ExitKind::Usage => ApiError::new(ErrorCode::UnknownEngine, failure.message),
        _ => of_config(failure),
    }
}

fn doc_file(entry: &DocEntry, state: &DocState, order: u32) -> wire::DocFile {
    let kind = match entry.kind {
        DocKind::Text(_) | DocKind::TextUnread => wire::DocKind::Text,
        DocKind::Attachable(_) => wire::DocKind::Attachment,
        DocKind::Ignored(_) => wire::DocKind::Ignored,
    };
    let (state, reason) = match state {
        DocState::Included => (wire::DocState::Injected, None),
        DocState::Instruction => (wire::DocState::Instruction, None),
        DocState::Skipped => (wire::DocState::Skipped, None),
        DocState::Withheld => (wire::DocState::Withheld, None),
        DocState::Attached => (wire::DocState::Attached, None),
        DocState::ByPath(why) => (wire::DocState::ByPath, Some(why.clone())),
        DocState::Ignored(why) => (wire::DocState::Ignored, Some(why.clone())),
        DocState::Empty => (wire::DocState::Empty, None),
    };
    wire::DocFile {
        name: entry.shown.clone(),
        size: entry.size,
        kind,
        order: (kind != wire::DocKind::Ignored).then_some(order),
        instruction: entry.instruction,
        state,
        reason,
    }
}

/// All files of `rag/`; those that the catalogue lists with their line.
fn rag_files<'a>(
    files: impl Iterator<Item = &'a Seen>,
    snapshot: &ContextSnapshot,
) -> Vec<wire::RagFile> {
    let mut files: Vec<&Seen> = files.filter(|file| no_doc(&file.name).is_none()).collect();
    sort_by_name(&mut files, |file| &file.name);
    let mut listed = snapshot.rag.iter().peekable();
    let files = files.into_iter().map(|file| {
        // Both are in the same order; what came or went between the two looks is not in both.
        let entry = listed.next_if(|entry| entry.name == file.name);
        wire::RagFile {
            name: shown(&file.name),
            size: file.size,
            text: entry.map_or_else(|| by_name(&file.name) == NameKind::Text, |entry| entry.text),
            description: entry.and_then(|entry| entry.description.clone()),
            listed: entry.is_some(),
        }
    });
    files.collect()
}
