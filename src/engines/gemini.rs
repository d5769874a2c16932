//! Gemini CLI. The sent text on stdin; over ACP where there are attachments or where the text holds
//! an `@`, because the engine rewrites every `@` of the message once one of them names a file. Instructions
//! ride in a per-launch settings folder made of links. Facts: seen on 0.61.0.

use std::path::Path;

use serde_json::Value;

use super::acp::Acp;
use super::conversation::{self, Line, files_below, search_files};
use super::dialogue::{Lines, json_line, text_at};
use super::own_output::{OwnOutput, Piece};
use super::*;
use crate::launch::plan::{CarryBack, RunContents, RunFile, StdinPlan};

adapter!(
    /// Google's CLI.
    Gemini
);

/// The variable that moves the folder which holds `.gemini`.
const HOME_VARIABLE: &str = "GEMINI_CLI_HOME";
/// The user-level instruction file: its text lands at the end of the system instruction.
const INSTRUCTION_FILE: &str = "GEMINI.md";
/// Folders that the engine makes at its first start. They are made in the real place before the
/// links, or history and sessions would land in the overlay and be lost with it.
const ENGINE_FOLDERS: [&str; 2] = ["tmp", "history"];
/// The output options, long and short.
const OUTPUT: [&str; 2] = ["-o", "--output-format"];
/// The one that we use: the answer in pieces.
const OURS: [&str; 2] = ["-o", "stream-json"];

