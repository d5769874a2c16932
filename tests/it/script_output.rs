//! `--output json` and `stream-json`: the documented shape, key by key, whatever happens.

use serde_json::{Value, json};

use crate::script_engine::ScriptEngine;
use crate::support::home::write;
use crate::support::run;

/// The keys of the last object, in both modes.
const KEYS: [&str; 14] = [
    "type",
    "version",
    "session",
    "engine",
    "model",
    "project",
    "exit_code",
    "timed_out",
    "tries",
    "text",
    "text_complete",
    "failure",
    "error",
    "receipt",
];

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn one(stdout: &str) -> Value {
    assert_eq!(stdout.matches('\n').count(), 1, "one line: {stdout}");
    serde_json::from_str(stdout).expect("JSON")
}

fn lines(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn the_object_of_json_has_its_documented_keys() {
    let fake = ScriptEngine::new("cat >/dev/null; echo answer; exit 3");
    run(&mut fake.command(&["project", "add", "--id", "shop"]), "").expect_success();
    let args = ["hi", "--output", "json", "--model", "m1"];
    let finished = run(&mut fake.omni(&args), "");
    assert_eq!(finished.code(), 3);
    let object = one(&finished.stdout);
    assert_eq!(keys(&object), KEYS);
    let expected = json!({
        "type": "result", "version": 1, "engine": "fake", "model": "m1", "project": "shop",
        "exit_code": 3, "timed_out": false, "tries": 1, "text": "answer\n", "text_complete": true,
        "failure": null, "error": null,
    });
    for (key, value) in expected.as_object().expect("object") {
        assert_eq!(&object[key], value, "{key}");
    }
    let id = object["session"].as_str().expect("session");
    run(&mut fake.command(&["sessions", "show", id]), "").expect_success();
    assert_eq!(object["receipt"]["version"], 1);
    assert_eq!(object["receipt"]["engine_version"], "fake 1.0.0");
    assert_eq!(object["receipt"]["context"]["docs"][0]["name"], "style.md");
}

#[test]
fn the_objects_of_stream_json_have_their_documented_keys() {
    let body = "cat >/dev/null; echo x >> \"$HOME/n\"\n\
                [ $(wc -l < \"$HOME/n\") = 1 ] && exit 9; echo answer";
    let fake = ScriptEngine::new(body);
    let args = ["hi", "--output", "stream-json", "--retries", "1"];
    let events = lines(&run(&mut fake.omni(&args), "").expect_success().stdout);
    let start =
        ["type", "version", "session", "engine", "model", "project", "engine_version", "cwd"];
    assert_eq!(keys(&events[0]), start);
    assert_eq!((&events[0]["type"], &events[0]["version"]), (&json!("start"), &json!(1)));
    assert_eq!(events[1], json!({"type": "retry", "try": 1, "exit_code": 9, "pause_seconds": 2}));
    assert_eq!(events[2], json!({"type": "text", "text": "answer\n"}));
    assert_eq!(keys(&events[3]), KEYS);
    assert_eq!((&events[3]["type"], &events[3]["tries"]), (&json!("end"), &json!(2)));
    assert_eq!(events[3]["session"], events[0]["session"]);
    assert_eq!(events.len(), 4);
}

#[test]
fn an_error_of_omni_run_itself_is_an_object_too() {
    let fake = ScriptEngine::new("cat");
    write(fake.project.join("latin.txt"), b"caf\xe9".as_slice());
    for (args, code, kind) in [
        (&["--project", "nope", "hi"][..], 66, "not_found"),
        (&["--prompt-file", "latin.txt"], 64, "bad_prompt"),
        (&["--attach", "no.png", "hi"], 66, "not_found"),
        (&["--no-such-option", "hi"], 2, "usage"),
        (&["--timeout", "x", "hi"], 2, "usage"),
    ] {
        for output in ["json", "stream-json"] {
            let mut all = vec!["--output", output];
            all.extend_from_slice(args);
            let finished = run(&mut fake.omni(&all), "");
            assert_eq!(finished.code(), code, "{args:?}");
            let object = one(&finished.stdout);
            assert_eq!(keys(&object), KEYS, "{args:?}");
            assert_eq!(object["exit_code"], code);
            assert_eq!(object["error"]["kind"], kind);
            assert!(!object["error"]["message"].as_str().expect("message").is_empty());
            assert!(object["error"]["hints"].is_array());
            assert!(finished.stderr.contains("error: "), "and on stderr: {}", finished.stderr);
            assert_eq!((&object["session"], &object["receipt"]), (&Value::Null, &Value::Null));
        }
    }
    let unknown = run(&mut fake.command(&["fakee", "hi", "--output=json"]), "");
    assert_eq!((unknown.code(), &one(&unknown.stdout)["error"]["kind"]), (2, &json!("usage")));
    let help = run(&mut fake.omni(&["--output", "json", "--help"]), "").expect_success();
    assert!(help.stdout.contains("Usage:"));
}

#[test]
fn an_engine_that_will_not_start_is_named_with_its_session() {
    let fake = ScriptEngine::new("cat");
    write(fake.home.bin().join("fake"), b"\x7fELF garbage".as_slice());
    let finished = run(&mut fake.omni(&["hi", "--output", "json"]), "");
    assert_eq!(finished.code(), 69);
    let object = one(&finished.stdout);
    assert_eq!(object["error"]["kind"], "engine_unavailable");
    assert_eq!(object["engine"], "fake");
    let id = object["session"].as_str().expect("what was typed is kept");
    run(&mut fake.command(&["sessions", "show", id]), "").expect_success();
}

#[test]
fn a_time_out_and_a_denied_failure_are_told_apart_from_the_engines_own_code() {
    let slow = ScriptEngine::new("cat >/dev/null; echo half; sleep 600");
    let finished = run(&mut slow.omni(&["hi", "--output", "json", "--timeout", "1s"]), "");
    let object = one(&finished.stdout);
    assert_eq!(finished.code(), 124);
    assert_eq!((&object["exit_code"], &object["timed_out"]), (&json!(124), &json!(true)));
    assert_eq!(object["text"], "half\n");
    let spec = "[fake.one-shot]\nempty-is-failure = true\n";
    let empty = ScriptEngine::with_spec("cat >/dev/null", spec);
    let object = one(&run(&mut empty.omni(&["hi", "--output", "json"]), "").stdout);
    assert_eq!(object["exit_code"], 1);
    assert!(object["failure"].as_str().expect("why").contains("said nothing"));
}

#[test]
fn an_answer_too_long_to_keep_says_so() {
    let fake = ScriptEngine::new("cat >/dev/null; head -c 9000000 /dev/zero | tr '\\0' x");
    let object = one(&run(&mut fake.omni(&["hi", "--output", "json"]), "").expect_success().stdout);
    assert_eq!(object["text_complete"], false);
    let exact = ScriptEngine::new("cat >/dev/null; head -c 8388608 /dev/zero | tr '\\0' x");
    let object =
        one(&run(&mut exact.omni(&["hi", "--output", "json"]), "").expect_success().stdout);
    assert_eq!(object["text_complete"], true);
}

#[test]
fn a_stdout_that_takes_nothing_is_a_failure_and_a_closed_one_is_not() {
    let fake = ScriptEngine::new("cat >/dev/null; echo hi");
    let mut command = fake.omni(&["hi", "--output", "json"]);
    let full = std::fs::File::options().write(true).open("/dev/full").expect("/dev/full");
    let output = command.stdin(std::process::Stdio::null()).stdout(full).output().expect("run");
    assert_eq!(output.status.code(), Some(73));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard output"));
}
