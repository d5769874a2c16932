//! The Agent Client Protocol as a one-shot talk: initialize, session, one prompt, its updates, the
//! end. JSON-RPC lines over the engine's pipes. It grants nothing: a request for permission is
//! answered with a refusal, since in a one-shot run there is nobody to ask.

use std::path::PathBuf;

use base64::Engine as _;
use serde_json::{Value, json};

use super::dialogue::{Action, Dialogue, EngineEnd, Lines, Verdict, json_line, text_at};
use crate::context::FirstMessage;

/// Ids of our own requests, in their order.
const INITIALIZE: u64 = 1;
const AUTHENTICATE: u64 = 2;
const SESSION: u64 = 3;
const PROMPT: u64 = 4;

/// One prompt over the protocol.
pub(super) struct Acp {
    cwd: PathBuf,
    resume: Option<String>,
    login: Option<&'static str>,
    prompt: Option<Vec<Value>>,
    session: Option<String>,
    prompted: bool,
    lines: Lines,
    reply: String,
    ended: Option<String>,
    error: Option<String>,
}

impl Acp {
    /// `login`: the method to name in `authenticate`, where the engine wants that step.
    pub(super) fn new(
        cwd: PathBuf,
        resume: Option<String>,
        login: Option<&'static str>,
        first: &FirstMessage,
    ) -> Acp {
        let prompt = Some(blocks(first));
        Acp {
            cwd,
            resume,
            login,
            prompt,
            session: None,
            prompted: false,
            lines: Lines::default(),
            reply: String::new(),
            ended: None,
            error: None,
        }
    }

    fn open_session(&self) -> Action {
        let cwd = self.cwd.to_string_lossy();
        match &self.resume {
            Some(id) => request(
                SESSION,
                "session/load",
                json!({"sessionId": id, "cwd": cwd, "mcpServers": []}),
            ),
            None => request(SESSION, "session/new", json!({"cwd": cwd, "mcpServers": []})),
        }
    }

    fn response(&mut self, id: u64, message: &Value, actions: &mut Vec<Action>) {
        if let Some(error) = message.get("error") {
            let text = text_at(error, &["message"]).unwrap_or("unknown error");
            let detail = error
                .get("data")
                .and_then(|d| d.as_str().or_else(|| text_at(d, &["details"])))
                .unwrap_or_default();
            self.error = Some(format!("{text} {detail}").trim().to_owned());
            actions.push(Action::CloseStdin);
            actions.push(Action::Done);
            return;
        }
        match (id, self.login) {
            (INITIALIZE, Some(method)) => {
                actions.push(request(AUTHENTICATE, "authenticate", json!({"methodId": method})));
            }
            (INITIALIZE, None) | (AUTHENTICATE, _) => actions.push(self.open_session()),
            (SESSION, _) => {
                let id = self
                    .resume
                    .clone()
                    .or_else(|| text_at(message, &["result", "sessionId"]).map(str::to_owned))
                    .unwrap_or_default();
                let prompt = self.prompt.take().unwrap_or_default();
                let params = json!({"sessionId": id, "prompt": prompt});
                actions.push(Action::Session(id.clone()));
                actions.push(request(PROMPT, "session/prompt", params));
                self.session = Some(id);
                self.prompted = true;
            }
            (PROMPT, _) => {
                self.ended = Some(
                    text_at(message, &["result", "stopReason"]).unwrap_or("unknown").to_owned(),
                );
                if !self.reply.is_empty() && !self.reply.ends_with('\n') {
                    actions.push(Action::Answer(b"\n".to_vec()));
                }
                actions.push(Action::CloseStdin);
                actions.push(Action::Done);
            }
            _ => {}
        }
    }

    fn call(id: &Value, method: &str, params: Option<&Value>) -> Action {
        let body = match method {
            "session/request_permission" => {
                let options = params.and_then(|p| p.get("options")).and_then(Value::as_array);
                let refuse = options.and_then(|options| {
                    options.iter().find(|o| text_at(o, &["kind"]) == Some("reject_once"))
                });
                let outcome = match refuse.and_then(|o| text_at(o, &["optionId"])) {
                    Some(option) => json!({"outcome": "selected", "optionId": option}),
                    None => json!({"outcome": "cancelled"}),
                };
                json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}})
            }
            _ => json!({"jsonrpc": "2.0", "id": id,
                        "error": {"code": -32601, "message": format!("{method} is not offered")}}),
        };
        line(&body)
    }
}

impl Dialogue for Acp {
    fn start(&mut self) -> Vec<Action> {
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}},
        });
        vec![request(INITIALIZE, "initialize", params)]
    }

    fn stdout(&mut self, chunk: &[u8]) -> Vec<Action> {
        let mut actions = Vec::new();
        for raw in self.lines.push(chunk) {
            let Some(message) = json_line(&raw) else { continue };
            match (message.get("id"), text_at(&message, &["method"])) {
                (Some(id), Some(method)) => {
                    actions.push(Acp::call(id, method, message.get("params")));
                }
                (Some(id), None) => {
                    if let Some(id) = id.as_u64() {
                        self.response(id, &message, &mut actions);
                    }
                }
                (None, Some("session/update")) if self.prompted => {
                    let update = &message["params"]["update"];
                    if text_at(update, &["sessionUpdate"]) == Some("agent_message_chunk")
                        && let Some(text) = text_at(update, &["content", "text"])
                    {
                        self.reply.push_str(text);
                        actions.push(Action::Answer(text.as_bytes().to_vec()));
                    }
                }
                _ => {}
            }
        }
        actions
    }

    fn verdict(&mut self, end: EngineEnd) -> Verdict {
        let failure = match (&self.error, self.ended.as_deref()) {
            (Some(error), _) => Some(format!("the engine reported an error: {error}")),
            (None, Some("end_turn")) => None,
            (None, Some(reason)) => Some(format!("the engine stopped with `{reason}`")),
            (None, None) if end.is_success() => {
                Some("the engine ended with code 0 before it answered".to_owned())
            }
            (None, None) => None,
        };
        let verified = self.ended.is_some().then(|| "the engine answered the prompt".to_owned());
        Verdict { failure, reply: std::mem::take(&mut self.reply), verified }
    }
}

/// The sent text first, then the bytes. A PDF goes as an "image" with its own media type: the one
/// block kind whose bytes reach the wire without text added around them.
fn blocks(first: &FirstMessage) -> Vec<Value> {
    let mut blocks = vec![json!({"type": "text", "text": first.sent().to_text()})];
    for attachment in first.auto().attachments().iter().filter(|a| a.by_path.is_none()) {
        let Ok(bytes) = std::fs::read(&attachment.path) else { continue };
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        blocks.push(json!({"type": "image", "mimeType": attachment.mime, "data": data}));
    }
    blocks
}

fn request(id: u64, method: &str, params: Value) -> Action {
    line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

fn line(value: &Value) -> Action {
    let mut bytes = value.to_string().into_bytes();
    bytes.push(b'\n');
    Action::Send(bytes)
}
