//! Every engine of the catalogue with a stand-in on PATH that speaks its protocol.

use std::path::PathBuf;
use std::process::Command;

use crate::support::TestHome;

/// The engines of the catalogue, and one that only the user's own catalogue has.
pub(crate) const ENGINES: [&str; 10] =
    ["claude", "codex", "gemini", "cursor", "pi", "openclaw", "opencode", "hermes", "echo", "own"];

/// What the stand-ins answer.
pub(crate) const REPLY: &str = "the final answer, 世界";

/// A home in which this engine is installed.
pub(crate) struct StandIn {
    pub(crate) home: TestHome,
    pub(crate) engine: &'static str,
    pub(crate) project: PathBuf,
}

impl StandIn {
    pub(crate) fn new(engine: &'static str) -> StandIn {
        let home = TestHome::new();
        match engine {
            "echo" => {}
            "cursor" => {
                home.install("cursor-agent", env!("CARGO_BIN_EXE_fake-cursor-agent").as_ref())
            }
            name => home.install(name, env!("CARGO_BIN_EXE_fake-one-shot-engine").as_ref()),
        }
        let own = "[own]\nname = 'Own'\nprograms = ['own']\nversion-args = ['--version']\n\
                   install = '-'\ndefault-window = 200000\n[own.one-shot]\ninstructions = 'file'\n\
                   instruction-args = ['--system', '{instructions_file}']\n\
                   session-args = ['--id', '{session_id}']\n\
                   resume-args = ['--go-on', '{engine_session_id}']\n";
        crate::support::home::write(home.config().join("omni-run/engines.toml"), own);
        home.set_env("FAKE_REPLY", REPLY);
        home.set_env("FAKE_CURSOR_REPLY", REPLY);
        home.set_env("FAKE_RECEIVED", home.root().join("received"));
        home.set_env("FAKE_CURSOR_LOG", home.root().join("received"));
        let project = home.project("p1");
        StandIn { home, engine, project }
    }

    /// `omni-run ENGINE …` in the project.
    pub(crate) fn omni(&self, args: &[&str]) -> Command {
        self.command(&[&[self.engine], args].concat())
    }

    /// Any other command.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.omni();
        command.args(args).current_dir(&self.project);
        command
    }

    /// What the engine got in its last run; taken away, so that the next run has to leave it anew.
    pub(crate) fn take_received(&self) -> String {
        let file = self.home.root().join("received");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(file);
        text
    }
}
