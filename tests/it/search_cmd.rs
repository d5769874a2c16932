//! `omni-run search`: what was typed and answered is found, in every script; mistakes are told; what
//! is printed is harmless, and never a byte of the block.

use serde_json::Value;

use crate::pty_driver::Run;
use crate::support::{Finished, TestHome, run};

const CANARY: &str = "canaryoftheblock";

struct Bed {
    home: TestHome,
}

impl Bed {
    fn new() -> Bed {
        let home = TestHome::new();
        home.set_env("TZ", "UTC");
        home.project_with_docs("p1", &[("a.md", CANARY.as_bytes())]);
        let bed = Bed { home };
        bed.omni(&["project", "add", "--id", "p1"]).expect_success();
        bed
    }

    fn omni(&self, args: &[&str]) -> Finished {
        run(self.home.omni().args(args).current_dir(self.home.projects().join("p1")), "")
    }

    fn typed(&self, prompts: &[&str]) {
        for prompt in prompts {
            self.omni(&["echo", "-q", "-p", "--prompt", prompt]).expect_success();
        }
    }

    fn json(&self, args: &[&str]) -> Vec<Value> {
        let found = self.omni(&[&["search", "--json"], args].concat());
        let list: Value = serde_json::from_str(&found.stdout).expect("JSON");
        assert_eq!(found.code(), i32::from(list == serde_json::json!([])));
        list.as_array().expect("list").clone()
    }

    /// The snippets of what is found among what was typed.
    fn found(&self, query: &str) -> Vec<String> {
        let snippet = |hit: Value| hit["snippet"].as_str().expect("text").to_owned();
        self.json(&["--role", "typed", "--", query]).into_iter().map(snippet).collect()
    }
}

#[test]
fn a_line_for_each_hit_unmarked_where_a_program_reads() {
    let bed = Bed::new();
    bed.typed(&["Fix the purple\nlamp", "a lamp,\u{1b}[2J a \u{202e}Lamp", "unrelated"]);
    let found = bed.omni(&["search", "lamp", "--role", "typed"]).expect_success();
    let lines: Vec<&str> = found.stdout.lines().collect();
    assert_eq!(lines.len(), 3, "{}", found.stdout);
    assert!(lines[0].starts_with("SESSION") && lines[0].ends_with("TEXT"), "{}", lines[0]);
    assert!(lines[1].ends_with("a lamp,\\u{1b}[2J a \\u{202e}Lamp"), "{}", lines[1]);
    assert!(lines[2].ends_with("  echo    p1       typed  Fix the purple lamp"), "{}", lines[2]);
    assert_eq!(found.stderr, "");
    // The id on the line is enough for `show`.
    let id = lines[2].split_whitespace().next().expect("id");
    let shown = bed.omni(&["sessions", "show", id]).expect_success();
    assert!(shown.stdout.contains("Fix the purple\nlamp"), "{}", shown.stdout);

    let one = bed.omni(&["search", "lamp", "--role", "typed", "--limit", "1"]).expect_success();
    assert_eq!(one.stdout.lines().count(), 2);
    assert_eq!(one.stderr, "1 of 2 matches are shown; --limit shows more\n");
    let replies = bed.json(&["message", "--role", "reply"]);
    assert_eq!(replies.len(), 3);
    assert_eq!((&replies[0]["role"], &replies[0]["seq"]), (&"engine".into(), &2.into()));
}

#[test]
fn on_a_terminal_what_was_found_is_marked_and_fits() {
    let bed = Bed::new();
    bed.typed(&[&format!("{} lamp {}", "before ".repeat(40), "behind ".repeat(40))]);
    let start = |colour: bool| {
        let mut env = bed.home.env();
        if !colour {
            env.insert("NO_COLOR".into(), "1".into());
        }
        let mut term = Run::new(env!("CARGO_BIN_EXE_omni-run"))
            .args(["search", "lamp", "--role", "typed"])
            .only_env(env)
            .size(30, 120)
            .start();
        let ended = term.wait_for_end();
        term.wait_for_silence();
        assert_eq!(ended.code, Some(0));
        (String::from_utf8_lossy(&term.raw()).into_owned(), term.screen())
    };
    let (raw, screen) = start(true);
    assert!(raw.contains("\u{1b}[1m") && raw.contains("lamp\u{1b}[0m"), "{raw:?}");
    assert_eq!(screen.trim_end().lines().count(), 2, "{screen}");
    let (raw, _) = start(false);
    assert!(raw.contains("«lamp»") && !raw.contains('\u{1b}'), "{raw:?}");
}

#[test]
fn every_script_is_found_and_json_tells_where() {
    let bed = Bed::new();
    bed.typed(&["全文搜索引擎", "検索機能を追加", "Größe prüfen", "done 👍🏽", "ещё раз"]);
    for (query, expected) in [
        ("全", &["全文搜索引擎"][..]),
        ("搜索", &["全文搜索引擎"]),
        ("全文搜索", &["全文搜索引擎"]),
        ("検索機能", &["検索機能を追加"]),
        ("GROSSE", &["Größe prüfen"]),
        ("grö*", &["Größe prüfen"]),
        ("prufen", &["Größe prüfen"]),
        ("👍", &["done 👍🏽"]),
        ("еще", &["ещё раз"]),
    ] {
        assert_eq!(bed.found(query), expected, "{query}");
    }
    let [hit] = &bed.json(&["機能", "--role", "typed"])[..] else { panic!("one hit") };
    assert_eq!(hit["highlights"], serde_json::json!([[2, 4]]));
    assert_eq!((&hit["engine"], &hit["project"]), (&"echo".into(), &"p1".into()));
    assert!(hit["created_at"].is_i64() && hit["score"].as_f64().is_some_and(|score| score > 0.0));
}

