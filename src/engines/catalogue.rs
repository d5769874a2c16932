//! `engines.toml` as types: what can be said of an engine as data. The built-in file is the lowest
//! layer; the user's own file overrides keys or adds engines (S90). A project's file is never read:
//! it would name programs to run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::LaunchMode;
use super::gate_spec::GateSpec;
use crate::error::{ExitKind, Failure};

/// The catalogue that is compiled in.
pub const BUILT_IN: &str = include_str!("../../engines.toml");

/// An engine's id: the word after `omni-run`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub struct EngineId(String);

impl EngineId {
    /// Takes the word as it is.
    pub fn new(id: impl Into<String>) -> EngineId {
        EngineId(id.into())
    }

    /// The word.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for EngineId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// One engine. Every field has a default, so that a user's overlay may name just one key.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct EngineSpec {
    /// The name for people.
    pub name: String,
    /// Which adapter drives it; empty: `generic`.
    pub adapter: String,
    /// Program names, in the order they are looked up on PATH.
    pub programs: Vec<String>,
    /// An absolute path, instead of a look-up. Its folder joins the child's PATH.
    pub path: Option<PathBuf>,
    /// Arguments that print the version.
    pub version_args: Vec<String>,
    /// The versions that omni-run was tried with.
    pub tried: Tried,
    /// The command that installs it.
    pub install: String,
    /// What the user must do once before it works, a sentence each.
    pub prepare: Vec<String>,
    /// The window of a model that no rule names, in tokens.
    pub default_window: u64,
    /// Windows by model, the first that matches counts.
    pub windows: Vec<WindowRule>,
    /// Variables set for the engine's process.
    pub env: BTreeMap<String, String>,
    /// How a one-shot run is started.
    pub one_shot: OneShot,
    /// How its own interface is started.
    pub tui: Tui,
    /// How a conversation is gone on with.
    pub resume: Resume,
    /// What goes as bytes.
    pub attachments: Attachments,
    /// How the first message of the terminal UI gets its block.
    pub gate: GateSpec,
    /// What is exact, by path or best effort, for `engines show` and `doctor`.
    pub notes: Vec<String>,
    /// Instruction files that the engine loads by itself, relative to the project folder.
    pub own_instruction_files: Vec<String>,
    /// Exit codes after which `--retries` does not try again: nothing would be different then.
    pub no_retry_codes: NoRetryCodes,
}

/// Exit codes that stand for a failure that lasts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct NoRetryCodes(pub Vec<u8>);

impl Default for NoRetryCodes {
    /// What most programs mean by them: 2 and 64 a wrong command line, 77 no permission, 78 a wrong
    /// configuration, 126 and 127 a program that can't be started.
    fn default() -> NoRetryCodes {
        NoRetryCodes(vec![2, 64, 77, 78, 126, 127])
    }
}

/// A range of versions, both ends included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tried {
    /// The oldest.
    pub from: String,
    /// The newest.
    pub to: String,
}

/// The window of some models.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WindowRule {
    /// Patterns with `*`; `default` is the engine's own choice when no model is named.
    pub models: Vec<String>,
    /// The enforced window, in tokens.
    pub tokens: u64,
    /// First engine version that has it.
    #[serde(default)]
    pub since: Option<String>,
    /// Last engine version that has it.
    #[serde(default)]
    pub until: Option<String>,
}

/// How the sent text reaches the engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageChannel {
    /// On standard input, from a file of the run folder.
    #[default]
    Stdin,
    /// One argument. Only for texts under [`ARGUMENT_LIMIT`].
    Argument,
    /// A file of the run folder that an option names.
    MessageFile,
    /// A request plugin puts the block in front on the wire; the engine's own channel carries the
    /// display text.
    Plugin,
    /// JSON lines with content blocks on standard input.
    StreamJson,
    /// The Agent Client Protocol on standard input and output.
    Acp,
}

/// How instructions reach the system prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InstructionChannel {
    /// An option that takes a file.
    File,
    /// A config value on the command line.
    ConfigValue,
    /// A per-launch copy of the engine's config folder or file.
    Overlay,
    /// The request plugin.
    Plugin,
    /// No append route: at the head of the block.
    #[default]
    HeadOfBlock,
}

