//! Codex. The sent text on stdin, events on stdout; instructions as one config value, since no
//! option takes a file. Facts: seen on 0.171.0.

use serde_json::Value;

use super::conversation::{self, Line, files_below, search_files};
use super::dialogue::{Lines, answer_line, json_line, text_at};
use super::*;

adapter!(
    /// OpenAI's CLI.
    Codex
);

/// The config key that appends a developer message.
const INSTRUCTIONS_KEY: &str = "developer_instructions";
/// The option that prints events in place of the answer.
const EVENTS: &str = "--json";
/// The engine refuses a longer turn with "input_too_large", in characters.
const MOST_CHARACTERS: usize = 1_048_576;

impl Codex {
    /// Adds the instructions, the user's own joined with ours, as a config value. Returns what has
    /// to stand at the head of the message instead, where one argument cannot hold them.
    fn instructions(
        &self,
        plan: &mut LaunchPlan,
        request: &LaunchRequest,
        first: &FirstMessage,
        given: Option<String>,
    ) -> String {
        let own = given.clone().or_else(|| request.survey.own_instructions.clone());
        let joined = match (first.auto().instructions(), own, given) {
            (Some(ours), Some(own), _) => format!("{own}\n\n{ours}"),
            (Some(ours), None, _) => ours.to_owned(),
            (None, _, Some(given)) => given,
            (None, _, None) => return String::new(),
        };
        let value = format!("{INSTRUCTIONS_KEY}={}", toml::Value::from(joined.as_str()));
        if value.len() <= ARGUMENT_LIMIT {
            let shown = format!("{INSTRUCTIONS_KEY}=<{} bytes>", joined.len());
            plan.arg("-c").text_arg(value, shown);
            return String::new();
        }
        // One argument cannot hold them, and nothing may be cut: head of the block.
        plan.channels.instructions = InstructionChannel::HeadOfBlock;
        if request.resume.is_some() {
            // There they stand in the conversation already.
            return String::new();
        }
        plan.warnings.push(format!(
            "instructions of {} bytes are over what one argument of {} holds; they stand at the \
             head of the first message instead",
            value.len(),
            self.spec.name
        ));
        first.auto().instructions().map(|ours| format!("{ours}\n\n")).unwrap_or_default()
    }

    fn config(&self, host: &Host) -> Option<toml::Table> {
        toml::from_str(&read_config(&home(host)?.join("config.toml"))?).ok()
    }
}

fn home(host: &Host) -> Option<PathBuf> {
    host.dir("CODEX_HOME").or_else(|| host.under_home(".codex"))
}

impl Engine for Codex {
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
        let config = self.config(host).unwrap_or_default();
        Configured {
            model: config.get("model").and_then(|v| v.as_str()).map(str::to_owned),
            window: config
                .get("model_context_window")
                .and_then(toml::Value::as_integer)
                .and_then(|n| u64::try_from(n).ok()),
        }
    }

    fn survey(&self, host: &Host, _first: &FirstMessage) -> Survey {
        // The option overwrites the user's own value, so that has to be repeated in ours.
        let own =
            self.config(host).and_then(|c| c.get(INSTRUCTIONS_KEY)?.as_str().map(str::to_owned));
        Survey { own_instructions: own, ..Survey::default() }
    }

    fn plan(&self, request: &LaunchRequest, first: &FirstMessage) -> Result<LaunchPlan, PlanError> {
        let mut request = request.clone();
        let given = take_instructions(&mut request.engine_args);
        // `resume ID` is a subcommand of `exec`: it follows exec's own options.
        let resume = request.resume.take();
        let mut spec = self.spec.clone();
        if request.engine_args.iter().any(|arg| arg == EVENTS) {
            // The engine refuses it twice.
            spec.one_shot.args.retain(|arg| arg != EVENTS);
        }
        let mut plan = generic::base(&spec, &request, first)?;
        let head = self.instructions(&mut plan, &request, first, given);
        let text = format!("{head}{}", first.sent().to_text());
        if let Some(id) = resume {
            plan.arg("resume").arg(&id);
            plan.engine_session = Some(id);
        }
        let characters = text.chars().count();
        if characters > MOST_CHARACTERS {
            return Err(PlanError::TooLong {
                engine: self.spec.name.clone(),
                size: characters,
                limit: MOST_CHARACTERS,
                channel: "one turn (in characters)",
            });
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
        let mut request = request.clone();
        let given = take_instructions(&mut request.engine_args);
        let spec = tui::spec(&self.spec);
        let mut plan = generic::base(&spec, &request, first)?;
        let head = self.instructions(&mut plan, &request, first, given);
        let prefix = format!("{head}{}", tui::prefix(&spec, first));
        tui::message(&mut plan, &spec, &request, first, mode, prefix);
        Ok(plan)
    }

    /// One rollout file for each conversation, by year, month and day.
    fn kept_in(&self, host: &Host) -> Option<PathBuf> {
        Some(home(host)?.join("sessions"))
    }

    fn look_up(&self, host: &Host, query: &Query<'_>) -> Answer {
        let Some(folder) = self.kept_in(host).filter(|folder| folder.is_dir()) else {
            return Answer::Unknown;
        };
        // `rollout-<time>-<id>.jsonl`; the id is a UUID.
        let by_name = |file: &Path| {
            let stem = file.file_stem()?.to_str()?;
            Some(stem.get(stem.len().checked_sub(36)?..)?.to_owned())
        };
        search_files(query, files_below(&folder, 3, ".jsonl"), by_name, |line| {
            let payload = &line["payload"];
            match (text_at(line, &["type"]), text_at(payload, &["role"])) {
                (Some("session_meta"), _) => {
                    let text = |key| text_at(payload, &[key]).map(str::to_owned);
                    vec![Line::Head { id: text("id"), cwd: text("cwd") }]
                }
                (Some("response_item"), Some("user")) => vec![Line::User {
                    texts: conversation::texts(&payload["content"]),
                    at: conversation::time(&line["timestamp"]),
                }],
                _ => vec![Line::Other],
            }
        })
    }

    fn dialogue(&self, plan: &LaunchPlan, _first: &FirstMessage) -> Box<dyn Dialogue> {
        // In its place it is ours; elsewhere the user wants the events themselves.
        let ours = self.spec.one_shot.args.iter().position(|arg| arg == EVENTS);
        let raw = ours.is_none_or(|at| plan.args.get(at).is_none_or(|arg| arg != EVENTS));
        Box::new(Events { raw, ..Events::default() })
    }
}

