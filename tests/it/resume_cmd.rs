//! `omni-run resume`: which session is taken, what its engine is given, and what is said when there
//! is nothing to go on with. On pipes and, with the built-in engine, in a terminal.

use crate::dying::{Dying, WITH_RECORD, id, json};
use crate::pty_driver::{PtyDriver, Run};
use crate::support::home::write;
use crate::support::{TestHome, run};

/// Answers, and keeps what it was given of each start.
const ANSWERS: &str = "record \"$(cat)\"; cp \"$HOME/.claude/projects/p/$id.jsonl\" \"$HOME/got\"; echo \"answer to $id\"";

fn in_terminal(home: &TestHome, cwd: &std::path::Path, args: &[&str]) -> PtyDriver {
    Run::new(env!("CARGO_BIN_EXE_omni-run"))
        .args(args)
        .only_env(home.env())
        .cwd(cwd)
        .size(30, 100)
        .answering()
        .start()
}

#[test]
fn the_newest_session_of_the_project_goes_on_where_it_ran_and_without_a_block() {
    let bed = Dying::new(WITH_RECORD, ANSWERS);
    let sub = bed.fake.project.join("sub");
    std::fs::create_dir(&sub).expect("folder");
    run(bed.fake.omni(&["-p", "first"]).current_dir(&sub), "").expect_success();
    let begun = bed.sessions()[0].clone();
    // A newer one of another project, and one that can't be gone on with.
    let other = bed.fake.home.project_with_docs("p2", &[("a.md", b"x\n")]);
    run(bed.fake.omni(&["-p", "elsewhere"]).current_dir(&other), "").expect_success();
    let spec = "[silent]\nname = \"Silent\"\nprograms = [\"fake\"]\ninstall = \"-\"\ndefault-window = 1000\n";
    let catalogue = bed.fake.home.config().join("omni-run/engines.toml");
    let text = std::fs::read_to_string(&catalogue).expect("catalogue");
    write(&catalogue, format!("{text}\n{spec}"));
    run(bed.fake.command(&["silent", "-p", "s"]).current_dir(&bed.fake.project), "")
        .expect_success();

    let resumed = bed.command(&["resume", "and then?"]).expect_success();
    assert_eq!(resumed.stdout, format!("answer to {}\n", id(&begun)));
    assert!(resumed.stderr.contains("first"), "says which: {}", resumed.stderr);
    let starts = std::fs::read_to_string(bed.path("starts")).expect("starts");
    assert!(
        starts.lines().last().expect("a start").starts_with(&format!("--resume {}", id(&begun)))
    );
    let rows = bed.sessions();
    let row = &rows[0];
    assert_eq!(row["cwd"], sub.to_str().expect("path"), "where it ran before");
    assert_eq!(bed.typed(id(row)), ["and then?"]);
    let got = bed.got();
    assert_eq!(got.matches("Injected Project Docs").count(), 1, "{got}");

    // And that one goes on as well; by its id, by the start of it.
    let further = bed.command(&["sessions", "resume", &id(row)[..13], "third"]).expect_success();
    assert_eq!(further.stdout, format!("answer to {}\n", id(&begun)));
    let piped = run(&mut bed.fake.command(&["resume", id(&begun)]), "from a pipe").expect_success();
    assert_eq!(piped.stdout, format!("answer to {}\n", id(&begun)));
}

#[test]
fn model_and_instructions_go_along_again() {
    let bed =
        Dying::new(WITH_RECORD, "cat >/dev/null; for last; do :; done; cat \"$last\"; echo \"$*\"");
    write(bed.fake.home.config().join("omni-run/instructions.md"), "RULE-7");
    run(&mut bed.fake.omni(&["-p", "first", "--model", "m7"]), "").expect_success();
    write(bed.fake.home.config().join("omni-run/instructions.md"), "RULE-8");
    let out = bed.command(&["resume", "second"]).expect_success().stdout;
    assert!(out.contains("RULE-8") && out.contains("--model m7"), "{out}");
    let other = bed.command(&["resume", "third", "--model", "m8", "--no-instructions"]);
    let out = other.expect_success().stdout;
    assert!(!out.contains("RULE") && out.contains("--model m8"), "{out}");
}