/// How attachments reach the engine as bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttachmentChannel {
    /// An option per file.
    Option,
    /// A content block of the message.
    ContentBlock,
    /// A path in the text that the engine opens itself.
    PathInText,
    /// The request plugin.
    Plugin,
    /// Not at all: named by path.
    #[default]
    ByPath,
}

/// The most bytes that go through one argument. Linux refuses 131,072 with its final NUL; the rest
/// is room for an option in front.
pub const ARGUMENT_LIMIT: usize = 120_000;

/// One-shot use. Arguments may hold `{model}`, `{session_id}`, `{engine_session_id}`,
/// `{message_file}`, `{instructions_file}`, `{path}`, `{cwd}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct OneShot {
    /// Arguments of every one-shot run.
    pub args: Vec<String>,
    /// Added when a model is named.
    pub model_args: Vec<String>,
    /// Added to a new session where the launcher may choose the id.
    pub session_args: Vec<String>,
    /// The id that is chosen, made of `{session_id}`, a UUID, or of `{turned_session_id}`, the same
    /// with its random digits in front; empty: just the first.
    pub session_id: String,
    /// Added when a session is resumed; empty: it can't be.
    pub resume_args: Vec<String>,
    /// Where the sent text goes.
    pub message: MessageChannel,
    /// For `message-file` and `argument`: the arguments that carry it; last on the line.
    pub message_args: Vec<String>,
    /// Where the instructions go.
    pub instructions: InstructionChannel,
    /// For `file`: the arguments that carry it.
    pub instruction_args: Vec<String>,
    /// An answer of no bytes with code 0 is a failure, not an answer.
    pub empty_is_failure: bool,
}

/// The engine's own interface in a terminal. What is empty here is as in one-shot use where that
/// makes sense: the model's, session's and instructions' options are the same programs' options.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Tui {
    /// Arguments of every such run.
    pub args: Vec<String>,
    /// Instead of the one-shot's, where they differ.
    pub session_args: Option<Vec<String>>,
    /// Instead of the one-shot's, where they differ.
    pub resume_args: Option<Vec<String>>,
    /// Carries a given first message in one argument (`{message}`); empty: the gate types it.
    pub prompt_args: Vec<String>,
    /// The engine takes a given first message from standard input and its keys from the terminal.
    pub prompt_by_stdin: bool,
    /// Attachments that go as bytes by an option beside a given message only.
    pub attach_with_prompt: bool,
    /// Instructions have no way into the system prompt here: head of the block.
    pub instructions_in_block: bool,
    /// Image kinds that reach the wire as bytes in terminal use; of `attachments.images`.
    pub images: bool,
    /// PDF reaches the wire as bytes in terminal use.
    pub pdf: bool,
    /// How a path is named in the header so that the engine attaches the file (`@{path}`).
    pub path_in_text: String,
}

/// What is known of an engine's resume beside the arguments (`resume-args` of each use), for the one
/// who asked for a conversation that is not found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Resume {
    /// Its words for "there is no such conversation", as they stand on stderr in one-shot use.
    pub not_found: Vec<String>,
    /// In place of these words it starts a new conversation: then omni-run has to look first.
    pub opens_new: bool,
    /// It writes a conversation down with the answer: that it has none proves nothing.
    pub written_late: bool,
    /// It finds a conversation only from the folder in which that began.
    pub same_folder: bool,
    /// Where it keeps its conversations, with the variable that names another place.
    pub kept: String,
}

/// Attachments as bytes, and the sizes beyond which they go by path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Attachments {
    /// The way of the bytes.
    pub channel: AttachmentChannel,
    /// For `option`: the arguments for one file.
    pub args: Vec<String>,
    /// Image kinds taken.
    pub images: Vec<String>,
    /// PDF taken.
    pub pdf: bool,
    /// Office files taken.
    pub office: bool,
    /// In bytes; 0: the common limit.
    pub max_image_bytes: u64,
    /// In bytes; 0: the common limit.
    pub max_pdf_bytes: u64,
}

