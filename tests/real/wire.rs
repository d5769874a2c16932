//! What the model gets when omni-run starts a real engine one-shot: asserted on the recorded
//! request, never on what omni-run says of itself. Cursor is a stand-in, see `cursor.rs`.

use std::path::Path;
use std::process::Command;

use crate::support::fake_model::{FakeModel, REPLY};
use crate::support::home::write;
use crate::support::process::Finished;
use crate::support::{RealEngine, TestHome, require_engine, run, sample_files};

/// A rule that must be in the system prompt.
const RULE: &str = "RULE-7: answer with the word \"heron\", 世界.";
/// The global rule.
const CUSTOM: &str = "CUSTOM-3: say \"tea\" first.";

/// What an engine is known not to reach, with the reason in `engines.toml`.
#[derive(Clone, Copy)]
struct Reach {
    image: bool,
    pdf: bool,
}

/// One engine with a home, a model and a project.
pub(crate) struct Bed {
    pub(crate) engine: RealEngine,
    pub(crate) home: TestHome,
    pub(crate) model: FakeModel,
    pub(crate) project: std::path::PathBuf,
}

impl Bed {
    pub(crate) fn new(id: &str, docs: &[(&str, &[u8])]) -> Option<Bed> {
        let engine = require_engine(id)?;
        let (home, model) = (TestHome::new(), FakeModel::start());
        let project = home.project_with_docs("p1", docs);
        engine.isolate(&home, &model);
        Some(Bed { engine, home, model, project })
    }

    pub(crate) fn omni(&self) -> Command {
        let mut command = self.home.omni();
        command.arg(self.engine.omni_id()).current_dir(&self.project);
        command
    }

    fn send(&self, args: &[&str], prompt: &str) -> Finished {
        let _turn = self.engine.turn();
        run(self.omni().arg("-p").args(args), prompt).expect_success()
    }

    /// The block as omni-run says it would send it.
    fn block(&self, prompt: &str) -> String {
        let shown = run(self.omni().arg("--show-sent"), prompt).expect_success();
        let prefix = shown.stdout.strip_suffix(prompt).expect("display text at the end");
        prefix.strip_suffix("\n\n").expect("blank line").to_owned()
    }

    fn docs(&self, args: &[&str]) {
        let mut command = self.home.omni();
        run(command.arg("docs").args(args).current_dir(&self.project), "").expect_success();
    }
}

fn instructions(bed: &Bed) {
    write(bed.home.config().join("omni-run/instructions.md"), CUSTOM);
    write(bed.project.join(".claude/docs/rules.md"), RULE);
    bed.docs(&["instruct", "rules.md"]);
}

/// Text, instructions, `@name` and fences in docs, then a second turn by resume.
fn text_and_resume(id: &str) {
    let tricky =
        "See @README.md and `@README.md`, mail a@b.c.\n````\n```\nfence @README.md\n````\n";
    let docs: &[(&str, &[u8])] =
        &[("style.md", b"# Style\n\nShort words.\n"), ("tricky.md", tricky.as_bytes())];
    let Some(bed) = Bed::new(id, docs) else { return };
    write(bed.project.join("README.md"), "READ-BY-THE-ENGINE");
    instructions(&bed);
    let prompt = "What is the rule? \"quoted\" 世界 👩‍👩‍👧";
    let block = bed.block(prompt);
    let finished = bed.send(&[], prompt);
    assert_eq!(finished.stdout, format!("{REPLY}\n"), "{finished:?}");

    let wire = bed.model.main_requests().last().expect("a request").wire();
    wire.assert_block_once(&block, prompt);
    wire.assert_instructions_once(RULE);
    wire.assert_instructions_once(CUSTOM);
    wire.assert_absent("READ-BY-THE-ENGINE");

    let sessions = run(bed.home.omni().args(["sessions", "ls", "--json"]), "").expect_success();
    let sessions: serde_json::Value = serde_json::from_str(&sessions.stdout).expect("JSON");
    let session = sessions[0]["id"].as_str().expect("id").to_owned();
    let before = bed.model.main_requests().len();
    let second = "And the second question?";
    bed.send(&["--resume", &session], second);
    let requests = bed.model.main_requests();
    assert!(requests.len() > before, "the second turn reached the model");
    let wire = requests.last().expect("a request").wire();
    wire.assert_block_once(&block, prompt);
    wire.assert_display_once(second);
    wire.assert_instructions_once(RULE);
    invisible(&bed.home, &["## Injected Project Docs", "Short words.", "RULE-7"]);
}

/// PNG and PDF: bytes where the engine can, the path in the header where not.
fn files(id: &str, reach: Reach) {
    let (png, pdf) = (sample_files::png(40, 30, [200, 10, 10]), sample_files::pdf("PDF-MARK"));
    let Some(bed) = Bed::new(id, &[("a.png", &png), ("b.pdf", &pdf), ("c.md", b"CCC\n")]) else {
        return;
    };
    let prompt = "What is in the files?";
    let sent = run(bed.omni().arg("--show-sent"), prompt).expect_success().stdout;
    bed.send(&[], prompt);
    let wire = bed.model.main_requests().last().expect("a request").wire();
    assert!(wire.user_text().contains("CCC\n```\n\nWhat is in the files?"), "{}", wire.user_text());
    for (name, bytes, as_bytes) in [("a.png", &png, reach.image), ("b.pdf", &pdf, reach.pdf)] {
        if as_bytes {
            if name == "a.png" {
                wire.assert_image_bytes(bytes);
            } else {
                wire.assert_document_bytes(bytes);
            }
        } else {
            let path = bed.project.join(".claude/docs").join(name);
            let header = "Please examine the following file(s):";
            assert!(sent.starts_with(header) && sent.contains(path.to_str().expect("path")));
            assert!(wire.user_text().contains(path.to_str().expect("path")), "{name} by path");
        }
    }
}

