//! Cursor CLI, after documents and reports: its binary could not be tried. The sent text on stdin
//! and no positional; images over ACP, its only route for bytes; instructions at the head of the
//! block, since it has no append route.

use serde_json::Value;

use super::acp::Acp;
use super::dialogue::{Lines, answer_line, json_line, text_at};
use super::own_output::{OwnOutput, Piece};
use super::*;
use crate::launch::plan::StdinPlan;

adapter!(
    /// Cursor's CLI.
    Cursor
);

/// The option that decides what stands on stdout.
const OUTPUT_FORMAT: &str = "--output-format";
/// The method named in its documents for `authenticate`.
const LOGIN_METHOD: &str = "cursor_login";

impl Engine for Cursor {
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

    fn plan(&self, request: &LaunchRequest, first: &FirstMessage) -> Result<LaunchPlan, PlanError> {
        if !generic::by_bytes(first).is_empty() {
            let mut spec = self.spec.clone();
            spec.one_shot.args.clear();
            let resume = request.resume.clone();
            let request = LaunchRequest { resume: None, ..request.clone() };
            let mut plan = generic::base(&spec, &request, first)?;
            plan.arg("acp");
            plan.channels.message = MessageChannel::Acp;
            plan.stdin = StdinPlan::Dialogue;
            plan.engine_session = resume;
            return Ok(plan);
        }
        let mut plan = generic::base(&self.spec, request, first)?;
        generic::message(&mut plan, &self.spec, request, first.sent().to_text())?;
        Ok(plan)
    }

    fn dialogue(&self, plan: &LaunchPlan, first: &FirstMessage) -> Box<dyn Dialogue> {
        if plan.stdin == StdinPlan::Dialogue {
            let resume = plan.engine_session.clone();
            return Box::new(Acp::new(plan.cwd.clone(), resume, Some(LOGIN_METHOD), first));
        }
        // Ours is the first; one of the user's own counts in its place.
        let own = plan.args.iter().filter(|arg| is_output_format(arg)).count() > 1;
        let empty_is_failure = self.spec.one_shot.empty_is_failure;
        if own && generic::wants_json(&plan.args, &[OUTPUT_FORMAT]) {
            return Box::new(OwnOutput::new(pieces, empty_is_failure));
        } else if own {
            return Box::new(dialogue::Plain::new(empty_is_failure));
        }
        Box::new(Stream { sent: first.sent().to_text(), ..Stream::default() })
    }
}

fn is_output_format(arg: &OsString) -> bool {
    let rest = arg.to_str().and_then(|arg| arg.strip_prefix(OUTPUT_FORMAT));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// What its own JSON says, as one object or in events. One of these repeats the whole message.
fn pieces(event: &Value) -> Vec<Piece> {
    let session = text_at(event, &["session_id"]).map(|id| Piece::Session(id.to_owned()));
    let result =
        text_at(event, &["result"]).filter(|_| text_at(event, &["type"]) == Some("result"));
    let is_error = event.get("is_error").and_then(Value::as_bool) == Some(true);
    let failure = result.filter(|_| is_error).map(|text| Piece::Failure(text.to_owned()));
    let answer = result.map(|text| Piece::Whole(text.to_owned()));
    [session, failure, answer].into_iter().flatten().collect()
}

/// The events of `--output-format stream-json`. The echoed `user` event proves the delivery.
#[derive(Default)]
struct Stream {
    sent: String,
    lines: Lines,
    echoed: Option<bool>,
    reply: Option<String>,
    error: Option<String>,
    /// Plain text in place of events: how it refuses a model, a login or an untrusted folder.
    plain: String,
}

impl Dialogue for Stream {
    fn stdout(&mut self, chunk: &[u8]) -> Vec<Action> {
        let mut actions = Vec::new();
        for line in self.lines.push(chunk) {
            let Some(event) = json_line(&line) else {
                self.plain.push_str(&String::from_utf8_lossy(&line));
                self.plain.push('\n');
                continue;
            };
            match text_at(&event, &["type"]).unwrap_or_default() {
                "system" => {
                    if let Some(id) = text_at(&event, &["session_id"]) {
                        actions.push(Action::Session(id.to_owned()));
                    }
                }
                "user" => {
                    let text: String = event["message"]["content"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter_map(|part| text_at(part, &["text"]))
                        .collect();
                    self.echoed = Some(text.trim_end() == self.sent.trim_end());
                }
                "result" => {
                    let text = text_at(&event, &["result"]).unwrap_or_default().to_owned();
                    if event.get("is_error").and_then(Value::as_bool) == Some(true) {
                        self.error = Some(text.clone());
                    }
                    actions.push(answer_line(&text));
                    actions.push(Action::Done);
                    self.reply = Some(text);
                }
                _ => {}
            }
        }
        actions
    }

    fn stdout_end(&mut self) -> Vec<Action> {
        if let Some(rest) = self.lines.rest() {
            self.plain.push_str(&String::from_utf8_lossy(&rest));
        }
        // A refusal comes as plain text; it is the engine's stdout and passes as such.
        if self.reply.is_none() && !self.plain.is_empty() {
            return vec![answer_line(&self.plain)];
        }
        Vec::new()
    }

    fn verdict(&mut self, end: EngineEnd) -> Verdict {
        let failure = match (&self.error, &self.reply, self.echoed) {
            (Some(error), _, _) => Some(format!("the engine reported an error: {error}")),
            (None, None, _) if end.is_success() => {
                Some("the engine ended with code 0 and gave no result: not logged in, or the folder is not trusted (`-- --trust`)".to_owned())
            }
            (None, Some(_), Some(false)) => {
                Some("the engine echoed another text than the one that was sent".to_owned())
            }
            (None, Some(text), _) if text.trim().is_empty() => {
                Some("the engine ended with code 0 and said nothing".to_owned())
            }
            _ => None,
        };
        let verified =
            (self.echoed == Some(true)).then(|| "the engine echoed the whole text".to_owned());
        Verdict { failure, reply: self.reply.clone().unwrap_or_default(), verified }
    }
}
