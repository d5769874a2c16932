//! What a launch leaves in the store: the display text, a receipt, nothing of the block; and what
//! happens when the store cannot take it. Cases G01, G02, G04, G05 from outside.

use std::process::{Child, Stdio};

use crate::script_engine::ScriptEngine;
use crate::support::home::write;
use crate::support::run;

fn sessions(fake: &ScriptEngine) -> serde_json::Value {
    let out = run(&mut fake.command(&["sessions", "ls", "--json", "--limit", "100"]), "");
    serde_json::from_str(&out.expect_success().stdout).expect("JSON")
}

#[test]
fn the_store_holds_what_was_typed_and_nothing_of_the_block() {
    let fake = ScriptEngine::new("cat >/dev/null; echo the answer");
    run(&mut fake.omni(&["-p", "typed, 世界"]), "").expect_success();
    let rows = sessions(&fake);
    let id = rows[0]["id"].as_str().expect("id");
    let shown = run(&mut fake.command(&["sessions", "show", id]), "").expect_success().stdout;
    assert!(shown.contains("typed, 世界") && shown.contains("the answer"), "{shown}");
    for entry in std::fs::read_dir(fake.home.data().join("omni-run")).expect("data").flatten() {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("Short words."), "{}", entry.path().display());
        assert!(!text.contains("Injected Project Docs"), "{}", entry.path().display());
    }
    use std::os::unix::fs::PermissionsExt;
    let data = fake.home.data().join("omni-run");
    let mode = |path: &std::path::Path| {
        std::fs::metadata(path).expect("meta").permissions().mode() & 0o777
    };
    assert_eq!(mode(&data), 0o700);
    assert_eq!(mode(&data.join("omni-run.db")), 0o600);
}

#[test]
fn nothing_is_written_into_the_project() {
    let fake = ScriptEngine::new("cat");
    let list = || {
        let out = fake
            .home
            .command("/usr/bin/find")
            .arg(&fake.project)
            .args(["-printf", "%p %s %T@\n"])
            .output();
        String::from_utf8(out.expect("find").stdout).expect("text")
    };
    let before = list();
    run(&mut fake.omni(&["-p", "hi"]), "").expect_success();
    assert_eq!(list(), before);
}

#[test]
fn g01_fifty_launches_at_once_on_a_new_store_lose_no_row() {
    let fake = ScriptEngine::new("cat >/dev/null; echo ok");
    // The version is asked once; fifty first starts would all ask.
    run(&mut fake.omni(&["--dry-run", "x"]), "").expect_success();
    let children: Vec<Child> = (0..50)
        .map(|n| {
            fake.omni(&["-q", "-p", &format!("prompt {n}")])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .expect("start")
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().expect("wait");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let rows = sessions(&fake);
    assert_eq!(rows.as_array().expect("rows").len(), 50);
}

#[test]
fn g04_g05_a_store_that_cannot_take_the_row_costs_a_warning_and_the_row_comes_in_later() {
    let fake = ScriptEngine::new("cat >/dev/null; echo ok; exit 4");
    let data = fake.home.data().join("omni-run");
    // A folder where the database should be.
    std::fs::create_dir_all(data.join("omni-run.db")).expect("folder");
    let finished = run(&mut fake.omni(&["-p", "spooled prompt"]), "");
    assert_eq!((finished.code(), finished.stdout.as_str()), (4, "ok\n"));
    assert!(finished.stderr.contains("spool"), "{}", finished.stderr);
    std::fs::remove_dir(data.join("omni-run.db")).expect("repair");
    run(&mut fake.omni(&["-p", "next"]), "");
    let rows = sessions(&fake).to_string();
    assert!(rows.contains("spooled prompt") && rows.contains("next"), "{rows}");

    write(data.join("omni-run.db"), b"SQLite format 3\0 but not really".as_slice());
    let corrupt = run(&mut fake.omni(&["-p", "third"]), "");
    assert_eq!((corrupt.code(), corrupt.stdout.as_str()), (4, "ok\n"));
}

#[test]
fn an_engine_that_will_not_start_loses_nothing_that_was_typed() {
    let fake = ScriptEngine::new("cat");
    // It looks executable, and the kernel refuses it.
    let program = fake.home.bin().join("fake");
    write(&program, b"\x7fELF garbage".as_slice());
    let finished = run(&mut fake.omni(&["-p", "do not lose me"]), "");
    assert_eq!(finished.code(), 69, "{}", finished.stderr);
    assert!(sessions(&fake).to_string().contains("do not lose me"));
}

#[test]
fn a_session_goes_on_in_its_own_engine_only() {
    let spec = "[fake.one-shot]\nsession-args = [\"--id\", \"{session_id}\"]\nresume-args = [\"--go-on\", \"{engine_session_id}\"]\n";
    let fake = ScriptEngine::with_spec("echo \"$@\"; cat", spec);
    run(&mut fake.omni(&["-p", "first"]), "").expect_success();
    let id = sessions(&fake)[0]["id"].as_str().expect("id").to_owned();
    let other = run(&mut fake.command(&["echo", "-p", "--resume", &id, "hi"]), "");
    assert_eq!(other.code(), 2);
    assert!(other.stderr.contains(&format!("omni-run fake --resume {id}")), "{}", other.stderr);
    let same = run(&mut fake.omni(&["-p", "--resume", &id, "again"]), "").expect_success();
    assert_eq!(same.stdout, format!("--go-on {id}\nagain"), "no second block");
}
