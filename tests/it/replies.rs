//! The final answer of a one-shot run is the engine's row in the store (S60), whatever the engine's
//! protocol and whatever is printed, and the user has each piece as soon as the engine gives it.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use serde_json::Value;

use crate::script_engine::ScriptEngine;
use crate::stand_ins::{ENGINES, REPLY, StandIn};
use crate::support::home::write;
use crate::support::{TestHome, run, sample_files};

/// A run of an engine: its own arguments, and whether the answer comes in pieces.
struct Way {
    engine: &'static str,
    own: &'static [&'static str],
    prompt: &'static str,
    image: bool,
    streams: bool,
}

const fn way(engine: &'static str, own: &'static [&'static str], streams: bool) -> Way {
    Way { engine, own, prompt: "typed", image: false, streams }
}

/// Each channel by which an engine gives its answer.
fn ways() -> Vec<Way> {
    vec![
        way("claude", &[], true),
        Way { image: true, ..way("claude", &[], false) },
        way("claude", &["--output-format", "json"], false),
        way("claude", &["--output-format=stream-json", "--verbose"], false),
        way("codex", &[], false),
        way("codex", &["--json"], false),
        way("gemini", &[], true),
        Way { prompt: "see @here", ..way("gemini", &[], true) },
        way("gemini", &["-o", "json"], false),
        way("gemini", &["-o", "stream-json"], true),
        way("cursor", &[], false),
        Way { image: true, ..way("cursor", &[], false) },
        way("cursor", &["--output-format", "json"], false),
        way("cursor", &["--output-format", "text"], false),
        way("pi", &[], true),
        way("pi", &["--mode", "json"], false),
        way("openclaw", &[], false),
        way("opencode", &[], true),
        way("opencode", &["--format", "json"], true),
        way("hermes", &[], true),
        way("own", &[], true),
    ]
}

impl Way {
    fn stand_in(&self) -> StandIn {
        let stand_in = StandIn::new(self.engine);
        if self.image {
            let png = sample_files::png(4, 4, [1, 2, 3]);
            write(stand_in.project.join(".claude/docs/a.png"), png);
        }
        stand_in
    }

    fn args<'a>(&'a self, before: &[&'a str]) -> Vec<&'a str> {
        let mut args = before.to_vec();
        args.push(self.prompt);
        if !self.own.is_empty() {
            args.push("--");
            args.extend(self.own);
        }
        args
    }

    /// The engine's own JSON passes as it is.
    fn is_raw(&self) -> bool {
        self.own.iter().any(|arg| arg.contains("json"))
    }

    fn name(&self) -> String {
        format!("{} {:?} {} image {}", self.engine, self.own, self.prompt, self.image)
    }
}

/// The engine's rows of all sessions, oldest first.
fn stored(stand_in: &StandIn) -> Vec<String> {
    let lines = run(&mut stand_in.command(&["export", "--all"]), "").expect_success().stdout;
    lines
        .lines()
        .skip(1)
        .map(|line| {
            let session: Value = serde_json::from_str(line).expect("JSON");
            let messages = session["messages"].as_array().expect("messages");
            assert_eq!(messages.len(), 2, "{session}");
            assert_eq!(messages[0]["role"], "operator");
            assert_eq!(messages[1]["role"], "engine");
            messages[1]["text"].as_str().expect("text").trim_end().to_owned()
        })
        .collect()
}

#[test]
fn s60_the_final_answer_is_stored_by_every_channel_and_in_every_output() {
    for way in ways() {
        let (name, stand_in) = (way.name(), way.stand_in());
        let text = run(&mut stand_in.omni(&way.args(&["-p"])), "").expect_success().stdout;
        if way.is_raw() {
            assert!(text.contains("the final") && text.contains('{'), "{name}: {text}");
        } else {
            assert_eq!(text, format!("{REPLY}\n"), "{name}");
        }
        let object = run(&mut stand_in.omni(&way.args(&["--output", "json"])), "");
        let object: Value = serde_json::from_str(&object.expect_success().stdout).expect(&name);
        assert_eq!(object["text"].as_str().map(str::trim_end), Some(REPLY), "{name}");

        let events = run(&mut stand_in.omni(&way.args(&["--output", "stream-json"])), "");
        let events: Vec<Value> = events
            .expect_success()
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect(&name))
            .collect();
        let (end, others) = events.split_last().expect("events");
        assert_eq!(end["text"].as_str().map(str::trim_end), Some(REPLY), "{name}");
        let pieces: String = others.iter().filter_map(|event| event["text"].as_str()).collect();
        assert!(pieces.contains(REPLY) || way.is_raw(), "{name}: {pieces}");
        assert_eq!(stored(&stand_in), [REPLY; 3], "{name}");
    }
}

#[test]
fn s60_a_piece_of_the_answer_is_not_held_back() {
    for way in ways().iter().filter(|way| way.streams) {
        for output in ["text", "stream-json"] {
            let (name, stand_in) = (way.name(), way.stand_in());
            let go = stand_in.home.root().join("go");
            nix::unistd::mkfifo(&go, nix::sys::stat::Mode::S_IRWXU).expect("fifo");
            stand_in.home.set_env("FAKE_GO", &go);
            let mut child = stand_in
                .omni(&way.args(&["-p", "--output", output]))
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("start");
            let mut out = BufReader::new(child.stdout.take().expect("stdout"));
            // The second half waits until the first is here.
            let mut seen = String::new();
            while !seen.contains("the final") {
                let bytes = out.fill_buf().expect("output");
                assert!(!bytes.is_empty(), "{name} ended: {seen}");
                let length = bytes.len();
                seen.push_str(&String::from_utf8_lossy(bytes));
                out.consume(length);
            }
            assert!(!seen.contains("世界"), "{name}: {seen}");
            write(&go, "go\n");
            out.read_to_string(&mut seen).expect("rest");
            assert!(seen.contains("世界"), "{name}: {seen}");
            assert!(child.wait().expect("wait").success(), "{name}");
            assert_eq!(stored(&stand_in), [REPLY], "{name}");
        }
    }
}

/// The usual pipe has 64 KB; other systems than Linux have no wider one.
#[test]
#[cfg(target_os = "linux")]
fn an_engine_that_does_not_wait_for_its_writes_loses_no_answer() {
    let long = "a long line of what was typed\n".repeat(4_000);
    for way in ways() {
        let (name, stand_in) = (way.name(), way.stand_in());
        stand_in.home.set_env("FAKE_HURRY", "1");
        let prompt = format!("{}\n{long}", way.prompt);
        let way = Way { prompt: "-", ..way };
        let finished = run(&mut stand_in.omni(&way.args(&["-p"])), prompt).expect_success();
        assert!(finished.stdout.contains(REPLY) || way.is_raw(), "{name}: {finished:?}");
        assert_eq!(stored(&stand_in), [REPLY], "{name}");
    }
}

#[test]
fn an_answer_that_breaks_off_is_called_so() {
    for engine in ["gemini", "openclaw"] {
        let home = TestHome::new();
        home.install_script(engine, "#!/bin/sh\ncat > /dev/null\nprintf '{\"type\":\"mess'\n");
        let finished = run(home.omni().args([engine, "-p", "typed"]), "");
        assert_eq!(finished.code(), 1, "{finished:?}");
        assert!(finished.stderr.contains("in the middle of"), "{finished:?}");
    }
}

#[test]
fn every_engine_has_its_ways_here() {
    for engine in ENGINES.into_iter().filter(|engine| *engine != "echo") {
        assert!(ways().iter().any(|way| way.engine == engine), "{engine}");
    }
}

#[test]
fn s60_an_engine_that_prints_its_input_does_not_bring_the_block_into_the_store() {
    let fake = ScriptEngine::new("cat; printf '\\nand then Short words. again'");
    let printed = run(&mut fake.omni(&["-p", "typed"]), "").expect_success().stdout;
    assert!(printed.contains("## Injected Project Docs"), "the user gets all: {printed}");
    let lines = run(&mut fake.command(&["export", "--all"]), "").expect_success().stdout;
    let session: Value = serde_json::from_str(lines.lines().nth(1).expect("line")).expect("JSON");
    assert_eq!(
        session["messages"][1]["text"], "[the injected docs]\n\ntyped\nand then Short words. again",
        "what a model quotes is its answer"
    );
}

#[test]
fn s60_what_was_said_before_a_crash_or_a_time_out_is_kept() {
    for (end, limit) in [("crash", None), ("hang", Some("2s"))] {
        let stand_in = StandIn::new("own");
        stand_in.home.set_env("FAKE_END", end);
        let mut args = vec!["-p", "typed"];
        args.extend(limit.into_iter().flat_map(|limit| ["--timeout", limit]));
        let finished = run(&mut stand_in.omni(&args), "");
        assert_eq!(finished.code(), if limit.is_some() { 124 } else { 137 }, "{finished:?}");
        assert_eq!(stored(&stand_in), [REPLY]);
    }
}
