//! The block is invisible in all that omni-run keeps or writes: for every engine and every way to
//! run, with random docs, each byte of database, spool, logs and left files is scanned for markers of
//! the docs, and so are the exports, the share page, the lists and the search. The stand-ins repeat
//! their input wherever the real engines do, and say what they received: that the docs were sent is
//! asserted each time.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::pty_driver::{Log, Run};
use crate::stand_ins::{REPLY, StandIn};
use crate::support::home::write;
use crate::support::process::run;

/// Texts of a project, each with its markers.
#[derive(Debug, Clone)]
struct Docs {
    /// Whole in the block.
    always: Vec<(String, String)>,
    /// Flagged: in the system prompt, or at the head of the block.
    instruction: String,
    /// In the catalogue by its title.
    reference: String,
    /// Over the budget: only its name is sent.
    large: Option<String>,
    profile: String,
    custom: String,
    markers: Vec<String>,
}

/// Random text with a marker at its start, somewhere in it, and at its end.
fn marked(markers: usize) -> impl Strategy<Value = (Vec<String>, String)> {
    let marker = "zq[a-z0-9]{14}";
    // Anything that a doc may hold; what is scanned for is in the markers alone.
    let line = prop_oneof![
        "\\PC{0,60}",
        Just("```\ncode\n```".to_owned()),
        Just("## Injected Project Docs".to_owned()),
        "@[a-z]{1,8} !x /y \\{\"a\": 1\\}",
        "(word ){1,200}",
    ];
    (prop::collection::vec(marker, markers), prop::collection::vec(line, 1..6)).prop_map(
        |(markers, lines)| {
            let mut text = String::new();
            for (n, marker) in markers.iter().enumerate() {
                text.push_str(&format!("{marker} {}\n", lines[n % lines.len()]));
            }
            text.push_str(&lines.join("\n"));
            text.push_str(&format!("\n{}", markers[0]));
            (markers, text)
        },
    )
}

prop_compose! {
    fn docs()(
        always in prop::collection::btree_map("[a-z]{1,8}( [a-z]{1,4})?\\.(md|txt|py)", marked(3), 1..4),
        instruction in marked(2),
        reference in marked(1),
        large in prop::option::of(marked(2)),
        profile in marked(2),
        custom in marked(2),
    ) -> Docs {
        let mut markers = Vec::new();
        let mut take = |(found, text): (Vec<String>, String)| {
            markers.extend(found);
            text
        };
        Docs {
            always: always.into_iter().map(|(name, doc)| (name, take(doc))).collect(),
            instruction: take(instruction),
            reference: format!("# {}", take(reference)),
            large: large.map(|doc| format!("{}{}", take(doc), "filler ".repeat(80_000))),
            profile: take(profile),
            custom: take(custom),
            markers,
        }
    }
}

struct Bed {
    stand_in: StandIn,
    docs: Docs,
    sessions: usize,
}

impl Bed {
    fn new(engine: &'static str, docs: Docs) -> Bed {
        let stand_in = StandIn::new(engine);
        let folder = stand_in.project.join(".claude/docs");
        for (name, text) in &docs.always {
            write(folder.join(name), text);
        }
        write(folder.join("rules-of-the-house.md"), &docs.instruction);
        write(folder.join("rag/reference.md"), &docs.reference);
        if let Some(text) = &docs.large {
            write(folder.join("zz-large.md"), text);
        }
        let config = stand_in.home.config().join("omni-run");
        write(config.join("profile.md"), &docs.profile);
        write(config.join("instructions.md"), &docs.custom);
        stand_in.home.set_env("OMNI_RUN_LOG_LEVEL", "trace");
        let bed = Bed { stand_in, docs, sessions: 0 };
        bed.ok(&["project", "add", "--id", "p1"]);
        bed.ok(&["docs", "instruct", "rules-of-the-house.md"]);
        bed
    }

    fn log(&self) -> PathBuf {
        self.stand_in.home.state().join("omni-run.log")
    }

