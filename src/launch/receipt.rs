//! The receipt: what was delivered, how, and how that is known. Names and figures only; it has no
//! field that could hold a byte of the block.

use serde::Serialize;

use super::plan::Channels;
use crate::context::first_message::ContextReport;
use crate::context::front::FrontMark;

/// What the store keeps of a delivery.
#[derive(Debug, Clone, Serialize)]
pub struct Receipt {
    /// Version of this shape.
    pub version: u32,
    /// The engine's version, if known.
    pub engine_version: Option<String>,
    /// The ways that were taken.
    pub channels: Channels,
    /// Length of what was sent in front of the display text and with it, in bytes.
    pub sent_bytes: usize,
    /// Docs, attachments, hash, sizes.
    pub context: ContextReport,
    /// How it is known that the engine got it; `None`: not known.
    pub verified: Option<String>,
    /// The mark of what stood in front of the display text in the engine's composer, where it went
    /// that way: it may come up again from the engine's history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub front: Option<FrontMark>,
    /// This went on with an earlier session.
    pub resumed: bool,
    /// The request plugin's mark of the first message, for a later resume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_message: Option<String>,
    /// What went wrong on the way, a line each.
    pub complaints: Vec<String>,
    /// With `--retries`: the tries before this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_tries: Vec<FailedTry>,
}

/// A try that ended before the engine answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedTry {
    /// As the shell would have seen it.
    pub exit_code: u8,
    /// Why, where that is known.
    pub why: Option<String>,
}

impl Receipt {
    /// As JSON for the store and `--output json`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
