//! What exactly an approved action does. Closed: what is not here can't be asked for, so no action
//! names a program, an engine's argument or a secret's policy.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::control::actions::settings::SettingsChange;
use crate::control::actions::types::ActionKind;
use crate::project::Bucket;

/// By kind. In JSON the object of the kind, whose name stands beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Payload {
    /// A file becomes a doc.
    AddDoc(AddDoc),
    /// A doc is deleted.
    DeleteDoc(DeleteDoc),
    /// An engine is started.
    Launch(Launch),
    /// Settings are changed.
    Settings(SettingsChange),
}

/// Which file becomes which doc.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddDoc {
    /// The source, absolute.
    pub path: PathBuf,
    /// The doc's name.
    pub file_name: String,
    /// Where it goes.
    pub bucket: Bucket,
    /// Whether it may take the place of another.
    pub replace: bool,
    /// SHA-256, hex, of the doc whose place it takes, as it was when this was asked for; `None`: there
    /// was none. Another doc than this one is not replaced.
    #[serde(default)]
    pub replaces: Option<String>,
}

/// Which doc is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeleteDoc {
    /// Its name, as on disk.
    pub file_name: String,
    /// Where it is.
    pub bucket: Bucket,
}

/// What is started: a one-shot session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The engine's id.
    pub engine: String,
    /// The display text.
    pub prompt: String,
    /// The model, for the engine's own option.
    pub model: Option<String>,
}

impl Payload {
    /// Its kind.
    pub fn kind(&self) -> ActionKind {
        match self {
            Payload::AddDoc(_) => ActionKind::AddDoc,
            Payload::DeleteDoc(_) => ActionKind::DeleteDoc,
            Payload::Launch(_) => ActionKind::Launch,
            Payload::Settings(_) => ActionKind::Settings,
        }
    }

    /// From the stored text of a payload of this kind.
    pub(super) fn parse(kind: ActionKind, text: &str) -> serde_json::Result<Payload> {
        Ok(match kind {
            ActionKind::AddDoc => Payload::AddDoc(serde_json::from_str(text)?),
            ActionKind::DeleteDoc => Payload::DeleteDoc(serde_json::from_str(text)?),
            ActionKind::Launch => Payload::Launch(serde_json::from_str(text)?),
            ActionKind::Settings => Payload::Settings(serde_json::from_str(text)?),
        })
    }
}