    fn command(&self, args: &[&str]) -> std::process::Command {
        let log = self.log();
        let log = log.to_str().expect("UTF-8");
        self.stand_in.command(&[&["--log-file", log], args].concat())
    }

    fn ok(&self, args: &[&str]) -> String {
        run(&mut self.command(args), "").expect_success().stdout
    }

    /// One run of the engine; the docs reached it, unless it goes on with an older session.
    fn launch(&mut self, what: &str, args: &[&str], stdin: &str) -> i32 {
        let engine = self.stand_in.engine;
        let finished = run(&mut self.command(&[&[engine], args].concat()), stdin);
        self.sessions += 1;
        if !args.contains(&"--resume") {
            self.assert_received(what, &finished.stdout);
        }
        self.scan(what);
        finished.status.code().unwrap_or(-1)
    }

    /// Without this the scan would find nothing in an empty block as well.
    fn assert_received(&self, what: &str, stdout: &str) {
        let (first, _) = self.docs.always[0].1.split_once(' ').expect("marker");
        let received = self.stand_in.take_received();
        // The built-in engine says only what it saw of the headings.
        let arrived = match self.stand_in.engine {
            "echo" => stdout.contains(&format!("### {}", self.docs.always[0].0)),
            _ => received.contains(first),
        };
        assert!(arrived, "{what}: the docs were not sent\n{stdout}\n{received}");
    }

    fn scan(&self, what: &str) {
        let home = &self.stand_in.home;
        let mut files = 0;
        for folder in [home.data(), home.state(), home.cache(), home.tmp()] {
            every_file(&folder, &mut |path, bytes| {
                files += 1;
                assert_none(&self.docs.markers, bytes, &format!("{what}: {}", path.display()));
            });
        }
        assert!(files > 1, "{what}: database and log are there");
    }

    /// The runs that ended have taken their files away.
    fn assert_nothing_left(&self, what: &str) {
        let left = self.stand_in.home.runtime().join("omni-run");
        let left: Vec<_> = std::fs::read_dir(left).into_iter().flatten().flatten().collect();
        assert!(left.is_empty(), "{what}: {left:?}");
    }

    /// All that shows or hands on what is stored.
    fn scan_what_is_shown(&self) {
        let exports: String = ["jsonl", "md", "html"]
            .map(|format| self.ok(&["export", "--all", "--format", format]))
            .concat();
        assert!(exports.contains(REPLY) || self.stand_in.engine == "echo");
        let list = self.ok(&["sessions", "ls", "--json", "--limit", "1000"]);
        let rows: serde_json::Value = serde_json::from_str(&list).expect("JSON");
        let rows = rows.as_array().expect("rows");
        assert_eq!(rows.len(), self.sessions, "{list}");
        let mut shown = exports + &list;
        for row in rows {
            let id = row["id"].as_str().expect("id");
            shown.push_str(&self.ok(&["share", id, "--yes", "-o", "-"]));
        }
        for row in rows.iter().take(2) {
            let id = row["id"].as_str().expect("id");
            shown.push_str(&self.ok(&["sessions", "show", id]));
            shown.push_str(&self.ok(&["sessions", "show", id, "--json"]));
        }
        assert_none(&self.docs.markers, shown.as_bytes(), "exports, lists and pages");
        self.search_finds_none();
    }

    /// The index holds terms, not texts: a scan of its bytes alone would prove little.
    fn search_finds_none(&self) {
        assert_eq!(run(&mut self.command(&["search", "typed"]), "").code(), 0, "it is indexed");
        let any = self.docs.markers.join(" OR ");
        let found = run(&mut self.command(&["search", &any]), "");
        assert_eq!((found.code(), found.stdout.as_str()), (1, ""), "{}", found.stderr);
    }
}

fn assert_none(markers: &[String], bytes: &[u8], place: &str) {
    let text = String::from_utf8_lossy(bytes);
    // Names of docs and headings are no secret, the texts are.
    if let Some(marker) = markers.iter().find(|marker| text.contains(marker.as_str())) {
        let at = text.find(marker.as_str()).unwrap_or_default();
        let around: String = text[..at].chars().rev().take(200).collect();
        let around: String = around.chars().rev().collect();
        panic!("{marker} is in {place}, behind {around:?}");
    }
}

