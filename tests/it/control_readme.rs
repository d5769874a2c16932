//! The README's examples for programs, word for word: the shell's and the one in Python.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::home::write;
use crate::support::serve::{PATIENCE, Serve, approve, data};
use crate::support::{TestHome, run};

const README: &str = include_str!("../../README.md");

/// The README's block of this kind that holds a text.
fn block(kind: &str, holds: &str) -> &'static str {
    let fence = format!("```{kind}\n");
    let mut blocks =
        README.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next());
    blocks.find(|block| block.contains(holds)).expect("a block of the README")
}

/// A home with the README's project, and the data folder where the README says it is.
fn home() -> TestHome {
    let home = TestHome::new();
    let docs = [("a.md", b"the doc".as_slice()), ("old.md", b"old")];
    let project = home.project_with_docs("shop", &docs);
    run(home.omni().arg("project").arg("add").arg(&project), "").expect_success();
    let named = home.home().join(".local/share/omni-run");
    if named != data(&home) {
        std::fs::create_dir_all(named.parent().expect("parent")).expect("folder");
        std::os::unix::fs::symlink(data(&home), named).expect("link");
    }
    home
}

fn shell(home: &TestHome, script: &str) -> Command {
    let mut shell = home.command("bash");
    shell.args(["-euc", script]).current_dir(home.home());
    shell
}

#[test]
fn the_lines_for_the_shell() {
    let home = home();
    write(home.home().join("notes.md"), "# Notes\n");
    let _serve = Serve::start(&home);
    let said = run(&mut shell(&home, block("sh", "api()")), "").expect_success();
    let lines: Vec<Value> =
        said.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let [docs, added, deleted, waiting] = lines.as_slice() else { panic!("{said:?}") };
    assert!(docs["files"].as_array().is_some_and(|docs| docs.len() == 2), "{docs}");
    for asked in [added, deleted] {
        assert_eq!(asked["status"], "pending");
        assert!(asked["actionId"].is_string());
    }
    let waiting = waiting["actions"].as_array().expect("actions");
    let kinds: Vec<&str> = waiting.iter().filter_map(|action| action["kind"].as_str()).collect();
    assert_eq!(kinds, ["add_doc", "delete_doc"]);
    approve(&home, waiting[0]["id"].as_str().expect("id"));
    let note = home.project("shop").join(".claude/docs/notes.md");
    assert_eq!(std::fs::read(note).expect("the doc"), b"# Notes\n");
}

#[test]
fn the_launch_in_python() {
    let home = home();
    let serve = Serve::start(&home);
    // Another engine than the README's, which this machine may lack.
    let script = block("python", "urllib").replace("\"codex\"", "\"echo\"");
    let mut python = home.command("python3");
    python.arg("-c").arg(&script).stdin(Stdio::null()).stdout(Stdio::piped());
    let child = python.spawn().expect("python3");
    approve(&home, &waiting(&serve));
    let end = child.wait_with_output().expect("end");
    let text = String::from_utf8_lossy(&end.stdout);
    assert!(end.status.success() && text.contains("What is open?"), "{end:?}");
    assert!(text.contains("### a.md"), "the docs went along: {text}");

    let wrong = script.replace("/project/shop/", "/project/stop/");
    let end = run(home.command("python3").arg("-c").arg(wrong), "");
    assert_eq!(end.code(), 1, "{end:?}");
    assert!(end.stderr.contains("omni-run project add"), "it says what to do: {end:?}");
}

/// The id of the action that waits. It comes from another process, which tells nobody else.
fn waiting(serve: &Serve) -> String {
    let until = Instant::now() + PATIENCE;
    loop {
        let actions = serve.get("/actions").json();
        if let Some(id) = actions["actions"][0]["id"].as_str() {
            return id.to_owned();
        }
        assert!(Instant::now() < until, "nothing was asked for");
        std::thread::sleep(Duration::from_millis(10));
    }
}
