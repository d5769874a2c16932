//! Hermes. The display text is one argument, since stdin is no prompt channel; a plugin puts block,
//! attachments and instructions in on the wire. The plugin is a Python package on PYTHONPATH and is
//! switched on by a managed overlay of the settings. Facts: seen on 0.19.0.

use super::conversation::{judge, open_database, rows};
use super::dialogue::Lines;
use super::request_plugin::Orders;
use super::*;

adapter!(
    /// The agent by Nous Research.
    Hermes
);

const PLUGIN: &str = include_str!("plugins/hermes/omni_run_hermes.py");
const METADATA: &str = include_str!("plugins/hermes/dist-info/METADATA");
const ENTRY_POINTS: &str = include_str!("plugins/hermes/dist-info/entry_points.txt");
/// The plugin's name in the settings.
const PLUGIN_NAME: &str = "omni_run";
/// Settings of an administrator: the overlay variable would hide them.
const MANAGED_VARIABLE: &str = "HERMES_MANAGED_DIR";
const MANAGED_DIR: &str = "/etc/hermes";
/// Instructions without the plugin; the engine takes the variable before its own setting.
const PROMPT_VARIABLE: &str = "HERMES_EPHEMERAL_SYSTEM_PROMPT";

impl Engine for Hermes {
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

    fn survey(&self, host: &Host, _first: &FirstMessage) -> Survey {
        let config =
            home(host).and_then(|dir| read_config(&dir.join("config.yaml"))).unwrap_or_default();
        let enabled = enabled_plugins(&config);
        let blocked = if host.var(MANAGED_VARIABLE).is_some() || Path::new(MANAGED_DIR).is_dir() {
            Some(
                "settings managed by an administrator are in force, and an overlay would hide them",
            )
        } else if enabled.is_none() {
            Some("the list of plugins in config.yaml is written in a form that cannot be repeated")
        } else {
            None
        };
        let python_path = host.env.get("PYTHONPATH").cloned();
        let prompt = host.env.get(PROMPT_VARIABLE).cloned();
        Survey {
            own_list: enabled.unwrap_or_default(),
            blocked: blocked.map(str::to_owned),
            env: [("PYTHONPATH", python_path), (PROMPT_VARIABLE, prompt)]
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)))
                .collect(),
            ..Survey::default()
        }
    }

    fn plan(&self, request: &LaunchRequest, first: &FirstMessage) -> Result<LaunchPlan, PlanError> {
        let mut plan = generic::base(&self.spec, request, first)?;
        let display = first.display().as_str();
        let text = match &request.survey.blocked {
            Some(why) => self.without_plugin(&mut plan, request, first, why),
            None => {
                self.with_plugin(&mut plan, request, first, true);
                // The plugin has the text in a file; only the engine's history sees the stub.
                if display.len() > ARGUMENT_LIMIT && request.resume.is_none() {
                    format!("[{} bytes of text, put in by omni-run]", display.len())
                } else {
                    display.to_owned()
                }
            }
        };
        if text.len() > ARGUMENT_LIMIT {
            return Err(PlanError::TooLong {
                engine: self.spec.name.clone(),
                size: text.len(),
                limit: ARGUMENT_LIMIT,
                channel: "one argument",
            });
        }
        for arg in &self.spec.one_shot.message_args {
            // With `=`: a text that begins with `-` would be an option.
            plan.text_arg(arg.replace("{message}", &text), arg.clone());
        }
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
        match &request.survey.blocked {
            None => {
                self.with_plugin(&mut plan, request, first, mode == LaunchMode::Prompted);
                tui::plugin_message(&mut plan, &self.spec, first, mode);
            }
            Some(why) => {
                // The composer would rewrite `@file:` in the docs: better none than wrong ones.
                plan.warnings.push(format!(
                    "{}: {why}; the docs do not go along in terminal use",
                    self.spec.name
                ));
                plan.channels.message = MessageChannel::Argument;
            }
        }
        Ok(plan)
    }

    /// One database.
    fn kept_in(&self, host: &Host) -> Option<PathBuf> {
        Some(home(host)?.join("state.db"))
    }

    fn look_up(&self, host: &Host, query: &Query<'_>) -> Answer {
        let database = self.kept_in(host).and_then(|file| open_database(&file));
        let Some(database) = database else { return Answer::Unknown };
        let known = "SELECT id, NULL, NULL FROM sessions WHERE id = ?1";
        let messages = "SELECT m.session_id, m.content, m.timestamp * 1000.0
            FROM messages m JOIN sessions s ON s.id = m.session_id
            WHERE m.role = 'user' AND CASE WHEN ?1 IS NULL
                THEN m.timestamp * 1000.0 >= ?2 - 2000 AND coalesce(s.cwd, ?3) = ?3
                ELSE s.id = ?1 END";
        let cwd = query.cwd.to_string_lossy();
        let known = rows(&database, known, [query.id]);
        let found = rows(&database, messages, (query.id, query.since, cwd));
        match (known, found) {
            (Some(known), Some(found)) => judge(query, !known.is_empty(), found),
            _ => Answer::Unknown,
        }
    }

    fn dialogue(&self, _plan: &LaunchPlan, _first: &FirstMessage) -> Box<dyn Dialogue> {
        Box::new(Quiet::default())
    }
}

