//! Claude Code. Text goes on stdin; with attachments, or where the engine would read something into
//! the text, as stream-json content blocks. Facts: seen on 2.1.197 and 2.1.332.

use base64::Engine as _;
use serde_json::{Value, json};

use super::dialogue::{Lines, answer_line, json_line, text_at};
use super::own_output::{OwnOutput, Piece};
use super::*;
use crate::launch::plan::StdinPlan;

adapter!(
    /// Anthropic's CLI.
    Claude
);

/// The option that decides what the user gets on stdout.
const OUTPUT_FORMAT: &str = "--output-format";

impl Engine for Claude {
    fn id(&self) -> &EngineId {
        &self.id
    }

    fn catalogue(&self) -> &EngineSpec {
        &self.spec
    }

    fn first_message_auto_context(
        &self,
        snapshot: &ContextSnapshot,
        delivery: &Delivery,
    ) -> AutoContext {
        AutoContext::build(snapshot, delivery)
    }

    fn configured(&self, host: &Host) -> Configured {
        if let Some(model) = host.var("ANTHROPIC_MODEL") {
            return Configured { model: Some(model.to_owned()), window: None };
        }
        let dir = host.dir("CLAUDE_CONFIG_DIR").or_else(|| host.under_home(".claude"));
        let model = dir
            .and_then(|dir| read_config(&dir.join("settings.json")))
            .and_then(|text| serde_json::from_str::<Value>(&text).ok())
            .and_then(|settings| text_at(&settings, &["model"]).map(str::to_owned));
        Configured { model, window: None }
    }

    fn survey(&self, host: &Host, first: &FirstMessage) -> Survey {
        Survey {
            text_expands: generic::expands(first.sent().prefix(), &host.cwd),
            version: host.version.clone(),
            ..Survey::default()
        }
    }

    fn plan(&self, request: &LaunchRequest, first: &FirstMessage) -> Result<LaunchPlan, PlanError> {
        let has_bytes = !generic::by_bytes(first).is_empty();
        let mut request = request.clone();
        let blocks = has_bytes || request.survey.text_expands;
        let mut own_output = None;
        if blocks {
            // The block route fixes both formats; the user's own wish is met by the dialogue.
            (own_output, request.engine_args) =
                generic::take_option(&request.engine_args, &[OUTPUT_FORMAT]);
        }
        let mut plan = generic::base(&self.spec, &request, first)?;
        if request.resume.is_some() && first.auto().instructions().is_some() && is_newer(&request) {
            // 2.1.332 replays the recorded system prompt on a resume; 2.1.197 lacks the flag.
            plan.arg("--system-prompt-snapshot").arg("off");
        }
        if blocks {
            for arg in ["--input-format", "stream-json", OUTPUT_FORMAT, "stream-json", "--verbose"]
            {
                plan.arg(arg);
            }
            plan.channels.message = MessageChannel::StreamJson;
            plan.stdin = StdinPlan::Dialogue;
            plan.own_output = own_output;
            return Ok(plan);
        }
        let mut text = first.sent().to_text();
        if text.starts_with('/') {
            // Without a block `/word` would be looked up as a command and swallowed with rc 0; a
            // newline in front makes it text.
            text.insert(0, '\n');
        }
        generic::message(&mut plan, &self.spec, &request, text)?;
        Ok(plan)
    }

    fn plan_tui(
        &self,
        request: &LaunchRequest,
        first: &FirstMessage,
        mode: LaunchMode,
    ) -> Result<LaunchPlan, PlanError> {
        let spec = tui::spec(&self.spec);
        let mut plan = generic::base(&spec, request, first)?;
        if !is_newer(request) {
            // 2.1.197 asks for a title with the whole first message, docs and all.
            plan.env.push(("CLAUDE_CODE_DISABLE_TERMINAL_TITLE".to_owned(), "1".into()));
        } else if request.resume.is_some() && first.auto().instructions().is_some() {
            plan.arg("--system-prompt-snapshot").arg("off");
        }
        tui::message(&mut plan, &spec, request, first, mode, tui::prefix(&spec, first));
        Ok(plan)
    }

    fn dialogue(&self, plan: &LaunchPlan, first: &FirstMessage) -> Box<dyn Dialogue> {
        let empty_is_failure = self.spec.one_shot.empty_is_failure;
        if plan.stdin != StdinPlan::Dialogue {
            return match generic::wants_json(&plan.args, &[OUTPUT_FORMAT]) {
                true => Box::new(OwnOutput::new(pieces, empty_is_failure)),
                false => Box::new(dialogue::Plain::new(empty_is_failure)),
            };
        }
        let answers = match plan.own_output.as_deref() {
            Some("stream-json") => Answers::Events,
            Some("json") => Answers::Result,
            _ => Answers::Text,
        };
        Box::new(Blocks { line: user_line(first), answers, ..Blocks::default() })
    }
}

