//! One request as the fake model received it, and what kind of request it is.
//!
//! Engines make calls beside the conversation: titles, summaries, routers, token counts. They are
//! told apart here, so that "the block arrived once" is asked of the conversation alone.

use std::time::Instant;

use axum::http::request::Parts;
use serde_json::Value;

use super::Wire;

/// The four dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `/v1/messages`
    Anthropic,
    /// `/v1/responses`
    Responses,
    /// `/v1/chat/completions`
    Chat,
    /// `/v1beta/models/M:generateContent` and `:streamGenerateContent`
    Gemini,
}

/// How the system prompt of a known side request begins or what it says early on.
const SIDE_REQUESTS: [&str; 6] = [
    "You are a title generator",               // OpenCode
    "single-line task title",                  // Codex
    "Task Routing AI",                         // Gemini's Auto model
    "Summarize the user's primary intent",     // Gemini, over the session before
    "Generate a concise, sentence-case title", // Claude Code
    "Generate a short, descriptive title",     // Hermes
];

/// One recorded request.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// GET, POST, HEAD
    pub method: String,
    /// Path and query as sent.
    pub path: String,
    /// Names in lower case, in the order sent.
    pub headers: Vec<(String, String)>,
    /// The body, when it was JSON.
    pub body: Value,
    /// Bytes of the body on the wire.
    pub raw_size: usize,
    /// `None` for anything that is not a call of a model.
    pub format: Option<Format>,
    /// When its head was read.
    pub arrived: Instant,
}

impl Recorded {
    pub(super) fn new(parts: &Parts, bytes: &[u8], arrived: Instant) -> Self {
        let path = parts.uri.path_and_query().map_or("/", |p| p.as_str()).to_owned();
        let format = match (parts.method.as_str(), parts.uri.path()) {
            ("POST", p) if p.ends_with("/messages") => Some(Format::Anthropic),
            ("POST", p) if p.ends_with("/responses") => Some(Format::Responses),
            ("POST", p) if p.ends_with("/chat/completions") => Some(Format::Chat),
            ("POST", p) if p.ends_with(":generateContent") => Some(Format::Gemini),
            ("POST", p) if p.ends_with(":streamGenerateContent") => Some(Format::Gemini),
            _ => None,
        };
        let headers = parts
            .headers
            .iter()
            .map(|(name, value)| {
                (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            })
            .collect();
        Self {
            method: parts.method.to_string(),
            path,
            headers,
            body: serde_json::from_slice(bytes).unwrap_or(Value::Null),
            raw_size: bytes.len(),
            format,
            arrived,
        }
    }

    /// The value of a header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The texts and files of the request, the same shape for all four formats.
    pub fn wire(&self) -> Wire {
        let format = self.format.unwrap_or_else(|| panic!("no model call: {}", self.summary()));
        Wire::read(format, &self.body)
    }

    /// Whether this is a turn of the conversation: it offers the agent's tools and is none of the
    /// known side requests.
    pub fn is_main(&self) -> bool {
        self.format.is_some() && self.offers_tools() && self.side_request().is_none()
    }

    fn offers_tools(&self) -> bool {
        self.body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
    }

    fn side_request(&self) -> Option<&'static str> {
        let wire = Wire::read(self.format?, &self.body);
        // The heads only: a doc may well speak of title generators.
        let head = |text: &String| text.chars().take(400).collect::<String>();
        let mut heads: Vec<String> = wire.system.iter().take(2).map(head).collect();
        // Codex asks for a title in the last user message, after its own context.
        let first_parts = wire.user_texts.iter().filter_map(|parts| parts.first());
        heads.extend(first_parts.map(head));
        SIDE_REQUESTS.into_iter().find(|known| heads.iter().any(|head| head.contains(known)))
    }

    /// Gemini's router wants JSON and asks for more than a minute when it gets prose.
    pub(super) fn canned_reply(&self) -> Option<&'static str> {
        (self.side_request() == Some("Task Routing AI")).then_some(
            r#"{"reasoning":"mock","model_choice":"flash","complexity_reasoning":"mock","complexity_score":10}"#,
        )
    }

    pub(super) fn model(&self) -> String {
        let from_path = || {
            let (_, rest) = self.path.split_once("/models/")?;
            Some(rest.split(':').next().unwrap_or_default().to_owned())
        };
        self.body["model"].as_str().map(str::to_owned).or_else(from_path).unwrap_or_default()
    }

    pub(super) fn is_streamed(&self) -> bool {
        self.body["stream"].as_bool().unwrap_or(false)
            || self.path.contains(":streamGenerateContent")
    }

    /// One line for a person.
    pub fn summary(&self) -> String {
        let kind = if self.is_main() { "main" } else { "side" };
        format!("{kind}: {} {} ({} bytes)", self.method, self.path, self.raw_size)
    }
}
