//! OpenCode. The display text on stdin; a plugin puts the block in front on the wire. Plugin and
//! instructions ride in OPENCODE_CONFIG_CONTENT, merged into the user's own value. Facts: seen on
//! 1.18.33.

use serde_json::{Value, json};

use super::conversation::{judge, open_database, rows};
use super::dialogue::text_at;
use super::own_output::{OwnOutput, Piece};
use super::request_plugin::Orders;
use super::*;

adapter!(
    /// The open-source agent by SST.
    Opencode
);

/// The plugin.
const PLUGIN: &str = include_str!("plugins/opencode.js");
/// One variable holds the whole overlay; the engine merges it over the user's files.
const CONFIG_VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";
/// A given title saves the request for one, which would carry the text to a second model.
const TITLE: &str = "--title";
/// The most characters of the prompt that make the title.
const TITLE_LENGTH: usize = 60;

impl Engine for Opencode {
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
        let from_variable = host.var(CONFIG_VARIABLE).map(str::to_owned);
        let dir = host.dir("XDG_CONFIG_HOME").or_else(|| host.under_home(".config"));
        let from_file = dir.and_then(|dir| read_config(&dir.join("opencode/opencode.json")));
        for text in [from_variable, from_file].into_iter().flatten() {
            let Ok(config) = serde_json::from_str::<Value>(&text) else { continue };
            let Some(model) = text_at(&config, &["model"]) else { continue };
            let (provider, name) = model.split_once('/').unwrap_or(("", model));
            let limit = &config["provider"][provider]["models"][name]["limit"];
            let window = limit["input"].as_u64().or_else(|| limit["context"].as_u64());
            return Configured { model: Some(model.to_owned()), window };
        }
        Configured::default()
    }

    fn survey(&self, host: &Host, _first: &FirstMessage) -> Survey {
        let own = host.var(CONFIG_VARIABLE).and_then(|text| serde_json::from_str(text).ok());
        Survey { own_json: own, ..Survey::default() }
    }

    fn plan(&self, request: &LaunchRequest, first: &FirstMessage) -> Result<LaunchPlan, PlanError> {
        let mut plan = generic::base(&self.spec, request, first)?;
        let pure = generic::has_option(&request.engine_args, &["--pure"]);
        let mut text = first.display().as_str().to_owned();
        let config = if pure {
            // The user turns plugins off: the block goes in the message itself, once.
            if request.resume.is_none() {
                text = first.sent().to_text();
            }
            plan.channels.message = MessageChannel::Stdin;
            for path in generic::by_bytes(first) {
                plan.arg("-f").arg(path);
            }
            overlay(&mut plan, request, first)
        } else {
            self.plugin(&mut plan, request, first, true)
        };
        plan.env.push((CONFIG_VARIABLE.to_owned(), config.to_string().into()));
        if request.resume.is_none() && !generic::has_option(&request.engine_args, &[TITLE]) {
            let title: String =
                first.display().as_str().split_whitespace().collect::<Vec<_>>().join(" ");
            let title: String = title.chars().take(TITLE_LENGTH).collect();
            // With `=`: a title that begins with `-` would be an option.
            plan.text_arg(format!("{TITLE}={title}"), format!("{TITLE}=<from the prompt>"));
        }
        generic::message(&mut plan, &self.spec, request, text)?;
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
        if generic::has_option(&request.engine_args, &["--pure"]) {
            plan.warnings.push(format!(
                "{}: --pure turns plugins off; the docs do not go along in terminal use",
                self.spec.name
            ));
            plan.channels.message = MessageChannel::Argument;
            return Ok(plan);
        }
        let config = self.plugin(&mut plan, request, first, mode == LaunchMode::Prompted);
        plan.env.push((CONFIG_VARIABLE.to_owned(), config.to_string().into()));
        tui::plugin_message(&mut plan, &self.spec, first, mode);
        Ok(plan)
    }

    /// One database.
    fn kept_in(&self, host: &Host) -> Option<PathBuf> {
        let data = host.dir("XDG_DATA_HOME").or_else(|| host.under_home(".local/share"))?;
        Some(data.join("opencode/opencode.db"))
    }

    fn look_up(&self, host: &Host, query: &Query<'_>) -> Answer {
        let database = self.kept_in(host).and_then(|file| open_database(&file));
        let Some(database) = database else { return Answer::Unknown };
        let known = "SELECT id, NULL, NULL FROM session WHERE id = ?1";
        let messages = "SELECT m.session_id, json_extract(p.data, '$.text'), m.time_created
            FROM part p JOIN message m ON m.id = p.message_id JOIN session s ON s.id = m.session_id
            WHERE json_extract(m.data, '$.role') = 'user' AND json_extract(p.data, '$.type') = 'text'
              AND s.parent_id IS NULL AND CASE WHEN ?1 IS NULL
                THEN m.time_created >= ?2 - 2000 AND s.directory = ?3 ELSE s.id = ?1 END";
        let real = query.cwd.canonicalize().unwrap_or_else(|_| query.cwd.to_owned());
        let known = rows(&database, known, [query.id]);
        let found = rows(&database, messages, (query.id, query.since, real.to_string_lossy()));
        match (known, found) {
            (Some(known), Some(found)) => judge(query, !known.is_empty(), found),
            _ => Answer::Unknown,
        }
    }

    fn dialogue(&self, plan: &LaunchPlan, _first: &FirstMessage) -> Box<dyn Dialogue> {
        let empty_is_failure = self.spec.one_shot.empty_is_failure;
        match generic::wants_json(&plan.args, &["--format"]) {
            true => Box::new(OwnOutput::new(pieces, empty_is_failure)),
            false => Box::new(dialogue::Plain::new(empty_is_failure)),
        }
    }
}

