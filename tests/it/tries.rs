//! `--retries`: which failures are repeated, what stays one over all tries, and what does not.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::script_engine::ScriptEngine;
use crate::support::run;

/// Fails at its first `failures` starts with this code, says nothing, then answers.
fn flaky(failures: u32, code: u32) -> ScriptEngine {
    ScriptEngine::new(&format!(
        "cat >/dev/null; echo x >> \"$HOME/starts\"\n\
         [ $(wc -l < \"$HOME/starts\") -le {failures} ] && {{ echo broken >&2; exit {code}; }}\n\
         echo answer"
    ))
}

fn starts(fake: &ScriptEngine) -> usize {
    let text = std::fs::read_to_string(fake.home.home().join("starts")).unwrap_or_default();
    text.lines().count()
}

fn only_session(fake: &ScriptEngine) -> Value {
    let list = run(&mut fake.command(&["sessions", "ls", "--json"]), "").expect_success().stdout;
    let list: Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!(list.as_array().expect("list").len(), 1, "all tries are one session: {list}");
    let id = list[0]["id"].as_str().expect("id").to_owned();
    let shown = run(&mut fake.command(&["sessions", "show", &id, "--json"]), "").expect_success();
    serde_json::from_str(&shown.stdout).expect("JSON")
}

#[test]
fn a_failure_before_the_answer_is_tried_again_in_the_same_session() {
    let fake = flaky(1, 1);
    let finished = run(&mut fake.omni(&["-p", "hi", "--retries", "3"]), "").expect_success();
    assert_eq!(finished.stdout, "answer\n");
    assert!(finished.stderr.contains("try 1 of 4 failed"), "{}", finished.stderr);
    assert_eq!(starts(&fake), 2);
    let session = only_session(&fake);
    let roles: Vec<&str> = session["messages"]
        .as_array()
        .expect("messages")
        .iter()
        .map(|message| message["role"].as_str().expect("role"))
        .collect();
    assert_eq!(roles, ["operator", "engine"], "what was typed is there once");
    assert_eq!(session["outcome"], "ok");
    assert_eq!(session["receipt"]["failed_tries"][0]["exit_code"], 1);
}

#[test]
fn the_exit_code_is_that_of_the_last_try() {
    let fake = flaky(9, 7);
    let finished = run(&mut fake.omni(&["-p", "hi", "--retries", "1"]), "");
    assert_eq!((finished.code(), starts(&fake)), (7, 2));
    assert_eq!(only_session(&fake)["outcome"], "failed");
    let without = flaky(9, 7);
    assert_eq!(run(&mut without.omni(&["-p", "hi"]), "").code(), 7);
    assert_eq!(starts(&without), 1);
}

#[test]
fn an_engine_that_had_begun_to_answer_is_not_started_again() {
    let fake = ScriptEngine::new("echo x >> \"$HOME/starts\"; cat >/dev/null; printf a; exit 1");
    for output in ["text", "json", "stream-json"] {
        let args = ["-p", "hi", "--retries", "3", "--output", output];
        assert_eq!(run(&mut fake.omni(&args), "").code(), 1);
    }
    assert_eq!(starts(&fake), 3, "once each");
}

#[test]
fn lasting_failures_are_not_repeated() {
    for code in [2, 64, 77, 78, 126, 127] {
        let fake = flaky(9, code);
        assert_eq!(run(&mut fake.omni(&["-p", "hi", "--retries", "3"]), "").code(), code as i32);
        assert_eq!(starts(&fake), 1, "{code}");
    }
    let spec = "no-retry-codes = [41]";
    let own = ScriptEngine::with_spec("echo x >> \"$HOME/starts\"; exit 41", spec);
    assert_eq!(run(&mut own.omni(&["-p", "hi", "--retries", "3"]), "").code(), 41);
    assert_eq!(starts(&own), 1);
    let missing = ScriptEngine::new("cat");
    let started = Instant::now();
    let args = ["-p", "hi", "--retries", "100"];
    let finished = run(missing.omni(&args).env("PATH", "/usr/bin:/bin"), "");
    assert_eq!(finished.code(), 69);
    assert!(started.elapsed() < Duration::from_secs(60), "not found is not waited on");
}

#[test]
fn an_empty_answer_that_counts_as_a_failure_is_repeated() {
    let fake = ScriptEngine::new(
        "cat >/dev/null; echo x >> \"$HOME/starts\"; [ $(wc -l < \"$HOME/starts\") -gt 1 ] && echo ok",
    );
    let finished = run(&mut fake.omni(&["-p", "hi", "--strict", "--retries", "1"]), "");
    assert_eq!(finished.expect_success().stdout, "ok\n");
}