#[test]
fn what_cannot_be_gone_on_with_says_why() {
    let empty = Dying::new(WITH_RECORD, "exit 0");
    let none = empty.command(&["resume"]);
    assert!(none.code() == 66 && none.stderr.contains("no session yet"), "{none:?}");

    // No way to resume.
    let bed = Dying::new("", "cat >/dev/null; echo ok");
    run(&mut bed.fake.omni(&["-p", "q"]), "").expect_success();
    let row = bed.sessions()[0].clone();
    let newest = bed.command(&["resume", "x"]);
    assert!(newest.code() == 66 && newest.stderr.contains("cannot resume"), "{newest:?}");
    let named = bed.command(&["resume", id(&row), "x"]);
    assert!([66, 69].contains(&named.code()), "{named:?}");
    assert!(named.stderr.contains("resume"), "{named:?}");

    // The folder is gone.
    let bed = Dying::new(WITH_RECORD, ANSWERS);
    let sub = bed.fake.project.join("sub");
    std::fs::create_dir(&sub).expect("folder");
    run(bed.fake.omni(&["-p", "q"]).current_dir(&sub), "").expect_success();
    std::fs::remove_dir(&sub).expect("remove");
    let gone = bed.command(&["resume", "x"]);
    assert!(gone.code() == 66 && gone.stderr.contains("sub is not there"), "{gone:?}");
    assert_eq!(bed.starts(), 1);

    // It still runs.
    let bed = Dying::new(WITH_RECORD, "hold");
    let mut child = crate::dying::spawn(&mut bed.fake.omni(&["-p", "q"]));
    bed.wait_for("held");
    let row = bed.sessions()[0].clone();
    let busy = bed.command(&["resume", id(&row), "x"]);
    assert!(busy.code() == 75 && busy.stderr.contains("still runs"), "{busy:?}");
    assert_eq!(bed.command(&["resume", "x"]).code(), 66);
    crate::dying::kill_and_reap(&mut child);
}

#[test]
fn a_start_of_several_ids_lists_them_and_changes_nothing() {
    let bed = Dying::new(WITH_RECORD, ANSWERS);
    for prompt in ["one", "two"] {
        run(&mut bed.fake.omni(&["-p", prompt]), "").expect_success();
    }
    let before = bed.sessions();
    // Their first digits are the hour.
    let (start, all) = (&id(&before[0])[..6], before.as_array().expect("rows"));
    for args in
        [&["resume", start, "x"][..], &["recover", start], &["sessions", "resume", start, "x"]]
    {
        let refused = bed.command(args);
        assert_eq!((refused.code(), refused.stdout.as_str()), (66, ""), "{refused:?}");
        for row in all {
            assert!(refused.stderr.contains(id(row)), "{}", refused.stderr);
        }
    }
    for args in [&["resume", "ffffffff", "x"][..], &["recover", "ffffffff"]] {
        let refused = bed.command(args);
        assert!(refused.code() == 66 && refused.stderr.contains("ffffffff"), "{refused:?}");
    }
    assert_eq!((bed.sessions(), bed.starts()), (before, 2));
}

#[test]
fn a_conversation_that_the_engine_has_not_is_explained() {
    let body = "case \"$*\" in *--resume*) echo 'No conversation found with session ID: x' >&2; exit 1;; esac\nrecord \"$(cat)\"; echo ok";
    let bed = Dying::new(WITH_RECORD, body);
    run(&mut bed.fake.omni(&["-p", "q"]), "").expect_success();
    let row = bed.sessions()[0].clone();
    let said = bed.command(&["resume", "x"]);
    assert_eq!(said.code(), 1, "the engine's own code");
    for part in [
        "No conversation found with",
        "Fake has no conversation",
        id(&row),
        "a folder of its own",
        "sessions show",
    ] {
        assert!(said.stderr.contains(part), "{part}: {}", said.stderr);
    }
    // Under another home the engine looks in another place.
    let mut moved = bed.fake.command(&["resume", id(&row), "x"]);
    moved.env("CLAUDE_CONFIG_DIR", bed.path("other"));
    let moved = run(&mut moved, "");
    assert!(moved.stderr.contains("has changed"), "{}", moved.stderr);
    assert!(bed.sessions()[0]["outcome"] == "failed");
}

