//! The Agent Client Protocol on stdio: one JSON-RPC message per line. The only way by which
//! Cursor takes the bytes of an image. Permissions and modes are left out.

use std::io::BufRead;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::journal::{self, Entry};
use crate::options::Options;
use crate::{NOT_LOGGED_IN, chats, say};

/// A JSON-RPC error: code and message.
type Refusal = (i32, String);

pub(crate) fn run(options: &Options) -> ExitCode {
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return ExitCode::FAILURE };
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            let error = json!({"code": -32700, "message": "Parse error"});
            say(&json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string());
            continue;
        };
        let method = message["method"].as_str().unwrap_or_default();
        // Notifications (session/cancel) and answers to nothing get no answer.
        let Some(id) = message.get("id").filter(|_| !method.is_empty()) else { continue };
        let answer = match answer(options, method, &message["params"]) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err((code, text)) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})
            }
        };
        say(&answer.to_string());
    }
    ExitCode::SUCCESS
}

fn answer(options: &Options, method: &str, params: &Value) -> Result<Value, Refusal> {
    let session = || {
        json!({
            "modes": {"currentModeId": "agent", "availableModes": [
                {"id": "agent", "name": "Agent"}, {"id": "plan", "name": "Plan"}, {"id": "ask", "name": "Ask"},
            ]},
            "models": {"currentModelId": "auto", "availableModels": [{"modelId": "auto", "name": "Auto"}]},
        })
    };
    match method {
        "initialize" => Ok(json!({
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": true,
                "mcpCapabilities": {"http": true, "sse": true},
                "promptCapabilities": {"audio": false, "embeddedContext": false, "image": true},
                "sessionCapabilities": {"list": {}},
            },
            "authMethods": [{"id": "cursor_login", "name": "Cursor Login"}],
        })),
        // It answers `initialize` before anybody is logged in, and nothing more.
        _ if !crate::is_logged_in() => Err((-32000, NOT_LOGGED_IN.to_owned())),
        "authenticate" | "session/set_mode" | "session/set_config_option" => Ok(json!({})),
        "session/new" => {
            let id = chats::new_id();
            chats::leave(&options.workspace, &id);
            let mut session = session();
            session["sessionId"] = json!(id);
            Ok(session)
        }
        "session/load" => Ok(session()),
        "session/prompt" => prompt(options, params),
        _ => Err((-32601, format!("\"Method not found\": {method}"))),
    }
}

fn prompt(options: &Options, params: &Value) -> Result<Value, Refusal> {
    let blocks = params["prompt"].as_array().map_or(&[][..], Vec::as_slice);
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => texts.push(block["text"].as_str().unwrap_or_default()),
            Some("image") => {
                let data = block["data"].as_str().unwrap_or_default();
                images.push(json!({
                    "mimeType": block["mimeType"], "bytes": decoded_length(data), "data": data,
                }));
            }
            Some("resource_link") => texts.push(block["uri"].as_str().unwrap_or_default()),
            // embeddedContext is false
            other => return Err((-32602, format!("content block {other:?} is not supported"))),
        }
    }
    let text = texts.concat();
    let entry = Entry { prompt: Some(&text), source: "acp", images, ..Entry::default() };
    journal::write(options, entry);
    std::thread::sleep(crate::thinking_time());
    let update = json!({
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": crate::reply()},
    });
    let params = json!({"sessionId": params["sessionId"], "update": update});
    say(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}).to_string());
    Ok(json!({"stopReason": "end_turn"}))
}

fn decoded_length(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}