/// Takes `-c developer_instructions=…` out of the user's own arguments, which would replace ours.
fn take_instructions(args: &mut Vec<OsString>) -> Option<String> {
    let key = format!("{INSTRUCTIONS_KEY}=");
    let at = args.iter().position(|arg| arg.to_str().is_some_and(|arg| arg.starts_with(&key)))?;
    let flag = at.checked_sub(1).filter(|i| args[*i] == "-c" || args[*i] == "--config")?;
    let value = args.remove(at).into_string().ok()?;
    args.remove(flag);
    let value = value.strip_prefix(&key)?.to_owned();
    // As the engine reads it: TOML, else the raw string.
    let parsed = toml::from_str::<toml::Table>(&format!("v = {value}")).ok();
    Some(parsed.and_then(|t| t.get("v")?.as_str().map(str::to_owned)).unwrap_or(value))
}

/// The events of `--json`. The plain mode prints only the last message; so do we.
#[derive(Default)]
struct Events {
    lines: Lines,
    /// The user asked for the events themselves.
    raw: bool,
    reply: String,
    completed: bool,
    error: Option<String>,
}

impl Dialogue for Events {
    fn stdout(&mut self, chunk: &[u8]) -> Vec<Action> {
        let mut actions = Vec::new();
        if self.raw {
            actions.push(Action::Answer(chunk.to_vec()));
        }
        for line in self.lines.push(chunk) {
            let Some(event) = json_line(&line) else { continue };
            match text_at(&event, &["type"]).unwrap_or_default() {
                "thread.started" => {
                    if let Some(id) = text_at(&event, &["thread_id"]) {
                        actions.push(Action::Session(id.to_owned()));
                    }
                }
                "item.completed" if text_at(&event, &["item", "type"]) == Some("agent_message") => {
                    text_at(&event, &["item", "text"])
                        .unwrap_or_default()
                        .clone_into(&mut self.reply);
                }
                "turn.completed" => {
                    self.completed = true;
                    if !self.raw {
                        actions.push(answer_line(&self.reply));
                    }
                }
                "turn.failed" => {
                    self.error = text_at(&event, &["error", "message"]).map(str::to_owned);
                }
                "error" => {
                    let message = event.get("message").and_then(Value::as_str).unwrap_or_default();
                    actions.push(Action::Complaint(message.to_owned()));
                }
                _ => {}
            }
        }
        actions
    }

    fn verdict(&mut self, end: EngineEnd) -> Verdict {
        let failure = match &self.error {
            Some(error) => Some(format!("the engine reported an error: {error}")),
            None if end.is_success() && !self.completed => {
                Some("the engine ended with code 0 and completed no turn".to_owned())
            }
            None => None,
        };
        Verdict { failure, reply: self.reply.clone(), verified: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_value_is_taken_out_and_read_as_toml() {
        let mut args: Vec<OsString> =
            ["-s", "read-only", "-c", r#"developer_instructions="a\nb""#, "-v"]
                .map(Into::into)
                .into();
        assert_eq!(take_instructions(&mut args).as_deref(), Some("a\nb"));
        assert_eq!(args, ["-s", "read-only", "-v"].map(OsString::from));
        let mut bare: Vec<OsString> =
            ["-c", "developer_instructions=plain words"].map(Into::into).into();
        assert_eq!(take_instructions(&mut bare).as_deref(), Some("plain words"));
    }

    #[test]
    fn the_last_message_is_the_answer_and_a_failed_turn_is_a_failure() {
        let mut events = Events::default();
        let actions = events.stdout(
            b"{\"type\":\"thread.started\",\"thread_id\":\"T\"}\n{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"one\"}}\n{\"type\":\"turn.completed\"}\n",
        );
        assert_eq!(actions, [Action::Session("T".into()), Action::Answer(b"one\n".to_vec())]);
        let ok = EngineEnd { code: Some(0), signal: None };
        assert_eq!(events.verdict(ok).failure, None);
        assert!(Events::default().verdict(ok).failure.is_some(), "nothing came");
    }
}
