//! OpenClaw, `agent --local`. The sent text as a message file; a plugin keeps the block out of the
//! engine's transcript, puts it back on later turns and carries the instructions. A per-launch
//! settings file includes the user's. Facts: seen on 2026.9.6.

use serde_json::{Value, json};

use super::conversation::{self, Query, files_below, judge, open_database, rows};
use super::dialogue::{answer_line, text_at};
use super::request_plugin::Orders;
use super::*;
use crate::launch::plan::{RunContents, RunFile};

adapter!(
    /// The personal agent.
    Openclaw
);

const PLUGIN: &str = include_str!("plugins/openclaw/index.mjs");
const PACKAGE: &str = include_str!("plugins/openclaw/package.json");
const MANIFEST: &str = include_str!("plugins/openclaw/openclaw.plugin.json");
/// The plugin's id in the settings.
const PLUGIN_ID: &str = "omni-run";
/// Names the settings file.
const CONFIG_VARIABLE: &str = "OPENCLAW_CONFIG_PATH";
/// Folders that a settings file may include from; without it `$include` is refused.
const INCLUDE_VARIABLE: &str = "OPENCLAW_INCLUDE_ROOTS";
/// The one folder outside its own state from which the engine reads files by path, whatever TMPDIR
/// says.
const MEDIA_ROOT: &str = "/tmp/openclaw";
/// Options that choose a conversation: one must be there.
const SELECTORS: [&str; 4] = ["--agent", "--session-key", "--session-id", "--to"];

impl Openclaw {
    fn config_file(host: &Host) -> Option<PathBuf> {
        host.dir(CONFIG_VARIABLE)
            .or_else(|| host.dir("OPENCLAW_STATE_DIR").map(|dir| dir.join("openclaw.json")))
            .or_else(|| host.under_home(".openclaw/openclaw.json"))
    }
}

impl Engine for Openclaw {
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

    fn reapplies_block(&self) -> bool {
        true
    }

    fn configured(&self, host: &Host) -> Configured {
        let config: Value = Openclaw::config_file(host)
            .and_then(|file| read_config(&file))
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let model = &config["agents"]["defaults"]["model"];
        let Some(model) = model.as_str().or_else(|| text_at(model, &["primary"])) else {
            return Configured::default();
        };
        let (provider, name) = model.split_once('/').unwrap_or(("", model));
        let own = config["models"]["providers"][provider]["models"]
            .as_array()
            .and_then(|list| list.iter().find(|m| text_at(m, &["id"]) == Some(name)));
        let window = own.and_then(|m| m["contextWindow"].as_u64());
        Configured { model: Some(model.to_owned()), window }
    }

    fn survey(&self, host: &Host, _first: &FirstMessage) -> Survey {
        let file = Openclaw::config_file(host).filter(|file| file.is_file());
        let text = file.as_ref().and_then(|file| read_config(file)).unwrap_or_default();
        let roots = host.env.get(INCLUDE_VARIABLE).cloned();
        Survey {
            own_files: file.into_iter().collect(),
            // The file may be JSON5; whether it names a thing is all that is asked.
            own_json: Some(json!({
                "has_engine": text.contains("contextEngine"),
                "has_allow": text.contains("\"allow\"") || text.contains("allow:"),
            })),
            blocked: media_root_is_foreign().then(|| format!("{MEDIA_ROOT} is another user's")),
            env: roots.into_iter().map(|value| (INCLUDE_VARIABLE.to_owned(), value)).collect(),
            ..Survey::default()
        }
    }

    fn plan(&self, request: &LaunchRequest, first: &FirstMessage) -> Result<LaunchPlan, PlanError> {
        let mut spec = self.spec.clone();
        if !generic::has_option(&request.engine_args, &SELECTORS[..1]) {
            spec.one_shot.args.extend(["--agent".to_owned(), "main".to_owned()]);
        }
        let request = &with_key(request);
        let mut plan = generic::base(&spec, request, first)?;
        let prefix = with_images(&mut plan, request, first);
        let orders = Orders { exact_text: false, instructions: true, attachments: false };
        request_plugin::add(&mut plan, request, first, orders);
        // The plugin cuts exactly this off, images' header included.
        for file in &mut plan.files {
            if file.path.ends_with("plugin/prefix.txt") {
                file.contents = RunContents::Bytes(prefix.clone().into());
            }
        }
        self.overlay(&mut plan, request);
        let display = first.display().as_str();
        let text = if request.resume.is_some() {
            display.to_owned()
        } else {
            format!("{prefix}{display}")
        };
        generic::message(&mut plan, &spec, request, text)?;
        Ok(plan)
    }