/// Whether the version is of the newer of the two tried lines; an unknown one is.
fn is_newer(request: &LaunchRequest) -> bool {
    let version = request.survey.version.as_deref();
    version.is_none_or(|v| catalogue::version_key(v) >= catalogue::version_key("2.1.300"))
}

/// The user message as one stream-json line. Only the last text block is scanned for `@file` and
/// `/command`, so the docs stand in a block of their own, and the blank line heads the last one.
/// A file that vanished meanwhile is left out: the header or the engine's own tools remain.
fn user_line(first: &FirstMessage) -> Vec<u8> {
    let mut content = Vec::new();
    for attachment in first.auto().attachments().iter().filter(|a| a.by_path.is_none()) {
        let Ok(bytes) = std::fs::read(&attachment.path) else { continue };
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        let source = json!({"type": "base64", "media_type": attachment.mime, "data": data});
        content.push(if attachment.kind == "pdf" {
            json!({"type": "document", "source": source, "title": attachment.shown})
        } else {
            json!({"type": "image", "source": source})
        });
    }
    let prefix = first.sent().prefix();
    let display = first.display().as_str();
    match prefix.strip_suffix("\n\n") {
        Some(block) => {
            content.push(json!({"type": "text", "text": block}));
            content.push(json!({"type": "text", "text": format!("\n\n{display}")}));
        }
        None if display.starts_with('/') => {
            content.push(json!({"type": "text", "text": format!("\n{display}")}));
        }
        None => content.push(json!({"type": "text", "text": display})),
    }
    let message = json!({"type": "user", "message": {"role": "user", "content": content}});
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// What its own JSON says, whole or in events.
fn pieces(event: &Value) -> Vec<Piece> {
    let text = |key| text_at(event, &[key]).map(str::to_owned);
    if text_at(event, &["type"]) != Some("result") {
        return text("session_id").map(Piece::Session).into_iter().collect();
    }
    let result = text("result").unwrap_or_default();
    let is_error = event.get("is_error").and_then(Value::as_bool) == Some(true);
    let failure = is_error.then(|| Piece::Failure(result.clone()));
    let session = text("session_id").map(Piece::Session);
    session.into_iter().chain(failure).chain([Piece::Whole(result)]).collect()
}

/// What the user gets on stdout.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Answers {
    #[default]
    Text,
    /// `--output-format json`: the object that is the last event of `stream-json`.
    Result,
    /// `--output-format stream-json`: all events.
    Events,
}

/// The stream-json talk. stdin stays open until the `result` event: 2.1.197 drops a message with
/// blocks when it ends at once.
#[derive(Default)]
struct Blocks {
    line: Vec<u8>,
    answers: Answers,
    lines: Lines,
    reply: Option<String>,
    error: Option<String>,
}

impl Dialogue for Blocks {
    fn start(&mut self) -> Vec<Action> {
        vec![Action::Send(std::mem::take(&mut self.line))]
    }

    fn stdout(&mut self, chunk: &[u8]) -> Vec<Action> {
        let mut actions = Vec::new();
        for line in self.lines.push(chunk) {
            let Some(event) = json_line(&line) else { continue };
            let kind = text_at(&event, &["type"]);
            if self.answers == Answers::Events
                || self.answers == Answers::Result && kind == Some("result")
            {
                actions.push(Action::Answer([line.as_slice(), b"\n"].concat()));
            }
            match kind {
                Some("system") => {
                    if let Some(id) = text_at(&event, &["session_id"]) {
                        actions.push(Action::Session(id.to_owned()));
                    }
                }
                Some("result") => {
                    let text = text_at(&event, &["result"]).unwrap_or_default().to_owned();
                    if self.answers == Answers::Text {
                        actions.push(answer_line(&text));
                    }
                    if event.get("is_error").and_then(Value::as_bool) == Some(true) {
                        self.error = Some(text.clone());
                    }
                    self.reply = Some(text);
                    actions.push(Action::CloseStdin);
                    actions.push(Action::Done);
                }
                _ => {}
            }
        }
        actions
    }

    fn verdict(&mut self, end: EngineEnd) -> Verdict {
        let failure = match (&self.error, &self.reply) {
            (Some(error), _) => Some(format!("the engine reported an error: {error}")),
            (None, None) if end.is_success() => {
                Some("the engine ended with code 0 and gave no result".to_owned())
            }
            (None, Some(text)) if text.trim().is_empty() && end.is_success() => {
                Some("the engine ended with code 0 and said nothing".to_owned())
            }
            _ => None,
        };
        Verdict { failure, reply: self.reply.clone().unwrap_or_default(), verified: None }
    }
}