#[test]
fn an_engine_that_would_begin_anew_in_silence_is_not_started() {
    let spec = "adapter = \"hermes\"\n[fake.one-shot]\nmessage-args = [\"-q={message}\"]\nmessage = \"plugin\"\nresume-args = [\"--resume\", \"{engine_session_id}\"]\n[fake.resume]\nopens-new = true\nkept = \"a database\"\n";
    let bed = Dying::new(spec, "echo 'session_id: 2026_a' >&2; echo ok");
    let database = bed.path(".hermes/state.db");
    std::fs::create_dir_all(database.parent().expect("folder")).expect("folder");
    let record = rusqlite::Connection::open(&database).expect("database");
    record
        .execute_batch(
            "CREATE TABLE sessions (id TEXT PRIMARY KEY, cwd TEXT);
             CREATE TABLE messages (session_id TEXT, role TEXT, content TEXT, timestamp REAL);
             INSERT INTO sessions VALUES ('2026_a', NULL);",
        )
        .expect("tables");
    run(&mut bed.fake.omni(&["-p", "q"]), "").expect_success();
    bed.command(&["resume", "x"]).expect_success();
    record.execute("DELETE FROM sessions", []).expect("delete");
    let refused = bed.command(&["resume", "x"]);
    assert_eq!((refused.code(), bed.starts()), (66, 2), "{refused:?}");
    assert!(refused.stderr.contains("Fake has no conversation 2026_a"), "{}", refused.stderr);
}

#[test]
fn an_id_that_nobody_told_is_learnt_from_the_engines_record() {
    let spec = "adapter = \"codex\"\n[fake.one-shot]\nmessage = \"stdin\"\nresume-args = [\"resume\", \"{engine_session_id}\"]\n";
    // The way of a killed run: the record is there, the events were never read.
    let body = r#"
thread=01a22c99-c7f8-74d3-b97f-e6d518736300
case "$*" in *resume*) cat >/dev/null; echo '{"type":"turn.completed"}'; exit 0;; esac
dir="$HOME/.codex/sessions/2026/11/30"; mkdir -p "$dir"
cat > "$HOME/got"
{
    printf '{"type":"session_meta","payload":{"id":"%s","cwd":"%s"}}\n' "$thread" "$PWD"
    printf '{"type":"response_item","payload":{"role":"user","content":[{"text":"in front\\n\\n%s"}]}}\n' "$(tail -n 1 "$HOME/got")"
} > "$dir/rollout-2026-11-30T13-16-45-$thread.jsonl"
hold
"#;
    let bed = Dying::new(spec, body);
    let row = bed.killed(&["-p", "a question"]);
    assert_eq!(bed.show(id(&row))["engine_session"], serde_json::Value::Null);
    let refused = bed.command(&["recover", id(&row)]);
    assert!(refused.code() == 77 && refused.stderr.contains("own record"), "{refused:?}");
    let _ = bed.command(&["resume", "and now?"]);
    let starts = std::fs::read_to_string(bed.path("starts")).expect("starts");
    let last = starts.lines().last().expect("a start");
    assert!(last.contains("resume 01a22c99-c7f8-74d3-b97f-e6d518736300"), "{last}");
    let learnt = bed.show(id(&row));
    assert_eq!(learnt["engine_session"], "01a22c99-c7f8-74d3-b97f-e6d518736300");
}

