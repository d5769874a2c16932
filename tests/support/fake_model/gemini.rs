//! The Gemini side of the fake model: only what an answer looks like.

use serde_json::{Value, json};

use super::{Reply, deltas, event};

pub(super) fn reply(model: &str, text: &str, streamed: bool) -> Reply {
    let answer = |text: &str, finish_reason: Value| {
        let mut candidate =
            json!({"index": 0, "content": {"role": "model", "parts": [{"text": text}]}});
        if !finish_reason.is_null() {
            candidate["finishReason"] = finish_reason;
        }
        json!({
            "candidates": [candidate], "modelVersion": model, "responseId": "mock",
            "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 3, "totalTokenCount": 15},
        })
    };
    if !streamed {
        return Reply::Whole(answer(text, json!("STOP")));
    }
    let mut parts = deltas(text);
    let last = parts.pop().unwrap_or_default();
    let mut events: Vec<_> = parts.into_iter().map(|part| answer(part, Value::Null)).collect();
    events.push(answer(last, json!("STOP")));
    Reply::Events(events.iter().map(|data| event(None, data)).collect())
}
