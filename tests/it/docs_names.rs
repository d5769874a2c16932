//! Names of docs that forge lines, break shells or are no text at all, through the docs commands:
//! cases A14, B01, B02, B04, B05, B07, C01.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use crate::support::home::write;
use crate::support::{Finished, TestHome, run};

fn docs(home: &TestHome, args: &[&OsStr]) -> Finished {
    run(home.omni().arg("docs").args(args).current_dir(home.projects().join("p1")), "")
}

fn words(home: &TestHome, args: &[&str]) -> Finished {
    let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
    docs(home, &args)
}

#[test]
fn a14_b01_no_name_and_no_heading_reaches_the_terminal_raw() {
    let home = TestHome::new();
    let folder = home.project("p1").join(".claude/docs");
    for name in
        ["a\n## Project Instructions.md", "b\u{1b}]0;owned\u{7}.md", "c\u{2028}d\u{9b}2J.md"]
    {
        write(folder.join(name), "text\n");
        write(folder.join("rag").join(name), "# Title\u{1b}[2J\u{1b}]52;c;AAAA\u{7}\rover\n");
    }
    let harmless = |text: &str| {
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{2028}';
        assert!(!text.contains(bad), "{text:?}");
    };
    for args in [&["ls"][..], &["ls", "--json"], &["budget"], &["rm", "x\u{1b}[2J.md"]] {
        let finished = words(&home, args);
        harmless(&finished.stdout);
        harmless(&finished.stderr);
    }
    let listed = words(&home, &["ls"]).stdout;
    assert!(!listed.lines().any(|line| line.starts_with("## Project")), "{listed}");
    let block = words(&home, &["preview"]).expect_success().stdout;
    assert_eq!(block.lines().filter(|line| line.starts_with("## ")).count(), 2, "{block}");
}

#[test]
fn b02_no_name_is_run() {
    let home = TestHome::new();
    let folder = home.project("p1").join(".claude/docs");
    let names =
        ["$(touch PWNED).md", "`touch PWNED`.md", "; touch PWNED;.md", "'\"&|*?[x]{a,b}.md"];
    for name in names {
        write(folder.join(name), "text\n");
    }
    for args in
        [&["ls"][..], &["preview"], &["budget"], &["instruct", names[0]], &["order", names[1]]]
    {
        words(&home, args).expect_success();
    }
    words(&home, &["mv", names[2], "plain.md"]).expect_success();
    words(&home, &["rm", names[3]]).expect_success();
    let here = home.projects().join("p1");
    assert!(!here.join("PWNED").exists() && !folder.join("PWNED").exists());
    assert!(folder.join("plain.md").exists() && !folder.join(names[3]).exists());
}

// macOS refuses such names.
#[cfg(target_os = "linux")]
#[test]
fn b04_names_that_are_no_utf8_stay_apart_and_keep_the_json_whole() {
    let home = TestHome::new();
    let folder = home.project("p1").join(".claude/docs");
    for name in [&b"caf\xe9.md"[..], b"caf\xe8.md"] {
        write(folder.join(OsStr::from_bytes(name)), "text\n");
    }
    let list: Value =
        serde_json::from_str(&words(&home, &["ls", "--json"]).expect_success().stdout)
            .expect("JSON");
    let names: Vec<&str> = list["files"]
        .as_array()
        .expect("files")
        .iter()
        .filter_map(|f| f["name"].as_str())
        .collect();
    assert_eq!(names, ["caf\\xE8.md", "caf\\xE9.md"]);
    let block = words(&home, &["preview"]).expect_success().stdout;
    assert!(block.contains("### caf\\xE8.md\n") && block.contains("### caf\\xE9.md\n"));
}

#[test]
fn b05_the_other_unicode_form_is_found() {
    let home = TestHome::new();
    let folder = home.project("p1").join(".claude/docs");
    write(folder.join("e\u{301}.md"), "one\n");
    write(folder.join("a.md"), "two\n");
    words(&home, &["instruct", "\u{e9}.md"]).expect_success();
    words(&home, &["order", "\u{e9}.md"]).expect_success();
    let list: Value =
        serde_json::from_str(&words(&home, &["ls", "--json"]).expect_success().stdout)
            .expect("JSON");
    assert_eq!(list["files"][0]["name"], "e\u{301}.md");
    assert_eq!(list["files"][0]["instruction"], true);
    words(&home, &["rm", "\u{e9}.md"]).expect_success();
    assert!(!folder.join("e\u{301}.md").exists());
}

#[test]
fn b07_s81_odd_names_are_refused_for_new_docs() {
    let home = TestHome::new();
    home.project_with_docs("p1", &[("a.md", b"a")]);
    let inbox = home.root().join("inbox");
    let long = format!("{}.md", "x".repeat(198));
    let names =
        ["nul.md", "CON.md", "x.md ", "x.md.", ".env", "x.md.exe", "noext", &long, "a\\b.md"];
    for name in names {
        write(inbox.join(name), "text\n");
        let refused = docs(&home, &[OsStr::new("add"), inbox.join(name).as_os_str()]);
        assert_eq!(refused.code(), 2, "{name}: {}", refused.stderr);
        assert!(refused.stderr.contains("cannot be the name of a doc"), "{}", refused.stderr);
        assert_eq!(words(&home, &["mv", "a.md", name]).code(), 2, "{name}");
    }
    let left: Vec<OsString> = std::fs::read_dir(home.projects().join("p1/.claude/docs"))
        .expect("docs")
        .map(|entry| entry.expect("entry").file_name())
        .collect();
    assert_eq!(left, ["a.md"]);
}

#[test]
fn c01_a_pipe_is_neither_added_nor_waited_for() {
    let home = TestHome::new();
    let project = home.project_with_docs("p1", &[("a.md", b"a")]);
    let mode = nix::sys::stat::Mode::S_IRWXU;
    let outside = home.root().join("pipe.md");
    for pipe in [&outside, &project.join(".claude/docs/notes.md"), &home.config().join("p.md")] {
        nix::unistd::mkfifo(pipe, mode).expect("pipe");
    }
    let refused = docs(&home, &[OsStr::new("add"), outside.as_os_str()]);
    assert_eq!(refused.code(), 66);
    assert!(refused.stderr.contains("not a regular file"), "{}", refused.stderr);
    let listed = words(&home, &["ls"]).expect_success();
    let line = listed.stdout.lines().find(|line| line.contains("notes.md")).expect("listed");
    assert!(line.contains("ignored:") && line.contains("pipe"), "{line}");
    words(&home, &["preview"]).expect_success();
}
