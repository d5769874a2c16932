//! `omni-run sessions`: newest first, one line each, never a byte of the block.

use serde_json::Value;

use crate::support::{Finished, TestHome, run};

const CANARY: &str = "CANARY-OF-THE-BLOCK";

fn home() -> TestHome {
    let home = TestHome::new();
    home.set_env("TZ", "UTC");
    home.project_with_docs("p1", &[("a.md", CANARY.as_bytes())]);
    omni(&home, &["project", "add", "--id", "p1"]).expect_success();
    home
}

fn omni(home: &TestHome, args: &[&str]) -> Finished {
    run(home.omni().args(args).current_dir(home.projects().join("p1")), "")
}

fn json(home: &TestHome, args: &[&str]) -> Value {
    serde_json::from_str(&omni(home, args).expect_success().stdout).expect("JSON")
}

#[test]
fn listed_newest_first_with_filters() {
    let home = home();
    assert_eq!(omni(&home, &["sessions"]).expect_success().stdout, "");
    assert_eq!(json(&home, &["sessions", "ls", "--json"]), serde_json::json!([]));
    for prompt in ["first\nprompt", "second \u{1b}[2J prompt", &"third ".repeat(50)] {
        omni(&home, &["echo", "-p", prompt]).expect_success();
    }
    run(home.omni().args(["echo", "-p", "elsewhere"]), "").expect_success();
    let list = omni(&home, &["sessions"]).expect_success().stdout;
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 5, "{list}");
    assert!(lines[1].ends_with("elsewhere") && lines[4].ends_with("first prompt"), "{list}");
    assert!(lines[2].ends_with('…') && lines[2].chars().count() < 140, "{list}");
    assert!(lines[3].contains("\\u{1b}[2J") && !list.contains('\u{1b}'), "{list}");
    assert!(lines[1].contains(" ok ") && lines[4].contains(" p1 "), "{list}");

    let count = |args: &[&str]| json(&home, args).as_array().map(Vec::len);
    assert_eq!(count(&["sessions", "ls", "--json", "--project", "p1"]), Some(3));
    assert_eq!(count(&["sessions", "ls", "--json", "--project", "."]), Some(3));
    assert_eq!(count(&["sessions", "ls", "--json", "--engine", "codex"]), Some(0));
    assert_eq!(count(&["sessions", "ls", "--json", "--limit", "2"]), Some(2));
    assert_eq!(count(&["sessions", "ls", "--json", "--limit", "0"]), Some(4));
    assert_eq!(count(&["sessions", "ls", "--json", "--outcome", "ok"]), Some(4));
    assert_eq!(count(&["sessions", "ls", "--json", "--failed"]), Some(0));
    assert_eq!(count(&["sessions", "ls", "--json", "--since", "1h"]), Some(4));
    assert_eq!(count(&["sessions", "ls", "--json", "--until", "1h"]), Some(0));
    assert_eq!(omni(&home, &["sessions", "ls", "--project", "p2"]).code(), 66);
    for wrong in [["--since", "soon"], ["--outcome", "good"], ["--limit", "-1"]] {
        assert_eq!(omni(&home, &[&["sessions", "ls"], &wrong[..]].concat()).code(), 2, "{wrong:?}");
    }
}

#[test]
fn what_failed_is_listed_with_its_code() {
    let home = home();
    home.install_script("broken", "#!/bin/sh\nexit 3\n");
    let engine = "[broken]\nname='B'\nprograms=['broken']\ninstall='-'\ndefault-window=1000\n";
    crate::support::home::write(home.config().join("omni-run/engines.toml"), engine);
    omni(&home, &["echo", "-p", "fine"]).expect_success();
    assert_eq!(omni(&home, &["broken", "-p", "not fine"]).code(), 3);
    let failed = omni(&home, &["sessions", "ls", "--failed"]).expect_success().stdout;
    let lines: Vec<&str> = failed.lines().collect();
    assert_eq!(lines.len(), 2, "{failed}");
    assert!(lines[1].ends_with("failed, code 3  not fine"), "{failed}");
    let both = ["sessions", "ls", "--failed", "--outcome", "ok"];
    assert_eq!(omni(&home, &both).code(), 2);
}

#[test]
fn an_ambiguous_prefix_lists_what_it_stands_for() {
    let home = home();
    for prompt in ["one", "two"] {
        omni(&home, &["echo", "-p", prompt]).expect_success();
    }
    let ids: Vec<String> = json(&home, &["sessions", "ls", "--json"])
        .as_array()
        .expect("list")
        .iter()
        .map(|row| row["id"].as_str().expect("id").to_owned())
        .collect();
    for command in [&["sessions", "show"][..], &["sessions", "rm"], &["export"], &["share"]] {
        let failed = omni(&home, &[command, &["0"]].concat());
        assert_eq!((failed.code(), failed.stdout.as_str()), (66, ""));
        assert!(failed.stderr.starts_with("error: `0` stands for 2 sessions or more\n"));
        for id in &ids {
            assert!(failed.stderr.contains(id.as_str()), "{}", failed.stderr);
        }
        assert!(
            failed.stderr.contains("one") && failed.stderr.contains("two"),
            "{}",
            failed.stderr
        );
    }
    assert_eq!(json(&home, &["sessions", "ls", "--json"]).as_array().map(Vec::len), Some(2));
}

#[test]
fn shown_with_reply_and_receipt_and_without_the_block() {
    let home = home();
    let sent = omni(&home, &["echo", "--show-sent", "hi"]).stdout;
    assert!(sent.contains(CANARY), "the block is not empty");
    omni(&home, &["echo", "-p", "what did you get?"]).expect_success();
    let list = json(&home, &["sessions", "ls", "--json"]);
    assert_eq!(list[0]["first_words"], "what did you get?");
    assert!(list[0]["started_at"].is_i64());
    let id = list[0]["id"].as_str().expect("id");
    let shown = omni(&home, &["sessions", "show", &id[..13]]).expect_success();
    for part in [
        "--- you typed\nwhat did you get?\n",
        "--- the engine answered\necho received",
        "a.md: included",
        "SHA-256",
    ] {
        assert!(shown.stdout.contains(part), "{part}\n{}", shown.stdout);
    }
    let as_json = omni(&home, &["sessions", "show", id, "--json"]).expect_success();
    let value: Value = serde_json::from_str(&as_json.stdout).expect("JSON");
    assert_eq!(value["messages"][0]["text"], "what did you get?");
    assert_eq!(value["messages"][0]["role"], "operator");
    for text in [&shown.stdout, &as_json.stdout, &list.to_string()] {
        assert!(!text.contains(CANARY), "{text}");
    }
    for unknown in ["ffff", "not-an-id", ""] {
        assert_eq!(omni(&home, &["sessions", "show", unknown]).code(), 66, "{unknown:?}");
    }
}

#[test]
fn without_a_store_nothing_is_made() {
    let home = TestHome::new();
    let none = run(home.omni().args(["sessions", "show", "01"]), "");
    assert_eq!(none.code(), 66);
    run(home.omni().args(["sessions"]), "").expect_success();
    assert!(!home.data().join("omni-run").exists());
}