impl Engine for Gemini {
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
        if let Some(model) = host.var("GEMINI_MODEL") {
            return Configured { model: Some(model.to_owned()), window: None };
        }
        let model = settings_dir(host)
            .and_then(|dir| read_config(&dir.join("settings.json")))
            .and_then(|text| serde_json::from_str::<Value>(&text).ok())
            .and_then(|settings| text_at(&settings, &["model", "name"]).map(str::to_owned));
        Configured { model, window: None }
    }

    fn survey(&self, host: &Host, first: &FirstMessage) -> Survey {
        let config_dir = settings_dir(host);
        let entries = config_dir
            .as_ref()
            .and_then(|dir| std::fs::read_dir(dir).ok())
            .map(|entries| entries.flatten().map(|entry| entry.file_name()).collect())
            .unwrap_or_default();
        let own = config_dir.as_ref().and_then(|dir| read_config(&dir.join(INSTRUCTION_FILE)));
        Survey {
            config_dir,
            entries,
            own_instructions: own,
            // It looks an `@name` up in all folders below, so any of them may be a file.
            text_expands: first.sent().to_text().contains('@'),
            ..Survey::default()
        }
    }

    fn plan(&self, request: &LaunchRequest, first: &FirstMessage) -> Result<LaunchPlan, PlanError> {
        let acp = request.survey.text_expands || !generic::by_bytes(first).is_empty();
        let mut request = request.clone();
        let mut spec = self.spec.clone();
        let mut own_output = None;
        if acp {
            // Over ACP the session is opened or loaded by a request, and the output is ours.
            spec.one_shot.session_args.clear();
            (own_output, request.engine_args) = generic::take_option(&request.engine_args, &OUTPUT);
        }
        if !acp && !generic::has_option(&request.engine_args, &OUTPUT) {
            spec.one_shot.args.extend(OURS.map(str::to_owned));
        }
        let resume = request.resume.clone().filter(|_| acp);
        if acp {
            request.resume = None;
        }
        let mut plan = generic::base(&spec, &request, first)?;
        if let Some(ours) = first.auto().instructions() {
            self.overlay(&mut plan, &request, ours);
        }
        if acp {
            if let Some(format) = own_output.filter(|format| format != "text") {
                plan.warnings.push(format!(
                    "with attachments, or an `@` in the text, gemini is spoken to over ACP, which has \
                     no `--output-format {format}`: the answer is plain text; `--output json` is \
                     omni-run's own"
                ));
            }
            plan.arg("--acp");
            plan.channels.message = MessageChannel::Acp;
            plan.stdin = StdinPlan::Dialogue;
            plan.engine_session = resume;
            return Ok(plan);
        }
        generic::message(&mut plan, &spec, &request, first.sent().to_text())?;
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
        if let Some(ours) = first.auto().instructions() {
            self.overlay(&mut plan, request, ours);
        }
        // A file outside the workspace opens a dialog; its folder is part of it for this launch.
        let mut folders: Vec<_> =
            generic::by_bytes(first).iter().filter_map(|p| Some(p.parent()?.to_owned())).collect();
        folders.dedup();
        for folder in folders {
            plan.arg("--include-directories").arg(folder);
        }
        tui::message(&mut plan, &spec, request, first, mode, tui::prefix(&spec, first));
        Ok(plan)
    }

    /// A folder for each project, with a file for each conversation in its `chats`.
    fn kept_in(&self, host: &Host) -> Option<PathBuf> {
        Some(settings_dir(host)?.join("tmp"))
    }

    fn look_up(&self, host: &Host, query: &Query<'_>) -> Answer {
        let Some(folder) = self.kept_in(host).filter(|folder| folder.is_dir()) else {
            return Answer::Unknown;
        };
        let mut files = files_below(&folder, 2, ".jsonl");
        files.retain(|file| {
            let chats = file.parent().filter(|dir| dir.ends_with("chats"));
            let project = chats.and_then(Path::parent);
            let root = project.and_then(|dir| read_config(&dir.join(".project_root")));
            chats.is_some() && root.is_none_or(|root| query.is_cwd(root.trim()))
        });
        // A name has only the head of the id.
        search_files(
            query,
            files,
            |_| None,
            |line| {
                if let Some(id) = text_at(line, &["sessionId"]) {
                    return vec![Line::Head { id: Some(id.to_owned()), cwd: None }];
                }
                let set = line["$set"]["messages"].as_array();
                let messages = set.map_or(std::slice::from_ref(line), Vec::as_slice);
                let users = messages.iter().filter(|m| text_at(m, &["type"]) == Some("user"));
                users
                    .map(|m| Line::User {
                        texts: conversation::texts(&m["content"]),
                        at: conversation::time(&m["timestamp"]),
                    })
                    .collect()
            },
        )
    }

    fn dialogue(&self, plan: &LaunchPlan, first: &FirstMessage) -> Box<dyn Dialogue> {
        if plan.stdin == StdinPlan::Dialogue {
            let resume = plan.engine_session.clone();
            return Box::new(Acp::new(plan.cwd.clone(), resume, None, first));
        }
        // Ours stands behind the catalogue's; the user's own arguments come last.
        let ours = plan.args.iter().skip(self.spec.one_shot.args.len()).take(OURS.len());
        if ours.eq(OURS.iter()) {
            return Box::new(Stream::default());
        }
        let empty_is_failure = self.spec.one_shot.empty_is_failure;
        if generic::wants_json(&plan.args, &OUTPUT) {
            return Box::new(OwnOutput::new(pieces, empty_is_failure));
        }
        Box::new(dialogue::Plain::new(empty_is_failure))
    }
}

impl Gemini {
    /// A settings folder for this launch: links to all that the user's holds, and an instruction
    /// file of its own with the user's text and ours.
    fn overlay(&self, plan: &mut LaunchPlan, request: &LaunchRequest, ours: &str) {
        let Some(real) = &request.survey.config_dir else { return };
        let overlay = request.run_dir.join("home/.gemini");
        for name in ENGINE_FOLDERS {
            plan.files.push(RunFile { path: real.join(name), contents: RunContents::Dir });
        }
        plan.files.push(RunFile { path: overlay.clone(), contents: RunContents::Dir });
        let mut names: Vec<&Path> = request.survey.entries.iter().map(Path::new).collect();
        names.extend(ENGINE_FOLDERS.map(Path::new));
        names.sort();
        names.dedup();
        for name in names.into_iter().filter(|name| *name != Path::new(INSTRUCTION_FILE)) {
            let contents = RunContents::Link(real.join(name));
            plan.files.push(RunFile { path: overlay.join(name), contents });
        }
        let text = match &request.survey.own_instructions {
            Some(own) => format!("{}\n\n{ours}", own.trim_end()),
            None => ours.to_owned(),
        };
        plan.file(overlay.join(INSTRUCTION_FILE), text);
        plan.env.push((HOME_VARIABLE.to_owned(), request.run_dir.join("home").into()));
        plan.carry_back = Some(CarryBack {
            from: overlay,
            to: real.clone(),
            ours: vec![INSTRUCTION_FILE.into()],
        });
    }
}