#[test]
fn the_time_out_is_for_all_tries_together() {
    let fake = flaky(99, 1);
    let finished = run(&mut fake.omni(&["-p", "hi", "--retries", "9", "--timeout", "1s"]), "");
    // The first pause alone would outlast it.
    assert_eq!((finished.code(), starts(&fake)), (1, 1), "{}", finished.stderr);

    let hangs = ScriptEngine::new(
        "echo x >> \"$HOME/starts\"; [ $(wc -l < \"$HOME/starts\") = 1 ] && exit 1; sleep 600",
    );
    let finished = run(&mut hangs.omni(&["-p", "hi", "--retries", "9", "--timeout", "8s"]), "");
    assert_eq!((finished.code(), starts(&hangs)), (124, 2), "{}", finished.stderr);
}

#[test]
fn a_signal_ends_the_wait_for_the_next_try() {
    let fake = flaky(99, 1);
    let mut child = fake
        .omni(&["-p", "hi", "--retries", "100"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start");
    let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
    // In the longest wait so far, so that the signal meets a wait and no engine.
    while !lines.next().expect("a line").expect("text").contains("in 8 s") {}
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).expect("kill");
    assert_eq!(child.wait().expect("wait").code(), Some(143));
    assert_eq!(starts(&fake), 3);
    assert_eq!(only_session(&fake)["signal"], 15);
}

#[test]
fn f05_the_lock_is_held_over_all_tries() {
    let fake = flaky(99, 1);
    let mut child = fake
        .omni(&["-p", "hi", "--retries", "100", "--no-overlap=job"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start");
    let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
    while !lines.next().expect("a line").expect("text").contains("in 8 s") {}
    let second = run(&mut fake.omni(&["-p", "hi", "--no-overlap=job", "--retries", "5"]), "");
    assert_eq!(second.code(), 75, "and is not waited for: {}", second.stderr);
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).expect("kill");
    child.wait().expect("wait");
}

#[test]
fn each_try_has_an_engine_session_of_its_own() {
    let spec = "[fake.one-shot]\nsession-args = [\"--id\", \"{session_id}\"]\n";
    let body = "cat >/dev/null; echo \"$2\" >> \"$HOME/starts\"\n\
                [ $(wc -l < \"$HOME/starts\") = 1 ] && exit 1; echo ok";
    let fake = ScriptEngine::with_spec(body, spec);
    run(&mut fake.omni(&["-p", "hi", "--retries", "1"]), "").expect_success();
    let text = std::fs::read_to_string(fake.home.home().join("starts")).expect("ids");
    let ids: Vec<&str> = text.lines().collect();
    assert_ne!(ids[0], ids[1], "engines refuse an id that they have seen");
    let session = only_session(&fake);
    assert_eq!(session["id"], ids[0]);
    assert_eq!(session["engine_session"], ids[1], "the one that a resume needs");
}

#[test]
fn a_number_of_tries_out_of_reason_is_a_usage_error() {
    let fake = ScriptEngine::new("cat");
    for number in ["-1", "101", "x", "1.5"] {
        let finished = run(&mut fake.omni(&["-p", "hi", &format!("--retries={number}")]), "");
        assert_eq!(finished.code(), 2, "{number}");
    }
}

#[test]
fn the_time_out_also_ends_what_an_earlier_try_left_behind() {
    // The first try leaves a process in a session of its own and fails; the second hangs.
    let fake = ScriptEngine::new(
        "cat >/dev/null; echo x >> \"$HOME/starts\"\n\
         [ $(wc -l < \"$HOME/starts\") = 1 ] || exec sleep 600\n\
         setsid sleep 600 >/dev/null 2>&1 & echo $! > \"$HOME/stray\"; exit 1",
    );
    let finished = run(&mut fake.omni(&["-p", "hi", "--retries", "1", "--timeout", "8s"]), "");
    assert_eq!((finished.code(), starts(&fake)), (124, 2), "{}", finished.stderr);
    let stray = std::fs::read_to_string(fake.home.home().join("stray")).expect("pid");
    let stat = format!("/proc/{}/stat", stray.trim());
    let alive = std::fs::read_to_string(stat).is_ok_and(|stat| !stat.contains(") Z "));
    if cfg!(target_os = "linux") {
        assert!(!alive, "{stray} lives on");
    }
}

#[test]
fn why_a_try_failed_is_kept_without_a_byte_of_the_block() {
    // An engine whose failure quotes the message that it was sent.
    let spec = "[fake.one-shot]\nempty-is-failure = true\n";
    let fake = ScriptEngine::with_spec("cat >&2", spec);
    assert_eq!(run(&mut fake.omni(&["-p", "hi", "--retries", "1"]), "").code(), 1);
    let session = only_session(&fake);
    assert!(
        session["receipt"]["failed_tries"][0]["why"].as_str().expect("why").contains("nothing")
    );
    assert!(!session.to_string().contains("Short words."), "{session}");
}
