//! The real engines, as `tests/real/install` put them, and for each the smallest settings with
//! which it runs without an account against the fake model.
//!
//! The settings stand for those of a user: they lie in the engine's own places, so that what
//! omni-run adds per launch has something to add to. No flag of omni-run is known here.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::json;

use super::fake_model::FakeModel;
use super::home::{TestHome, write};
use super::process::say;
use super::turns::Turn;

/// The engines and the names of their programs in the folder of the real engines.
const PROGRAMS: [(&str, &str); 8] = [
    ("claude", "claude"),
    ("claude-2.1.197", "claude-2.1.197"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("pi", "pi"),
    ("openclaw", "openclaw"),
    ("opencode", "opencode"),
    ("hermes", "hermes"),
];

/// A model that Gemini CLI knows; with its own choice, Auto, it asks a router first.
pub const GEMINI_MODEL: &str = "gemini-2.5-pro";

/// An installed engine.
#[derive(Clone, Debug)]
pub struct RealEngine {
    /// As above; two versions of Claude Code are two engines here.
    pub id: &'static str,
    /// The installed program.
    pub program: PathBuf,
}

impl RealEngine {
    /// Those that are installed.
    pub fn all() -> Vec<Self> {
        PROGRAMS.iter().filter_map(|(id, _)| Self::get(id)).collect()
    }

    /// The engine, when it is installed.
    pub fn get(id: &str) -> Option<Self> {
        let (id, name) = PROGRAMS
            .into_iter()
            .find(|(known, _)| *known == id)
            .unwrap_or_else(|| panic!("no engine is called {id}"));
        let program = engines_folder()?.join("bin").join(name);
        program.exists().then_some(Self { id, program })
    }

    /// The id that omni-run knows it by, which also is the name of its program.
    pub fn omni_id(&self) -> &'static str {
        self.id.split_once('-').map_or(self.id, |(name, _version)| name)
    }

    /// Waits until the machine has room for it. Hold the guard while the engine runs.
    pub fn turn(&self) -> Turn {
        Turn::of(self.id)
    }

    /// Its model gets a window of 2M tokens, where the engine's own settings name one.
    pub fn raise_window(&self, home: &TestHome) {
        for file in [
            home.config().join("opencode/opencode.json"),
            home.home().join(".openclaw/openclaw.json"),
        ] {
            if let Ok(text) = std::fs::read_to_string(&file) {
                write(&file, text.replace("200000", "2000000"));
            }
        }
    }

    /// Puts the engine on the home's `PATH` and writes its settings: no account, no questions,
    /// model calls to `model`, and the projects made so far trusted.
    ///
    /// Everything goes into `home` (files and environment), so that `home.omni()` finds it.
    pub fn isolate(&self, home: &TestHome, model: &FakeModel) {
        home.install(self.omni_id(), &self.program);
        // Node's cache of compiled code lies in TMPDIR, which is new for each test: without this
        // the big engines compile megabytes of JavaScript at every start.
        let installed = self.program.parent().and_then(Path::parent).expect("bin folder");
        home.set_env("NODE_COMPILE_CACHE", installed.join("node-compile-cache"));
        let v1 = format!("{}/v1", model.url());
        match self.omni_id() {
            "claude" => isolate_claude(home, model),
            "codex" => isolate_codex(home, &v1),
            "gemini" => isolate_gemini(home, model),
            "pi" => isolate_pi(home, &v1),
            "openclaw" => isolate_openclaw(home, &v1),
            "opencode" => isolate_opencode(home, &v1),
            "hermes" => isolate_hermes(home, &v1),
            other => panic!("no settings for {other}"),
        }
    }
}

/// The engine, or `None` after a line that says so. In CI a missing engine fails the test.
#[track_caller]
pub fn require_engine(id: &str) -> Option<RealEngine> {
    let engine = RealEngine::get(id);
    if engine.is_none() {
        let why = "is not installed; tests/real/install gets it";
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{id} {why}");
        say(&format!("SKIPPED: the real {id} {why}"));
    }
    engine
}

/// `OMNI_TEST_ENGINES_DIR` as `tests/run` sets it, else where the install script would put them.
fn engines_folder() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = std::env::var_os("OMNI_TEST_ENGINES_DIR")
                .map(PathBuf::from)
                .or_else(folder_of_the_install_script)?;
            // Half an installation counts as none.
            folder.join("complete").exists().then_some(folder)
        })
        .as_deref()
}

fn folder_of_the_install_script() -> Option<PathBuf> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real/install");
    let output = Command::new(script).arg("--print-dir").output().ok()?;
    let line = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| PathBuf::from(line.trim_end()))
}

fn isolate_claude(home: &TestHome, model: &FakeModel) {
    let folder = home.home().join(".claude-config");
    // Without the first key the terminal UI asks api.anthropic.com, whatever the base URL. A
    // trusted parent folder does for all projects below it.
    let state = json!({
        "hasCompletedOnboarding": true,
        "projects": {home.projects().to_str().expect("UTF-8"): {"hasTrustDialogAccepted": true}},
    });
    write(folder.join(".claude.json"), state.to_string());
    home.set_env("CLAUDE_CONFIG_DIR", folder);
    home.set_env("ANTHROPIC_BASE_URL", model.url());
    // A token and not a key: a key makes the terminal UI ask whether to use it.
    home.set_env("ANTHROPIC_AUTH_TOKEN", "mock-token");
    home.set_env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    // The default goes on retrying for minutes.
    home.set_env("CLAUDE_CODE_MAX_RETRIES", "0");
}