/// All engines, by id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Catalogue {
    engines: BTreeMap<String, EngineSpec>,
}

impl Catalogue {
    /// The built-in catalogue with the user's file over it, if there is one.
    ///
    /// # Errors
    /// [`ExitKind::Config`] with file, line and key when the user's file is wrong.
    pub fn load(user_file: &Path) -> Result<Catalogue, Failure> {
        let user = match std::fs::symlink_metadata(user_file) {
            Err(_) => None,
            // A FIFO here would block the open for ever.
            Ok(meta) if !meta.is_file() && !meta.is_symlink() => {
                return Err(config_failure(user_file, "is not a regular file"));
            }
            Ok(_) => Some(
                std::fs::read_to_string(user_file)
                    .map_err(|e| config_failure(user_file, &format!("cannot be read: {e}")))?,
            ),
        };
        Catalogue::from_layers(user.as_deref().map(|text| (user_file, text)))
    }

    /// The same from texts, for tests and for `engines check`.
    pub fn from_layers(user: Option<(&Path, &str)>) -> Result<Catalogue, Failure> {
        let built_in = Path::new("engines.toml");
        let mut merged: toml::Table = parse(built_in, BUILT_IN)?;
        if let Some((file, text)) = user {
            // Typed on its own first, so that an error has this file's line.
            parse::<BTreeMap<String, EngineSpec>>(file, text)?;
            merge(&mut merged, parse(file, text)?);
        }
        let engines: BTreeMap<String, EngineSpec> = merged
            .try_into()
            .map_err(|e: toml::de::Error| config_failure(built_in, e.message()))?;
        for (id, spec) in &engines {
            let file = user.map_or(built_in, |(file, _)| file);
            if spec.programs.is_empty() && spec.path.is_none() {
                return Err(config_failure(
                    file,
                    &format!("`{id}` has neither `programs` nor `path`"),
                ));
            }
            if spec.path.as_ref().is_some_and(|p| !p.is_absolute()) {
                return Err(config_failure(file, &format!("`{id}.path` is not absolute")));
            }
            if let Some(what) = lost_on_the_way(spec) {
                return Err(config_failure(file, &format!("`{id}`: {what}")));
            }
            if spec.default_window == 0 {
                return Err(config_failure(file, &format!("`{id}` has no `default-window`")));
            }
        }
        Ok(Catalogue { engines })
    }

    /// One engine.
    pub fn get(&self, id: &str) -> Option<&EngineSpec> {
        self.engines.get(id)
    }

    /// All, by id.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &EngineSpec)> + Clone {
        self.engines.iter().map(|(id, spec)| (id.as_str(), spec))
    }
}

impl EngineSpec {
    /// Whether a version is within the tried range; `None` where no range is given.
    pub fn tried(&self, version: &str) -> Option<bool> {
        let (key, tried) = (version_key(version), &self.tried);
        if tried.from.is_empty() && tried.to.is_empty() {
            return None;
        }
        let from = tried.from.is_empty() || key >= version_key(&tried.from);
        let to = tried.to.is_empty() || key <= version_key(&tried.to);
        Some(from && to)
    }

    /// Whether it can go on with a session in this use.
    pub fn resumes(&self, mode: LaunchMode) -> bool {
        let args = match (mode, &self.tui.resume_args) {
            (LaunchMode::Prompted | LaunchMode::Wrapped, Some(args)) => args,
            (LaunchMode::OneShot | LaunchMode::Prompted | LaunchMode::Wrapped, _) => {
                &self.one_shot.resume_args
            }
        };
        !args.is_empty()
    }

    /// The window that the engine enforces, in tokens. `model`: as given or configured; `version`:
    /// of the binary, if known.
    pub fn window(&self, model: Option<&str>, version: Option<&str>) -> u64 {
        let model = model.unwrap_or("default");
        // Providers prefix the id ("anthropic/…"); the rules name the model alone.
        let bare = model.rsplit('/').next().unwrap_or(model);
        self.windows
            .iter()
            .filter(|rule| {
                let since = rule.since.as_deref().zip(version);
                let until = rule.until.as_deref().zip(version);
                // An unknown version takes the rules of the newest one: those without an end.
                since.is_none_or(|(since, v)| version_key(v) >= version_key(since))
                    && until.map_or(rule.until.is_none(), |(until, v)| {
                        version_key(v) <= version_key(until)
                    })
            })
            .find(|rule| rule.models.iter().any(|p| wildcard(p, model) || wildcard(p, bare)))
            .map_or(self.default_window, |rule| rule.tokens)
    }
}

