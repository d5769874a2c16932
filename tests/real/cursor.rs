//! omni-run and the stand-in for Cursor's CLI, **not the real Cursor**: its binary is in no registry.
//! What is asserted is what the stand-in, built after its documents, says it was given. Its terminal
//! interface is in `cursor_tui`.

use serde_json::Value;

use crate::support::home::write;
use crate::support::turns::Turn;
use crate::support::{TestHome, run, sample_files};

/// The stand-in with a project and its log.
pub(crate) struct Bed {
    pub(crate) home: TestHome,
    pub(crate) project: std::path::PathBuf,
    pub(crate) log: std::path::PathBuf,
    _turn: Turn,
}

pub(crate) fn bed(docs: &[(&str, &[u8])]) -> Bed {
    let home = TestHome::new();
    let project = home.project_with_docs("p1", docs);
    home.install("cursor-agent", std::path::Path::new(env!("CARGO_BIN_EXE_fake-cursor-agent")));
    let log = home.root().join("cursor.jsonl");
    home.set_env("FAKE_CURSOR_LOG", &log);
    Bed { home, project, log, _turn: Turn::of("cursor") }
}

impl Bed {
    fn omni(&self, args: &[&str], prompt: &str) -> crate::support::Finished {
        run(self.home.omni().arg("cursor").args(args).current_dir(&self.project), prompt)
    }

    /// It takes docs of any size.
    pub(crate) fn widen(&self) {
        let window = "[cursor]\ndefault-window = 2000000\nwindows = []\n";
        write(self.home.config().join("omni-run/engines.toml"), window);
    }

    fn last(&self) -> Value {
        let text = std::fs::read_to_string(&self.log).expect("log");
        serde_json::from_str(text.lines().last().expect("a run")).expect("JSON")
    }
}

const BLOCK: &str = "## Injected Project Docs\n\n### style.md\n```\nShort words.\n```";

#[test]
fn text_goes_by_stdin_instructions_at_the_head_and_the_delivery_is_verified() {
    let bed = bed(&[("style.md", b"Short words.\n")]);
    write(bed.home.config().join("omni-run/instructions.md"), "CUSTOM-3");
    for prompt in ["hello", "- x\n/help", "@style.md !y 😀"] {
        let out = bed.omni(&["-p", "--output", "json"], prompt).expect_success();
        let last = bed.last();
        let sent = last["prompt"].as_str().expect("prompt");
        assert_eq!(last["prompt_source"], "stdin");
        assert!(sent.ends_with(&format!("{BLOCK}\n\n{prompt}")), "{sent}");
        assert_eq!(sent.matches("CUSTOM-3").count(), 1, "{sent}");
        let object: Value = serde_json::from_str(&out.stdout).expect("JSON");
        assert_eq!(object["receipt"]["verified"], "the engine echoed the whole text");
        assert_eq!(object["receipt"]["channels"]["instructions"], "head-of-block");
    }
}

#[test]
fn images_go_over_acp_and_pdf_by_path() {
    let png = sample_files::png(8, 8, [1, 2, 3]);
    let bed = bed(&[
        ("a.png", &png),
        ("b.pdf", &sample_files::pdf("x")),
        ("style.md", b"Short words.\n"),
    ]);
    bed.omni(&["-p"], "look").expect_success();
    let last = bed.last();
    assert_eq!(last["prompt_source"], "acp");
    assert_eq!(last["images"][0]["bytes"], png.len());
    let sent = last["prompt"].as_str().expect("prompt");
    assert!(sent.contains(".claude/docs/b.pdf") && sent.ends_with("\n\nlook"), "{sent}");
}

#[test]
fn four_hundred_kb_and_a_resume_without_a_second_block() {
    let text = "words of a doc 世界\n".repeat(17_000);
    let bed = bed(&[("big.md", text.as_bytes())]);
    bed.widen();
    bed.omni(&["-p"], "how long?").expect_success();
    let sent = bed.last()["prompt"].as_str().expect("prompt").to_owned();
    assert!(sent.contains(&text) && sent.ends_with("\n\nhow long?"));
    let rows = run(bed.home.omni().args(["sessions", "ls", "--json"]), "").expect_success();
    let rows: Value = serde_json::from_str(&rows.stdout).expect("JSON");
    let id = rows[0]["id"].as_str().expect("id");
    bed.omni(&["-p", "--resume", id], "and now?").expect_success();
    let last = bed.last();
    assert_eq!(last["prompt"], "and now?");
    assert!(last["argv"].to_string().contains("--resume"), "{last}");
}

#[test]
fn a_session_goes_on_by_the_learnt_id_and_a_killed_one_asks_first() {
    let bed = bed(&[("style.md", b"Short words.\n")]);
    bed.omni(&["-p"], "first").expect_success();
    let own = |args: &[&str]| run(bed.home.omni().args(args).current_dir(&bed.project), "");
    own(&["resume", "and then?"]).expect_success();
    let last = bed.last();
    assert_eq!(last["prompt"], "and then?", "no second block");
    let list = own(&["sessions", "ls", "--json"]).expect_success().stdout;
    let rows: Value = serde_json::from_str(&list).expect("JSON");
    let shown = own(&["sessions", "show", "--json", rows[1]["id"].as_str().expect("id")]);
    let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    let learnt = shown["engine_session"].as_str().expect("the id is learnt");
    assert!(last["argv"].to_string().contains(learnt), "{last}");

    let mut command = bed.home.omni();
    command.args(["cursor", "-p", "second"]).current_dir(&bed.project);
    let killed = run(command.env("OMNI_TEST_DIE_AT", "recorded"), "");
    assert_eq!(killed.status.code(), None, "{killed:?}");
    let list = own(&["recover", "--json"]).expect_success().stdout;
    let rows: Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!((&rows[0]["outcome"], &rows[0]["arrived"]), (&"not_started".into(), &"no".into()));
    let session = rows[0]["id"].as_str().expect("id");
    // It keeps no record that could tell what became of a start.
    let file = bed.home.data().join("omni-run/omni-run.db");
    let store = rusqlite::Connection::open(file).expect("store");
    let sql = "UPDATE sessions SET outcome = 'crashed' WHERE id = ?1";
    assert_eq!(store.execute(sql, [session]).expect("crash"), 1);
    let doubt = own(&["recover", session]);
    assert!(doubt.code() == 77 && doubt.stderr.contains("--again"), "{doubt:?}");
    own(&["recover", session, "--again"]).expect_success();
    let sent = bed.last()["prompt"].as_str().expect("prompt").to_owned();
    assert!(sent.ends_with(&format!("{BLOCK}\n\nsecond")), "{sent}");
    assert_eq!(own(&["recover", session, "--again"]).code(), 77, "never twice");
}

#[test]
fn refusals_are_failures_with_their_reason() {
    let bed = bed(&[("style.md", b"Short words.\n")]);
    bed.home.set_env("FAKE_CURSOR_AUTH", "0");
    let out = bed.omni(&["-p"], "hi");
    assert_ne!(out.code(), 0);
    assert!(out.stderr.contains("Authentication required"), "{}", out.stderr);
    bed.home.set_env("FAKE_CURSOR_AUTH", "1");
    let out = bed.omni(&["-p", "--model", "nonsense"], "hi");
    assert_ne!(out.code(), 0);
    assert!(out.stdout.contains("Cannot use this model"), "{}", out.stdout);
}
