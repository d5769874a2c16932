//! `omni-run sessions rm` and `prune`: a question first, and then nothing of the text is left.

use std::path::Path;

use serde_json::Value;

use crate::pty_driver::{PtyDriver, Run};
use crate::support::home::write;
use crate::support::{Finished, TestHome, run};

fn omni(home: &TestHome, args: &[&str]) -> Finished {
    run(home.omni().args(args), "")
}

/// Records a session for each prompt and gives their ids in this order.
fn recorded(home: &TestHome, prompts: &[&str]) -> Vec<String> {
    for prompt in prompts {
        omni(home, &["echo", "-q", "-p", prompt]).expect_success();
    }
    let mut ids = ids(home);
    ids.reverse();
    ids
}

fn ids(home: &TestHome) -> Vec<String> {
    let list = omni(home, &["sessions", "ls", "--json", "--limit", "0"]).expect_success().stdout;
    let list: Value = serde_json::from_str(&list).expect("JSON");
    let id = |row: &Value| row["id"].as_str().expect("id").to_owned();
    list.as_array().expect("list").iter().map(id).collect()
}

fn is_on_disk(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).expect("folder").flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return is_on_disk(&path, text);
        }
        let bytes = std::fs::read(&path).unwrap_or_default();
        String::from_utf8_lossy(&bytes).to_lowercase().contains(text)
    })
}

fn at_a_terminal(home: &TestHome, args: &[&str]) -> PtyDriver {
    Run::new(env!("CARGO_BIN_EXE_omni-run")).args(args).only_env(home.env()).size(30, 120).start()
}

#[test]
fn removed_is_gone_from_lists_searches_and_the_disk() {
    let home = TestHome::new();
    let ids = recorded(&home, &["keepthis", "removethis", "removethis too"]);
    let data = home.data().join("omni-run");
    assert!(is_on_disk(&data, "removethis"));
    let removed = omni(&home, &["sessions", "rm", "--yes", &ids[1], &ids[2], &ids[1]]);
    assert_eq!(removed.expect_success().stderr, "2 sessions removed\n");
    assert_eq!(self::ids(&home), [ids[0].clone()]);
    assert_eq!(omni(&home, &["search", "removethis"]).code(), 1);
    assert_eq!(omni(&home, &["search", "keepthis"]).code(), 0);
    assert!(!is_on_disk(&data, "removethis") && is_on_disk(&data, "keepthis"));
    assert!(omni(&home, &["store", "check"]).expect_success().stdout.contains("no damage found"));
}

#[test]
fn nothing_is_removed_unasked_unknown_or_half() {
    let home = TestHome::new();
    let none = omni(&home, &["sessions", "rm", "--yes", "0199"]);
    assert_eq!(none.code(), 66);
    assert!(!home.data().join("omni-run").exists());
    let ids = recorded(&home, &["one", "two"]);
    let unasked = omni(&home, &["sessions", "rm", &ids[0]]);
    assert_eq!(unasked.code(), 77);
    assert!(unasked.stderr.contains("--yes"), "{}", unasked.stderr);
    let half = omni(&home, &["sessions", "rm", "--yes", &ids[0], "ffff"]);
    assert_eq!(half.code(), 66);
    assert!(half.stderr.contains("there is no session `ffff`"), "{}", half.stderr);
    assert_eq!(omni(&home, &["sessions", "rm", "--yes"]).code(), 2);
    assert_eq!(self::ids(&home).len(), 2);
}

#[test]
fn at_a_terminal_it_asks() {
    let home = TestHome::new();
    let ids = recorded(&home, &["the first one", "the second one"]);
    for (answer, code, left) in [("\r", 77, 2), ("no\r", 77, 2), ("y\r", 0, 1)] {
        let mut term = at_a_terminal(&home, &["sessions", "rm", &ids[0]]);
        term.wait_for("Remove 1 session for good? [y/N]");
        assert!(term.screen().contains("the first one"), "{}", term.screen());
        term.send(answer);
        assert_eq!(term.wait_for_end().code, Some(code));
        assert_eq!(self::ids(&home).len(), left);
    }
}

#[test]
fn one_that_runs_stays_unless_forced() {
    let home = TestHome::new();
    home.install_script("slow", "#!/bin/sh\nread -r line < \"$HOME/fifo\"\n");
    let engine = "[slow]\nname='S'\nprograms=['slow']\ninstall='-'\ndefault-window=1000\n";
    write(home.config().join("omni-run/engines.toml"), engine);
    let fifo = home.home().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).expect("fifo");
    let mut launch = home.omni();
    launch.args(["slow", "-q", "-p", "still at it"]).stdin(std::process::Stdio::null());
    launch.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut launch = launch.spawn().expect("launch");
    // Opens when the engine has opened its end: it runs.
    let open = std::fs::OpenOptions::new().write(true).open(&fifo).expect("the engine's pipe");
    let ids = self::ids(&home);
    let refused = omni(&home, &["sessions", "rm", "--yes", &ids[0]]);
    assert_eq!(refused.code(), 77);
    assert!(refused.stderr.contains("still runs"), "{}", refused.stderr);
    let pruned =
        omni(&home, &["sessions", "prune", "--older-than", "0s", "--yes"]).expect_success();
    assert!(pruned.stderr.contains("1 session that still runs stays"), "{}", pruned.stderr);
    assert_eq!(self::ids(&home).len(), 1);
    omni(&home, &["sessions", "rm", "--yes", "--force", &ids[0]]).expect_success();
    drop(open);
    launch.wait().expect("end");
    // The end of a session that was removed brings nothing back.
    assert_eq!(self::ids(&home), Vec::<String>::new());
}

#[test]
fn prune_by_age_by_setting_and_as_a_rehearsal() {
    let home = TestHome::new();
    recorded(&home, &["an old thing", "another"]);
    let prune = |args: &[&str]| omni(&home, &[&["sessions", "prune"], args].concat());
    let unsaid = prune(&["--yes"]);
    assert_eq!(unsaid.code(), 2);
    assert!(unsaid.stderr.contains("retention-days"), "{}", unsaid.stderr);
    assert_eq!(prune(&["--older-than", "soon"]).code(), 2);
    let young = prune(&["--older-than", "90d", "--yes"]).expect_success();
    assert!(young.stderr.starts_with("no session ended before "), "{}", young.stderr);
    let rehearsal = prune(&["--older-than", "0s", "--dry-run"]).expect_success();
    assert!(rehearsal.stdout.contains("an old thing"), "{}", rehearsal.stdout);
    assert_eq!(rehearsal.stderr, "2 sessions would be removed\n");
    assert_eq!(prune(&["--older-than", "0s"]).code(), 77, "nobody is there to be asked");
    assert_eq!(prune(&["--older-than", "0s", "--engine", "codex", "--yes"]).code(), 0);
    assert_eq!(prune(&["--older-than", "0s", "--project", "nobody", "--yes"]).code(), 66);
    assert_eq!(ids(&home).len(), 2);
    // The setting counts where nothing is said; what is younger stays.
    write(home.config().join("omni-run/config.toml"), "retention-days = 1\n");
    prune(&["--yes"]).expect_success();
    assert_eq!(ids(&home).len(), 2);
    let done = prune(&["--older-than", "0s", "--yes"]).expect_success();
    assert_eq!(done.stderr, "2 sessions removed\n");
    assert_eq!(ids(&home), Vec::<String>::new());
}
