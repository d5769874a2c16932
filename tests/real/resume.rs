//! The real engines, gone on with: a conversation begun in the engine's own interface opens there
//! again and takes a further message, with the block once on the wire, from the first message, and the
//! instructions once. And a message that an engine has in its own record is not sent again.

use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::pty_driver::PtyDriver;
use crate::support::fake_model::{REPLY, Wire};
use crate::support::home::write;
use crate::support::process::say;
use crate::support::{Finished, run};
use crate::tui_bed::{Bed, end, wait_until};

const RULE: &str = "RULE-7: answer with the word \"heron\", 世界.";
const DOC: &str = "Short words.\n";

/// What shows that the interface has the conversation and takes keys.
fn ready_again(id: &str) -> &'static str {
    match id {
        "claude" | "claude-2.1.197" => "\u{276f}",
        "codex" => "Ask Codex",
        "gemini" => "Type your message",
        "pi" => "mock-model",
        "openclaw" => "local ready | idle",
        "opencode" => "ctrl+p commands",
        "hermes" => "\u{2695}",
        other => panic!("no mark for {other}"),
    }
}

fn instructions_once(id: &str, wire: &Wire) {
    if id == "openclaw" {
        // Its interface has no way into the system prompt: they stand at the head of the block.
        assert_eq!(wire.user_text().matches(RULE).count(), 1, "{}", wire.user_text());
    } else {
        wire.assert_instructions_once(RULE);
    }
}

impl Bed {
    fn omni(&self, args: &[&str]) -> Finished {
        run(self.home.omni().args(args).current_dir(&self.project), "")
    }

    fn rows(&self) -> Value {
        let listed = self.omni(&["sessions", "ls", "--json"]).expect_success().stdout;
        serde_json::from_str(&listed).expect("JSON")
    }

    /// As if omni-run had been killed and had seen nothing: only the engine's own record is left. An
    /// engine whose record is found by its own id alone keeps that.
    fn forget(&self, id_too: bool) {
        let file = self.home.data().join("omni-run/omni-run.db");
        let store = rusqlite::Connection::open(file).expect("store");
        store
            .execute_batch(
                "UPDATE sessions SET outcome = 'crashed', ended_at = NULL, accepted = NULL;
                 DELETE FROM receipts;",
            )
            .expect("forget");
        if id_too {
            store.execute("UPDATE sessions SET engine_session_id = NULL", []).expect("forget");
        }
    }

    /// Changes one session in the store.
    fn sql(&self, sql: &str, session: &str) {
        let file = self.home.data().join("omni-run/omni-run.db");
        let store = rusqlite::Connection::open(file).expect("store");
        assert_eq!(store.execute(sql, [session]).expect("change"), 1);
    }

    fn shown(&self, row: &Value) -> Value {
        let id = row["id"].as_str().expect("id");
        let shown = self.omni(&["sessions", "show", "--json", id]).expect_success().stdout;
        serde_json::from_str(&shown).expect("JSON")
    }
}

/// The answer was painted; some interfaces have scrolled it away in the next moment, and some paint it
/// in pieces, around what stood there before.
fn answered(term: &PtyDriver) {
    let bytes = REPLY.as_bytes();
    term.wait_until("answer", |screen, raw| {
        screen.contains(REPLY) || raw.windows(bytes.len()).any(|part| part == bytes)
    });
    term.wait_for_quiet();
}