#[test]
fn in_a_terminal_the_engines_own_interface_opens_and_nothing_is_put_in() {
    let home = TestHome::new();
    let project = home.project_with_docs("p1", &[("style.md", b"Short words.\n")]);
    write(home.config().join("omni-run/instructions.md"), "RULE-7");
    let mut term = in_terminal(&home, &project, &["echo"]);
    term.wait_for("\u{276f}");
    term.send("hello\r");
    term.wait_for("## Injected Project Docs");
    term.send("\x04");
    assert_eq!(term.wait_for_end().code, Some(0));
    let rows = || json(run(home.omni().args(["sessions", "ls", "--json"]), ""));
    let begun = rows()[0].clone();

    let mut term = in_terminal(&home, &project, &["resume"]);
    term.wait_for("\u{276f}");
    term.send("again\r");
    term.wait_for("echo received 5 bytes.");
    term.wait_for("your message: again");
    let screen = term.screen();
    assert!(screen.contains("system prompt:") && !screen.contains("Injected Project"), "{screen}");
    term.send("\x04");
    assert_eq!(term.wait_for_end().code, Some(0));
    assert_eq!(term.modes_left_on(), Vec::<String>::new());
    let after = rows();
    assert_eq!(after.as_array().expect("rows").len(), 2, "{after}");
    let shown = json(run(home.omni().args(["sessions", "show", "--json", id(&after[0])]), ""));
    assert_eq!(shown["messages"], serde_json::json!([]), "no message of its own");
    assert_eq!(shown["engine_session"], begun["id"], "the same conversation");
    assert_eq!(after[0]["first_words"], "hello", "lists tell what it goes on with");
    // Such a row has nothing to send again, and can be gone on with.
    assert_eq!(run(home.omni().args(["recover", id(&after[0])]), "").code(), 77);
    let dry = run(home.omni().args(["resume", id(&after[0]), "--dry-run", "x y"]), "");
    assert!(dry.expect_success().stdout.contains(id(&begun)));
}

#[test]
fn a_typed_message_whose_omni_run_was_killed_is_not_lost() {
    // It echoes what is typed and takes no message: the composer never empties.
    let spec = "adapter = \"codex\"\n[fake.gate]\nroute = \"paste-at-start\"\nsubmit = [\"enter\"]\npaste = { start-key = \"\\u0001\", start-times = 1 }\n[fake.gate.screen]\nframe = \"open\"\nprompts = [\"❯\"]\n[fake.tui]\nprompt-args = [\"{message}\"]\n";
    let body = "mkdir -p \"$HOME/.codex/sessions\"\nfirst || { printf 'GOT %s\\n' \"$(echo \"$*\" | tail -n 1)\"; exit 0; }\nstty raw -echo; printf '\\033[?2004h❯ '; echo $$ > \"$HOME/held\"; exec cat";
    let bed = Dying::new(spec, body);
    let mut term = in_terminal(&bed.fake.home, &bed.fake.project, &["fake"]);
    term.wait_for("\u{276f}");
    term.send("kept");
    term.wait_for("kept");
    term.send("\r");
    crate::dying::wait_until("the operator row", || {
        bed.sessions().as_array().is_some_and(|rows| !rows.is_empty())
    });
    term.signal(nix::sys::signal::Signal::SIGKILL);
    term.wait_for_end();
    let row = bed.settled();
    assert_eq!(
        (row["outcome"].as_str(), bed.typed(id(&row))),
        (Some("crashed"), vec!["kept".into()])
    );
    let mut again = in_terminal(&bed.fake.home, &bed.fake.project, &["recover", id(&row)]);
    again.wait_for("GOT kept");
    assert_eq!(again.wait_for_end().code, Some(0));
    assert_eq!(bed.typed(id(&row)), ["kept"]);
    let starts = std::fs::read_to_string(bed.path("starts")).expect("starts");
    let last = starts.lines().last().expect("a start");
    assert!(last.contains("Short words.") && last.ends_with("kept"), "{last}");
    assert_eq!(bed.starts(), 2);
}
