//! What a person has to see before they decide: the text, the difference it makes, what cannot be
//! seen in it, and what already stands against it. Nothing here decides; the approval looks again.
//!
//! The texts are foreign and as they are: who shows them makes them harmless.

use std::ffi::OsStr;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use similar::{Algorithm, TextDiff};

use crate::config::Config;
use crate::context::sniff::{Decoded, decode};
use crate::context::{hidden, secrets};
use crate::control::actions::apply_docs::project_folder;
use crate::control::actions::enqueue::is_text;
use crate::control::actions::payload::{AddDoc, DeleteDoc, Launch, Payload};
use crate::control::actions::queue::Queue;
use crate::control::actions::quota::{self, FILE_LIMIT};
use crate::control::actions::settings::SettingsChange;
use crate::control::actions::source::open_source;
use crate::control::actions::types::Action;
use crate::project::{Bucket, DocsError, doc_files};
use crate::session::sha256;

/// Texts over this are not compared, in bytes: nobody reads such a difference.
const COMPARED: usize = 1_000_000;

/// A comparison that takes longer gets coarser.
const COMPARING: Duration = Duration::from_millis(500);

/// Lines around a change.
const AROUND: usize = 3;

/// How many secrets are named.
const SECRETS_NAMED: usize = 10;

/// What a person has to see.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// Why an approval would fail as things are now.
    pub obstacle: Option<String>,
    /// What cannot be seen in the text, or should not be in it.
    pub warnings: Vec<String>,
    /// What it is about.
    pub content: Content,
    /// The doc whose place it takes.
    pub replaces: Option<Replaced>,
    /// The difference to that doc, unified; `None` where the two can't be compared.
    pub diff: Option<String>,
}

/// What an action is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// It can't be shown (any more).
    #[default]
    Nothing,
    /// The text of a doc, or the prompt of a launch.
    Text(String),
    /// No text; what it is, or why it is none.
    Binary(String),
    /// The settings with their values.
    Settings(Vec<SettingNow>),
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingNow {
    /// As in `config.toml`.
    pub key: String,
    /// What the file says now; `None`: nothing.
    pub now: Option<Value>,
    /// What it would say.
    pub then: Value,
}

/// The doc whose place another takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replaced {
    /// In bytes.
    pub size: u64,
    /// SHA-256, hex.
    pub hash: Option<String>,
}

pub(super) fn preview(queue: &Queue, action: &Action) -> Preview {
    let mut preview = match &action.payload {
        Payload::AddDoc(add) => add_doc(action, add),
        Payload::DeleteDoc(doc) => delete_doc(action, doc),
        Payload::Launch(launch) => prompt(launch),
        Payload::Settings(change) => settings(queue, change),
    };
    if action.project.is_some()
        && let Ok(Err(gone)) = project_folder(queue, action)
    {
        preview.obstacle = Some(gone.message);
    }
    preview
}

fn add_doc(action: &Action, add: &AddDoc) -> Preview {
    let mut preview = Preview::default();
    match source_bytes(action, add) {
        Ok(bytes) => preview.show(&add.file_name, bytes),
        Err(why) => preview.obstacle = Some(why),
    }
    let Some(root) = &action.project_folder else { return preview };
    let name = OsStr::new(&add.file_name);
    match doc_files::exactly(root, name, add.bucket) {
        Ok(old) => {
            preview
                .compare(doc_files::bytes_of(root, name, add.bucket, FILE_LIMIT), &add.file_name);
            if add.replace && old.hash != add.replaces {
                preview.object("the doc has changed since this was asked for".to_owned());
            }
            preview.replaces = Some(Replaced { size: old.size, hash: old.hash });
        }
        Err(DocsError::NotFound { .. }) => {}
        Err(error) => preview.object(error.to_string()),
    }
    if let Err(error) = doc_files::check_addition(root, name, add.bucket, add.replace, is_text) {
        preview.object(error.to_string());
    }
    if add.bucket == Bucket::Always {
        let replaced = add.replace.then_some(add.file_name.as_str());
        let size = action.size_bytes.unwrap_or_default();
        if let Err(error) = quota::check(root, replaced, size, 0) {
            preview.object(error.to_string());
        }
    }
    preview
}