/// A version as numbers, for comparing: "2.1.332 (Claude Code)" → [2, 1, 332].
pub fn version_key(version: &str) -> Vec<u64> {
    let start = version.find(|c: char| c.is_ascii_digit()).unwrap_or(version.len());
    version[start..]
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .next()
        .unwrap_or_default()
        .split('.')
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// A channel without the arguments that carry it would drop text in silence.
fn lost_on_the_way(spec: &EngineSpec) -> Option<String> {
    let has = |args: &[String], place: &str| args.iter().any(|arg| arg.contains(place));
    let shot = &spec.one_shot;
    let missing = |key: &str, place: &str| Some(format!("`{key}` has no `{place}`"));
    match shot.message {
        MessageChannel::Argument if !has(&shot.message_args, "{message}") => {
            return missing("one-shot.message-args", "{message}");
        }
        MessageChannel::MessageFile if !has(&shot.message_args, "{message_file}") => {
            return missing("one-shot.message-args", "{message_file}");
        }
        MessageChannel::Plugin | MessageChannel::StreamJson | MessageChannel::Acp
            if spec.adapter.is_empty() =>
        {
            return Some("`one-shot.message` is one of stdin, argument, message-file".into());
        }
        _ => {}
    }
    match shot.instructions {
        InstructionChannel::File if !has(&shot.instruction_args, "{instructions_file}") => {
            missing("one-shot.instruction-args", "{instructions_file}")
        }
        InstructionChannel::ConfigValue
        | InstructionChannel::Overlay
        | InstructionChannel::Plugin
            if spec.adapter.is_empty() =>
        {
            Some("`one-shot.instructions` is one of file, head-of-block".into())
        }
        _ if spec.attachments.channel == AttachmentChannel::Option
            && !has(&spec.attachments.args, "{path}") =>
        {
            missing("attachments.args", "{path}")
        }
        _ if spec.adapter.is_empty()
            && matches!(
                spec.attachments.channel,
                AttachmentChannel::ContentBlock | AttachmentChannel::Plugin
            ) =>
        {
            Some("`attachments.channel` is one of option, path-in-text, by-path".into())
        }
        _ => None,
    }
}

fn wildcard(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    match last {
        None => rest.is_empty(),
        Some(last) => last.is_empty() || text.ends_with(last),
    }
}

fn merge(base: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(toml::Value::Table(base)), toml::Value::Table(over)) => merge(base, over),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}

fn parse<T: serde::de::DeserializeOwned>(file: &Path, text: &str) -> Result<T, Failure> {
    toml::from_str(text).map_err(|error| toml_failure(file, text, &error))
}

/// A TOML error as the user needs it: file, line, and what is wrong there.
pub fn toml_failure(file: &Path, text: &str, error: &toml::de::Error) -> Failure {
    let line =
        error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let place = line.map_or(String::new(), |line| format!(":{line}"));
    let message = error.message().replace('\n', " ");
    let key = error.span().and_then(|span| key_at(text, span.start));
    let key = key.filter(|key| !message.contains(&format!("`{key}`")));
    let key = key.map_or(String::new(), |key| format!("`{key}`: "));
    let mut failure =
        Failure::new(ExitKind::Config, format!("{}{place}: {key}{message}", file.display()))
            .logged_as(format!("{}{place}: {key}a mistake", file.display()));
    if let Some((unknown, known)) = unknown_field(&message) {
        let near = crate::error::did_you_mean(unknown, known.iter().copied());
        if let Some(near) = near.first() {
            failure = failure.hint(format!("did you mean `{near}`?"));
        }
    }
    failure.hint("correct the line, or move the file away to go on without it")
}