fn goes_on(id: &str, and_one_shot: bool) {
    let Some(bed) = Bed::new(id, DOC) else { return };
    let _turn = bed.engine.turn();
    write(bed.home.config().join("omni-run/instructions.md"), RULE);
    let block = bed.block();
    let (first, second) = ("the first question", "and the second one");
    let mut term = bed.start(&[]);
    bed.ready(&term);
    bed.submit(&mut term, first);
    bed.request(&term, 1).assert_block_once(&block, first);
    answered(&term);
    end(&mut term);
    let begun = bed.shown(&bed.rows()[0]);
    let engines = begun["engine_session"].as_str().expect("the engine's own id is known");
    bed.forget(id != "openclaw");
    let session = begun["id"].as_str().expect("id");
    let refused = bed.omni(&["recover", session]);
    assert_eq!(refused.code(), 77, "{refused:?}");
    assert!(refused.stderr.contains("stands in"), "{}", refused.stderr);

    let mut term = bed.resume();
    answered(&term);
    term.wait_for(ready_again(id));
    term.wait_for_quiet();
    let before = bed.model.main_requests().len();
    bed.submit(&mut term, second);
    let wire = bed.request(&term, before + 1);
    wire.assert_block_once(&block, first);
    wire.assert_display_once(second);
    instructions_once(id, &wire);
    term.wait_for_quiet();
    end(&mut term);
    let after = bed.shown(&bed.rows()[0]);
    assert_eq!(after["engine_session"], engines, "the same conversation");
    assert_eq!(after["messages"], serde_json::json!([]));
    if !and_one_shot {
        return;
    }
    let third = "a third, on pipes";
    let finished = bed.omni(&["resume", third]).expect_success();
    assert!(finished.stdout.contains(REPLY), "{finished:?}");
    let wire = bed.model.main_requests().last().expect("a request").wire();
    wire.assert_block_once(&block, first);
    wire.assert_display_once(second);
    wire.assert_display_once(third);
    instructions_once(id, &wire);
}

/// omni-run is killed while the model works: the engine has the message, and it is not sent again.
/// `goes_on`: the engine has written it down, so that the conversation can be gone on with.
fn killed_while_the_model_works(id: &str, goes_on: bool) {
    let Some(bed) = Bed::new(id, DOC) else { return };
    let _turn = bed.engine.turn();
    // So that there is a record at all, with another conversation in it.
    bed.omni(&[bed.engine.omni_id(), "-p", "an earlier one"]).expect_success();
    let earlier = bed.model.main_requests().len();
    bed.model.hold();
    let mut command = bed.home.omni();
    command.args([bed.engine.omni_id(), "-p", "the question"]).current_dir(&bed.project);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("start");
    bed.model.wait_for(earlier + 1);
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL).expect("kill");
    child.wait().expect("wait");
    bed.model.release();
    wait_until("the engine's end", || bed.rows()[0]["outcome"] != "running");
    let row = bed.rows()[0].clone();
    assert_eq!(row["outcome"], "crashed");
    let session = row["id"].as_str().expect("id");
    let refused = bed.omni(&["recover", session]);
    assert_eq!(refused.code(), 77, "{refused:?}");
    say(&format!("{id}: {}", refused.stderr));
    // The engine's own record alone does not let it be sent again either.
    bed.sql("UPDATE sessions SET accepted = NULL WHERE id = ?1", session);
    let refused = bed.omni(&["recover", session]);
    assert_eq!(refused.code(), 77, "{refused:?}");
    say(&format!("{id}, by its record: {}", refused.stderr));
    let before = bed.model.main_requests().len();
    if !goes_on {
        return;
    }
    bed.omni(&["resume", session, "are you there?"]).expect_success();
    let wire = bed.model.main_requests().last().expect("a request").wire();
    assert!(bed.model.main_requests().len() > before);
    wire.assert_display_once("the question");
    wire.assert_display_once("are you there?");
    assert_eq!(wire.user_text().matches("Injected Project Docs").count(), 1);
}

/// omni-run dies before the engine has the message: it is sent again once, as it was, in the same
/// session, and the conversation can be gone on with. `tells`: the engine's record is proof enough that
/// it had not arrived.
fn sent_again(id: &str, tells: bool) {
    let Some(bed) = Bed::new(id, DOC) else { return };
    let _turn = bed.engine.turn();
    write(bed.home.config().join("omni-run/instructions.md"), RULE);
    bed.omni(&[bed.engine.omni_id(), "-p", "an earlier one"]).expect_success();
    let block = bed.block();
    let mut command = bed.home.omni();
    command.args([bed.engine.omni_id(), "-p", "the question, 世界"]).current_dir(&bed.project);
    let killed = run(command.env("OMNI_TEST_DIE_AT", "recorded"), "");
    assert_eq!(killed.status.code(), None, "{killed:?}");
    let row = bed.rows()[0].clone();
    assert_eq!(row["outcome"], "not_started");
    // As if the engine had been started and had died at once: only its own record can tell.
    let session = row["id"].as_str().expect("id");
    bed.sql("UPDATE sessions SET outcome = 'crashed' WHERE id = ?1", session);
    let before = bed.model.main_requests().len();
    let mut args = vec!["recover", session];
    if !tells {
        let doubt = bed.omni(&args);
        assert!(doubt.code() == 77 && doubt.stderr.contains("--again"), "{doubt:?}");
        assert_eq!(bed.model.main_requests().len(), before);
        args.push("--again");
    }
    let again = bed.omni(&args).expect_success();
    assert!(again.stdout.contains(REPLY), "{again:?}");
    assert_eq!(bed.model.main_requests().len(), before + 1);
    let wire = bed.model.main_requests().last().expect("a request").wire();
    wire.assert_block_once(&block, "the question, 世界");
    wire.assert_instructions_once(RULE);
    assert!(!wire.user_text().contains("an earlier one"), "{}", wire.user_text());
    assert_eq!(bed.omni(&args).code(), 77, "never twice");
    assert_eq!(bed.rows().as_array().expect("rows").len(), 2, "the same session");

    bed.omni(&["resume", session, "and then?"]).expect_success();
    let wire = bed.model.main_requests().last().expect("a request").wire();
    wire.assert_block_once(&block, "the question, 世界");
    wire.assert_display_once("and then?");
    wire.assert_instructions_once(RULE);
}

