//! Pi. The display text on stdin; a plugin puts the block in front on the wire and the exact text in
//! place of the one that the engine trims. Facts: seen on 0.73.1.

use serde_json::Value;

use super::conversation::{self, Line, files_below, search_files};
use super::dialogue::text_at;
use super::own_output::{OwnOutput, Piece};
use super::request_plugin::Orders;
use super::*;

adapter!(
    /// The coding agent by Mario Zechner.
    Pi
);

/// The extension.
const PLUGIN: &str = include_str!("plugins/pi.js");
/// The user's own appended instructions: our flag suppresses the file, so it is passed as well.
const OWN_INSTRUCTIONS: &str = "APPEND_SYSTEM.md";

fn agent_dir(host: &Host) -> Option<PathBuf> {
    host.dir("PI_CODING_AGENT_DIR").or_else(|| host.under_home(".pi/agent"))
}

fn read_json(path: &Path) -> Option<Value> {
    serde_json::from_str(&read_config(path)?).ok()
}

impl Engine for Pi {
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
        let Some(dir) = agent_dir(host) else { return Configured::default() };
        let settings = read_json(&dir.join("settings.json")).unwrap_or_default();
        let model = text_at(&settings, &["defaultModel"]).map(str::to_owned);
        let provider = text_at(&settings, &["defaultProvider"]);
        // A model of the user's own, with the window that he gave it or the engine's default.
        let models = read_json(&dir.join("models.json")).unwrap_or_default();
        let own = provider
            .and_then(|p| models["providers"][p]["models"].as_array())
            .and_then(|list| list.iter().find(|m| text_at(m, &["id"]) == model.as_deref()));
        let window = own.map(|m| m["contextWindow"].as_u64().unwrap_or(self.spec.default_window));
        Configured { model, window }
    }

    fn survey(&self, host: &Host, _first: &FirstMessage) -> Survey {
        let own = [Some(host.cwd.join(".pi")), agent_dir(host)]
            .into_iter()
            .flatten()
            .map(|dir| dir.join(OWN_INSTRUCTIONS))
            .find(|path| path.is_file());
        Survey { own_files: own.into_iter().collect(), ..Survey::default() }
    }

    fn plan(&self, request: &LaunchRequest, first: &FirstMessage) -> Result<LaunchPlan, PlanError> {
        let mut plan = generic::base(&self.spec, request, first)?;
        self.plugin(&mut plan, request, first, true);
        generic::message(&mut plan, &self.spec, request, first.display().as_str().to_owned())?;
        Ok(plan)
    }

    fn plan_tui(
        &self,
        request: &LaunchRequest,
        first: &FirstMessage,
        mode: LaunchMode,
    ) -> Result<LaunchPlan, PlanError> {
        let mut plan = generic::base(&tui::spec(&self.spec), request, first)?;
        self.plugin(&mut plan, request, first, mode == LaunchMode::Prompted);
        tui::plugin_message(&mut plan, &self.spec, first, mode);
        Ok(plan)
    }

    /// A folder for each working folder, with a file for each conversation.
    fn kept_in(&self, host: &Host) -> Option<PathBuf> {
        let own = host.dir("PI_CODING_AGENT_SESSION_DIR");
        own.or_else(|| Some(agent_dir(host)?.join("sessions")))
    }

    fn look_up(&self, host: &Host, query: &Query<'_>) -> Answer {
        let Some(folder) = self.kept_in(host).filter(|folder| folder.is_dir()) else {
            return Answer::Unknown;
        };
        let mut files = files_below(&folder, 1, ".jsonl");
        files.extend(files_below(&folder, 0, ".jsonl"));
        let answer = search_files(
            query,
            files,
            |_| None,
            |line| match text_at(line, &["type"]) {
                Some("session") => {
                    let text = |key| text_at(line, &[key]).map(str::to_owned);
                    vec![Line::Head { id: text("id"), cwd: text("cwd") }]
                }
                Some("message") if text_at(line, &["message", "role"]) == Some("user") => {
                    vec![Line::User {
                        texts: conversation::texts(&line["message"]["content"]),
                        at: conversation::time(&line["message"]["timestamp"]),
                    }]
                }
                _ => vec![Line::Other],
            },
        );
        match answer {
            // The file is written with the first answer, not with the message.
            Answer::Absent => Answer::Unknown,
            Answer::There { id, has_message: Some(false) } => {
                Answer::There { id, has_message: None }
            }
            answer => answer,
        }
    }

    fn dialogue(&self, plan: &LaunchPlan, _first: &FirstMessage) -> Box<dyn Dialogue> {
        let empty_is_failure = self.spec.one_shot.empty_is_failure;
        match generic::wants_json(&plan.args, &["--mode"]) {
            true => Box::new(OwnOutput::new(pieces, empty_is_failure)),
            false => Box::new(dialogue::Plain::new(empty_is_failure)),
        }
    }
}

/// What the events of `--mode json` say: the last message of the model is the answer, and the exit
/// code is 0 whatever became of it.
fn pieces(event: &Value) -> Vec<Piece> {
    match text_at(event, &["type"]) {
        Some("session") => {
            text_at(event, &["id"]).map(|id| Piece::Session(id.to_owned())).into_iter().collect()
        }
        Some("message_end") if text_at(event, &["message", "role"]) == Some("assistant") => {
            let message = &event["message"];
            let parts = message["content"].as_array().into_iter().flatten();
            let text: String = parts.filter_map(|part| text_at(part, &["text"])).collect();
            let failed = text_at(message, &["stopReason"]) == Some("error");
            let why = text_at(message, &["errorMessage"]).unwrap_or("no reason given");
            let failure = failed.then(|| Piece::Failure(why.to_owned()));
            failure.into_iter().chain([Piece::Whole(text)]).collect()
        }
        _ => Vec::new(),
    }
}

impl Pi {
    fn plugin(
        &self,
        plan: &mut LaunchPlan,
        request: &LaunchRequest,
        first: &FirstMessage,
        exact_text: bool,
    ) {
        if first.auto().instructions().is_some() {
            for file in &request.survey.own_files {
                plan.arg("--append-system-prompt").arg(file);
            }
        }
        let orders = Orders { exact_text, instructions: false, attachments: true };
        let dir = request_plugin::add(plan, request, first, orders);
        let plugin = plan.file(dir.join("omni-run.js"), PLUGIN);
        plan.arg("-e").arg(plugin);
    }
}