    fn plan_tui(
        &self,
        request: &LaunchRequest,
        first: &FirstMessage,
        mode: LaunchMode,
    ) -> Result<LaunchPlan, PlanError> {
        // Its local interface runs no plugins: the gate puts the block in, and with it the
        // instructions at its head.
        let spec = tui::spec(&self.spec);
        let request = &with_key(request);
        let mut plan = generic::base(&spec, request, first)?;
        let prefix = with_images(&mut plan, request, first);
        tui::message(&mut plan, &spec, request, first, mode, prefix);
        Ok(plan)
    }

    /// A database for each agent.
    fn kept_in(&self, host: &Host) -> Option<PathBuf> {
        let state = host.dir("OPENCLAW_STATE_DIR").or_else(|| host.under_home(".openclaw"))?;
        Some(state.join("agents"))
    }

    fn look_up(&self, host: &Host, query: &Query<'_>) -> Answer {
        let Some(id) = query.id else { return Answer::Unknown };
        let folder = self.kept_in(host).unwrap_or_default();
        let databases = files_below(&folder, 2, "openclaw-agent.sqlite");
        let mut seen = Answer::Unknown;
        for database in databases.iter().filter_map(|file| open_database(file)) {
            // The id is the end of a key such as `agent:main:ID`.
            let known = "SELECT current_session_id, NULL, NULL FROM session_nodes
                WHERE substr(session_key, -length(?1) - 1) = ':' || ?1";
            let events = "SELECT session_id, event_json, NULL FROM transcript_events
                WHERE session_id = ?1";
            let Some(known) = rows(&database, known, [id]) else { return Answer::Unknown };
            seen = Answer::Absent;
            let Some((theirs, ..)) = known.first() else { continue };
            let Some(events) = rows(&database, events, [theirs]) else { return Answer::Unknown };
            let messages: Vec<_> = events
                .iter()
                .filter_map(|(_, event, _)| serde_json::from_str::<Value>(event).ok())
                .filter(|event| text_at(event, &["message", "role"]) == Some("user"))
                .flat_map(|event| {
                    let at = conversation::time(&event["timestamp"]);
                    let texts = conversation::texts(&event["message"]["content"]);
                    texts.into_iter().map(move |text| (String::new(), text, at))
                })
                .collect();
            return match judge(query, true, messages) {
                // It is written with the answer, and long messages are compressed.
                Answer::There { id, has_message: Some(false) } => {
                    Answer::There { id, has_message: None }
                }
                answer => answer,
            };
        }
        seen
    }

    fn dialogue(&self, _plan: &LaunchPlan, _first: &FirstMessage) -> Box<dyn Dialogue> {
        Box::new(Envelope::default())
    }
}

impl Openclaw {
    /// The settings of this launch: the user's by reference, and the plugin.
    fn overlay(&self, plan: &mut LaunchPlan, request: &LaunchRequest) {
        let dir = request.run_dir.join("openclaw");
        plan.file(dir.join("index.mjs"), PLUGIN);
        plan.file(dir.join("package.json"), PACKAGE);
        plan.file(dir.join("openclaw.plugin.json"), MANIFEST);
        let seen = request.survey.own_json.clone().unwrap_or_default();
        let mut plugins = json!({
            "load": {"paths": [dir]},
            "entries": {PLUGIN_ID: {"enabled": true, "hooks": {"allowConversationAccess": true}}},
        });
        if seen["has_engine"] != true {
            plugins["slots"] = json!({"contextEngine": PLUGIN_ID});
        }
        if seen["has_allow"] == true {
            // Only where there is a list: it shuts out what it does not name.
            plugins["allow"] = json!([PLUGIN_ID]);
        }
        let mut config = json!({});
        if let Some(own) = request.survey.own_files.first() {
            config["$include"] = json!(own);
            let mut roots = OsString::from(own.parent().unwrap_or(Path::new("/")));
            if let Some(given) = request.survey.env.get(INCLUDE_VARIABLE).filter(|v| !v.is_empty())
            {
                roots.push(":");
                roots.push(given);
            }
            plan.env.push((INCLUDE_VARIABLE.to_owned(), roots));
        }
        config["plugins"] = plugins;
        let file = plan.file(request.run_dir.join("openclaw.json"), config.to_string());
        plan.env.push((CONFIG_VARIABLE.to_owned(), file.into()));
    }
}

