//! The one view over a recorded request that tests assert on, whatever the format.
//!
//! Roles are folded to what matters here: what the model takes as instructions (system and
//! developer), what the user said, what the assistant said before. Tool calls and their results
//! are left out.

use base64::Engine as _;
use serde_json::Value;

use super::Format;

/// A file that went along as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// As declared on the wire.
    pub mime: String,
    /// Decoded.
    pub bytes: Vec<u8>,
}

/// The texts and files of one request, in wire order.
#[derive(Clone, Debug, Default)]
pub struct Wire {
    /// Texts in the system or developer role.
    pub system: Vec<String>,
    /// Per user message its text parts.
    pub user_texts: Vec<Vec<String>>,
    /// Texts of earlier answers.
    pub assistant_texts: Vec<String>,
    /// Files with an `image/…` type.
    pub images: Vec<Attachment>,
    /// All other files.
    pub documents: Vec<Attachment>,
}

impl Wire {
    pub(super) fn read(format: Format, body: &Value) -> Self {
        let mut wire = Self::default();
        match format {
            Format::Anthropic => {
                wire.add_message("system", &body["system"]);
                wire.add_messages(&body["messages"]);
            }
            Format::Chat => wire.add_messages(&body["messages"]),
            Format::Responses => {
                wire.add_message("system", &body["instructions"]);
                if body["input"].is_string() {
                    wire.add_message("user", &body["input"]);
                } else {
                    wire.add_messages(&body["input"]);
                }
            }
            Format::Gemini => {
                wire.add_message("system", &body["systemInstruction"]["parts"]);
                for content in items(&body["contents"]) {
                    let role = content["role"].as_str().unwrap_or("user");
                    wire.add_message(role, &content["parts"]);
                }
            }
        }
        wire
    }

    fn add_messages(&mut self, messages: &Value) {
        for message in items(messages) {
            // Responses mixes messages with tool calls, which have no role.
            if let Some(role) = message["role"].as_str() {
                self.add_message(role, &message["content"]);
            }
        }
    }

    fn add_message(&mut self, role: &str, content: &Value) {
        let mut texts = Vec::new();
        match content {
            Value::String(text) if !text.is_empty() => texts.push(text.clone()),
            Value::Array(parts) => {
                for part in parts {
                    if let Some(text) = part["text"].as_str() {
                        texts.push(text.to_owned());
                    } else if let Some(attachment) = attachment(part) {
                        let is_image = attachment.mime.starts_with("image/");
                        if is_image { &mut self.images } else { &mut self.documents }
                            .push(attachment);
                    }
                }
            }
            _ => {}
        }
        match role {
            "system" | "developer" => self.system.extend(texts),
            "user" => self.user_texts.push(texts),
            _ => self.assistant_texts.extend(texts),
        }
    }

    /// All user text: parts of a message follow each other directly, messages are kept apart.
    pub fn user_text(&self) -> String {
        let messages: Vec<_> = self.user_texts.iter().map(|parts| parts.concat()).collect();
        messages.join("\u{0}")
    }

    /// All system and developer texts, kept apart.
    pub fn system_text(&self) -> String {
        self.system.join("\u{0}")
    }

    /// The block stands directly before what the user typed, as one run, and nowhere else.
    ///
    /// Engines frame a message in their own way, so the whole of it is never compared.
    #[track_caller]
    pub fn assert_block_once(&self, block: &str, display: &str) {
        let text = self.user_text();
        let run = format!("{block}\n\n{display}");
        assert_eq!(count(&text, &run), 1, "block and display text\n{}", trace(&text, &run));
        assert_eq!(count(&text, block), 1, "block alone\n{}", trace(&text, block));
        assert_eq!(count(&self.system_text(), block), 0, "block in the system prompt");
    }

    /// What the user typed arrived once, on its own, with no block before it: it starts a part or
    /// follows an engine's own framing.
    #[track_caller]
    pub fn assert_display_once(&self, display: &str) {
        let text = self.user_text();
        assert_eq!(count(&text, display), 1, "display text\n{}", trace(&text, display));
    }

