//! `omni-run docs`: what the lists say, that the preview is what is sent, and what the changes do.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::home::write;
use crate::support::{Finished, TestHome, run, sample_files};

/// A command in the project `p1`.
fn docs(home: &TestHome, args: &[&str]) -> Finished {
    run(&mut command(home, args), "")
}

fn command(home: &TestHome, args: &[&str]) -> Command {
    let mut command = home.omni();
    command.arg("docs").args(args).current_dir(home.projects().join("p1"));
    command
}

fn json(home: &TestHome, args: &[&str]) -> Value {
    serde_json::from_str(&docs(home, args).expect_success().stdout).expect("JSON")
}

/// The names of the docs in their order.
fn names(home: &TestHome) -> Vec<String> {
    let list = json(home, &["ls", "--json"]);
    let files = list["files"].as_array().expect("files").iter();
    files.map(|file| file["name"].as_str().expect("name").to_owned()).collect()
}

fn sample_project(home: &TestHome) {
    let big = "word ".repeat(40_002);
    let png = sample_files::png(4, 4, [1, 2, 3]);
    home.project_with_docs(
        "p1",
        &[
            ("zebra.md", b"# Zebra\n"),
            ("Alpha.md", b"Alpha.\n"),
            ("big.md", big.as_bytes()),
            ("empty.md", b""),
            ("pic.png", &png),
            ("bad.png", b"<html>"),
            ("data.bin", b"\0\0"),
            (".env", b"KEY=1"),
            ("rules.md", b"Be kind.\n"),
            ("rag/schema.sql", b"-- Canonical DB schema\n"),
            ("rag/old.pdf", b"%PDF-1.4\n"),
        ],
    );
}

