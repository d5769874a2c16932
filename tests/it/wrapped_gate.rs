//! The loop and a gate: effects in order, the editor helper, a plugin's reports, type-ahead (D07).

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::wrapped::{Wrapped, outcome, start};

fn with_editor(user_editor: &str) -> Wrapped {
    let w = start(&[], |run| run.env("WRAP_PROBE_GATE", "editor").env("VISUAL", user_editor));
    w.log.wait_for("ready", |_| true);
    w.term.wait_for("\u{276f}");
    w
}

#[track_caller]
fn quit(mut w: Wrapped) -> Value {
    w.term.send("/quit\r");
    assert_eq!(w.term.wait_for_end().code, Some(0));
    let text = std::fs::read_to_string(outcome(&w.dir)).expect("outcome");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn the_editor_round_trip_puts_the_text_in_and_is_recorded_before() {
    let mut w = with_editor("false");
    w.term.send("do it \u{1F600}");
    w.term.wait_for("do it");
    w.term.send("\r");
    w.log.wait_for("submit", |_| true);
    assert_eq!(w.log.submitted(), ["THE BLOCK\n\ndo it \u{1F600}"]);
    w.term.send("second");
    w.term.send("\r");
    w.log.wait_for("submit", |e| e["text"] == "second");
    let outcome = quit(w);
    assert_eq!(outcome["recorded"], serde_json::json!(["do it \u{1F600}"]));
    assert_eq!(outcome["notes"], serde_json::json!([]));
    assert_eq!(outcome["gate_done"], true);
}

#[test]
fn the_users_own_editor_opens_when_he_asks_for_it() {
    let dir = tempfile::tempdir().expect("dir");
    let script = dir.path().join("my editor");
    std::fs::write(&script, "#!/bin/sh\n[ \"$1\" = -w ] && printf ' and more' >> \"$2\"\n")
        .expect("write");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("chmod");
    // A value with quotes and an option, as git takes it.
    let mut w = with_editor(&format!("'{}' -w", script.display()));
    w.term.send("draft");
    w.term.wait_for("draft");
    w.term.send("\x07");
    w.log.wait_for("edited", |e| e["ok"] == true);
    w.term.wait_for("draft and more");
    w.term.send("\r");
    w.log.wait_for("submit", |_| true);
    assert_eq!(w.log.submitted(), ["THE BLOCK\n\ndraft and more"]);
    // After the first message as well, when no gate is left to answer.
    w.term.send("again");
    w.term.wait_for("again");
    w.term.send("\x07");
    w.term.wait_for("again and more");
}

#[test]
fn a_plugins_reports_reach_the_gate() {
    let dir = tempfile::tempdir().expect("dir");
    let receipt = dir.path().join("receipt");
    let mut w =
        start(&[], |run| run.env("WRAP_PROBE_GATE", "armed").env("WRAP_PROBE_RECEIPT", &receipt));
    w.log.wait_for("ready", |_| true);
    std::fs::write(&receipt, "{\"event\":\"raw\",\"text\":\"hi\"}\n").expect("write");
    w.term.send("hi ");
    w.term.wait_for("hi [raw hi]");
}

#[test]
fn d07_a_long_line_typed_before_the_engine_is_up_arrives_whole() {
    let mut w = start(&[("READY_MS", "1500")], |run| run.env("WRAP_PROBE_GATE", "armed"));
    w.log.wait_for("start", |_| true);
    let line = "0123456789".repeat(600);
    w.term.send(&line);
    w.log.wait_for("ready", |_| true);
    w.term.wait_for("\u{276f} 0123456789");
    w.term.send("\r");
    w.log.wait_for("submit", |_| true);
    assert_eq!(w.log.submitted(), [line]);
}
