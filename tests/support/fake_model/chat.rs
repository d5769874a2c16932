//! The Chat Completions side of the fake model: only what an answer looks like.

use serde_json::{Value, json};

use super::{Reply, deltas, event};

pub(super) fn reply(model: &str, text: &str, streamed: bool) -> Reply {
    let usage = json!({"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15});
    if !streamed {
        return Reply::Whole(json!({
            "id": "chatcmpl-mock", "object": "chat.completion", "created": 1_700_000_000, "model": model,
            "choices": [{
                "index": 0, "finish_reason": "stop",
                "message": {"role": "assistant", "content": text},
            }],
            "usage": usage,
        }));
    }
    let chunk = |choices: Value, usage: Value| {
        json!({
            "id": "chatcmpl-mock", "object": "chat.completion.chunk", "created": 1_700_000_000,
            "model": model, "choices": choices, "usage": usage,
        })
    };
    let choice = |delta: Value, finish_reason: Value| json!([{"index": 0, "delta": delta, "finish_reason": finish_reason}]);
    let mut events =
        vec![chunk(choice(json!({"role": "assistant", "content": ""}), Value::Null), Value::Null)];
    events.extend(
        deltas(text)
            .into_iter()
            .map(|part| chunk(choice(json!({"content": part}), Value::Null), Value::Null)),
    );
    events.push(chunk(choice(json!({}), json!("stop")), Value::Null));
    events.push(chunk(json!([]), usage));
    let mut text: String = events.iter().map(|data| event(None, data)).collect();
    text.push_str("data: [DONE]\n\n");
    Reply::Events(text)
}
