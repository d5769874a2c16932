//! What goes over the wire, as types; the OpenAPI document is made from them. Names are camelCase,
//! times integer Unix milliseconds named `…At`, sizes bytes. Nothing here can hold the block.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::project::Bucket;

/// Every answer that is no success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorBody {
    /// What went wrong.
    pub error: ErrorDetail,
}

/// An error: `code` is for programs and stays, the rest is for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ErrorDetail {
    /// In a word.
    pub code: String,
    /// Which thing, and what happened to it.
    pub message: String,
    /// What to do next.
    pub hint: String,
}

/// `GET /healthz`
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Health {
    /// `ok`, as long as there is an answer.
    pub status: &'static str,
    /// omni-run's version.
    pub version: &'static str,
}

/// `GET /projects`
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Projects {
    /// The registered projects, by id.
    pub projects: Vec<ProjectView>,
}

/// One project.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    /// Its id.
    pub id: String,
    /// Its folder.
    pub folder: String,
    /// When it was registered.
    pub created_at: i64,
}

/// `GET /project/{id}/docs`
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Docs {
    /// The top level of the docs folder, in the order of the block; what is no doc comes last.
    pub files: Vec<DocFile>,
    /// The files of `rag/`, by name.
    pub rag_files: Vec<RagFile>,
    /// The bytes of the docs in `files`.
    pub total_bytes: u64,
    /// The bytes of the files in `ragFiles`.
    pub rag_total_bytes: u64,
    /// For which engine `state` holds.
    pub budget: DocsBudget,
}

/// The budget that the states of a list are about.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocsBudget {
    /// The engine.
    pub engine: String,
    /// The model, where one is asked for or configured.
    pub model: Option<String>,
    /// Bytes that docs and instructions may take.
    pub bytes: u64,
    /// Bytes that they take.
    pub used_bytes: u64,
}

/// One entry of the docs folder's top level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocFile {
    /// Its name; control characters and bytes that are not UTF-8 as escapes.
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// What it is.
    pub kind: DocKind,
    /// Its place in the block, from 1.
    pub order: Option<u32>,
    /// Flagged as an instruction.
    pub instruction: bool,
    /// What becomes of it in a first message.
    pub state: DocState,
    /// Why, where that is not plain.
    pub reason: Option<String>,
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocKind {
    /// Text.
    Text,
    /// An attachable binary.
    Attachment,
    /// No doc.
    Ignored,
}

/// What becomes of a doc.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocState {
    /// In the block, whole.
    Injected,
    /// Among the instructions, whole.
    Instruction,
    /// Over the budget: a note with its path.
    Skipped,
    /// An instruction over the budget: a binding notice with its path.
    Withheld,
    /// Attached as bytes.
    Attached,
    /// Named by its path.
    ByPath,
    /// Not used.
    Ignored,
    /// Without content.
    Empty,
}

/// One file of `rag/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RagFile {
    /// Its name, as in `files`.
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// Text or binary, by its name.
    pub text: bool,
    /// Its line in the catalogue; only the first hundred have one.
    pub description: Option<String>,
    /// Among the hundred that the catalogue lists.
    pub listed: bool,
}

/// The two folders of docs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BucketWord {
    /// Whole, in every first message.
    #[default]
    Always,
    /// Listed in the catalogue.
    Rag,
}

impl From<Bucket> for BucketWord {
    fn from(bucket: Bucket) -> BucketWord {
        match bucket {
            Bucket::Always => BucketWord::Always,
            Bucket::Rag => BucketWord::Rag,
        }
    }
}

impl From<BucketWord> for Bucket {
    fn from(word: BucketWord) -> Bucket {
        match word {
            BucketWord::Always => Bucket::Always,
            BucketWord::Rag => Bucket::Rag,
        }
    }
}

/// The body of `POST /project/{id}/docs`. The bytes stay where they are: the request is small
/// whatever the file is.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddDocBody {
    /// The absolute path of a regular file.
    pub path: String,
    /// The doc's name; default: the file's.
    #[serde(default)]
    pub filename: Option<String>,
    /// Where it goes.
    #[serde(default)]
    pub bucket: BucketWord,
    /// Whether it may take the place of another.
    #[serde(default)]
    pub replace: bool,
}

/// The body of `POST /project/{id}/new`. There is no field for an engine's options, environment or
/// folder: what an engine may do is a person's to say.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LaunchBody {
    /// The engine's id.
    pub engine: String,
    /// What a person would type.
    pub prompt: String,
    /// The model, for the engine's own option.
    #[serde(default)]
    pub model: Option<String>,
}

