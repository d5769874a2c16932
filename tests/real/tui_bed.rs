//! What the tests of the real engines' own interfaces share: an engine with its fake model and a
//! project, a person at its terminal, and what a person has to know of each engine.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::pty_driver::{Ended, Key, Kind, LIMIT, PtyDriver, Run};
use crate::support::fake_model::{FakeModel, REPLY, Wire};
use crate::support::home::write;
use crate::support::process::say;
use crate::support::{RealEngine, TestHome, require_engine, run};

/// What a person knows of an engine's interface.
pub(crate) struct Ways {
    /// Shows that the composer takes keys.
    ready: &'static str,
    /// A command that asks the model nothing, and what it shows.
    pub(crate) command: (&'static str, &'static str),
    /// It opens something that Escape closes.
    pub(crate) command_opens: bool,
    /// What a line that begins with `!` is.
    pub(crate) shell: Shell,
    /// Leaves.
    pub(crate) quit: &'static str,
}

/// What a line that begins with `!` is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shell {
    /// It runs here.
    Runs,
    /// It runs here, and the model is told of it at once.
    RunsAndTells,
    /// It runs here once the person has said yes.
    RunsWhenAllowed,
    /// A message like any other.
    IsMessage,
}

fn ways(id: &str) -> Ways {
    let (ready, command, shell, quit) = match id {
        "claude" | "claude-2.1.197" => {
            ("\u{276f}", ("/status", "Session ID"), Shell::RunsAndTells, "/exit")
        }
        "codex" => ("Ask Codex", ("/status", "Token usage"), Shell::Runs, "/quit"),
        "gemini" => ("Type your message", ("/about", "CLI Version"), Shell::Runs, "/quit"),
        "pi" => ("mock-model", ("/hotkeys", "Queue follow-up"), Shell::Runs, "/quit"),
        "openclaw" => {
            ("local ready | idle", ("/help", "Slash commands:"), Shell::RunsWhenAllowed, "/exit")
        }
        "opencode" => ("Ask anything", ("/help", "Press ctrl+p to see"), Shell::Runs, "/exit"),
        "hermes" => ("\u{2695}", ("/help", "Draft editor:"), Shell::IsMessage, "/quit"),
        other => panic!("no ways for {other}"),
    };
    let command_opens = matches!(id, "claude" | "claude-2.1.197" | "opencode");
    Ways { ready, command, command_opens, shell, quit }
}

/// An engine, its model, a project with docs.
pub(crate) struct Bed {
    pub(crate) engine: RealEngine,
    pub(crate) home: TestHome,
    pub(crate) model: FakeModel,
    pub(crate) project: PathBuf,
    pub(crate) ways: Ways,
    kind: Kind,
}

impl Bed {
    /// The engine at a plain terminal; `None`: it is not installed.
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
        Some(Bed { engine, home, model, project, ways: ways(id), kind: Kind::Plain })
    }

    /// From now on at a terminal of this kind.
    pub(crate) fn at(mut self, kind: Kind) -> Bed {
        self.kind = kind;
        self
    }

    /// Another doc in place of the first.
    pub(crate) fn set_doc(&self, doc: &str) {
        write(self.project.join(".claude/docs/style.md"), doc);
    }

    /// The engine takes docs of any size.
    pub(crate) fn widen(&self) {
        let window =
            format!("[{}]\ndefault-window = 2000000\nwindows = []\n", self.engine.omni_id());
        write(self.home.config().join("omni-run/engines.toml"), window);
        self.engine.raise_window(&self.home);
    }

    pub(crate) fn start(&self, args: &[&str]) -> PtyDriver {
        self.start_command([&[self.engine.omni_id()], args].concat())
    }

    /// The newest session, in its engine's interface.
    pub(crate) fn resume(&self) -> PtyDriver {
        self.start_command(vec!["resume"])
    }

    fn start_command(&self, args: Vec<&str>) -> PtyDriver {
        Run::new(env!("CARGO_BIN_EXE_omni-run"))
            .args(args)
            .only_env(self.home.env())
            .cwd(&self.project)
            .size(40, 120)
            .terminal(self.kind)
            .start()
    }

    /// Starts it without a message and waits for its composer.
    #[track_caller]
    pub(crate) fn open(&self) -> PtyDriver {
        let term = self.start(&[]);
        self.set_up(&term);
        self.ready(&term);
        term
    }

    /// Waits until an engine that draws before it has set itself up has done so. Gemini draws its
    /// composer and its dialogs first; until its head is there, it keeps even commands for the model.
    #[track_caller]
    pub(crate) fn set_up(&self, term: &PtyDriver) {
        if self.engine.id == "gemini" {
            term.wait_for("Gemini CLI v");
        }
    }

    /// The same for a Gemini that starts itself anew: what is typed until its first process ends is
    /// lost, and that one may well have drawn its composer. The screen keeps what it has drawn.
    #[track_caller]
    pub(crate) fn set_up_anew(&self, term: &PtyDriver) {
        let (end, head) = ("\u{1b}[?2004l", "Authenticated with");
        term.wait_until("its second head", |_, raw| {
            let raw = String::from_utf8_lossy(raw);
            raw.rsplit_once(end).is_some_and(|(_, after)| after.contains(head))
        });
    }

    #[track_caller]
    pub(crate) fn ready(&self, term: &PtyDriver) {
        term.wait_for(self.ways.ready);
        term.wait_for_quiet();
    }

    /// Types a line and waits until the screen shows it: an Enter that the engine reads together with
    /// what was typed before it is no Enter to most of them.
    #[track_caller]
    pub(crate) fn type_line(&self, term: &mut PtyDriver, line: &str) {
        term.type_text(line);
        shown(term, line);
    }

    /// Types a text as a person does: the newline key of the engine between lines, then Enter.
    #[track_caller]
    pub(crate) fn submit(&self, term: &mut PtyDriver, text: &str) {
        for (n, line) in text.split('\n').enumerate() {
            if n > 0 {
                term.press([self.newline()]);
                term.wait_for_quiet();
            }
            self.type_line(term, line);
        }
        term.press([Key::Enter]);
    }

    /// The key for a new line in a message.
    pub(crate) fn newline(&self) -> Key {
        match (self.engine.id, self.kind) {
            ("hermes", _) => Key::AltEnter,
            (_, Kind::Kitty) => Key::ShiftEnter,
            (_, Kind::Silent | Kind::Plain) => Key::Ctrl('j'),
        }
    }

    /// Waits for so many requests of the conversation and gives the last of these; shows the screen
    /// when they do not come.
    #[track_caller]
    pub(crate) fn request(&self, term: &PtyDriver, count: usize) -> Wire {
        let until = Instant::now() + LIMIT;
        loop {
            let requests = self.model.main_requests();
            if let Some(request) = requests.get(count - 1) {
                return request.wire();
            }
            assert!(Instant::now() < until, "no request {count}; the screen:\n{}", term.screen());
            term.wait_for_quiet();
        }
    }

    /// Waits until a request of the conversation has this text of the user's, and gives it.
    #[track_caller]
    pub(crate) fn request_with(&self, term: &PtyDriver, text: &str) -> Wire {
        let until = Instant::now() + LIMIT;
        loop {
            let mut wires = self.model.main_requests().into_iter().map(|request| request.wire());
            if let Some(wire) = wires.find(|wire| wire.user_text().contains(text)) {
                return wire;
            }
            assert!(Instant::now() < until, "no {text:?} sent; the screen:\n{}", term.screen());
            term.wait_for_quiet();
        }
    }

    /// Waits until the engine shows the model's answer and rests.
    #[track_caller]
    pub(crate) fn answered(&self, term: &PtyDriver) {
        term.wait_for(REPLY);
        term.wait_for_quiet();
    }

    /// The block as it has to be on the wire.
    pub(crate) fn block(&self) -> String {
        block(&self.home, &self.project, self.engine.omni_id())
    }

    /// The first message of each stored session, newest first.
    pub(crate) fn stored(&self) -> Vec<String> {
        stored(&self.home)
    }

    /// The person leaves by the engine's own command.
    #[track_caller]
    pub(crate) fn quit(&self, term: &mut PtyDriver) {
        self.submit(term, self.ways.quit);
        assert_eq!(term.wait_for_end(), Ended { code: Some(0), signal: None });
        term.wait_until_as_before();
    }
}

