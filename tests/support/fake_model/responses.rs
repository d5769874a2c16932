//! The OpenAI Responses side of the fake model: only what an answer looks like.

use serde_json::{Value, json};

use super::{Reply, deltas, event};

pub(super) fn reply(model: &str, text: &str, streamed: bool) -> Reply {
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let item = |status: &str, content: Value| {
        json!({
            "type": "message", "id": "msg_mock", "role": "assistant",
            "status": status, "content": content,
        })
    };
    let response = |status: &str, output: Value, usage: Value| {
        json!({
            "id": "resp_mock", "object": "response", "created_at": 1_700_000_000, "status": status,
            "model": model, "output": output, "usage": usage, "error": null,
            "incomplete_details": null, "parallel_tool_calls": true, "tools": [],
        })
    };
    let done = item("completed", json!([part(text)]));
    let usage = json!({
        "input_tokens": 12, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 3, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15,
    });
    let finished = response("completed", json!([done]), usage);
    if !streamed {
        return Reply::Whole(finished);
    }
    let started = response("in_progress", json!([]), Value::Null);
    let place = |kind: &str, key: &str, value: Value| json!({"type": kind, "item_id": "msg_mock", "output_index": 0, "content_index": 0, key: value});
    let mut events = vec![
        json!({"type": "response.created", "response": started}),
        json!({"type": "response.in_progress", "response": started}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": item("in_progress", json!([]))}),
        place("response.content_part.added", "part", part("")),
    ];
    events.extend(
        deltas(text).into_iter().map(|d| place("response.output_text.delta", "delta", json!(d))),
    );
    events.extend([
        place("response.output_text.done", "text", json!(text)),
        place("response.content_part.done", "part", part(text)),
        json!({"type": "response.output_item.done", "output_index": 0, "item": done}),
        json!({"type": "response.completed", "response": finished}),
    ]);
    for (number, data) in events.iter_mut().enumerate() {
        data["sequence_number"] = json!(number);
    }
    Reply::Events(events.iter().map(|data| event(data["type"].as_str(), data)).collect())
}