/// The key whose value begins before `at`: the one on its line, or above it for a value of several
/// lines. `None` where `at` is at a key itself.
fn key_at(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let own = before[start..].split_once('=').map(|(key, _)| key);
    let above = || {
        let inside = before[start..].trim().is_empty();
        let mut lines = before[..start].lines().rev().take_while(|line| !line.trim().is_empty());
        let opened = lines.find(|line| line.contains('=')).filter(|_| inside)?;
        let (key, value) = opened.split_once('=')?;
        // A list that is still open there.
        (value.matches('[').count() > value.matches(']').count()).then_some(key)
    };
    own.or_else(above).map(|key| key.trim().trim_matches(['"', '\'']))
}

/// Takes serde's "unknown field `x`, expected one of `a`, `b`" apart.
fn unknown_field(message: &str) -> Option<(&str, Vec<&str>)> {
    let rest = message.strip_prefix("unknown field `")?;
    let (unknown, rest) = rest.split_once('`')?;
    Some((unknown, rest.split('`').skip(1).step_by(2).collect()))
}

fn config_failure(file: &Path, what: &str) -> Failure {
    Failure::new(ExitKind::Config, format!("{}: {what}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_versions() {
        assert!(wildcard("*[1m]", "claude-opus-4-8[1m]"));
        assert!(wildcard("gpt-6*-sol", "gpt-6.2-sol"));
        assert!(!wildcard("gpt-6*-sol", "gpt-6.2-sol-x"));
        assert!(wildcard("opus", "opus") && !wildcard("opus", "opus-4"));
        assert_eq!(version_key("2.1.332 (Claude Code)"), [2, 1, 332]);
        assert_eq!(version_key("codex-cli 0.171.0"), [0, 171, 0]);
        assert!(version_key("2026.09.18-9a7762b") > version_key("2026.9.6"));
    }

    #[test]
    fn the_built_in_catalogue_is_sound() {
        let catalogue = Catalogue::from_layers(None).expect("engines.toml");
        for (id, spec) in catalogue.iter() {
            assert!(!spec.name.is_empty() && !spec.install.is_empty(), "{id}");
            assert!(!spec.notes.is_empty(), "{id} says nothing of its channels");
        }
    }

    #[test]
    fn a_users_file_overrides_one_key_and_adds_an_engine() {
        let text = "[codex]\ndefault-window = 1000\n[mine]\nname='Mine'\nprograms=['mine']\ndefault-window=8000\n";
        let catalogue = Catalogue::from_layers(Some((Path::new("u.toml"), text))).expect("layers");
        let codex = catalogue.get("codex").expect("codex");
        assert_eq!(codex.default_window, 1000);
        assert!(!codex.install.is_empty(), "the other keys stay");
        assert_eq!(catalogue.get("mine").expect("mine").name, "Mine");
    }

    #[test]
    fn a_channel_that_would_drop_text_is_a_config_error() {
        let engine = "[mine]\nprograms=['mine']\ndefault-window=8000\n";
        for (more, expected) in [
            ("[mine.one-shot]\nmessage='argument'\n", "message-args"),
            ("[mine.one-shot]\nmessage='message-file'\nmessage-args=['-m']\n", "{message_file}"),
            ("[mine.one-shot]\nmessage='plugin'\n", "stdin, argument"),
            ("[mine.one-shot]\ninstructions='file'\n", "instruction-args"),
            ("[mine.attachments]\nchannel='option'\nimages=['png']\n", "attachments.args"),
        ] {
            let text = format!("{engine}{more}");
            let failure =
                Catalogue::from_layers(Some((Path::new("u.toml"), &text))).expect_err(more);
            assert!(failure.message.contains(expected), "{more}: {failure}");
        }
    }

    #[test]
    fn an_error_has_file_line_and_suggestion() {
        let text = "[codex]\nname = 'C'\ndefualt-window = 5\n";
        let failure = Catalogue::from_layers(Some((Path::new("u.toml"), text))).expect_err("typo");
        assert!(
            failure.message.starts_with("u.toml:3: unknown field `defualt-window`"),
            "{failure}"
        );
        assert_eq!(failure.hints[0], "did you mean `default-window`?");
        assert_eq!(failure.kind, ExitKind::Config);
    }
}