/// The block that this engine gets in this project.
pub(crate) fn block(home: &TestHome, project: &Path, engine: &str) -> String {
    let mut command = home.omni();
    command.args([engine, "-p", "--show-sent", "x"]);
    let shown = run(command.current_dir(project), "").expect_success().stdout;
    shown.strip_suffix("\n\nx").expect("display text at the end").to_owned()
}

/// The first message of each stored session, newest first.
pub(crate) fn stored(home: &TestHome) -> Vec<String> {
    let rows = run(home.omni().args(["sessions", "ls", "--json"]), "").expect_success();
    let rows: serde_json::Value = serde_json::from_str(&rows.stdout).expect("JSON");
    let ids: Vec<String> = rows
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["id"].as_str().expect("id").to_owned())
        .collect();
    ids.iter()
        .map(|id| {
            let shown = run(home.omni().args(["sessions", "show", "--json", id]), "");
            let shown: serde_json::Value =
                serde_json::from_str(&shown.expect_success().stdout).expect("JSON");
            shown["messages"][0]["text"].as_str().expect("text").to_owned()
        })
        .collect()
}

/// Waits until the screen shows a text and rests.
#[track_caller]
pub(crate) fn shown(term: &PtyDriver, text: &str) {
    shown_now(term, text);
    term.wait_for_quiet();
}

/// The moment between typing and Enter at an engine that never rests: to most an Enter that comes with
/// the text, or within some 40 ms, is a new line. A person cannot be that quick.
pub(crate) fn a_moment() {
    std::thread::sleep(Duration::from_millis(400));
}

/// Waits until the screen shows a text. Rows, blanks and all but plain signs are left out: a composer
/// breaks and pads lines, and joined signs are drawn in many ways.
#[track_caller]
pub(crate) fn shown_now(term: &PtyDriver, text: &str) {
    let plain = |text: &str| -> String { text.chars().filter(char::is_ascii_graphic).collect() };
    let wanted = plain(text);
    term.wait_until(&format!("{text:?} on the screen"), |screen, _| {
        plain(screen).contains(&wanted)
    });
}

/// The person leaves, by a signal to omni-run; nothing of the engine's modes is left on.
#[track_caller]
pub(crate) fn end(term: &mut PtyDriver) {
    term.signal(Signal::SIGTERM);
    let ended = term.wait_for_end();
    say(&format!("ended with {ended:?}"));
    // A process that the engine left behind may hold the terminal, so its end is not waited for.
    term.wait_until_as_before();
}

/// About so many bytes of a doc, with marks at both ends.
pub(crate) fn long_doc(bytes: usize) -> String {
    let line = "words of a large doc, 世界, 0123456789\n";
    format!("HEAD-MARK\n{}TAIL-MARK\n", line.repeat(bytes / line.len()))
}

/// A wait for something that has no event of its own.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < until, "not within {LIMIT:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
