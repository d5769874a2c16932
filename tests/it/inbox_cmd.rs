//! `omni-run inbox` at a terminal: what a person sees and says, and who is no person (S83, S71).

use omni_run::control::actions::{ActionId, Status};
use omni_run::project::Bucket;
use serde_json::{Value, json};

use crate::pty_driver::{Ended, PtyDriver, Run};
use crate::support::approvals::{Desk, add, delete, launch, replace, settings};
use crate::support::{Finished, run};

fn clock() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.expect("clock").as_millis()).expect("clock")
}

fn asked(desk: &Desk, wish: omni_run::control::actions::Wish) -> ActionId {
    desk.ask_at(wish, clock()).expect("taken in").action.id
}

fn inbox(desk: &Desk, args: &[&str]) -> Finished {
    run(desk.home.omni().arg("inbox").args(args), "yes\n")
}

/// The command in a terminal of its own.
fn at_terminal(desk: &Desk, args: &[&str], more_env: &[(&str, &str)]) -> PtyDriver {
    let mut run = Run::new(env!("CARGO_BIN_EXE_omni-run"))
        .only_env(desk.home.env())
        .size(60, 120)
        .args(["inbox"])
        .args(args);
    for (name, value) in more_env {
        run = run.env(name, value);
    }
    run.start()
}

fn code(code: i32) -> Ended {
    Ended { code: Some(code), signal: None }
}

#[test]
fn s83_a_person_sees_the_card_and_says_yes() {
    let desk = Desk::new();
    let path = desk.source("src.md", "# Rules\n\nBe brief.\n");
    let id = asked(&desk, add(&path, "rules.md", Bucket::Always));
    let mut terminal = at_terminal(&desk, &["approve", &id.to_string()[..20]], &[]);
    terminal.wait_for("Approve it? Type yes:");
    let screen = terminal.screen();
    let action = desk.get(id);
    for part in [
        "add rules.md",
        "p1 (",
        "src.md",
        "always (",
        "a test",
        "19 B",
        "# Rules",
        "Be brief.",
        action.content_hash.as_deref().expect("hash"),
        "expires",
        "(in 6 days)",
    ] {
        assert!(screen.contains(part), "{part}\n{screen}");
    }
    assert!(desk.doc("rules.md").is_none(), "nothing before the word");
    terminal.send("yes\r");
    assert_eq!(terminal.wait_for_end(), code(0));
    terminal.wait_for("approved: added `rules.md` (19 B)");
    assert_eq!(desk.doc("rules.md").as_deref(), Some(b"# Rules\n\nBe brief.\n".as_slice()));
    let action = desk.get(id);
    assert_eq!(action.status, Status::Applied);
    let by = action.decided_by.expect("by");
    assert!(by.contains(" at /dev/"), "{by}");
    // The second word.
    let mut terminal = at_terminal(&desk, &["approve", &id.to_string()], &[]);
    assert_eq!(terminal.wait_for_end(), code(0));
    terminal.wait_for("approved before");
}

#[test]
fn s83_any_other_answer_leaves_it() {
    let desk = Desk::new();
    let id = asked(&desk, launch("echo", "hi"));
    for answer in ["no\r", "\r", "yes please\r", "\u{4}"] {
        let mut terminal = at_terminal(&desk, &["approve", &id.to_string()], &[]);
        terminal.wait_for("Type yes:");
        terminal.send(answer);
        assert_eq!(terminal.wait_for_end(), code(77), "{answer:?}");
        assert_eq!(desk.get(id).status, Status::Pending);
    }
    let mut terminal = at_terminal(&desk, &["reject", &id.to_string()], &[]);
    terminal.wait_for("Reject it? Type yes:");
    terminal.send("yes\r");
    assert_eq!(terminal.wait_for_end(), code(0));
    assert_eq!(desk.get(id).status, Status::Rejected);
    let mut terminal = at_terminal(&desk, &["approve", &id.to_string()], &[]);
    assert_eq!(terminal.wait_for_end(), code(77));
    terminal.wait_for("is rejected already");
}

#[test]
fn s83_who_has_no_terminal_decides_nothing() {
    let desk = Desk::new();
    let id = asked(&desk, launch("echo", "hi")).to_string();
    for word in ["approve", "reject"] {
        let end = inbox(&desk, &[word, &id]);
        assert_eq!((end.code(), end.stdout.as_str()), (77, ""));
        assert!(end.stderr.contains("only a person decides"), "{}", end.stderr);
    }
    assert_eq!(desk.get(id.parse().expect("id")).status, Status::Pending);
}