#[test]
fn s70_the_list_shows_each_doc_with_its_state_and_each_budget() {
    let home = TestHome::new();
    sample_project(&home);
    docs(&home, &["instruct", "rules.md"]).expect_success();
    let list = docs(&home, &["ls", "--engine", "echo"]).expect_success();
    insta::assert_snapshot!(list.stdout, @"
    #  NAME      BUCKET        SIZE  TOKENS  STATE
    1  Alpha.md  always         7 B       2  included
    2  bad.png   attachment     6 B       -  by path: named png but holds text
    3  big.md    always      200 KB     50K  skipped: would go over the budget of 50K tokens
    4  empty.md  always         0 B       0  empty: adds nothing
    5  pic.png   attachment   120 B       -  attached
    6  rules.md  always         9 B       3  [Instruction] in the system prompt
    7  zebra.md  always         8 B       2  included
    -  .env      ignored        5 B       -  ignored: hidden file
    -  data.bin  ignored        2 B       -  ignored: neither a known text type nor an attachable one
    State for echo; token counts are about.

    Reference docs in rag/ (2 files, by catalogue only):
      old.pdf      9 B
      schema.sql  23 B  Canonical DB schema

    Budget of each engine:
      claude    [####------] 200 KB of 500 KB (about 50K of 125K tokens), 1 by path (bad.png)
      codex     [#######---] 200 KB of 272 KB (about 50K of 68K tokens), 1 by path (bad.png)
      cursor    [#---------] 83 B of 200 KB (about 7 of 50K tokens), 1 skipped (big.md), 1 by path (bad.png)
      echo      [#---------] 83 B of 200 KB (about 7 of 50K tokens), 1 skipped (big.md), 1 by path (bad.png)
      gemini    [####------] 200 KB of 500 KB (about 50K of 125K tokens), 1 by path (bad.png)
      hermes    [#---------] 83 B of 192 KB (about 7 of 48K tokens), 1 skipped (big.md), 1 by path (bad.png)
      openclaw  [#---------] 83 B of 200 KB (about 7 of 50K tokens), 1 skipped (big.md), 1 by path (bad.png)
      opencode  [#---------] 83 B of 200 KB (about 7 of 50K tokens), 1 skipped (big.md), 1 by path (bad.png)
      pi        [#---------] 83 B of 200 KB (about 7 of 50K tokens), 1 skipped (big.md), 1 by path (bad.png)
    ");
}

#[test]
fn the_keys_of_the_json_list_are_those_of_the_help() {
    let home = TestHome::new();
    sample_project(&home);
    let list = json(&home, &["ls", "--json", "--engine", "echo"]);
    let keys = |value: &Value| -> Vec<String> {
        value.as_object().expect("object").keys().cloned().collect()
    };
    let help = docs(&home, &["ls", "--help"]).stdout;
    let all = [&list, &list["files"][0], &list["rag_files"][0], &list["engines"][0]].map(keys);
    for key in all.concat() {
        assert!(help.contains(&key), "{key} is not in the help");
    }
    let big = list["files"].as_array().expect("files").iter().find(|f| f["name"] == "big.md");
    assert_eq!(big.expect("big.md")["state"], "skipped");
    let echo = list["engines"].as_array().expect("engines").iter().find(|e| e["id"] == "echo");
    let echo = echo.expect("echo");
    assert_eq!(echo["budget_bytes"], 200_000);
    assert_eq!(echo["budget_tokens"], 50_000);
    assert_eq!(echo["skipped"], serde_json::json!(["big.md"]));
}

#[test]
fn s05_one_order_everywhere() {
    let home = TestHome::new();
    home.project_with_docs("p1", &[("b.md", b"b"), ("A.md", b"a"), ("c.md", b"c")]);
    assert_eq!(names(&home), ["A.md", "b.md", "c.md"]);
    let ordered = docs(&home, &["order", "c.md", "A.md"]).expect_success();
    assert!(ordered.stderr.contains("next session's first message"), "{}", ordered.stderr);
    assert_eq!(names(&home), ["c.md", "A.md", "b.md"]);
    let block = docs(&home, &["preview"]).expect_success().stdout;
    let headings: Vec<&str> = block.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    assert_eq!(headings, ["c.md", "A.md", "b.md"]);
    let bare = docs(&home, &["order"]);
    assert_eq!(bare.code(), 2, "an order is not forgotten by accident");
    assert!(bare.stderr.contains("--reset"), "{}", bare.stderr);
    assert_eq!(names(&home), ["c.md", "A.md", "b.md"]);
    docs(&home, &["order", "--reset"]).expect_success();
    assert_eq!(names(&home), ["A.md", "b.md", "c.md"]);
    let wrong = docs(&home, &["order", "d.md"]);
    assert_eq!(wrong.code(), 66);
}

#[test]
fn the_preview_is_what_is_sent_byte_for_byte() {
    let home = TestHome::new();
    sample_project(&home);
    write(home.config().join("omni-run/profile.md"), "I am Ann.\n");
    write(home.projects().join("p1/.claude/docs/caf\u{e9} \u{1f600}.md"), "\u{feff}x\r\n```\n");
    let sent = run(
        home.omni()
            .args(["echo", "--show-sent", "--no-attach", "hi"])
            .current_dir(home.projects().join("p1")),
        "",
    )
    .expect_success();
    let preview = docs(&home, &["preview", "--engine", "echo"]).expect_success();
    assert_eq!(format!("{}\n\nhi", preview.stdout), sent.stdout);
    assert!(preview.stdout.ends_with("## About the person you work with\n\nI am Ann."));
    assert!(preview.stderr.contains("bad.png"), "{}", preview.stderr);
    let again = docs(&home, &["preview", "--engine", "echo"]).expect_success();
    assert_eq!(again.stdout, preview.stdout);
}

#[test]
fn s25_the_profile_goes_along_without_a_project_and_s43_the_switch_turns_docs_off() {
    let home = TestHome::new();
    sample_project(&home);
    write(home.config().join("omni-run/profile.md"), "I am Ann.\n");
    let nowhere = run(home.omni().args(["docs", "preview"]), "").expect_success();
    assert_eq!(nowhere.stdout, "## About the person you work with\n\nI am Ann.");
    let mut off = command(&home, &["preview"]);
    let off = run(off.env("AMC_DISABLE_DOCS_INJECTION", "1"), "").expect_success();
    assert_eq!(off.stdout, nowhere.stdout);
    let mut on = command(&home, &["preview"]);
    let on = run(on.env("AMC_DISABLE_DOCS_INJECTION", "0"), "").expect_success();
    assert!(on.stdout.starts_with("## Injected Project Docs\n"));
}

#[test]
fn s31_instructions_leave_the_block_for_the_system_prompt() {
    let home = TestHome::new();
    sample_project(&home);
    let done = docs(&home, &["instruct", "rules.md"]).expect_success();
    assert!(done.stderr.contains("system prompt"), "{}", done.stderr);
    assert!(done.stderr.contains("project add"), "an unregistered folder is said: {}", done.stderr);
    let section = docs(&home, &["preview", "--engine", "echo", "--instructions"]).expect_success();
    assert_eq!(section.stdout.trim_end(), "## Project Instructions\n\n### rules.md\n\nBe kind.");
    assert!(!docs(&home, &["preview", "--engine", "echo"]).stdout.contains("Be kind"));
    // An engine without a route for them has them at the head of its block (S36).
    let head = docs(&home, &["preview", "--engine", "cursor"]).expect_success();
    assert!(head.stdout.starts_with("## Project Instructions\n"), "{}", head.stdout);
    let none = docs(&home, &["preview", "--engine", "cursor", "--instructions"]).expect_success();
    assert_eq!(none.stdout, "");
    assert!(none.stderr.contains("head of the block"), "{}", none.stderr);

    docs(&home, &["uninstruct", "rules.md"]).expect_success();
    assert!(docs(&home, &["preview", "--engine", "echo"]).stdout.contains("Be kind"));
    for (name, code, why) in [
        ("pic.png", 2, "not a text file"),
        ("schema.sql", 2, "rag/"),
        ("rulse.md", 66, "did you mean `rules.md`?"),
    ] {
        let refused = docs(&home, &["instruct", name]);
        assert_eq!(refused.code(), code, "{name}: {}", refused.stderr);
        assert!(refused.stderr.contains(why), "{name}: {}", refused.stderr);
    }
    assert_eq!(docs(&home, &["uninstruct", "rules.md"]).code(), 2);
}

#[test]
fn s35_flag_and_place_follow_a_rename() {
    let home = TestHome::new();
    home.project_with_docs("p1", &[("a.md", b"a"), ("b.md", b"b"), ("rules.md", b"Be kind.\n")]);
    let folder = home.projects().join("p1/.claude/docs");
    docs(&home, &["instruct", "rules.md"]).expect_success();
    docs(&home, &["order", "rules.md"]).expect_success();
    docs(&home, &["mv", "rules.md", "z.md"]).expect_success();
    let flagged = |home: &TestHome| {
        let list = json(home, &["ls", "--json", "--engine", "echo"]);
        list["files"][0].clone()
    };
    let first = flagged(&home);
    assert_eq!((&first["name"], &first["state"]), (&"z.md".into(), &"instruction".into()));

    std::fs::rename(folder.join("z.md"), folder.join("house.md")).expect("rename");
    let seen = docs(&home, &["ls"]).expect_success();
    assert!(seen.stderr.contains("the instruction `z.md` is now `house.md`"), "{}", seen.stderr);
    let first = flagged(&home);
    assert_eq!((&first["name"], &first["state"]), (&"house.md".into(), &"instruction".into()));

    docs(&home, &["rm", "house.md"]).expect_success();
    write(folder.join("house.md"), "Another text.\n");
    let list = json(&home, &["ls", "--json", "--engine", "echo"]);
    assert!(list["files"].as_array().expect("files").iter().all(|f| f["state"] == "included"));
}

#[test]
fn docs_come_and_go_by_command() {
    let home = TestHome::new();
    home.project_with_docs("p1", &[("a.md", b"old")]);
    let inbox = home.root().join("inbox");
    for (name, text) in [("a.md", "new"), ("b.md", "b"), ("empty.md", ""), ("x.exe", "x")] {
        write(inbox.join(name), text);
    }
    let path = |name: &str| inbox.join(name).to_str().expect("UTF-8").to_owned();
    let mixed = docs(&home, &["add", &path("a.md"), &path("b.md"), &path("empty.md")]);
    assert_eq!(mixed.code(), 73, "{}", mixed.stderr);
    assert!(mixed.stderr.contains("`a.md` is there already") && mixed.stderr.contains("--replace"));
    assert!(mixed.stderr.contains("added `b.md` (1 B): in the docs block"), "{}", mixed.stderr);
    assert!(mixed.stderr.contains("`empty.md` (0 B), but it is empty"), "{}", mixed.stderr);
    let replaced = docs(&home, &["add", "--replace", &path("a.md")]).expect_success();
    assert!(replaced.stderr.contains("replaced `a.md`"), "{}", replaced.stderr);
    assert!(docs(&home, &["preview"]).stdout.contains("\nnew\n"));

    docs(&home, &["add", "--rag", &path("b.md")]).expect_success();
    let both = docs(&home, &["rm", "b.md"]);
    assert_eq!(both.code(), 2);
    assert!(both.stderr.contains("--rag") && both.stderr.contains("--top"), "{}", both.stderr);
    docs(&home, &["rm", "--top", "b.md"]).expect_success();
    let folder = home.projects().join("p1/.claude/docs");
    assert!(!folder.join("b.md").exists() && folder.join("rag/b.md").exists());
    let gone = docs(&home, &["rm", "b.md"]).expect_success();
    assert!(gone.stderr.contains("removed `rag/b.md`"), "{}", gone.stderr);

    for (name, code) in [("x.exe", 2), ("none.md", 66), ("", 66)] {
        assert_eq!(docs(&home, &["add", &path(name)]).code(), code, "{name}");
    }
}

#[test]
fn a_folder_gets_its_docs_folder_with_the_first_doc() {
    let home = TestHome::new();
    let project = home.project("p1");
    let nowhere = docs(&home, &["ls"]);
    assert_eq!(nowhere.code(), 66);
    assert!(nowhere.stderr.contains("omni-run project add"), "{}", nowhere.stderr);
    write(home.root().join("n.md"), "n");
    let file = home.root().join("n.md");
    let file = file.to_str().expect("UTF-8");
    docs(&home, &["add", "--project", ".", file]).expect_success();
    assert!(project.join(".claude/docs/n.md").is_file());
    docs(&home, &["ls"]).expect_success();
    let virtual_project = docs(&home, &["ls", "--project", "__claude__"]);
    assert_eq!(virtual_project.code(), 2);
    let block = docs(&home, &["preview", "--project", "__claude__"]).expect_success();
    assert_eq!(block.stdout, "");
}

#[test]
fn budget_counts_what_the_engine_loads_by_itself() {
    let home = TestHome::new();
    sample_project(&home);
    let project = home.projects().join("p1");
    write(project.join("CLAUDE.md"), "Always answer in rhyme, please.\n");
    nix::unistd::mkfifo(&project.join("CLAUDE.local.md"), nix::sys::stat::Mode::S_IRWXU)
        .expect("fifo");
    let budget = json(&home, &["budget", "--json", "--engine", "claude"]);
    let tokens = |value: &Value| value["tokens"].as_u64().expect("tokens");
    let own = &budget["own_files"];
    assert_eq!(own.as_array().map(Vec::len), Some(1), "{own}");
    assert_eq!(own[0]["path"], "CLAUDE.md");
    assert_eq!(own[0]["bytes"], 32);
    let sum = tokens(&budget["block"]) + tokens(&budget["instructions"]) + tokens(&own[0]);
    assert_eq!(tokens(&budget["injected"]), sum);
    let alpha = budget["docs"].as_array().expect("docs").iter().find(|d| d["name"] == "Alpha.md");
    assert_eq!(alpha.expect("Alpha.md")["tokens"], 2);
    let text = docs(&home, &["budget", "--engine", "claude"]).expect_success().stdout;
    assert!(text.starts_with(&format!("Injected: {sum} tokens")), "{text}");
    assert!(text.contains("the engine loads it by itself"), "{text}");
}

#[test]
fn a_reader_that_has_seen_enough_ends_it_quietly() {
    let home = TestHome::new();
    let big = "x\n".repeat(100_000);
    home.project_with_docs("p1", &[("big.md", big.as_bytes())]);
    let omni = env!("CARGO_BIN_EXE_omni-run");
    let mut shell = home.command("/bin/sh");
    shell.current_dir(home.projects().join("p1"));
    let line =
        format!("{{ {omni} docs preview --engine gemini; echo \"code $?\" >&2; }} | head -1");
    let finished = run(shell.args(["-c", &line]), "").expect_success();
    assert_eq!(finished.stdout, "## Injected Project Docs\n");
    assert_eq!(finished.stderr, "code 0\n");
}

#[test]
fn an_unknown_engine_and_a_bad_config_have_their_codes() {
    let home = TestHome::new();
    sample_project(&home);
    let unknown = docs(&home, &["preview", "--engine", "geminy"]);
    assert_eq!(unknown.code(), 2);
    assert!(unknown.stderr.contains("did you mean `gemini`?"), "{}", unknown.stderr);
    write(home.config().join("omni-run/config.toml"), "\nchipp = true\n");
    let bad = docs(&home, &["ls"]);
    assert_eq!(bad.code(), 78);
    assert!(bad.stderr.contains("config.toml:2") && bad.stderr.contains("did you mean `chip`?"));
}

#[test]
fn the_default_engine_of_the_config_decides() {
    let home = TestHome::new();
    sample_project(&home);
    let engine = |home: &TestHome| json(home, &["ls", "--json"])["engine"].clone();
    let widest = engine(&home);
    let list = json(&home, &["ls", "--json"]);
    let engines = list["engines"].as_array().expect("engines");
    let budget = |id: &Value| {
        engines.iter().find(|e| e["id"] == *id).and_then(|e| e["budget_bytes"].as_u64())
    };
    let most = engines.iter().filter_map(|e| e["budget_bytes"].as_u64()).max();
    assert_eq!(budget(&widest), most);
    write(home.config().join("omni-run/config.toml"), "default-engine = 'echo'\n");
    assert_eq!(engine(&home), "echo");
}

#[test]
fn nothing_is_written_below_the_project_by_looking() {
    let home = TestHome::new();
    sample_project(&home);
    let before = tree(&home.projects());
    for args in [&["ls"][..], &["preview"], &["budget"], &["ls", "--json"]] {
        docs(&home, args).expect_success();
    }
    assert_eq!(tree(&home.projects()), before);
}

fn tree(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("folder") {
        let path = entry.expect("entry").path();
        found.push(path.display().to_string());
        if path.is_dir() {
            found.extend(tree(&path));
        }
    }
    found.sort();
    found
}
