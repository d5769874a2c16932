//! The README keeps its word: its demo runs, its settings are taken, its table has every engine.

use std::path::Path;

use serde_json::Value;

use crate::control_api::home_with;
use crate::support::home::write;
use crate::support::serve::{Serve, approve};
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

/// The block of this language that follows these words.
fn example(after: &str, language: &str) -> String {
    let (_, rest) = README.split_once(after).expect("the words");
    let (_, rest) = rest.split_once(&format!("```{language}\n")).expect("a block");
    rest.split_once("```").expect("its end").0.to_owned()
}

#[test]
fn the_lines_that_find_a_session_run() {
    let home = TestHome::new();
    for prompt in ["What do the house rules say of lending?", "lending rules, short", "図書館"] {
        run(home.omni().args(["echo", "-q", "-p", prompt]), "").expect_success();
    }
    let list = run(home.omni().args(["sessions", "ls", "--json"]), "").expect_success().stdout;
    let list: Value = serde_json::from_str(&list).expect("JSON");
    let id = list[1]["id"].as_str().expect("id");
    let mut seen = 0;
    for line in example("## Find a session", "sh").lines() {
        let line = line.replace("01a22c0f", id);
        // With an engine that needs no account.
        let line = line.replace("omni-run claude --resume", "omni-run echo --resume");
        let bin = Path::new(env!("CARGO_BIN_EXE_omni-run")).parent().expect("folder");
        let script = format!("PATH={}:$PATH\n{line}", bin.display());
        let ran = run(home.command("/bin/sh").args(["-euc", &script]), "");
        let (code, part) = match line.split_whitespace().nth(1).expect("command") {
            "search" => (0, "echo"),
            "echo" => (0, "Go on"),
            _ if line.contains(" rm ") => (77, ""),
            _ if line.contains("prune") => (0, ""),
            _ if line.contains("--failed") => (0, ""),
            _ => (0, "lending rules, short"),
        };
        assert_eq!(ran.code(), code, "{line}\n{}", ran.stderr);
        assert!(ran.stdout.contains(part), "{line}\n{}", ran.stdout);
        seen += 1;
    }
    assert_eq!(seen, 9);
}

#[test]
fn the_curl_examples_of_the_api_run() {
    let home = home_with(&[("old.md", b"old")]);
    write(home.home().join("notes.md"), "notes");
    let serve = Serve::start(&home);
    let script = example("## CLI Control (HTTP)", "sh").replace("/project/shop/", "/project/p1/");
    let ran = run(home.command("/bin/sh").arg("-eu"), script).expect_success();
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.contains("\"name\":\"old.md\""), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("\"status\":\"pending\"}").count(), 2, "{}", ran.stdout);
    let actions = serve.get("/actions").json();
    let actions = actions["actions"].as_array().expect("list");
    let kinds: Vec<&str> = actions.iter().filter_map(|action| action["kind"].as_str()).collect();
    assert_eq!(kinds, ["add_doc", "delete_doc"]);
    for action in actions {
        assert_eq!(approve(&home, action["id"].as_str().expect("id"))["status"], "applied");
    }
}

#[test]
fn the_python_example_of_the_api_runs_from_the_question_to_the_answer() {
    let home = home_with(&[("a.md", b"# A")]);
    let serve = Serve::start(&home);
    let program = example("A launch in Python", "python");
    assert!(program.lines().count() <= 25, "a short example");
    let program = program.replace("/project/shop/", "/project/p1/").replace("codex", "echo");
    let mut events = crate::control_api::Events::open(&serve);
    let mut python = home.command("python3");
    let said = std::thread::scope(|scope| {
        let asking = scope.spawn(move || run(python.arg("-"), program));
        loop {
            let (name, data) = events.next();
            if name == "action" && data["status"] == "pending" {
                approve(&home, data["id"].as_str().expect("id"));
                break asking.join().expect("python");
            }
        }
    });
    let said = said.expect_success();
    assert!(said.stdout.contains("your message: What is open?"), "{}", said.stdout);
    assert!(said.stdout.contains("a.md"), "{}", said.stdout);
}

#[test]
fn the_recipe_of_the_readme_is_one_and_its_script_gets_what_it_reads() {
    let home = TestHome::new();
    let project = home.project("p1");
    let (_, rest) = README.split_once("```markdown\n").expect("recipe");
    let (recipe, _) = rest.split_once("```").expect("its end");
    write(project.join(".claude/recipes/changes.md"), recipe);
    write(project.join("docs/logo.png"), crate::support::sample_files::png(4, 4, [1, 2, 3]));
    let args = ["recipe", "run", "changes", "--set", "since=v1.2", "--engine", "echo"];
    let mut command = home.omni();
    let sent = run(command.args(args).arg("--show-sent").current_dir(&project), "");
    let sent = sent.expect_success().stdout;
    assert!(sent.ends_with("Say in English what changed since v1.2."), "{sent}");
    let mut command = home.omni();
    let answer = run(command.args(args).args(["--output", "json"]).current_dir(&project), "");
    let answer: Value = serde_json::from_str(&answer.expect_success().stdout).expect("JSON");
    // Each key of the object stands in the README's table.
    for key in answer.as_object().expect("object").keys() {
        assert!(README.contains(&format!("`{key}`")), "{key} is not in the README");
    }
}