fn every_file(folder: &Path, visit: &mut impl FnMut(&Path, &[u8])) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            every_file(&path, visit);
        } else if let Ok(bytes) = std::fs::read(&path) {
            visit(&path, &bytes);
        }
    }
}

/// Arguments that make the engine print its own JSON.
fn own_json(engine: &str) -> Option<&'static [&'static str]> {
    Some(match engine {
        "claude" => &["--output-format", "stream-json", "--verbose"],
        "codex" => &["--json"],
        "gemini" => &["-o", "stream-json"],
        "cursor" => &["--output-format", "stream-json"],
        "pi" => &["--mode", "json"],
        "opencode" => &["--format", "json"],
        _ => return None,
    })
}

/// Every one-shot use of an engine.
fn every_use(engine: &'static str, docs: Docs) {
    let mut bed = Bed::new(engine, docs);
    assert_eq!(bed.launch("text", &["-p", "typed"], ""), 0);
    assert_eq!(bed.launch("stdin", &["-p", "typed"], "piped\n"), 0);
    assert_eq!(bed.launch("json", &["--output", "json", "typed"], ""), 0);
    assert_eq!(bed.launch("stream-json", &["--output", "stream-json", "see @x"], ""), 0);
    if let Some(own) = own_json(engine) {
        let args = [&["-p", "typed", "--"], own].concat();
        assert_eq!(bed.launch("own JSON", &args, ""), 0);
    }
    let list = bed.ok(&["sessions", "ls", "--json", "--limit", "1"]);
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    let id = list[0]["id"].as_str().expect("id").to_owned();
    bed.launch("resume", &["-p", "--resume", &id, "and on"], "");
    bed.stand_in.take_received();
    // An image changes the channel of some engines.
    let png = crate::support::sample_files::png(4, 4, [1, 2, 3]);
    write(bed.stand_in.project.join(".claude/docs/a.png"), png);
    assert_eq!(bed.launch("with an image", &["-p", "typed"], ""), 0);
    for end in ["fail", "crash"] {
        bed.stand_in.home.set_env("FAKE_END", end);
        bed.launch(end, &["-p", "typed"], "");
    }
    bed.stand_in.home.set_env("FAKE_END", "");
    bed.assert_nothing_left("all runs");

    // The store can't be written: the row waits in the spool.
    let data = bed.stand_in.home.data().join("omni-run");
    let aside = bed.stand_in.home.root().join("aside");
    std::fs::rename(&data, &aside).expect("move the data folder");
    std::fs::create_dir_all(data.join("omni-run.db")).expect("a folder in place of the database");
    bed.launch("spool", &["-p", "typed"], "");
    assert!(data.join("spool").read_dir().is_ok_and(|mut spool| spool.next().is_some()));
    std::fs::rename(data.join("spool"), aside.join("spool")).expect("move the spool");
    std::fs::remove_dir_all(&data).expect("remove");
    std::fs::rename(&aside, &data).expect("move back");
    bed.ok(&["store", "check"]);
    bed.scan("taken in from the spool");
    // Neither the folder: the row waits in the temporary folder.
    std::fs::rename(&data, &aside).expect("move the data folder");
    write(&data, "in the way");
    bed.launch("temporary spool", &["-p", "typed"], "");
    std::fs::remove_file(&data).expect("remove");
    std::fs::rename(&aside, &data).expect("move back");
    bed.ok(&["store", "check"]);
    bed.scan("taken in from the temporary folder");
    bed.scan_what_is_shown();
}