impl Hermes {
    fn with_plugin(
        &self,
        plan: &mut LaunchPlan,
        request: &LaunchRequest,
        first: &FirstMessage,
        exact_text: bool,
    ) {
        let orders = Orders { exact_text, instructions: true, attachments: true };
        request_plugin::add(plan, request, first, orders);
        let package = request.run_dir.join("hermes");
        let info = package.join("omni_run_hermes-1.0.dist-info");
        plan.file(package.join("omni_run_hermes.py"), PLUGIN);
        plan.file(info.join("METADATA"), METADATA);
        plan.file(info.join("entry_points.txt"), ENTRY_POINTS);
        let mut python_path = OsString::from(package);
        if let Some(own) = request.survey.env.get("PYTHONPATH").filter(|own| !own.is_empty()) {
            python_path.push(":");
            python_path.push(own);
        }
        let mut overlay = "plugins:\n  enabled:\n".to_owned();
        let names = request.survey.own_list.iter().map(String::as_str);
        for name in names.filter(|name| *name != PLUGIN_NAME).chain([PLUGIN_NAME]) {
            // A JSON string is a YAML string.
            overlay.push_str(&format!("    - {}\n", serde_json::Value::from(name)));
        }
        let managed = request.run_dir.join("managed");
        plan.file(managed.join("config.yaml"), overlay);
        plan.env.push(("PYTHONPATH".to_owned(), python_path));
        plan.env.push((MANAGED_VARIABLE.to_owned(), managed.into()));
    }

    /// Block and text in the argument, instructions in the engine's variable where they fit.
    fn without_plugin(
        &self,
        plan: &mut LaunchPlan,
        request: &LaunchRequest,
        first: &FirstMessage,
        why: &str,
    ) -> String {
        plan.channels.message = MessageChannel::Argument;
        plan.channels.attachments = AttachmentChannel::ByPath;
        plan.warnings.push(format!(
            "{}: {why}; the docs go in the message itself and attachments by path",
            self.spec.name
        ));
        let paths: Vec<String> =
            generic::by_bytes(first).iter().map(|p| format!("{}\n", p.display())).collect();
        let mut text = first.sent().to_text();
        if !paths.is_empty() {
            text = format!("Please examine the following file(s):\n{}\n{text}", paths.concat());
        }
        let Some(ours) = first.auto().instructions() else { return text };
        let own = request.survey.env.get(PROMPT_VARIABLE).and_then(|own| own.to_str());
        let joined = own.map_or(ours.to_owned(), |own| format!("{own}\n\n{ours}"));
        if joined.len() > ARGUMENT_LIMIT {
            plan.channels.instructions = InstructionChannel::HeadOfBlock;
            return format!("{ours}\n\n{text}");
        }
        plan.channels.instructions = InstructionChannel::ConfigValue;
        plan.env.push((PROMPT_VARIABLE.to_owned(), joined.into()));
        text
    }
}

fn home(host: &Host) -> Option<PathBuf> {
    host.dir("HERMES_HOME").or_else(|| host.under_home(".hermes"))
}

/// The user's enabled plugins out of `config.yaml`: a list replaces a list in an overlay, so it has
/// to be repeated. `None`: written in a form that this small reader does not know.
fn enabled_plugins(config: &str) -> Option<Vec<String>> {
    let mut lines = config.lines().skip_while(|line| line.split('#').next() != Some("plugins:"));
    let Some(_) = lines.next() else {
        // No such section, or one in another form.
        let other =
            config.lines().any(|line| line.starts_with("plugins:") && line.trim() != "plugins:");
        return (!other).then(Vec::new);
    };
    let mut names = Vec::new();
    let mut list_indent = None;
    for line in lines {
        let text = line.split(" #").next().unwrap_or_default().trim_end();
        let trimmed = text.trim_start();
        let indent = text.len() - trimmed.len();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if indent == 0 {
            break;
        }
        match list_indent {
            None => {
                let Some(rest) = trimmed.strip_prefix("enabled:") else { continue };
                let rest = rest.trim();
                if rest.is_empty() {
                    list_indent = Some(indent);
                } else {
                    let inner = rest.strip_prefix('[')?.strip_suffix(']')?;
                    let items = inner.split(',').map(unquoted).filter(|name| !name.is_empty());
                    return Some(items.collect());
                }
            }
            Some(parent) => match trimmed.strip_prefix("- ") {
                Some(name) if !name.starts_with(['&', '*', '{', '[']) => names.push(unquoted(name)),
                Some(_) => return None,
                None if indent <= parent => break,
                None => return None,
            },
        }
    }
    Some(names)
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['"', '\'']).to_owned()
}

