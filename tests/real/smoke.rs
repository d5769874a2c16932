//! Each real engine alone, without omni-run: the prompt reaches the fake model and its answer
//! comes back on stdout. When these fail, the test bed is broken and not omni-run.

use std::process::Command;

use crate::support::fake_model::{FakeModel, REPLY};
use crate::support::process::say;
use crate::support::{RealEngine, TestHome, require_engine, run};

const PROMPT: &str = "tell me a marker, 世界 \"quoted\"";

/// How a person runs the engine once by hand, and whether the prompt goes by stdin.
fn bare(engine: &RealEngine, command: &mut Command) -> &'static str {
    let by_stdin = match engine.omni_id() {
        "claude" | "pi" => ["-p"].as_slice(),
        "codex" => &["exec", "--skip-git-repo-check"],
        "gemini" => &["--skip-trust"],
        "openclaw" => &["agent", "exec", "--message-file", "-"],
        "opencode" => &["run", "--title", "smoke"],
        "hermes" => {
            command.args(["chat", "-Q"]).arg(format!("-q={PROMPT}"));
            return "";
        }
        other => panic!("no call for {other}"),
    };
    command.args(by_stdin);
    PROMPT
}

fn check(id: &str) {
    let Some(engine) = require_engine(id) else { return };
    let (home, model) = (TestHome::new(), FakeModel::start());
    let project = home.project("p1");
    engine.isolate(&home, &model);
    let mut command = home.command(home.bin().join(engine.omni_id()));
    let stdin = bare(&engine, command.current_dir(&project));
    let turn = engine.turn();
    let finished = run(&mut command, stdin).expect_success();
    drop(turn);

    let requests: Vec<_> = model.requests().iter().map(|r| r.summary()).collect();
    say(&format!("{id}: {:.1} s; {}", finished.took.as_secs_f32(), requests.join("; ")));
    model.only_request().wire().assert_display_once(PROMPT);
    assert_eq!(finished.stdout.trim_end().lines().last(), Some(REPLY), "{finished:?}");
}

#[test]
fn claude() {
    check("claude");
}

#[test]
fn claude_2_1_197() {
    check("claude-2.1.197");
}

#[test]
fn codex() {
    check("codex");
}

#[test]
fn gemini() {
    check("gemini");
}

#[test]
fn pi() {
    check("pi");
}

#[test]
fn openclaw() {
    check("openclaw");
}

#[test]
fn opencode() {
    check("opencode");
}

#[test]
fn hermes() {
    check("hermes");
}
