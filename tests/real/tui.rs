//! The real engines' own interfaces, wrapped: the first message typed into the composer carries the
//! block on the wire, once; what is stored is what was typed; the terminal is left as it was.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::pty_driver::{PtyDriver, Run};
use crate::support::fake_model::FakeModel;
use crate::support::home::write;
use crate::support::process::say;
use crate::support::{RealEngine, TestHome, require_engine, run};

/// What shows that the composer takes keys.
fn ready_mark(id: &str) -> &'static str {
    match id {
        "claude" | "claude-2.1.197" => "\u{276f}",
        "codex" => "Ask Codex",
        "gemini" => "Type your message",
        "pi" => "mock-model",
        "openclaw" => "local ready | idle",
        "opencode" => "Ask anything",
        "hermes" => "\u{2695}",
        other => panic!("no mark for {other}"),
    }
}

pub(crate) struct Bed {
    pub(crate) engine: RealEngine,
    pub(crate) home: TestHome,
    pub(crate) model: FakeModel,
    pub(crate) project: std::path::PathBuf,
}

impl Bed {
    pub(crate) fn new(id: &str, doc: &str) -> Option<Bed> {
        let engine = require_engine(id)?;
        let (home, model) = (TestHome::new(), FakeModel::start());
        let project = home.project_with_docs("p1", &[("style.md", doc.as_bytes())]);
        engine.isolate(&home, &model);
        // A known model makes Codex ask whether to take a newer one.
        let codex = home.home().join(".codex/config.toml");
        if let Ok(config) = std::fs::read_to_string(&codex) {
            write(&codex, config.replace("gpt-5.5", "mock-model"));
        }
        Some(Bed { engine, home, model, project })
    }

    pub(crate) fn start(&self, args: &[&str]) -> PtyDriver {
        let run = Run::new(env!("CARGO_BIN_EXE_omni-run"))
            .args([&[self.engine.omni_id()], args].concat())
            .only_env(self.home.env())
            .cwd(&self.project)
            .size(40, 120)
            .answering();
        run.start()
    }

    pub(crate) fn ready(&self, term: &PtyDriver) {
        term.wait_for(ready_mark(self.engine.id));
        term.wait_for_quiet();
    }

    /// Waits for so many requests; shows the screen when they do not come.
    pub(crate) fn requests(&self, term: &PtyDriver, count: usize) {
        let until = Instant::now() + Duration::from_secs(60);
        while self.model.main_requests().len() < count {
            assert!(Instant::now() < until, "no request {count}; the screen:\n{}", term.screen());
            term.wait_for_quiet();
        }
    }

    pub(crate) fn block(&self) -> String {
        let mut command = self.home.omni();
        command.args([self.engine.omni_id(), "-p", "--show-sent", "x"]);
        let shown = run(command.current_dir(&self.project), "").expect_success().stdout;
        shown.strip_suffix("\n\nx").expect("display text at the end").to_owned()
    }

    pub(crate) fn stored(&self) -> Vec<String> {
        let rows = run(self.home.omni().args(["sessions", "ls", "--json"]), "").expect_success();
        let rows: serde_json::Value = serde_json::from_str(&rows.stdout).expect("JSON");
        let ids: Vec<String> = rows
            .as_array()
            .expect("rows")
            .iter()
            .map(|row| row["id"].as_str().expect("id").to_owned())
            .collect();
        ids.iter()
            .map(|id| {
                let shown = run(self.home.omni().args(["sessions", "show", "--json", id]), "");
                let shown: serde_json::Value =
                    serde_json::from_str(&shown.expect_success().stdout).expect("JSON");
                shown["messages"][0]["text"].as_str().expect("text").to_owned()
            })
            .collect()
    }

    /// Types a text as a person does: the newline key of the engine between lines, then Enter.
    pub(crate) fn submit(&self, term: &mut PtyDriver, text: &str) {
        let newline = if self.engine.id == "hermes" { "\x1b\r" } else { "\n" };
        for (n, line) in text.split('\n').enumerate() {
            if n > 0 {
                term.send(newline);
                term.wait_for_quiet();
            }
            term.send(line);
            term.wait_for_quiet();
        }
        term.send("\r");
    }
}

