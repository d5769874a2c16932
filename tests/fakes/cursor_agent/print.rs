//! Print mode: one prompt, one answer, in the three output formats.

use std::io::Read;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::journal::{self, Entry};
use crate::options::{Format, Options};
use crate::{MODELS, NOT_LOGGED_IN, chats, say, say_error};

pub(crate) fn run(options: &Options) -> ExitCode {
    if let Some(refusal) = refuse(options) {
        journal::write(options, Entry::default());
        return refusal;
    }
    // The key fact: with a positional, stdin is not read at all, and nobody is told.
    let (prompt, source, stdin_bytes) = if options.prompt.is_empty() {
        let mut bytes = Vec::new();
        if let Err(error) = std::io::stdin().read_to_end(&mut bytes) {
            say_error(&format!("Error: {error}"));
            return ExitCode::FAILURE;
        }
        let text = String::from_utf8_lossy(&bytes);
        (text.strip_suffix('\n').unwrap_or(&text).to_owned(), "stdin", bytes.len())
    } else {
        (options.prompt.clone(), "argv", 0)
    };
    if prompt.is_empty() {
        say_error("Error: No prompt provided for print mode");
        journal::write(options, Entry { stdin_bytes, ..Entry::default() });
        return ExitCode::FAILURE;
    }
    let entry = Entry { prompt: Some(&prompt), source, stdin_bytes, ..Entry::default() };
    journal::write(options, entry);

    let session = options.resume.clone().unwrap_or_else(chats::new_id);
    chats::leave(&options.workspace, &session);
    answer(options, &prompt, &session);
    ExitCode::SUCCESS
}

/// What keeps a run from starting, in the order that the real one checks it.
fn refuse(options: &Options) -> Option<ExitCode> {
    if let Some(model) = &options.model
        && !MODELS.iter().any(|(id, _)| id == model)
    {
        let known: Vec<_> = MODELS.iter().map(|(id, _)| *id).collect();
        say(&format!("Cannot use this model: {model}. Available models: {}", known.join(", ")));
        return Some(ExitCode::FAILURE);
    }
    if !crate::is_logged_in() {
        say_error(NOT_LOGGED_IN);
        return Some(ExitCode::FAILURE);
    }
    if !crate::is_trusted() && !options.trust && !options.force {
        say_error(&format!(
            "⚠ Workspace Trust Required\n\n  {}\n\n  Pass --trust, --yolo, or -f if you trust this directory",
            options.workspace.display()
        ));
        let code = std::env::var("FAKE_CURSOR_TRUST_EXIT").ok().and_then(|code| code.parse().ok());
        return Some(ExitCode::from(code.unwrap_or(1)));
    }
    if options.partial && options.format != Format::StreamJson {
        say_error("Error: --stream-partial-output needs --output-format stream-json");
        return Some(ExitCode::FAILURE);
    }
    None
}

fn answer(options: &Options, prompt: &str, session: &str) {
    let reply = crate::reply();
    let is_stream = options.format == Format::StreamJson;
    let emit = |mut value: Value| {
        if is_stream {
            value["session_id"] = json!(session);
            say(&value.to_string());
        }
    };
    let message =
        |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "text": text}]});
    emit(json!({
        "type": "system", "subtype": "init", "apiKeySource": "login",
        "cwd": options.workspace, "model": "Auto",
        "permissionMode": if options.force { "force" } else { "default" },
    }));
    emit(json!({"type": "user", "message": message("user", prompt)}));
    emit(json!({"type": "thinking", "subtype": "delta", "text": "…", "timestamp_ms": now()}));
    std::thread::sleep(crate::thinking_time());
    emit(json!({"type": "thinking", "subtype": "completed", "timestamp_ms": now()}));
    if options.partial {
        for word in reply.split_inclusive(['-', ' ']) {
            let delta = message("assistant", word);
            emit(json!({"type": "assistant", "message": delta, "timestamp_ms": now()}));
        }
    }
    emit(json!({"type": "assistant", "message": message("assistant", &reply)}));
    let result = json!({
        "type": "result", "subtype": "success", "duration_ms": 1, "duration_api_ms": 1,
        "is_error": false, "result": reply, "session_id": session,
        "request_id": chats::new_id(),
        "usage": {"inputTokens": 12, "outputTokens": 3, "cacheReadTokens": 0, "cacheWriteTokens": 0},
    });
    match options.format {
        Format::Text => say(&reply),
        Format::Json | Format::StreamJson => say(&result.to_string()),
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
