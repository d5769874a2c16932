//! An engine of a few lines of shell that keeps a record of its conversations as one of the known
//! engines does, and an omni-run that is killed at a chosen moment: for the tests of dead sessions.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::script_engine::ScriptEngine;
use crate::support::{Finished, run};

/// Far over anything that works, on a loaded machine.
const LIMIT: Duration = Duration::from_secs(60);

/// The catalogue's entry for an engine whose record is read: one file of JSON lines for each
/// conversation.
pub(crate) const WITH_RECORD: &str = r#"
adapter = "claude"
[fake.one-shot]
session-args = ["--session-id", "{session_id}"]
resume-args = ["--resume", "{engine_session_id}"]
model-args = ["--model", "{model}"]
message = "stdin"
instructions = "file"
instruction-args = ["--rules", "{instructions_file}"]
[fake.resume]
not-found = ["No conversation found"]
same-folder = true
kept = "a folder of its own"
"#;

/// One of which nothing is known.
pub(crate) const WITHOUT_RECORD: &str = r#"
[fake.one-shot]
resume-args = ["--resume", "{engine_session_id}"]
message = "stdin"
"#;

/// The beginning of every script: counts the starts, and has what a script needs.
/// `hold` waits for the end of the world; `record TEXT` writes a user's message into the record.
const HEAD: &str = r#"
{ printf '%s' "$*" | tr '\n' ' '; echo; } >> "$HOME/starts"
id=$2
mkdir -p "$HOME/.claude/projects/p"
hold() { echo $$ > "$HOME/held"; exec sleep 600; }
record() {
    printf '{"type":"user","message":{"role":"user","content":"%s"}}\n' "$1" >> "$HOME/.claude/projects/p/$id.jsonl"
}
first() { [ "$(wc -l < "$HOME/starts")" -eq 1 ]; }
"#;

/// The engine, and what became of it.
pub(crate) struct Dying {
    pub(crate) fake: ScriptEngine,
}

impl Dying {
    pub(crate) fn new(spec: &str, body: &str) -> Dying {
        Dying { fake: ScriptEngine::with_spec(&format!("{HEAD}{body}"), spec) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.fake.home.home().join(name)
    }

    /// How often the engine was started.
    pub(crate) fn starts(&self) -> usize {
        std::fs::read_to_string(self.path("starts")).map_or(0, |text| text.lines().count())
    }

    /// What the engine read on its standard input, as the script kept it.
    pub(crate) fn got(&self) -> String {
        std::fs::read_to_string(self.path("got")).unwrap_or_default()
    }

    pub(crate) fn wait_for(&self, name: &str) {
        wait_until(name, || self.path(name).exists());
    }

    /// Starts omni-run and kills it when the engine holds; gives the session.
    pub(crate) fn killed(&self, args: &[&str]) -> Value {
        let mut child = spawn(&mut self.fake.omni(args));
        self.wait_for("held");
        kill_and_reap(&mut child);
        self.settled()
    }

    /// The newest session, once it is known that it has ended.
    pub(crate) fn settled(&self) -> Value {
        let mut row = Value::Null;
        wait_until("the session's end", || {
            row = self.sessions()[0].clone();
            row["outcome"] != "running"
        });
        row
    }

    pub(crate) fn sessions(&self) -> Value {
        json(self.command(&["sessions", "ls", "--json", "--limit", "200"]))
    }

    pub(crate) fn show(&self, id: &str) -> Value {
        json(self.command(&["sessions", "show", "--json", id]))
    }

    /// What the user typed in a session: each of its operator rows.
    pub(crate) fn typed(&self, id: &str) -> Vec<String> {
        let shown = self.show(id);
        let messages = shown["messages"].as_array().expect("messages").iter();
        messages
            .filter(|message| message["role"] == "operator")
            .map(|message| message["text"].as_str().expect("text").to_owned())
            .collect()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Finished {
        run(&mut self.fake.command(args), "")
    }
}

pub(crate) fn id(row: &Value) -> &str {
    row["id"].as_str().expect("id")
}

#[track_caller]
pub(crate) fn json(finished: Finished) -> Value {
    serde_json::from_str(&finished.expect_success().stdout).expect("JSON")
}

pub(crate) fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("start")
}

pub(crate) fn kill_and_reap(child: &mut Child) {
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL).expect("kill");
    child.wait().expect("wait");
}

#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < until, "waited {LIMIT:?} for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