/// The bytes of the source, if they are those that were asked for.
pub(super) fn source_bytes(action: &Action, add: &AddDoc) -> Result<Vec<u8>, String> {
    use std::io::Read;
    let changed = || "the source has changed since this was asked for".to_owned();
    let source = open_source(&add.path).map_err(|error| error.to_string())?;
    if source.size > FILE_LIMIT || Some(source.size) != action.size_bytes {
        return Err(changed());
    }
    let mut bytes = Vec::new();
    let read = source.file.take(FILE_LIMIT).read_to_end(&mut bytes);
    read.map_err(|error| format!("the source cannot be read: {error}"))?;
    if Some(sha256(&bytes)) == action.content_hash { Ok(bytes) } else { Err(changed()) }
}

fn delete_doc(action: &Action, doc: &DeleteDoc) -> Preview {
    let mut preview = Preview::default();
    let Some(root) = &action.project_folder else { return preview };
    let name = OsStr::new(&doc.file_name);
    match doc_files::exactly(root, name, doc.bucket) {
        Ok(now) if now.hash != action.content_hash => {
            preview.object("the doc has changed since this was asked for".to_owned());
        }
        Ok(_) => {}
        Err(error) => preview.object(error.to_string()),
    }
    if preview.obstacle.is_none()
        && let Ok(bytes) = doc_files::bytes_of(root, name, doc.bucket, FILE_LIMIT)
    {
        preview.show(&doc.file_name, bytes);
        // What is in a doc that goes is nobody's danger.
        preview.warnings.clear();
    }
    preview
}

fn prompt(launch: &Launch) -> Preview {
    let mut preview = Preview::default();
    preview.warn("the prompt", &launch.prompt);
    preview.content = Content::Text(launch.prompt.clone());
    preview
}

fn settings(queue: &Queue, change: &SettingsChange) -> Preview {
    let file = queue.config_file();
    let obstacle = Config::load(&file, |_| None).err().map(|failure| failure.message);
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let table: toml::Table = toml::from_str(&text).unwrap_or_default();
    let now = |key: &str| table.get(key).and_then(|value| serde_json::to_value(value).ok());
    let entries = change.entries().into_iter();
    let entries =
        entries.map(|(key, then)| SettingNow { key: key.to_owned(), now: now(key), then });
    Preview { obstacle, content: Content::Settings(entries.collect()), ..Preview::default() }
}

impl Preview {
    /// The first obstacle is told; it is the one that a person has to remove first.
    fn object(&mut self, why: String) {
        self.obstacle.get_or_insert(why);
    }

    fn show(&mut self, name: &str, bytes: Vec<u8>) {
        if !is_text(OsStr::new(name)) {
            self.content = Content::Binary("no text by its name".to_owned());
            return;
        }
        self.content = match decode(bytes) {
            Decoded::NotText(why) => {
                self.warnings.push(format!("this file will not be used as a text: {why}"));
                Content::Binary(why)
            }
            Decoded::Text { text, bad } => {
                if let Some(bad) = bad {
                    let (count, first) = (bad.count, bad.first);
                    self.warnings
                        .push(format!("{count} places are not UTF-8, the first at byte {first}"));
                }
                self.warn(name, &text);
                Content::Text(text)
            }
        };
    }

    fn warn(&mut self, what: &str, text: &str) {
        self.warnings.extend(hidden::warning(&crate::ui::one_line(what), text));
        let found = secrets::find(text);
        let named = found.iter().take(SECRETS_NAMED);
        self.warnings
            .extend(named.map(|found| format!("line {} looks like a {}", found.line, found.kind)));
        if found.len() > SECRETS_NAMED {
            let more = found.len() - SECRETS_NAMED;
            self.warnings.push(format!("{more} more lines look like secrets"));
        }
    }

    fn compare(&mut self, old: Result<Vec<u8>, DocsError>, name: &str) {
        let (Content::Text(new), Ok(old)) = (&self.content, old) else { return };
        let Decoded::Text { text: old, .. } = decode(old) else { return };
        if new.len().max(old.len()) > COMPARED || !is_text(OsStr::new(name)) {
            return;
        }
        let mut config = TextDiff::configure();
        let diff = config.algorithm(Algorithm::Myers).timeout(COMPARING).diff_lines(&old, new);
        let mut unified = diff.unified_diff();
        self.diff = Some(unified.context_radius(AROUND).header("now", "then").to_string());
    }
}