/// The answer to a request that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    /// Where to ask for it: `GET /actions/{actionId}`.
    pub action_id: String,
    /// `pending`
    pub status: &'static str,
}

/// `GET /sessions`
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sessions {
    /// Newest first.
    pub sessions: Vec<SessionView>,
    /// For the next page: `?cursor=`; null on the last.
    pub next_cursor: Option<String>,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// Its id.
    pub id: String,
    /// The engine.
    pub engine: String,
    /// The model that was asked for.
    pub model: Option<String>,
    /// The project's id.
    pub project: Option<String>,
    /// Where the engine ran.
    pub cwd: String,
    /// `one_shot`, `prompted`, `wrapped`
    pub mode: &'static str,
    /// `running`, `ok`, `failed`, `timed_out`, `not_started`, `crashed` (its omni-run was killed),
    /// `lost` (its machine went down)
    pub status: &'static str,
    /// The engine's exit code.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Start.
    pub started_at: i64,
    /// End.
    pub ended_at: Option<i64>,
    /// The head of what was typed, at most 200 characters.
    pub first_words: String,
}

/// `GET /sessions/{id}`
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionDetail {
    /// As in the list.
    #[serde(flatten)]
    pub session: SessionView,
    /// What the person or the caller typed.
    pub typed: Option<String>,
    /// The engine's final text, where it gives one.
    pub text: Option<String>,
}

/// `GET /settings`
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Settings {
    /// In the order of `omni-run config show`.
    pub settings: Vec<SettingView>,
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettingView {
    /// As in `config.toml`.
    pub key: String,
    /// The value in force.
    pub value: serde_json::Value,
    /// `built in`, `config.toml`, `environment`
    pub source: &'static str,
    /// Whether `PATCH /settings` takes it.
    pub changeable: bool,
}

/// The body of `PATCH /settings`: new values; a key that is not named stays as it is. The keys are
/// those of `config.toml`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SettingsBody {
    /// The one line at each launch.
    #[serde(default)]
    pub chip: Option<bool>,
    /// The coaching profile goes along.
    #[serde(default)]
    pub profile: Option<bool>,
    /// Sessions older than this may be pruned, in days; 0: kept.
    #[serde(default)]
    pub retention_days: Option<u32>,
    /// `error`, `warn`, `info`, `debug` or `trace`, for `--log-file`.
    #[serde(default)]
    pub log_level: Option<String>,
}

/// `GET /actions`
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Actions {
    /// Oldest first.
    pub actions: Vec<ActionView>,
}

/// One action.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionView {
    /// Its id.
    pub id: String,
    /// `add_doc`, `delete_doc`, `launch`, `settings`
    pub kind: &'static str,
    /// The project's id, where it is about one.
    pub project: Option<String>,
    /// What exactly; of the kind.
    pub payload: PayloadView,
    /// SHA-256, hex, of the file that is to be copied or deleted, when it was asked for.
    pub content_hash: Option<String>,
    /// Its size then; of a launch the prompt's.
    pub size_bytes: Option<u64>,
    /// Who asked, as they call themselves.
    pub asked_by: String,
    /// When.
    pub asked_at: i64,
    /// When nobody can approve it any more.
    pub expires_at: i64,
    /// `pending`, `applying`, `applied`, `rejected`, `failed`, `expired`
    pub status: &'static str,
    /// When a person decided.
    pub decided_at: Option<i64>,
    /// When it was done, or when that failed.
    pub applied_at: Option<i64>,
    /// What came of it.
    pub outcome: Option<ActionOutcome>,
}

/// What exactly is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum PayloadView {
    /// `add_doc`
    AddDoc {
        /// The source.
        path: String,
        /// The doc's name.
        filename: String,
        /// Where it goes.
        bucket: BucketWord,
        /// Whether it may take the place of another.
        replace: bool,
    },
    /// `delete_doc`
    DeleteDoc {
        /// The doc's name.
        filename: String,
        /// Where it is.
        bucket: BucketWord,
    },
    /// `launch`
    Launch {
        /// The engine's id.
        engine: String,
        /// The prompt; in a list its first 200 characters.
        prompt: String,
        /// The model.
        model: Option<String>,
    },
    /// `settings`
    Settings {
        /// The new values, by key.
        settings: BTreeMap<String, serde_json::Value>,
    },
}

/// What came of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActionOutcome {
    /// In a word that stays, such as `added` or `source_changed`.
    pub code: &'static str,
    /// For people.
    pub message: String,
    /// Of a launch: `GET /sessions/{sessionId}`.
    pub session_id: Option<String>,
}