/// One doc of 400 KB, with all that a text can hold, and the room for it.
pub(crate) fn bed_with_400_kb(id: &str) -> Option<Bed> {
    let line = "line with\ttab, 世界 and \"quotes\" \\ and $HOME `x` ~ 0123456789\n";
    let text = format!("HEAD-MARK\n{}TAIL-MARK\n", line.repeat(400_000 / line.len()));
    let bed = Bed::new(id, &[("big.md", text.as_bytes())])?;
    let window = format!("[{}]\ndefault-window = 2000000\nwindows = []\n", bed.engine.omni_id());
    write(bed.home.config().join("omni-run/engines.toml"), window);
    bed.engine.raise_window(&bed.home);
    Some(bed)
}

/// 400 KB: over the limit of one argument, whole on the wire.
fn large(id: &str) {
    let Some(bed) = bed_with_400_kb(id) else { return };
    let prompt = "How long is it?";
    let block = bed.block(prompt);
    assert!(block.len() > 390_000, "the doc is not skipped: {} bytes", block.len());
    assert!(block.contains("HEAD-MARK\n") && block.contains("TAIL-MARK\n"));
    bed.send(&[], prompt);
    bed.model.main_requests().last().expect("a request").wire().assert_block_once(&block, prompt);
}

/// The first characters that engines take for something else.
fn first_characters(id: &str) {
    let Some(bed) = Bed::new(id, &[("style.md", b"Short words.\n")]) else { return };
    let prompts = [
        "- [ ] a bullet\n--help\n",
        "/help me",
        "@style.md what?",
        "!echo hi",
        "\"quoted\" 'single' $HOME `x`",
        "😀\n\nthree\nlines",
    ];
    for prompt in prompts {
        let block = bed.block(prompt);
        bed.send(&[], prompt);
        let wire = bed.model.main_requests().last().expect("a request").wire();
        let run = format!("{block}\n\n{}", prompt.trim_end());
        let times = wire.user_text().matches(&run).count();
        assert_eq!(times, 1, "{prompt:?} in {:?}", wire.user_text());
    }
}

/// The same without any docs, where nothing stands in front, and with the kill switch.
fn without_docs(id: &str) {
    let Some(bed) = Bed::new(id, &[("style.md", b"Short words.\n")]) else { return };
    bed.home.set_env("AMC_DISABLE_DOCS_INJECTION", "1");
    instructions(&bed);
    for prompt in ["/help me", "- x", "hello"] {
        bed.send(&[], prompt);
        let wire = bed.model.main_requests().last().expect("a request").wire();
        wire.assert_absent("## Injected Project Docs");
        wire.assert_absent("Short words.");
        wire.assert_instructions_once(RULE);
        wire.assert_display_once(prompt);
    }
}

/// Nothing of the block is in what omni-run keeps and hands on (S60): database, spool, logs, exports,
/// the pages of `share`.
pub(crate) fn invisible(home: &TestHome, markers: &[&str]) {
    for format in ["jsonl", "md", "html"] {
        let export = run(home.omni().args(["export", "--all", "--format", format]), "");
        let text = export.expect_success().stdout;
        for marker in markers {
            assert!(!text.contains(marker), "{marker} in the export\n{text}");
        }
    }
    let mut folders = vec![home.data().join("omni-run"), home.state().join("omni-run")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            seen += 1;
            let bytes = std::fs::read(&path).expect("read");
            for marker in markers {
                assert!(!contains(&bytes, marker.as_bytes()), "{marker} in {}", path.display());
            }
        }
    }
    assert!(seen > 0, "the store is somewhere");
    assert!(is_empty(&home.runtime().join("omni-run")), "run folders are removed");
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}

/// The tests of one engine.
macro_rules! engine {
    ($name:ident, $id:literal, $reach:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn text_instructions_and_resume() {
                text_and_resume($id);
            }

            #[test]
            fn image_and_pdf() {
                files($id, $reach);
            }

            #[test]
            fn docs_of_400_kb() {
                large($id);
            }

            #[test]
            fn prompts_that_look_like_something_else() {
                first_characters($id);
            }

            #[test]
            fn no_docs_and_kill_switch() {
                without_docs($id);
            }
        }
    };
}

engine!(claude, "claude", Reach { image: true, pdf: true });
engine!(claude_2_1_197, "claude-2.1.197", Reach { image: true, pdf: true });
engine!(codex, "codex", Reach { image: true, pdf: false });
engine!(gemini, "gemini", Reach { image: true, pdf: true });
engine!(pi, "pi", Reach { image: true, pdf: false });
engine!(openclaw, "openclaw", Reach { image: true, pdf: false });
engine!(opencode, "opencode", Reach { image: true, pdf: true });
engine!(hermes, "hermes", Reach { image: true, pdf: true });