/// A session of an omni-run that chose the id and not the key: the engine made this key of it.
fn with_key(request: &LaunchRequest) -> LaunchRequest {
    let is_id = |id: &String| uuid::Uuid::try_parse(id).is_ok();
    let mut request = request.clone();
    if let Some(id) = request.resume.take_if(|id| is_id(id)) {
        request.resume = Some(format!("explicit:{id}"));
    }
    request
}

fn media_root_is_foreign() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(MEDIA_ROOT)
        .is_ok_and(|meta| !meta.is_dir() || meta.uid() != nix::unistd::geteuid().as_raw())
}

/// What stands in front of the display text. Images are copied to a folder that the engine reads
/// from, under names without blanks, and named in the header: the engine attaches what it finds
/// named by path in the text.
fn with_images(plan: &mut LaunchPlan, request: &LaunchRequest, first: &FirstMessage) -> String {
    let mut lines = String::new();
    let folder = Path::new(MEDIA_ROOT).join(format!("omni-{}", request.session));
    let images = first.auto().attachments().iter().filter(|a| a.by_path.is_none());
    for (n, image) in images.enumerate() {
        if let Some(why) = &request.survey.blocked {
            plan.channels.attachments = AttachmentChannel::ByPath;
            plan.warnings.push(format!("{} goes by path only: {why}", image.shown));
            lines.push_str(&format!("{}\n", image.path.display()));
            continue;
        }
        let path = folder.join(format!("{n}.{}", image.kind));
        let contents = RunContents::Copy(image.path.clone());
        plan.outside = Some(folder.clone());
        plan.files.push(RunFile { path: path.clone(), contents });
        lines.push_str(&format!("{}\n", path.display()));
    }
    let prefix = first.sent().prefix();
    match (lines.is_empty(), first.auto().header()) {
        (true, _) => prefix.to_owned(),
        (false, Some(header)) => {
            let rest = prefix.strip_prefix(header).unwrap_or(prefix);
            format!("{header}\n{}{rest}", lines.trim_end())
        }
        (false, None) => format!("Please examine the following file(s):\n{lines}\n{prefix}"),
    }
}

/// The one JSON object that `--json` prints. Its `meta` repeats the whole prompt: it is neither
/// stored nor shown.
#[derive(Default)]
struct Envelope {
    bytes: Vec<u8>,
    reply: String,
    error: Option<String>,
    parsed: bool,
    /// Its envelope has no end.
    broken_off: bool,
}

impl Dialogue for Envelope {
    fn stdout(&mut self, chunk: &[u8]) -> Vec<Action> {
        self.bytes.extend_from_slice(chunk);
        Vec::new()
    }

    fn stdout_end(&mut self) -> Vec<Action> {
        let bytes = std::mem::take(&mut self.bytes);
        let start = bytes.iter().position(|b| *b == b'{').unwrap_or(bytes.len());
        let object = match serde_json::from_slice::<Value>(&bytes[start..]) {
            Ok(object) => object,
            Err(error) => {
                // It exits without waiting for its own writes.
                self.broken_off = error.is_eof() && start < bytes.len();
                return Vec::new();
            }
        };
        self.parsed = true;
        self.error = text_at(&object, &["error", "message"])
            .or_else(|| object["error"].as_str())
            .map(str::to_owned);
        // Through a gateway the envelope is one level deeper.
        let payloads =
            object["payloads"].as_array().or_else(|| object["result"]["payloads"].as_array());
        let texts: Vec<&str> =
            payloads.into_iter().flatten().filter_map(|p| text_at(p, &["text"])).collect();
        self.reply = texts.join("\n");
        if self.reply.is_empty() { Vec::new() } else { vec![answer_line(&self.reply)] }
    }

    fn verdict(&mut self, end: EngineEnd) -> Verdict {
        let failure = match &self.error {
            Some(error) => Some(format!("the engine reported an error: {error}")),
            None if end.is_success() && self.broken_off => {
                Some("the engine ended with code 0 in the middle of its output, and the rest is lost; send it again".to_owned())
            }
            None if end.is_success() && !self.parsed => {
                Some("the engine ended with code 0 and gave no result".to_owned())
            }
            None if end.is_success() && self.reply.trim().is_empty() => {
                Some("the engine ended with code 0 and said nothing".to_owned())
            }
            None => None,
        };
        Verdict { failure, reply: self.reply.clone(), verified: None }
    }
}
