//! `omni-run export` and `import`: files, filters, formats, and what is refused.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::script_engine::ScriptEngine;
use crate::support::home::write;
use crate::support::{Finished, TestHome, run};

const REPLY: &str = "# Answer\n\n```rust\nfn main() {}\n```\n";

struct Bed {
    fake: ScriptEngine,
}

impl Bed {
    fn new(prompts: &[&str]) -> Bed {
        let fake = ScriptEngine::new("cat >/dev/null; cat \"$HOME/reply\"");
        write(fake.home.home().join("reply"), REPLY);
        let bed = Bed { fake };
        for prompt in prompts {
            run(&mut bed.fake.omni(&["-q", "-p", prompt]), "").expect_success();
        }
        bed
    }

    fn omni(&self, args: &[&str]) -> Finished {
        run(&mut self.fake.command(args), "")
    }

    fn ids(&self) -> Vec<String> {
        let list = self.omni(&["sessions", "ls", "--json"]).expect_success().stdout;
        let list: Value = serde_json::from_str(&list).expect("JSON");
        let rows = list.as_array().expect("rows").iter().rev();
        rows.map(|row| row["id"].as_str().expect("id").to_owned()).collect()
    }

    fn lines(&self, args: &[&str]) -> Vec<Value> {
        let text = self.omni(&[&["export"], args].concat()).expect_success().stdout;
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.fake.home.root().join(name)
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn all_or_some_go_to_stdout_or_to_a_private_file() {
    let bed = Bed::new(&["first", "second"]);
    run(bed.fake.home.omni().args(["-q", "echo", "-p", "third"]), "").expect_success();
    let ids = bed.ids();
    let all = bed.lines(&["--all"]);
    assert_eq!(all[0]["sessions"], 3);
    let prompts: Vec<&Value> = all[1..].iter().map(|l| &l["messages"][0]["text"]).collect();
    assert_eq!(prompts, ["first", "second", "third"]);
    // Whatever the order and however often they are named.
    let some = bed.lines(&[&ids[1], &ids[0], &ids[1]]);
    assert_eq!(some[0]["sessions"], 2);
    assert_eq!(
        (&some[1]["id"], &some[2]["id"]),
        (&ids[0].as_str().into(), &ids[1].as_str().into())
    );

    let count = |args: &[&str]| bed.lines(&[&["--all"], args].concat()).len() - 1;
    assert_eq!(count(&["--engine", "fake"]), 2);
    assert_eq!(count(&["--project", "."]), 2, "a project that was never registered");
    assert_eq!(count(&["--since", "1h"]), 3);
    assert_eq!(count(&["--since", "2999-01-01"]), 0);

    let file = bed.file("out.jsonl");
    let to_file = bed.omni(&["export", "--all", "-o", text(&file)]).expect_success();
    assert_eq!(to_file.stdout, "");
    let stdout = bed.omni(&["export", "--all"]).expect_success().stdout;
    assert_eq!(std::fs::read_to_string(&file).expect("file"), stdout);
    let mode = std::fs::metadata(&file).expect("meta").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_is_there_is_left_alone_and_mistakes_are_named() {
    let bed = Bed::new(&["one"]);
    let file = bed.file("kept");
    write(&file, "mine");
    let there = bed.omni(&["export", "--all", "-o", text(&file)]);
    assert_eq!(there.code(), 73);
    assert!(there.stderr.contains("--force"), "{}", there.stderr);
    assert_eq!(std::fs::read_to_string(&file).expect("file"), "mine");
    bed.omni(&["export", "--all", "-o", text(&file), "--force"]).expect_success();
    assert!(std::fs::read_to_string(&file).expect("file").contains("omni-run-export"));

    let nowhere = bed.file("no/such/folder/x");
    for (args, code) in [
        (&["export", "ffff"][..], 66),
        (&["export", "not-an-id"], 66),
        (&["export"], 2),
        (&["export", "--all", "ffff"], 2),
        (&["export", "--engine", "fake"], 2),
        (&["export", "--all", "--since", "soon"], 2),
        (&["export", "--all", "--project", "nobody"], 66),
        (&["export", "--all", "--format", "pdf"], 2),
        (&["export", "--all", "-o", text(&nowhere)], 73),
        (&["export", "--all", "-o", "."], 73),
        (&["import", text(&nowhere)], 66),
        (&["import", "."], 66),
    ] {
        let finished = bed.omni(args);
        assert_eq!(finished.code(), code, "{args:?}\n{}", finished.stderr);
        assert_eq!(finished.stdout, "", "{args:?}");
    }
    let parts: Vec<_> = std::fs::read_dir(bed.fake.home.root()).expect("dir").flatten().collect();
    assert!(!parts.iter().any(|e| e.file_name().to_string_lossy().contains(".part")), "{parts:?}");
}

#[test]
fn a_prefix_of_several_lists_them() {
    let bed = Bed::new(&["one", "two"]);
    // Ids begin with the moment.
    let finished = bed.omni(&["export", &bed.ids()[0][..3]]);
    assert_eq!(finished.code(), 66);
    for id in bed.ids() {
        assert!(finished.stderr.contains(&id), "{}", finished.stderr);
    }
}

#[test]
fn an_import_brings_them_back_by_file_and_by_pipe() {
    let bed = Bed::new(&["one", "two"]);
    let file = bed.file("out.jsonl");
    bed.omni(&["export", "--all", "-o", text(&file)]).expect_success();
    let exported = std::fs::read_to_string(&file).expect("file");
    for by_pipe in [false, true] {
        let home = TestHome::new();
        let mut import = home.omni();
        import.arg("import").arg(if by_pipe { "-" } else { text(&file) });
        let stdin = if by_pipe { exported.as_str() } else { "" };
        let imported = run(&mut import, stdin).expect_success();
        assert!(imported.stderr.contains("2 sessions are imported"), "{}", imported.stderr);
        let again = run(home.omni().args(["export", "--all"]), "").expect_success().stdout;
        assert_eq!(again, exported);
        let shown = run(home.omni().args(["sessions"]), "").expect_success().stdout;
        assert!(shown.contains("one") && shown.contains("two"), "{shown}");
        let found = run(home.omni().args(["search", "two", "--json"]), "").expect_success().stdout;
        let found: Value = serde_json::from_str(&found).expect("JSON");
        assert_eq!(found[0]["session"], bed.ids()[1].as_str(), "the index follows: {found}");
    }
    let known = bed.omni(&["import", text(&file)]).expect_success();
    assert!(known.stderr.contains("0 sessions are imported, 2 were stored"), "{}", known.stderr);
}

#[test]
fn a_bad_import_changes_nothing_and_says_what_to_do() {
    let bed = Bed::new(&["one", "two"]);
    let exported = bed.omni(&["export", "--all"]).expect_success().stdout;
    let cases = [
        (exported[..exported.len() - 9].to_owned(), "line 3 is damaged"),
        (exported.lines().take(2).collect::<Vec<_>>().join("\n"), "cut off: it has 1 of 2"),
        (exported.replace("\"version\":1", "\"version\":9"), "update omni-run"),
        (exported.replace("\"text\":\"two\"", "\"text\":\"three\""), "is not the same"),
        ("# Session\n".to_owned(), "line 1 is not the head"),
    ];
    for (text, expected) in cases {
        let home = TestHome::new();
        if expected == "is not the same" {
            run(home.omni().args(["import", "-"]), &exported).expect_success();
        }
        let before = run(home.omni().args(["export", "--all"]), "").expect_success().stdout;
        let finished = run(home.omni().args(["import", "-"]), &text);
        assert_eq!(finished.code(), 64, "{}", finished.stderr);
        assert!(finished.stderr.contains(expected), "{expected}\n{}", finished.stderr);
        assert!(finished.stderr.contains("nothing was changed"), "{}", finished.stderr);
        let after = run(home.omni().args(["export", "--all"]), "").expect_success().stdout;
        assert_eq!(after, before, "{expected}");
        // A file that is no export does not even make a store.
        assert_eq!(home.data().join("omni-run").exists(), expected == "is not the same");
    }
}

#[test]
fn markdown_and_html_hold_prompt_answer_and_receipt() {
    let bed = Bed::new(&["typed ``` `x` <b>", "second"]);
    let markdown = bed.omni(&["export", "--all", "--format", "md"]).expect_success();
    for part in [
        "# Session 0",
        "- engine: `fake`\n",
        "## Prompt\n\n````text\ntyped ``` `x` <b>\n````\n",
        "## Answer of fake\n\n# Answer\n\n```rust\nfn main() {}\n```\n",
        "- `style.md`: included\n",
        "- block, SHA-256: ",
    ] {
        assert!(markdown.stdout.contains(part), "{part}\n{}", markdown.stdout);
    }
    assert!(markdown.stderr.contains("nothing is masked"), "{}", markdown.stderr);
    let html = bed.omni(&["export", "--all", "--format", "html"]).expect_success().stdout;
    for part in [
        "<h1>2 sessions</h1>",
        "typed ``` `x` &lt;b&gt;",
        "<figcaption>rust</figcaption><pre tabindex=\"0\"><code>fn main() {}\n</code></pre>",
        "<li>style.md: included</li>",
    ] {
        assert!(html.contains(part), "{part}\n{html}");
    }
    for id in bed.ids() {
        assert!(html.contains(&format!("href=\"#s-{id}\"")), "{id}");
        assert!(html.contains(&format!("id=\"s-{id}\"")), "{id}");
    }
}

#[test]
fn without_a_store_all_is_nothing_and_none_is_made() {
    let home = TestHome::new();
    let all = run(home.omni().args(["export", "--all"]), "").expect_success();
    assert_eq!(all.stdout, "{\"format\":\"omni-run-export\",\"version\":1,\"sessions\":0}\n");
    assert_eq!(run(home.omni().args(["export", "01"]), "").code(), 66);
    assert!(!home.data().join("omni-run").exists());
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let bed = Bed::new(&["one"]);
    write(bed.fake.home.home().join("reply"), "x".repeat(1 << 20));
    run(&mut bed.fake.omni(&["-q", "-p", "two"]), "").expect_success();
    let mut child = bed
        .fake
        .command(&["export", "--all"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("wait");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