/// An agent that opens a terminal of its own is still below the engine.
#[test]
fn s83_below_an_engine_nobody_decides() {
    let desk = Desk::new();
    let id = asked(&desk, launch("echo", "hi")).to_string();
    let marker = [("OMNI_RUN_SESSION", "s1")];
    let mut terminal = at_terminal(&desk, &["approve", &id], &marker);
    assert_eq!(terminal.wait_for_end(), code(77));
    terminal.wait_for("below an engine that omni-run has started (session s1)");
    assert_eq!(desk.get(id.parse().expect("id")).status, Status::Pending);
}

/// The variable dropped on the way is found with the parents.
#[cfg(target_os = "linux")]
#[test]
fn s83_the_marker_can_not_be_dropped_from_the_parents() {
    let desk = Desk::new();
    let id = asked(&desk, launch("echo", "hi")).to_string();
    // Like a tool of the engine: a shell that has the variable, and a command that has not.
    let script = format!(
        "env -u OMNI_RUN_SESSION sh -c '{} inbox approve {id}; exit $?'; exit $?",
        env!("CARGO_BIN_EXE_omni-run")
    );
    let mut terminal = Run::new("/bin/sh")
        .only_env(desk.home.env())
        .env("OMNI_RUN_SESSION", "s1")
        .args(["-c", &script])
        .start();
    assert_eq!(terminal.wait_for_end(), code(77));
    assert_eq!(desk.get(id.parse().expect("id")).status, Status::Pending);
}

#[test]
fn s83_what_failed_is_told_with_its_code() {
    let desk = Desk::new();
    let path = desk.source("src.md", "benign");
    let id = asked(&desk, add(&path, "a.md", Bucket::Always));
    std::fs::write(&path, "malign").expect("write");
    let mut terminal = at_terminal(&desk, &["approve", &id.to_string()], &[]);
    terminal.wait_for("as it is now, an approval fails: the source has changed");
    assert!(!terminal.screen().contains("malign"), "only what was asked for is shown");
    terminal.wait_for("Type yes:");
    terminal.send("yes\r");
    assert_eq!(terminal.wait_for_end(), code(73));
    terminal.wait_for("approved, but the source of `a.md` has changed");
}

#[test]
fn the_list_has_what_waits_and_with_all_what_was() {
    let desk = Desk::with_docs(&[("old.md", b"x")]);
    let empty = inbox(&desk, &[]).expect_success();
    assert_eq!(empty.stdout, "");
    assert!(empty.stderr.contains("nothing waits for approval"));
    let path = desk.source("src.md", "text");
    let ids = [
        asked(&desk, add(&path, "a.md", Bucket::Rag)),
        asked(&desk, delete("old.md", None)),
        asked(&desk, launch("echo", "hi")),
        asked(&desk, settings(&json!({ "chip": false }))),
    ];
    let list = inbox(&desk, &[]).expect_success().stdout;
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(lines.len(), 5, "{list}");
    for (line, parts) in lines[1..].iter().zip([
        ["rag", "add a.md"],
        ["always", "delete old.md"],
        ["p1", "start echo"],
        ["-", "set chip"],
    ]) {
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    }
    let first = lines[1].split_whitespace().next().expect("id");
    assert!(ids[0].to_string().starts_with(first));
    let value: Value =
        serde_json::from_str(&inbox(&desk, &["ls", "--json"]).expect_success().stdout)
            .expect("JSON");
    assert_eq!(value[0]["id"], ids[0].to_string());
    assert_eq!(value[0]["payload"]["bucket"], "rag");
    assert_eq!((&value[1]["kind"], &value[1]["status"]), (&json!("delete_doc"), &json!("pending")));
    assert_eq!(value[3]["payload"], json!({ "chip": false }));

    desk.queue().reject(ids[3], "me", clock()).expect("rejected");
    assert_eq!(inbox(&desk, &["ls"]).stdout.lines().count(), 4);
    let all = inbox(&desk, &["ls", "--all"]).expect_success().stdout;
    assert!(all.lines().count() == 5 && all.contains("rejected"), "{all}");
    assert_eq!(inbox(&desk, &["ls", "--project", "p2"]).expect_success().stdout, "");
}

