//! What the server asks of the program: the docs as an engine would get them, by the same way as
//! `docs ls`; the engines; the settings.

use serde_json::Value;

use super::Workplace;
use super::here::reconcile;
use super::target::{self, Target};
use crate::config::Config;
use crate::context::first_message::DocState;
use crate::context::kinds::{NameKind, by_name, no_doc};
use crate::context::names::{shown, sort_by_name};
use crate::context::snapshot::{DocEntry, DocKind};
use crate::context::{ContextSnapshot, Reading};
use crate::control::actions::settings::ALLOWED;
use crate::control::{ApiError, Backend, ErrorCode, wire};
use crate::engines::Catalogue;
use crate::error::{ExitKind, Failure};
use crate::paths::Paths;
use crate::project::{Bucket, Project, docs, registered};

/// The program behind the server.
pub(super) struct ServeBackend {
    paths: Paths,
}

impl ServeBackend {
    pub(super) fn new(paths: Paths) -> ServeBackend {
        ServeBackend { paths }
    }
}

impl Backend for ServeBackend {
    fn docs(
        &self,
        project: &Project,
        engine: Option<&str>,
        model: Option<&str>,
    ) -> Result<wire::Docs, ApiError> {
        let place = Workplace::open().map_err(of_config)?;
        let mut resolved = registered(project.clone());
        for note in reconcile(&mut resolved, &self.paths) {
            tracing::info!(note, "docs");
        }
        let cwd = &project.folder;
        let target = Target::choose(&place, engine, model, cwd).map_err(of_engine)?;
        let reading = Reading::UpTo(target.budget());
        let snapshot = target::snapshot(&place, Some(&resolved), cwd, reading);
        let built = target.build(&snapshot);
        let mut entries: Vec<_> = snapshot.docs.iter().zip(&built.report().docs).collect();
        entries.sort_by_key(|(entry, _)| matches!(entry.kind, DocKind::Ignored(_)));
        let files: Vec<wire::DocFile> = entries
            .into_iter()
            .zip(1..)
            .map(|((entry, report), at)| doc_file(entry, &report.state, at))
            .collect();
        let docs = files.iter().filter(|file| file.kind != wire::DocKind::Ignored);
        let total_bytes = docs.map(|file| file.size).sum();
        let rag_files = rag_files(project, &snapshot)?;
        Ok(wire::Docs {
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
        })
    }

    fn catalogue(&self) -> Result<Catalogue, ApiError> {
        Ok(Workplace::open().map_err(of_config)?.catalogue)
    }

    fn settings(&self) -> Result<Vec<wire::SettingView>, ApiError> {
        let Workplace { config, .. } = Workplace::open().map_err(of_config)?;
        let Config { default_engine, models, secrets, chip, profile, retention_days, log_level } =
            config;
        let view = |key: &str, value: Value, source: crate::config::Source| wire::SettingView {
            key: key.to_owned(),
            value,
            source: source.shown(),
            changeable: ALLOWED.contains(&key),
        };
        let secrets_word = format!("{:?}", secrets.value).to_lowercase();
        Ok(vec![
            view("default-engine", Value::from(default_engine.value), default_engine.source),
            view("models", serde_json::json!(models.value), models.source),
            view("secrets", secrets_word.into(), secrets.source),
            view("chip", chip.value.into(), chip.source),
            view("profile", profile.value.into(), profile.source),
            view("retention-days", retention_days.value.into(), retention_days.source),
            view("log-level", log_level.value.as_str().into(), log_level.source),
        ])
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
fn rag_files(
    project: &Project,
    snapshot: &ContextSnapshot,
) -> Result<Vec<wire::RagFile>, ApiError> {
    let mut files = docs::files(&project.folder, Bucket::Rag).map_err(|error| {
        ApiError::new(ErrorCode::Io, format!("the rag folder cannot be read: {error}"))
    })?;
    files.retain(|(name, _)| no_doc(name).is_none());
    sort_by_name(&mut files, |(name, _)| name);
    let mut listed = snapshot.rag.iter().peekable();
    let files = files.into_iter().map(|(name, size)| {
        // Both are in the same order; what came or went between the two looks is not in both.
        let entry = listed.next_if(|entry| entry.name == name);
        wire::RagFile {
            size,
            text: entry.map_or_else(|| by_name(&name) == NameKind::Text, |entry| entry.text),
            description: entry.and_then(|entry| entry.description.clone()),
            listed: entry.is_some(),
            name: shown(&name),
        }
    });
    Ok(files.collect())
}