fn settings_dir(host: &Host) -> Option<PathBuf> {
    host.dir(HOME_VARIABLE).or_else(|| host.home.clone()).map(|home| home.join(".gemini"))
}

/// What its own JSON says, as one object or in events. One of these repeats the whole message.
fn pieces(event: &Value) -> Vec<Piece> {
    let text = |path: &[&str]| text_at(event, path).map(str::to_owned);
    let answer = match text_at(event, &["type"]) {
        Some("message") if text_at(event, &["role"]) == Some("assistant") => {
            text(&["content"]).map(Piece::Text)
        }
        Some(_) => None,
        None => text(&["response"]).map(Piece::Whole),
    };
    let failure = text(&["error", "message"]).map(Piece::Failure);
    let session = text(&["session_id"]).map(Piece::Session);
    [session, answer, failure].into_iter().flatten().collect()
}

/// The events of `-o stream-json`: the answer comes in deltas.
#[derive(Default)]
struct Stream {
    lines: Lines,
    reply: String,
    result: Option<bool>,
    error: Option<String>,
}

impl Dialogue for Stream {
    fn stdout(&mut self, chunk: &[u8]) -> Vec<Action> {
        let mut actions = Vec::new();
        for line in self.lines.push(chunk) {
            let Some(event) = json_line(&line) else { continue };
            match text_at(&event, &["type"]).unwrap_or_default() {
                "init" => {
                    if let Some(id) = text_at(&event, &["session_id"]) {
                        actions.push(Action::Session(id.to_owned()));
                    }
                }
                "message" if text_at(&event, &["role"]) == Some("assistant") => {
                    let text = text_at(&event, &["content"]).unwrap_or_default();
                    self.reply.push_str(text);
                    actions.push(Action::Answer(text.as_bytes().to_vec()));
                }
                "error" => {
                    let text = text_at(&event, &["message"]).unwrap_or("unknown error");
                    actions.push(Action::Complaint(text.to_owned()));
                }
                "result" => {
                    self.result = Some(text_at(&event, &["status"]) == Some("success"));
                    self.error = text_at(&event, &["error", "message"]).map(str::to_owned);
                    if !self.reply.is_empty() && !self.reply.ends_with('\n') {
                        actions.push(Action::Answer(b"\n".to_vec()));
                    }
                }
                _ => {}
            }
        }
        actions
    }

    fn verdict(&mut self, end: EngineEnd) -> Verdict {
        let failure = match (self.result, &self.error) {
            (Some(false), error) => Some(format!(
                "the engine reported an error: {}",
                error.as_deref().unwrap_or("no reason given")
            )),
            (None, _) if end.is_success() && self.lines.rest().is_some() => {
                // It exits without waiting for its own writes.
                Some("the engine ended with code 0 in the middle of a line of its output, and what followed is lost; send it again".to_owned())
            }
            (None, _) if end.is_success() => {
                // Seen for a text over the window and for a signal while the model works.
                Some("the engine ended with code 0 and gave no result; it does so when the text is over its window".to_owned())
            }
            (Some(true), _) if self.reply.trim().is_empty() => {
                Some("the engine ended with code 0 and said nothing".to_owned())
            }
            _ => None,
        };
        Verdict { failure, reply: std::mem::take(&mut self.reply), verified: None }
    }
}