#[test]
fn shown_are_text_difference_and_what_can_not_be_seen() {
    let desk = Desk::with_docs(&[("a.md", b"one\ntwo\nthree\n")]);
    let path = desk.source("src.md", "one\n2\nthree\n\u{1b}]0;owned\u{7}\n");
    let id = asked(&desk, replace(&path, "a.md")).to_string();
    let shown = inbox(&desk, &["show", &id]).expect_success().stdout;
    for part in ["-two\n", "+2\n", " three\n", "+\\u{1b}]0;owned\\u{7}\n", "there now:", "14 B"] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    assert!(!shown.contains('\u{1b}'));

    let smuggled: String = "hidden"
        .bytes()
        .map(|b| char::from_u32(0xe0000 + u32::from(b)))
        .map(|c| c.expect("tag"))
        .collect();
    let text = format!("plain{smuggled}\n-----BEGIN OPENSSH PRIVATE KEY-----\n");
    let path = desk.source("bad.md", &text);
    let id = asked(&desk, add(&path, "b.md", Bucket::Always)).to_string();
    let shown = inbox(&desk, &["show", &id]).expect_success().stdout;
    assert!(shown.contains("6 invisible tag characters"), "{shown}");
    assert!(shown.contains("line 2 looks like a private key"), "{shown}");

    let path = desk.source("long.md", (0..200).map(|n| format!("line {n}\n")).collect::<String>());
    let id = asked(&desk, add(&path, "c.md", Bucket::Always)).to_string();
    let shown = inbox(&desk, &["show", &id]).expect_success().stdout;
    assert!(shown.contains("40 of 200 lines") && !shown.contains("line 199"), "{shown}");
    assert!(inbox(&desk, &["show", &id, "--full"]).stdout.ends_with("line 199\n"));
    let value: Value =
        serde_json::from_str(&inbox(&desk, &["show", &id, "--json"]).stdout).expect("JSON");
    assert_eq!(value["preview"]["content"]["text"].as_str().map(|t| t.lines().count()), Some(200));

    for unknown in ["ffff", "not-an-id", ""] {
        assert_eq!(inbox(&desk, &["show", unknown]).code(), 66, "{unknown:?}");
    }
    let shared = &id[..4];
    let ambiguous = inbox(&desk, &["show", shared]);
    assert_eq!(ambiguous.code(), 2);
    assert!(ambiguous.stderr.contains(&id), "{}", ambiguous.stderr);
}

#[test]
fn s71_the_chip_counts_what_waits() {
    let desk = Desk::with_docs(&[("a.md", b"text")]);
    let launch_line = || {
        let out = run(desk.home.omni().args(["echo", "-p", "hi"]).current_dir(&desk.project), "");
        out.expect_success().stderr
    };
    assert!(!launch_line().contains("waiting"));
    asked(&desk, launch("echo", "hi"));
    let rejected = asked(&desk, launch("echo", "hi"));
    asked(&desk, launch("echo", "hi"));
    desk.ask_at(launch("echo", "expired long ago"), 0).expect("taken in");
    assert!(launch_line().contains("; 3 approvals waiting"), "{}", launch_line());
    desk.queue().reject(rejected, "me", clock()).expect("rejected");
    assert!(launch_line().contains("; 2 approvals waiting"));
}

#[test]
fn without_a_store_there_is_nothing_and_nothing_is_made() {
    let home = crate::support::TestHome::new();
    let list = run(home.omni().args(["inbox", "ls", "--json"]), "").expect_success();
    assert_eq!(list.stdout, "[]\n");
    assert_eq!(run(home.omni().args(["inbox", "show", "01"]), "").code(), 66);
    let open = run(home.omni().args(["inbox", "open"]), "");
    assert_eq!(open.code(), 77, "a link is for a person at a terminal");
    assert!(!home.data().join("omni-run").exists());
}

#[test]
fn s83_all_of_a_runaway_client_is_rejected_after_one_question() {
    let desk = Desk::new();
    let path = desk.source("src.md", "text");
    let ids: Vec<ActionId> =
        (0..25).map(|n| asked(&desk, add(&path, &format!("{n}.md"), Bucket::Always))).collect();
    let mut terminal = at_terminal(&desk, &["reject", "--all", "--asked-by", "another"], &[]);
    assert_eq!(terminal.wait_for_end(), code(0));
    assert_eq!(desk.get(ids[0]).status, Status::Pending, "not meant");
    let mut terminal = at_terminal(&desk, &["reject", "--all"], &[]);
    terminal.wait_for("Reject all 25? Type yes:");
    assert!(terminal.screen().contains("and 5 more"), "{}", terminal.screen());
    terminal.send("no\r");
    assert_eq!(terminal.wait_for_end(), code(77));
    assert_eq!(desk.get(ids[0]).status, Status::Pending, "not decided");
    let args = ["reject", "--all", "--project", "p1", "--asked-by", "a test"];
    let mut terminal = at_terminal(&desk, &args, &[]);
    terminal.wait_for("Reject all 25? Type yes:");
    terminal.send("yes\r");
    terminal.wait_for("rejected 25");
    assert_eq!(terminal.wait_for_end(), code(0));
    assert!(ids.iter().all(|id| desk.get(*id).status == Status::Rejected));
}