macro_rules! sent_again {
    ($name:ident, $id:literal, $tells:literal) => {
        #[test]
        fn $name() {
            sent_again($id, $tells);
        }
    };
}

macro_rules! killed {
    ($name:ident, $id:literal, $goes_on:literal) => {
        #[test]
        fn $name() {
            killed_while_the_model_works($id, $goes_on);
        }
    };
}

killed!(claude_has_the_message_of_a_killed_run, "claude", true);
killed!(codex_has_the_message_of_a_killed_run, "codex", true);
killed!(gemini_has_the_message_of_a_killed_run, "gemini", true);
killed!(pi_has_the_message_of_a_killed_run, "pi", false);
killed!(openclaw_has_the_message_of_a_killed_run, "openclaw", false);
killed!(opencode_has_the_message_of_a_killed_run, "opencode", true);
killed!(hermes_has_the_message_of_a_killed_run, "hermes", true);

sent_again!(claude_gets_it_again, "claude", true);
sent_again!(claude_2_1_197_gets_it_again, "claude-2.1.197", true);
sent_again!(codex_gets_it_again, "codex", true);
sent_again!(gemini_gets_it_again, "gemini", true);
sent_again!(pi_gets_it_again, "pi", false);
sent_again!(openclaw_gets_it_again, "openclaw", false);
sent_again!(opencode_gets_it_again, "opencode", true);
sent_again!(hermes_gets_it_again, "hermes", true);

/// Each engine's own words for a conversation that it has not, and ours.
#[test]
fn a_conversation_that_is_gone_is_explained() {
    for (id, store) in [
        ("claude", "home/.claude-config/projects"),
        ("codex", "home/.codex/sessions"),
        ("pi", "home/.pi/agent/sessions"),
    ] {
        let Some(bed) = Bed::new(id, DOC) else { continue };
        bed.omni(&[bed.engine.omni_id(), "-p", "q"]).expect_success();
        let store = bed.home.root().join(store);
        assert!(store.is_dir(), "{}", store.display());
        for entry in std::fs::read_dir(&store).expect("record").flatten() {
            std::fs::remove_dir_all(entry.path()).expect("remove");
        }
        let gone = bed.omni(&["resume", "x y"]);
        assert_eq!(gone.code(), 1, "{id}: {gone:?}");
        for part in ["has no conversation", "keeps its conversations in", "sessions show"] {
            assert!(gone.stderr.contains(part), "{id}, {part}: {}", gone.stderr);
        }
    }
}

macro_rules! engine {
    ($name:ident, $id:literal, $and_one_shot:literal) => {
        #[test]
        fn $name() {
            goes_on($id, $and_one_shot);
        }
    };
}

engine!(claude_goes_on, "claude", true);
engine!(claude_2_1_197_goes_on, "claude-2.1.197", true);
engine!(codex_goes_on, "codex", true);
engine!(gemini_goes_on, "gemini", false);
engine!(pi_goes_on, "pi", true);
engine!(openclaw_goes_on, "openclaw", true);
engine!(opencode_goes_on, "opencode", false);
engine!(hermes_goes_on, "hermes", false);