#[test]
fn the_query_language_and_the_filters() {
    let bed = Bed::new();
    bed.typed(&["red lamp", "lamp red wine", "blue torch", "config file"]);
    run(bed.home.omni().args(["echo", "-p", "lamp elsewhere"]), "").expect_success();
    for (query, count) in [
        ("red lamp", 2),
        ("\"red lamp\"", 1),
        ("lamp OR torch", 4),
        ("lamp -red", 1),
        ("-wine red", 1),
        ("lamp NOT \"red wine\"", 2),
        ("conf*", 1),
        ("conf", 0),
    ] {
        assert_eq!(bed.found(query).len(), count, "{query}");
    }
    // Several words need no quotation marks of the shell.
    let words = bed.omni(&["search", "red", "lamp", "--role", "typed"]).expect_success();
    assert_eq!(words.stdout.lines().count(), 3);
    let count = |args: &[&str]| bed.json(&[&["lamp", "--role", "typed"], args].concat()).len();
    assert_eq!(count(&["--project", "p1"]), 2);
    assert_eq!(count(&["--project", "."]), 2);
    assert_eq!(count(&["--engine", "echo"]), 3);
    assert_eq!(count(&["--engine", "codex"]), 0);
    assert_eq!(count(&["--since", "1h"]), 3);
    assert_eq!(count(&["--until", "1h"]), 0);
    assert_eq!(count(&["--since", "2020-01-31", "--until", "2020-02-01"]), 0);
    assert_eq!(bed.omni(&["search", "lamp", "--project", "nobody"]).code(), 66);
    let newest = bed.json(&["lamp", "--role", "typed", "--newest"]);
    assert_eq!(
        (&newest[0]["snippet"], &newest[0]["score"]),
        (&"lamp elsewhere".into(), &0.0.into())
    );
    // A project keeps what it had under another name, and after it was forgotten.
    bed.omni(&["project", "rename", "p1", "p2"]).expect_success();
    assert_eq!(count(&["--project", "p2"]), 2);
    bed.omni(&["project", "rm", "p2"]).expect_success();
    assert_eq!(count(&["--project", "p2"]), 2);
}

#[test]
fn mistakes_are_told_and_change_nothing() {
    let bed = Bed::new();
    bed.typed(&["a lamp"]);
    for (query, message) in [
        ("\"a lamp", "the quotation mark at character 1 is not closed"),
        ("*", "the `*` at character 1 is not behind the beginning of a word"),
        ("lamp OR", "`OR` at character 6 has no word behind it"),
        ("AND", "`AND` at character 1 has no word before it"),
        (" ", "there is nothing to search for"),
        ("?!", "`?!` has no letter, digit or symbol to search for"),
        ("NOT lamp", "the query only says what to leave out"),
    ] {
        let failed = bed.omni(&["search", query]);
        assert_eq!((failed.code(), failed.stdout.as_str()), (2, ""), "{query:?}");
        let said = format!("error: {message}\nhint: ");
        assert!(failed.stderr.starts_with(&said), "{query:?}: {}", failed.stderr);
    }
    for args in [&["search"][..], &["search", "x", "--since", "soon"], &["search", "-x"]] {
        assert_eq!(bed.omni(args).code(), 2, "{args:?}");
    }
    for query in ["NEAR(a b)", "text:lamp", "{a}:lamp", "lamp^2", "a+lamp", "'; DROP TABLE x; --"] {
        let found = bed.omni(&["search", "--", query]);
        assert!(found.code() < 2, "{query:?}: {}", found.stderr);
    }
    assert_eq!(bed.found("lamp"), ["a lamp"]);
}

#[test]
fn nothing_found_is_code_1_and_makes_no_store() {
    let home = TestHome::new();
    let none = run(home.omni().args(["search", "lamp"]), "");
    assert_eq!((none.code(), none.stdout.as_str()), (1, ""));
    assert_eq!(none.stderr, "no message matches\n");
    let args = ["search", "nothing", "--engine", "codx"];
    let none = run(home.omni().args(args), "");
    assert_eq!(none.code(), 1);
    assert!(none.stderr.contains("no engine `codx`; did you mean `codex`?"), "{}", none.stderr);
    let quiet = run(home.omni().args(["search", "-q", "--json", "lamp"]), "");
    assert_eq!((quiet.code(), quiet.stdout.trim(), quiet.stderr.as_str()), (1, "[]", ""));
    assert!(!home.data().join("omni-run").exists());
}

#[test]
fn the_block_is_not_found() {
    let bed = Bed::new();
    let sent = bed.omni(&["echo", "--show-sent", "hi"]).stdout;
    assert!(sent.contains(CANARY), "the block is not empty");
    bed.typed(&["hi"]);
    assert_eq!(bed.found("hi"), ["hi"]);
    for query in [CANARY, "canary*", "\"Injected Project Docs\""] {
        assert_eq!(bed.found(query), Vec::<String>::new());
    }
    let store = std::fs::read(bed.home.data().join("omni-run/omni-run.db")).expect("store");
    assert!(!store.windows(CANARY.len()).any(|part| part == CANARY.as_bytes()));
}
