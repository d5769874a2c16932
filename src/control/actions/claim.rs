//! What is written beside an action before it is carried out: who does it and what the place looked
//! like. With it a later look can tell what an omni-run that died in the middle had done.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::control::actions::payload::Payload;
use crate::control::actions::queue::Queue;
use crate::control::actions::types::Action;
use crate::project::{Bucket, DocsError, doc_files};

/// The claim of one approval on its action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claim {
    /// For people: the process that took it.
    pub(super) owner: String,
    /// Only who knows it may mark the action as done.
    pub(super) token: String,
    /// The place that the action changes, before it did.
    pub(super) before: Place,
}

/// What is where an action writes or deletes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    /// Nothing.
    Empty,
    /// A file with this SHA-256.
    File(String),
    /// Something else, or nothing that can be told.
    Unclear,
}

impl Claim {
    /// A new claim of this process.
    pub(super) fn new(before: Place) -> Claim {
        Claim {
            owner: format!("pid {}", std::process::id()),
            token: Uuid::new_v4().simple().to_string(),
            before,
        }
    }
}

impl Place {
    /// Looks at the place of an action.
    pub(super) fn of(queue: &Queue, action: &Action) -> Place {
        match &action.payload {
            Payload::AddDoc(add) => Place::of_doc(action, &add.file_name, add.bucket),
            Payload::DeleteDoc(doc) => Place::of_doc(action, &doc.file_name, doc.bucket),
            Payload::Settings(_) => match std::fs::read(queue.config_file()) {
                Ok(bytes) => Place::File(crate::session::sha256(&bytes)),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Place::Empty,
                Err(_) => Place::Unclear,
            },
            Payload::Launch(_) => Place::Empty,
        }
    }

    fn of_doc(action: &Action, name: &str, bucket: Bucket) -> Place {
        let Some(root) = &action.project_folder else { return Place::Unclear };
        match doc_files::exactly(root, name.as_ref(), bucket) {
            Ok(doc) => doc.hash.map_or(Place::Unclear, Place::File),
            Err(DocsError::NotFound { .. }) => Place::Empty,
            Err(_) => Place::Unclear,
        }
    }
}