/// How a line of the engine's own begins that is no answer. Seen on stdout in front of the answer,
/// whatever the quiet option says.
const NOISE: &str = "⚠ tirith security scanner";

/// Plain text, less the lines of the engine's own that are no answer; the id is on stderr.
#[derive(Default)]
struct Quiet {
    /// The head of a line that may become noise. All else passes as it comes.
    held: Vec<u8>,
    /// The line is known to be part of the answer.
    passing: bool,
    err: Lines,
    reply: Vec<u8>,
}

impl Quiet {
    fn answer(&mut self, bytes: Vec<u8>) -> Vec<Action> {
        self.reply.extend_from_slice(&bytes);
        if bytes.is_empty() { Vec::new() } else { vec![Action::Answer(bytes)] }
    }
}

impl Dialogue for Quiet {
    fn stdout(&mut self, chunk: &[u8]) -> Vec<Action> {
        let mut passed = Vec::new();
        for part in chunk.split_inclusive(|byte| *byte == b'\n') {
            let ended = part.ends_with(b"\n");
            self.held.extend_from_slice(part);
            let text = self.held.trim_ascii_start();
            let is_noise = text.starts_with(NOISE.as_bytes());
            let may_become = NOISE.as_bytes().starts_with(text) && !ended;
            if self.passing || !(is_noise || may_become) {
                passed.append(&mut self.held);
                self.passing = true;
            }
            if ended {
                self.held.clear();
                self.passing = false;
            }
        }
        self.answer(passed)
    }

    fn stdout_end(&mut self) -> Vec<Action> {
        let held = std::mem::take(&mut self.held);
        let is_noise = held.trim_ascii_start().starts_with(NOISE.as_bytes());
        self.answer(if is_noise { Vec::new() } else { held })
    }

    fn wants_stderr(&self) -> bool {
        true
    }

    fn stderr(&mut self, chunk: &[u8]) -> Vec<Action> {
        let lines = self.err.push(chunk);
        lines
            .iter()
            .filter_map(|line| std::str::from_utf8(line).ok()?.strip_prefix("session_id: "))
            .map(|id| Action::Session(id.trim().to_owned()))
            .collect()
    }

    fn verdict(&mut self, end: EngineEnd) -> Verdict {
        let reply = String::from_utf8_lossy(&self.reply).into_owned();
        let empty = reply.trim().is_empty() && end.is_success();
        let failure = empty.then(|| "the engine ended with code 0 and said nothing".to_owned());
        Verdict { failure, reply, verified: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_passes_as_it_comes_without_the_engines_own_lines() {
        let output =
            "⚠ tirith security scanner is off\n\none\n  ⚠ tir\ntwo ⚠ tirith security scanner";
        let expected = "\none\n  ⚠ tir\ntwo ⚠ tirith security scanner";
        for cut in 0..=output.len() {
            let mut quiet = Quiet::default();
            let mut actions = quiet.stdout(&output.as_bytes()[..cut]);
            actions.extend(quiet.stdout(&output.as_bytes()[cut..]));
            actions.extend(quiet.stdout_end());
            let shown: Vec<u8> = actions
                .into_iter()
                .flat_map(|action| match action {
                    Action::Answer(bytes) => bytes,
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(String::from_utf8_lossy(&shown), expected, "cut at {cut}");
            let end = EngineEnd { code: Some(0), signal: None };
            assert_eq!(quiet.verdict(end).reply, expected);
        }
        // Half a line is not kept back.
        let mut quiet = Quiet::default();
        assert_eq!(quiet.stdout(b"half"), [Action::Answer(b"half".to_vec())]);
        let noise = "⚠ tirith security scanner";
        assert!(quiet.stdout_end().is_empty() && quiet.stdout(b"\n").len() == 1);
        assert!(quiet.stdout(noise.as_bytes()).is_empty() && quiet.stdout_end().is_empty());
    }

    #[test]
    fn enabled_plugins_in_the_forms_that_people_write() {
        let names = |text: &str| enabled_plugins(text);
        assert_eq!(names("model:\n  default: x\n"), Some(vec![]));
        assert_eq!(names("plugins:\n  enabled: [a, \"b\"]\n"), Some(vec!["a".into(), "b".into()]));
        let list =
            "x: 1\nplugins:\n  other: 1\n  enabled:\n  - a # why\n  - 'b'\n  more: 2\ny: 2\n";
        assert_eq!(names(list), Some(vec!["a".into(), "b".into()]));
        assert_eq!(names("plugins: {enabled: [a]}\n"), None);
        assert_eq!(names("plugins:\n  enabled: *anchor\n"), None);
    }
}