fn isolate_codex(home: &TestHome, base_url: &str) {
    let folder = home.home().join(".codex");
    let mut config = format!(
        r#"model = "gpt-5.5"
model_provider = "mock"

[model_providers.mock]
name = "mock"
base_url = "{base_url}"
wire_api = "responses"
env_key = "MOCK_KEY"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0
"#
    );
    for project in projects(home) {
        config.push_str(&format!("\n[projects.\"{project}\"]\ntrust_level = \"trusted\"\n"));
    }
    write(folder.join("config.toml"), config);
    home.set_env("CODEX_HOME", folder);
    home.set_env("MOCK_KEY", "mock-key");
}

fn isolate_gemini(home: &TestHome, model: &FakeModel) {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "model": {"name": GEMINI_MODEL},
        "general": {"disableAutoUpdate": true, "enableAutoUpdate": false},
        "privacy": {"usageStatisticsEnabled": false},
    });
    let folder = home.home().join(".gemini");
    write(folder.join("settings.json"), settings.to_string());
    let trusted = json!({home.projects().to_str().expect("UTF-8"): "TRUST_FOLDER"});
    write(folder.join("trustedFolders.json"), trusted.to_string());
    home.set_env("GEMINI_CLI_HOME", home.home());
    home.set_env("GOOGLE_GEMINI_BASE_URL", model.url());
    home.set_env("GEMINI_API_KEY", "mock-key");
}

fn isolate_pi(home: &TestHome, base_url: &str) {
    let folder = home.home().join(".pi/agent");
    let models = json!({"providers": {"mock": {
        "baseUrl": base_url, "api": "openai-completions", "apiKey": "mock-key",
        // Without "image" images go as a line of text.
        "models": [{"id": "mock-model", "input": ["text", "image"]}],
    }}});
    write(folder.join("models.json"), models.to_string());
    let settings = json!({"defaultProvider": "mock", "defaultModel": "mock-model"});
    write(folder.join("settings.json"), settings.to_string());
    home.set_env("PI_CODING_AGENT_DIR", folder);
    // Else it downloads fd and ripgrep at the start.
    home.set_env("PI_OFFLINE", "1");
}

fn isolate_openclaw(home: &TestHome, base_url: &str) {
    let folder = home.home().join(".openclaw");
    let config = json!({
        "models": {"mode": "merge", "providers": {"mock": {
            "baseUrl": base_url, "apiKey": "mock-key", "api": "openai-completions",
            "models": [{
                "id": "mock-model", "name": "Mock", "reasoning": false, "input": ["text", "image"],
                "contextWindow": 200_000, "maxTokens": 8192,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            }],
        }}},
        "agents": {"defaults": {"model": {"primary": "mock/mock-model"}}},
    });
    write(folder.join("openclaw.json"), config.to_string());
    home.set_env("OPENCLAW_STATE_DIR", &folder);
    home.set_env("OPENCLAW_CONFIG_PATH", folder.join("openclaw.json"));
}

fn isolate_opencode(home: &TestHome, base_url: &str) {
    // In the user's own file: OPENCODE_CONFIG_CONTENT stays free for what is tested.
    let config = json!({
        "model": "mock/mock-model",
        "small_model": "mock/mock-model",
        "autoupdate": false,
        "provider": {"mock": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": base_url, "apiKey": "mock-key"},
            "models": {"mock-model": {
                "limit": {"context": 200_000, "output": 8000},
                "attachment": true,
                "modalities": {"input": ["text", "image", "pdf"], "output": ["text"]},
            }},
        }},
    });
    write(home.config().join("opencode/opencode.json"), config.to_string());
    home.set_env("OPENCODE_DISABLE_MODELS_FETCH", "1");
    home.set_env("OPENCODE_DISABLE_AUTOUPDATE", "1");
}

fn isolate_hermes(home: &TestHome, base_url: &str) {
    let folder = home.home().join(".hermes");
    // With a context length it does not ask the API what the model can do.
    let config = format!(
        "model:\n  default: mock-model\n  provider: custom\n  base_url: {base_url}\n  api_key: mock-key\n  context_length: 256000\n  supports_vision: true\n"
    );
    write(folder.join("config.yaml"), config);
    // What a model takes besides text and images is looked up in this cache of a public list.
    let modalities = json!({"input": ["text", "image", "pdf"], "output": ["text"]});
    let model = json!({"id": "mock-model", "modalities": modalities});
    let models = json!({"custom": {"id": "custom", "models": {"mock-model": model}}});
    write(folder.join("models_dev_cache.json"), models.to_string());
    home.set_env("HERMES_HOME", folder);
}

fn projects(home: &TestHome) -> Vec<String> {
    let mut paths: Vec<_> = std::fs::read_dir(home.projects())
        .expect("folder of the projects")
        .map(|entry| entry.expect("entry").path().to_str().expect("UTF-8 path").to_owned())
        .collect();
    paths.sort();
    paths
}
