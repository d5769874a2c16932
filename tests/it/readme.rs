//! The README keeps its word: its demo runs, its settings are taken, its table has every engine.

use std::path::Path;

use serde_json::Value;

use crate::support::home::write;
use crate::support::{TestHome, run};

const README: &str = include_str!("../../README.md");

#[test]
fn the_demo_needs_no_account_and_shows_the_docs_of_the_example() {
    let home = TestHome::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let line = "echo --project examples/p1 \"Which tools may be lent for a week?\"";
    assert!(README.contains(line));
    let mut demo = home.omni();
    demo.args(["echo", "--project", "examples/p1", "Which tools may be lent for a week?"]);
    let answer = run(demo.current_dir(root), "").expect_success();
    for part in [
        "### lending-rules.md",
        "## Available Reference Docs",
        "attached: loans-per-evening.png",
        "your message: Which tools may be lent for a week?\n",
    ] {
        assert!(answer.stdout.contains(part), "{part}\n{}", answer.stdout);
    }
    assert!(answer.stderr.starts_with("docs: 3 files"), "{}", answer.stderr);
}

#[test]
fn the_settings_of_the_example_are_the_settings() {
    let home = TestHome::new();
    let (_, rest) = README.split_once("```toml\ndefault-engine").expect("example");
    let (example, _) = rest.split_once("```").expect("its end");
    write(home.config().join("omni-run/config.toml"), format!("default-engine{example}"));
    let shown = run(home.omni().arg("config"), "").expect_success().stdout;
    let settings: Vec<&str> = shown.lines().filter(|line| line.contains(" = ")).collect();
    assert!(!settings.is_empty());
    for setting in settings {
        assert!(setting.ends_with("(config.toml)"), "the example lacks {setting}");
    }
}

#[test]
fn every_engine_and_every_exit_code_is_in_a_table() {
    let home = TestHome::new();
    let list = run(home.omni().args(["engines", "ls", "--json"]), "").expect_success().stdout;
    let list: Value = serde_json::from_str(&list).expect("JSON");
    for engine in list.as_array().expect("list") {
        let id = engine["id"].as_str().expect("id");
        assert!(README.contains(&format!("\n| `{id}` |")), "{id} is not in the README");
    }
    for code in [0, 2, 64, 66, 69, 70, 73, 75, 77, 78, 124] {
        assert!(README.contains(&format!("\n| {code} |")), "{code} is not in the README");
    }
}
