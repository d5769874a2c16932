//! Engines made of a few lines of shell, put into the user's catalogue: what a launch does to a
//! process can be seen without a real engine.

use std::path::PathBuf;
use std::process::Command;

use crate::support::TestHome;
use crate::support::home::write;

/// A home with an engine `fake` that runs this script, and a project with one doc.
pub(crate) struct ScriptEngine {
    pub(crate) home: TestHome,
    pub(crate) project: PathBuf,
}

impl ScriptEngine {
    /// `body` runs under `sh`; what it reads on stdin is the sent text.
    pub(crate) fn new(body: &str) -> ScriptEngine {
        ScriptEngine::with_spec(body, "")
    }

    /// The same with more keys for its entry in the catalogue.
    pub(crate) fn with_spec(body: &str, spec: &str) -> ScriptEngine {
        let home = TestHome::new();
        home.install_script("fake", &format!("#!/bin/sh\n{}", guarded(body)));
        let entry = format!(
            "[fake]\nname = \"Fake\"\nprograms = [\"fake\"]\ninstall = \"get fake\"\nversion-args = [\"--version\"]\ndefault-window = 200000\n{spec}\n"
        );
        write(home.config().join("omni-run/engines.toml"), entry);
        let project = home.project_with_docs("p1", &[("style.md", b"Short words.\n")]);
        ScriptEngine { home, project }
    }

    /// `omni-run fake …` in the project.
    pub(crate) fn omni(&self, args: &[&str]) -> Command {
        let mut command = self.home.omni();
        command.arg("fake").args(args).current_dir(&self.project);
        command
    }

    /// Any other command.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.omni();
        command.args(args).current_dir(&self.project);
        command
    }
}

/// The version probe gets its answer whatever the script does.
fn guarded(body: &str) -> String {
    format!("[ \"$1\" = --version ] && {{ echo 'fake 1.0.0'; exit 0; }}\n{body}\n")
}
