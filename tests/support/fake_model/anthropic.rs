//! The Anthropic Messages side of the fake model: only what an answer looks like.

use serde_json::json;

use super::{Reply, deltas, event};

pub(super) fn reply(model: &str, text: &str, streamed: bool) -> Reply {
    let usage = json!({"input_tokens": 12, "output_tokens": 3, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0});
    let message = |content, stop_reason: Option<&str>| {
        json!({
            "id": "msg_mock", "type": "message", "role": "assistant", "model": model,
            "content": content, "stop_reason": stop_reason, "stop_sequence": null, "usage": usage,
        })
    };
    if !streamed {
        return Reply::Whole(message(json!([{"type": "text", "text": text}]), Some("end_turn")));
    }
    let mut events = vec![
        json!({"type": "message_start", "message": message(json!([]), None)}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    ];
    events.extend(deltas(text).into_iter().map(|part| {
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": part}})
    }));
    events.extend([
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": usage}),
        json!({"type": "message_stop"}),
    ]);
    Reply::Events(events.iter().map(|data| event(data["type"].as_str(), data)).collect())
}