/// omni-run is killed while the engine works: what it leaves for the next start is not in the store,
/// and the next start takes it away.
fn killed(engine: &'static str, docs: Docs) {
    let mut bed = Bed::new(engine, docs);
    bed.stand_in.home.set_env("FAKE_END", "hang");
    bed.stand_in.home.set_env("FAKE_CURSOR_SLEEP", "600");
    let mut child = bed
        .command(&[engine, "-p", "typed"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start");
    let received = bed.stand_in.home.root().join("received");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !received.exists() {
        assert!(std::time::Instant::now() < until, "{engine} did not start");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().expect("kill");
    child.wait().expect("wait");
    bed.sessions += 1;
    bed.scan("killed");
    bed.stand_in.take_received();
    bed.stand_in.home.set_env("FAKE_END", "");
    bed.stand_in.home.set_env("FAKE_CURSOR_SLEEP", "");
    bed.launch("after the kill", &["-p", "typed"], "");
    bed.assert_nothing_left("after the kill");
    bed.scan_what_is_shown();
}

/// One random set of docs, another in each run of the tests.
fn sample() -> Docs {
    docs().new_tree(&mut TestRunner::default()).expect("docs").current()
}

macro_rules! engines {
    ($($name:ident)+) => {
        $(mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig {
                    cases: 2,
                    max_shrink_iters: 4,
                    failure_persistence: None,
                    ..ProptestConfig::default()
                })]

                #[test]
                fn s60_no_byte_of_the_block_is_kept(docs in docs()) {
                    every_use(stringify!($name), docs);
                }
            }

            #[test]
            fn s60_nor_when_omni_run_is_killed() {
                if stringify!($name) != "echo" {
                    killed(stringify!($name), sample());
                }
            }
        })+

        #[test]
        fn no_engine_is_left_out() {
            assert_eq!([$(stringify!($name)),+], crate::stand_ins::ENGINES);
        }
    };
}

engines! { claude codex gemini cursor pi openclaw opencode hermes echo own }

#[test]
fn s60_a_locked_store_spools_without_the_block() {
    let mut bed = Bed::new("own", sample());
    bed.launch("first", &["-p", "typed"], "");
    let database = bed.stand_in.home.data().join("omni-run/omni-run.db");
    let lock = rusqlite::Connection::open(&database).expect("open");
    lock.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").expect("lock");
    bed.launch("locked", &["-p", "typed"], "");
    let spool = bed.stand_in.home.data().join("omni-run/spool");
    assert!(std::fs::read_dir(spool).is_ok_and(|mut spool| spool.next().is_some()));
    drop(lock);
    bed.launch("unlocked", &["-p", "typed"], "");
    bed.scan_what_is_shown();
}

#[test]
fn s60_the_built_in_interface_keeps_what_was_typed_only() {
    let mut bed = Bed::new("echo", sample());
    for prompt in [None, Some("a given message")] {
        let log = bed.log();
        let mut args = vec!["--log-file", log.to_str().expect("UTF-8"), "echo"];
        args.extend(prompt);
        let mut term = Run::new(env!("CARGO_BIN_EXE_omni-run"))
            .args(&args)
            .only_env(bed.stand_in.home.env())
            .cwd(&bed.stand_in.project)
            .size(30, 100)
            .answering()
            .start();
        if prompt.is_none() {
            term.wait_for("\u{276f}");
            term.send("typed there");
            term.wait_for("typed there");
            term.send("\r");
        }
        // Not on the screen: what follows it may be longer than that.
        for part in ["your message: ".to_owned(), format!("### {}", bed.docs.always[0].0)] {
            term.wait_until(&part, |_, raw| String::from_utf8_lossy(raw).contains(&part));
        }
        bed.scan("while it runs");
        term.send("\x04");
        assert_eq!(term.wait_for_end().code, Some(0));
        bed.sessions += 1;
        bed.scan("after it");
    }
    bed.scan_what_is_shown();
}

/// A gate table for the stand-in's interface, by each route that uses keys.
const ROUTES: [(&str, &str); 3] = [
    ("editor", "editor = { ctrl = 'g' }"),
    ("paste-at-start", "paste = { start-key = \"\\u0001\", start-times = 1 }"),
    ("clear-and-paste", ""),
];