impl Opencode {
    /// Adds the plugin; gives the settings that load it.
    fn plugin(
        &self,
        plan: &mut LaunchPlan,
        request: &LaunchRequest,
        first: &FirstMessage,
        exact_text: bool,
    ) -> Value {
        let mut config = overlay(plan, request, first);
        let orders = Orders { exact_text, instructions: false, attachments: true };
        let dir = request_plugin::add(plan, request, first, orders);
        let plugin = plan.file(dir.join("omni-run.js"), PLUGIN);
        push(&mut config, "plugin", &format!("file://{}", plugin.display()));
        config
    }
}

/// What the events of `--format json` say.
fn pieces(event: &Value) -> Vec<Piece> {
    let text = |path: &[&str]| text_at(event, path).map(str::to_owned);
    let said = match text_at(event, &["type"]) {
        Some("text") => text(&["part", "text"]).map(Piece::Text),
        Some("error") => {
            let why = text(&["error", "data", "message"]).or_else(|| text(&["error", "name"]));
            Some(Piece::Failure(why.unwrap_or_else(|| "no reason given".to_owned())))
        }
        _ => None,
    };
    text(&["sessionID"]).map(Piece::Session).into_iter().chain(said).collect()
}

/// The user's own overlay with the instructions.
fn overlay(plan: &mut LaunchPlan, request: &LaunchRequest, first: &FirstMessage) -> Value {
    let mut config = request.survey.own_json.clone().unwrap_or_else(|| json!({}));
    if let Some(text) = first.auto().instructions() {
        // Read again on each turn, so it lives as long as the run folder.
        let file = plan.file(request.run_dir.join("instructions.md"), text);
        push(&mut config, "instructions", file.to_string_lossy().as_ref());
    }
    config
}

/// Adds a value to a list of the config, which the engine joins with the user's lists.
fn push(config: &mut Value, key: &str, value: &str) {
    let Some(object) = config.as_object_mut() else { return };
    let list = object.entry(key).or_insert_with(|| json!([]));
    if let Some(list) = list.as_array_mut() {
        list.push(value.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_lists_stay() {
        let mut config = json!({"plugin": ["mine"], "model": "a/b"});
        push(&mut config, "plugin", "ours");
        push(&mut config, "instructions", "i.md");
        assert_eq!(
            config,
            json!({"plugin": ["mine", "ours"], "model": "a/b", "instructions": ["i.md"]})
        );
    }
}
