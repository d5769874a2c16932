//! What the page gets as JSON, as types. Foreign text goes as it is: the page shows it as text and
//! never as markup.

use serde::{Deserialize, Serialize};

use crate::control::actions::{Content, Preview, SettingNow};
use crate::control::wire;

/// A preview shows at most so many bytes of a text; a person who needs more has the file.
const PREVIEW_BYTES: usize = 200_000;

/// `POST /inbox/session`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeyBody {
    /// The one-time key.
    pub(super) key: String,
}

/// The answer: what the page sends with each request.
#[derive(Debug, Serialize)]
pub(super) struct Opened {
    /// See `sessions`.
    pub(super) token: String,
}

/// `GET /inbox/api/state`
#[derive(Debug, Serialize)]
pub(super) struct State {
    /// The server's clock, Unix ms: ages are reckoned from it.
    pub(super) now: i64,
    /// How many wait, also those that are not in the list.
    pub(super) waiting: usize,
    /// The oldest that wait or are being carried out.
    pub(super) actions: Vec<Card>,
    /// The last that were decided, newest first.
    pub(super) decided: Vec<Card>,
    /// The registered projects.
    pub(super) projects: Vec<wire::ProjectView>,
}

/// An action on the page.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Card {
    /// As the API has it.
    #[serde(flatten)]
    pub(super) action: wire::ActionView,
    /// The project's folder.
    pub(super) project_folder: Option<String>,
    /// Who decided.
    pub(super) decided_by: Option<String>,
}

/// `GET /inbox/api/actions/{id}`
#[derive(Debug, Serialize)]
pub(super) struct Looked {
    /// The action with its whole prompt.
    pub(super) action: Card,
    /// What a person has to see.
    pub(super) preview: PreviewView,
}

/// A preview.
#[derive(Debug, Serialize)]
pub(super) struct PreviewView {
    obstacle: Option<String>,
    warnings: Vec<String>,
    content: ContentView,
    replaces: Option<crate::control::actions::Replaced>,
    diff: Option<String>,
    /// More is there than is shown.
    truncated: bool,
}

/// What an action is about.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum ContentView {
    Nothing,
    Text { text: String },
    Binary { about: String },
    Image,
    Settings { settings: Vec<SettingNow> },
}

impl PreviewView {
    /// For the page; `picture`: the page can show it as one.
    pub(super) fn new(preview: Preview, picture: bool) -> PreviewView {
        let mut truncated = false;
        let mut cut = |mut text: String| {
            if text.len() > PREVIEW_BYTES {
                text.truncate(text.floor_char_boundary(PREVIEW_BYTES));
                truncated = true;
            }
            text
        };
        let diff = preview.diff.map(&mut cut);
        let content = match preview.content {
            Content::Nothing => ContentView::Nothing,
            Content::Text(text) => ContentView::Text { text: cut(text) },
            Content::Binary(_) if picture => ContentView::Image,
            Content::Binary(about) => ContentView::Binary { about },
            Content::Settings(settings) => ContentView::Settings { settings },
        };
        let Preview { obstacle, warnings, replaces, .. } = preview;
        PreviewView { obstacle, warnings, content, replaces, diff, truncated }
    }
}

/// `GET /inbox/api/projects/{id}/docs`, and the answer to each change.
#[derive(Debug, Serialize)]
pub(super) struct Panel<'a> {
    /// As the API has it.
    #[serde(flatten)]
    pub(super) docs: &'a wire::Docs,
    /// The engines to choose from.
    pub(super) engines: Vec<EngineName>,
}

/// An engine.
#[derive(Debug, Serialize)]
pub(super) struct EngineName {
    pub(super) id: String,
    pub(super) name: String,
}

/// `POST …/order`: all docs in their new order, by the names that the list has.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OrderBody {
    pub(super) names: Vec<String>,
}

/// `POST …/instruction`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InstructionBody {
    pub(super) name: String,
    pub(super) on: bool,
}

/// `POST …/move`: out of this bucket into the other.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MoveBody {
    pub(super) name: String,
    pub(super) from: wire::BucketWord,
}