/// One session: a first message, a second one, the end.
fn session(id: &str, first: &str, doc: &str) {
    let Some(bed) = Bed::new(id, doc) else { return };
    let _turn = bed.engine.turn();
    let block = bed.block();
    let mut term = bed.start(&[]);
    bed.ready(&term);
    bed.submit(&mut term, first);
    bed.requests(&term, 1);
    let wire = bed.model.main_requests()[0].wire();
    wire.assert_block_once(&block, first);
    term.wait_for_quiet();
    bed.submit(&mut term, "and a second one");
    bed.requests(&term, 2);
    let wire = bed.model.main_requests().last().expect("a request").wire();
    wire.assert_display_once("and a second one");
    assert_eq!(wire.user_text().matches(block.as_str()).count(), 1, "still one block");
    term.wait_for_quiet();
    end(&mut term);
    assert_eq!(bed.stored(), [first]);
}

/// The person leaves, by a signal to omni-run; nothing of the engine's modes is left on.
pub(crate) fn end(term: &mut PtyDriver) {
    term.signal(Signal::SIGTERM);
    let ended = term.wait_for_end();
    // What was written last may not be read yet; a process that the engine left behind may hold the
    // terminal, so its end is not waited for.
    for _ in 0..10 {
        if term.modes_left_on().is_empty() {
            break;
        }
        term.wait_for_quiet();
    }
    say(&format!("ended with {ended:?}"));
    let raw = term.raw();
    let tail = String::from_utf8_lossy(&raw[raw.len().saturating_sub(300)..]).into_owned();
    assert_eq!(term.modes_left_on(), Vec::<String>::new(), "{tail:?}");
    assert!(term.is_cooked());
}

fn given_message(id: &str) {
    let Some(bed) = Bed::new(id, "Short words.\n") else { return };
    let _turn = bed.engine.turn();
    let block = bed.block();
    let prompt = "a given message, 世界";
    let mut term = bed.start(&[prompt]);
    bed.requests(&term, 1);
    bed.model.main_requests()[0].wire().assert_block_once(&block, prompt);
    term.wait_for_quiet();
    end(&mut term);
    assert_eq!(bed.stored(), [prompt]);
}

macro_rules! engine {
    ($name:ident, $id:literal) => {
        mod $name {
            use super::*;

            #[test]
            fn one_line() {
                session($id, "hello there", "Short words.\n");
            }

            #[test]
            fn three_lines_wide_and_100_kb() {
                let doc = format!("HEAD\n{}TAIL\n", "words of a doc, 0123456789\n".repeat(3_700));
                session($id, "h\u{e9}llo 世界\nline two\nthree \u{1F469}\u{200D}\u{1F467}", &doc);
            }

            #[test]
            fn a_given_message() {
                given_message($id);
            }
        }
    };
}

engine!(claude, "claude");
engine!(claude_2_1_197, "claude-2.1.197");
engine!(codex, "codex");
engine!(gemini, "gemini");
engine!(pi, "pi");
engine!(openclaw, "openclaw");
engine!(opencode, "opencode");
engine!(hermes, "hermes");

/// Commands and the engine's dialogs do not use the first message up.
#[test]
fn a_slash_command_first_then_the_message() {
    for id in ["claude", "codex", "pi"] {
        let Some(bed) = Bed::new(id, "Short words.\n") else { continue };
        let block = bed.block();
        let mut term = bed.start(&[]);
        bed.ready(&term);
        let command = if id == "pi" { "/hotkeys" } else { "/status" };
        bed.submit(&mut term, command);
        term.wait_for_quiet();
        term.send("\x1b");
        term.wait_for_quiet();
        bed.submit(&mut term, "the real message");
        bed.requests(&term, 1);
        let wire = bed.model.main_requests()[0].wire();
        wire.assert_block_once(&block, "the real message");
        term.wait_for_quiet();
        end(&mut term);
        assert_eq!(bed.stored(), ["the real message"], "{id}");
    }
}