    /// The instructions are in the system or developer role once, and not in a user message.
    #[track_caller]
    pub fn assert_instructions_once(&self, instructions: &str) {
        let text = self.system_text();
        assert_eq!(count(&text, instructions), 1, "system\n{}", trace(&text, instructions));
        assert_eq!(count(&self.user_text(), instructions), 0, "instructions in a user message");
    }

    /// The text is nowhere in the request, in no role.
    #[track_caller]
    pub fn assert_absent(&self, text: &str) {
        let everything = [self.system_text(), self.user_text(), self.assistant_texts.join("\u{0}")];
        assert_eq!(count(&everything.join("\u{0}"), text), 0, "{text:?} is on the wire");
    }

    /// An image with exactly these bytes went along once.
    #[track_caller]
    pub fn assert_image_bytes(&self, file: &[u8]) {
        assert_bytes_once("image", &self.images, file);
    }

    /// A document (anything but an image) with exactly these bytes went along once.
    #[track_caller]
    pub fn assert_document_bytes(&self, file: &[u8]) {
        assert_bytes_once("document", &self.documents, file);
    }
}

#[track_caller]
fn assert_bytes_once(kind: &str, found: &[Attachment], file: &[u8]) {
    let sizes: Vec<_> = found.iter().map(|a| format!("{} {}", a.mime, a.bytes.len())).collect();
    let same = found.iter().filter(|a| a.bytes == file).count();
    assert_eq!(same, 1, "{kind} of {} bytes among {sizes:?}", file.len());
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Occurrences that do not overlap.
fn count(text: &str, needle: &str) -> usize {
    text.matches(needle).count()
}

/// A file in any of the dialects: Anthropic `source`, Chat `image_url` and `file`, Responses
/// `input_image` and `input_file`, Gemini `inlineData`.
fn attachment(part: &Value) -> Option<Attachment> {
    let source = &part["source"];
    if let (Some(mime), Some(data)) = (source["media_type"].as_str(), source["data"].as_str()) {
        return decode(mime, data);
    }
    let inline = &part["inlineData"];
    if let (Some(mime), Some(data)) = (inline["mimeType"].as_str(), inline["data"].as_str()) {
        return decode(mime, data);
    }
    let places = [
        &part["image_url"]["url"],
        &part["image_url"],
        &part["file"]["file_data"],
        &part["file_data"],
    ];
    let url = places.into_iter().find_map(Value::as_str)?;
    let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    decode(mime, data)
}

fn decode(mime: &str, data: &str) -> Option<Attachment> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(data).ok()?;
    Some(Attachment { mime: mime.to_owned(), bytes })
}

/// Shows where a text of up to a megabyte stops being the expected one.
fn trace(text: &str, needle: &str) -> String {
    let longest = (0..=needle.len())
        .rev()
        .filter(|at| needle.is_char_boundary(*at))
        .find(|at| *at == 0 || (*at <= 64 && text.contains(&needle[..*at])))
        .unwrap_or(0);
    let Some(start) = text.find(&needle[..longest]).filter(|_| 0 < longest) else {
        return format!(
            "not even the first character of {:?}… is in the {} bytes beginning {:?}",
            head(needle),
            text.len(),
            head(text),
        );
    };
    let same: usize = text[start..]
        .chars()
        .zip(needle.chars())
        .take_while(|(got, wanted)| got == wanted)
        .map(|(got, _)| got.len_utf8())
        .sum();
    format!(
        "same for {same} of {} bytes from {start} of {}\n  wanted: {:?}\n     got: {:?}\n  before: {:?}",
        needle.len(),
        text.len(),
        head(&needle[same..]),
        head(&text[start + same..]),
        text[..start]
            .chars()
            .rev()
            .take(80)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect::<String>(),
    )
}

fn head(text: &str) -> String {
    text.chars().take(80).collect()
}
