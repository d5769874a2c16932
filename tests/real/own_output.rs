//! The real engines asked for their own JSON: the user gets it as it is, the store gets the final
//! answer, and nothing of the block; also when the model's service refuses the message.

use serde_json::Value;

use crate::support::fake_model::REPLY;
use crate::support::run;
use crate::support::sample_files::png;
use crate::wire::{Bed, invisible};

const DOC: &str = "MARKER-OF-THE-DOC, \"quoted\", 世界.\n";

fn stored(bed: &Bed) -> Vec<Value> {
    let lines = run(bed.home.omni().args(["export", "--all"]), "").expect_success().stdout;
    lines.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn own_output(id: &str, args: &[&str]) {
    let Some(bed) = Bed::new(id, &[("style.md", DOC.as_bytes())]) else { return };
    let _turn = bed.engine.turn();
    let printed = run(bed.omni().args(["-p", "hello", "--"]).args(args), "").expect_success();
    assert!(printed.stdout.contains('{') && printed.stdout.contains("MOCK-R"), "{printed:?}");
    let wire = bed.model.main_requests().last().expect("a request").wire();
    assert!(wire.user_text().contains("MARKER-OF-THE-DOC"), "the doc was sent");
    let session = &stored(&bed)[0];
    let answer = session["messages"][1]["text"].as_str().map(str::trim_end);
    assert_eq!(answer, Some(REPLY), "{session}\n{}", printed.stdout);
    assert!(session["engine_session"].is_string(), "{session}");
    invisible(&bed.home, &["MARKER-OF-THE-DOC"]);
}

#[test]
fn claude_object() {
    own_output("claude", &["--output-format", "json"]);
}

#[test]
fn claude_events_with_the_message_repeated() {
    own_output("claude", &["--output-format", "stream-json", "--verbose"]);
}

#[test]
fn claude_2_1_197_events() {
    own_output("claude-2.1.197", &["--output-format", "stream-json", "--verbose"]);
}

/// With an attachment the message goes another way, which has one format only; the user gets the one
/// that he asked for all the same.
#[test]
fn claude_keeps_the_format_with_an_attachment() {
    let png = png(3, 2, [1, 2, 3]);
    for id in ["claude", "claude-2.1.197"] {
        let Some(bed) = Bed::new(id, &[("dot.png", &png)]) else { continue };
        let _turn = bed.engine.turn();
        for (format, is_whole) in [("json", false), ("stream-json", true)] {
            let args = ["-p", "hello", "--", "--output-format", format, "--verbose"];
            let args = if is_whole { &args[..] } else { &args[..5] };
            let printed = run(bed.omni().args(args), "").expect_success();
            let events: Vec<Value> = printed
                .stdout
                .lines()
                .map(|line| serde_json::from_str(line).expect("JSON"))
                .collect();
            let last = events.last().expect("an event");
            assert_eq!((&last["type"], &last["result"]), (&"result".into(), &REPLY.into()));
            assert_eq!(events.len() > 1, is_whole, "{}", printed.stdout);
            let wire = bed.model.main_requests().last().expect("a request").wire();
            wire.assert_image_bytes(&png);
        }
        assert_eq!(stored(&bed)[0]["messages"][1]["text"], REPLY);
    }
}

#[test]
fn gemini_says_that_the_format_is_not_to_be_had_with_an_attachment() {
    let png = png(3, 2, [1, 2, 3]);
    let Some(bed) = Bed::new("gemini", &[("dot.png", &png)]) else { return };
    let _turn = bed.engine.turn();
    let printed = run(bed.omni().args(["-p", "hello", "--", "-o", "json"]), "").expect_success();
    assert_eq!(printed.stdout.trim_end(), REPLY);
    assert!(printed.stderr.contains("--output-format json"), "{}", printed.stderr);
}

#[test]
fn codex_events() {
    own_output("codex", &["--json"]);
}

#[test]
fn gemini_object() {
    own_output("gemini", &["-o", "json"]);
}

#[test]
fn gemini_events_with_the_message_repeated() {
    own_output("gemini", &["-o", "stream-json"]);
}

#[test]
fn pi_events() {
    own_output("pi", &["--mode", "json"]);
}

#[test]
fn opencode_events() {
    own_output("opencode", &["--format", "json"]);
}

/// What an engine complains of is kept in the receipt; a service may quote what it refuses.
#[test]
fn a_refusal_keeps_nothing_of_the_block() {
    for id in ["claude", "codex", "pi"] {
        let Some(bed) = Bed::new(id, &[("style.md", DOC.as_bytes())]) else { continue };
        let _turn = bed.engine.turn();
        bed.model.fail_with(400);
        let refused = run(bed.omni().args(["-p", "hello"]), "");
        assert!(!refused.status.success(), "{refused:?}");
        assert_eq!(stored(&bed)[0]["outcome"], "failed", "{id}");
        invisible(&bed.home, &["MARKER-OF-THE-DOC"]);
    }
}