/// A first message that is typed, and one that comes out of the engine's history with the docs of an
/// earlier session in front; then the engine dies.
#[test]
fn s60_an_interface_keeps_what_was_typed_only_by_each_route() {
    for (route, table) in ROUTES {
        let mut bed = Bed::new("own", sample());
        let home = &bed.stand_in.home;
        home.install("own-tui", env!("CARGO_BIN_EXE_fake-tui-engine").as_ref());
        let file = home.config().join("omni-run/engines.toml");
        let entries = std::fs::read_to_string(&file).expect("engines.toml");
        let entry = format!(
            "\n[own-tui]\nname = 'TUI'\nprograms = ['own-tui']\ninstall = '-'\n\
             default-window = 200000\n[own-tui.gate]\nroute = '{route}'\nsubmit = ['enter']\n{table}\n\
             commands = {{ slash = true }}\n[own-tui.gate.screen]\nframe = 'open'\nprompts = ['\u{276f}']\n\
             chips = ['[Pasted text #']\n"
        );
        write(file, entries + &entry);
        let log = Log(home.root().join("tui-log"));
        home.set_env("FAKE_LOG", &log.0);
        // Real composers fold what does not fit on their screen.
        home.set_env("FAKE_PLACEHOLDER", "200");
        let old =
            "## Injected Project Docs\n\n### old.md\n```\nzqolddocolddoc0 words\n\nof old\n```";
        home.set_env("FAKE_HISTORY", format!("{old}\n\nfrom the past"));
        bed.docs.markers.push("zqolddocolddoc0".to_owned());
        let keys: [&[&str]; 3] =
            [&["from the past", "\r"], &["\x1b[A", "\r"], &["typed", "\r", "/die 9", "\r"]];
        // What comes from the history is in doubt without the editor: the gate lets it go as it is.
        let sends_history = route == "editor";
        for keys in keys {
            let _ = std::fs::remove_file(&log.0);
            let from_history = keys[0].starts_with('\x1b');
            let mut term = Run::new(env!("CARGO_BIN_EXE_omni-run"))
                .args(["--log-file", bed.log().to_str().expect("UTF-8"), "own-tui"])
                .only_env(bed.stand_in.home.env())
                .cwd(&bed.stand_in.project)
                .size(30, 100)
                .answering()
                .start();
            log.wait_for("ready", |_| true);
            term.wait_for("\u{276f}");
            for key in &keys[..2] {
                term.send(key);
                term.wait_for_quiet();
            }
            log.wait_for("submit", |_| true);
            let submitted = log.submitted().concat();
            let (first, _) = bed.docs.always[0].1.split_once(' ').expect("marker");
            let with_docs = submitted.contains(first);
            assert!(with_docs || (from_history && !sends_history), "{route}: {submitted}");
            bed.scan(route);
            term.wait_for_quiet();
            for key in keys.get(2..).unwrap_or_default() {
                term.send(key);
                term.wait_for_quiet();
            }
            if keys.len() == 2 {
                term.signal(nix::sys::signal::Signal::SIGTERM);
            }
            term.wait_for_end();
            bed.scan(route);
        }
        let typed = bed.ok(&["sessions", "ls", "--json"]);
        assert!(typed.contains("from the past") && typed.contains("typed"), "{route}: {typed}");
        let exports = ["jsonl", "md", "html"]
            .map(|format| bed.ok(&["export", "--all", "--format", format]))
            .concat();
        assert_none(&bed.docs.markers, exports.as_bytes(), route);
        bed.search_finds_none();
    }
}

#[test]
fn the_scan_finds_what_it_looks_for() {
    let docs = sample();
    let bed = Bed::new("own", docs.clone());
    let kept = format!("typed {}", docs.markers[0]);
    run(&mut bed.command(&["own", "-p", &kept]), "").expect_success();
    let finds =
        |scan: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(scan)).is_err();
    assert!(finds(&|| bed.scan("typed by the user")));
    assert!(finds(&|| bed.scan_what_is_shown()));
    assert!(finds(&|| bed.search_finds_none()));
}
