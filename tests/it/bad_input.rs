//! Everything wrong that a person can hand over: a clear message, the right code, nothing lost.

use std::process::Stdio;

use crate::script_engine::ScriptEngine;
use crate::support::home::write;
use crate::support::run;

#[test]
fn unknown_engine_and_project_come_with_a_suggestion() {
    let fake = ScriptEngine::new("cat");
    let engine = run(&mut fake.command(&["fakee", "-p", "hi"]), "");
    assert_eq!(engine.code(), 2);
    assert!(engine.stderr.contains("did you mean `fake`?"), "{}", engine.stderr);
    run(&mut fake.command(&["project", "add", "--id", "alpha"]), "").expect_success();
    let project = run(&mut fake.omni(&["-p", "hi", "--project", "alhpa"]), "");
    assert_eq!(project.code(), 66);
    assert!(project.stderr.contains("alpha"), "{}", project.stderr);
}

#[test]
fn prompts_that_cannot_be_sent() {
    let fake = ScriptEngine::new("cat");
    for empty in ["", "  \n"] {
        let finished = run(&mut fake.omni(&["-p"]), empty);
        assert_eq!(finished.code(), 64);
        assert!(finished.stderr.contains("the prompt is empty"), "{}", finished.stderr);
    }
    let latin = run(&mut fake.omni(&["-p"]), b"caf\xe9");
    assert_eq!(latin.code(), 64);
    assert!(
        latin.stderr.contains("offset 3") && latin.stderr.contains("kept in"),
        "{}",
        latin.stderr
    );
    let nul = run(&mut fake.omni(&["-p"]), b"a\0b").expect_success();
    assert!(nul.stdout.ends_with("a\u{2400}b") && nul.stderr.contains("NUL"));
    let missing = run(&mut fake.omni(&["--prompt-file", "/no/such"]), "");
    assert_eq!(missing.code(), 66);
    let attach = run(&mut fake.omni(&["-p", "hi", "--attach", "/no/such.png"]), "");
    assert_eq!(attach.code(), 66);
}

#[test]
fn wrong_config_files_name_file_line_and_key() {
    let fake = ScriptEngine::new("cat");
    let config = fake.home.config().join("omni-run");
    write(config.join("config.toml"), "chip = true\nsecretz = 'off'\n");
    let finished = run(&mut fake.omni(&["-p", "hi"]), "");
    assert_eq!(finished.code(), 78);
    assert!(finished.stderr.contains("config.toml:2") && finished.stderr.contains("`secrets`"));
    std::fs::remove_file(config.join("config.toml")).expect("remove");
    write(config.join("engines.toml"), "[fake]\nprograms = 5\n");
    let finished = run(&mut fake.omni(&["-p", "hi"]), "");
    assert_eq!(finished.code(), 78);
    assert!(finished.stderr.contains("engines.toml:2"), "{}", finished.stderr);
    std::fs::remove_file(config.join("engines.toml")).expect("remove");
    nix::unistd::mkfifo(&config.join("engines.toml"), nix::sys::stat::Mode::S_IRWXU).expect("fifo");
    let finished = run(&mut fake.omni(&["-p", "hi"]), "");
    assert_eq!(finished.code(), 78, "a FIFO is not waited on");
}

#[test]
fn odd_things_among_the_docs_cost_their_own_entry_only() {
    let fake = ScriptEngine::new("cat");
    let docs = fake.project.join(".claude/docs");
    let secret = fake.home.root().join("secret.md");
    write(&secret, "CANARY-OUTSIDE");
    std::os::unix::fs::symlink(&secret, docs.join("link.md")).expect("link");
    nix::unistd::mkfifo(&docs.join("pipe.md"), nix::sys::stat::Mode::S_IRWXU).expect("fifo");
    nix::unistd::mkfifo(&docs.join("pipe.png"), nix::sys::stat::Mode::S_IRWXU).expect("fifo");
    std::fs::create_dir(docs.join("dir.md")).expect("dir");
    let finished = run(&mut fake.omni(&["-p", "hi"]), "").expect_success();
    assert!(finished.stdout.contains("Short words.") && finished.stdout.ends_with("hi"));
    assert!(!finished.stdout.contains("CANARY-OUTSIDE"));
    for name in ["link.md", "pipe.md"] {
        assert!(finished.stderr.contains(name), "{name}: {}", finished.stderr);
    }
}

#[test]
fn secrets_in_docs_are_warned_about_or_refused() {
    let fake = ScriptEngine::new("cat");
    let key = format!("-----BEGIN {} PRIVATE KEY-----", "RSA");
    write(fake.project.join(".claude/docs/keys.md"), format!("a\n{key}\nMIIE\n"));
    let warned = run(&mut fake.omni(&["-p", "hi"]), "").expect_success();
    assert!(warned.stderr.contains("keys.md, line 2"), "{}", warned.stderr);
    write(fake.home.config().join("omni-run/config.toml"), "secrets = 'deny'\n");
    let refused = run(&mut fake.omni(&["-p", "hi"]), "");
    assert_eq!(refused.code(), 77);
    write(fake.home.config().join("omni-run/config.toml"), "secrets = 'off'\n");
    assert!(!run(&mut fake.omni(&["-p", "hi"]), "").stderr.contains("keys.md"));
}

#[test]
fn a_log_file_that_cannot_be_made_and_a_closed_stdin() {
    let fake = ScriptEngine::new("cat");
    let finished = run(&mut fake.omni(&["-p", "hi", "--log-file", "/no/such/dir/log"]), "");
    assert_eq!(finished.code(), 73);
    let mut command = fake.home.command("/bin/sh");
    command.args(["-c", "exec \"$0\" fake -p hi <&-"]).arg(env!("CARGO_BIN_EXE_omni-run"));
    let output = command.current_dir(&fake.project).stdin(Stdio::null()).output().expect("run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.ends_with(b"hi"));
}

#[test]
fn an_argument_that_is_not_utf8_is_refused_and_kept() {
    use std::os::unix::ffi::OsStrExt;
    let fake = ScriptEngine::new("cat");
    let mut command = fake.omni(&["-p"]);
    command.arg(std::ffi::OsStr::from_bytes(b"bad\xff"));
    let finished = run(&mut command, "");
    assert_eq!(finished.code(), 64, "{}", finished.stderr);
    assert!(finished.stderr.contains("kept in"), "{}", finished.stderr);
}

#[test]
fn a_secret_in_the_title_of_a_reference_doc_is_seen() {
    let fake = ScriptEngine::new("cat");
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    write(fake.project.join(".claude/docs/rag/t.md"), format!("# token {token}\n"));
    write(fake.home.config().join("omni-run/config.toml"), "secrets = 'deny'\n");
    let finished = run(&mut fake.omni(&["-p", "hi"]), "");
    assert_eq!(finished.code(), 77);
    assert!(finished.stderr.contains("rag/t.md"), "{}", finished.stderr);
}

#[test]
fn a_prompt_without_end_is_refused_and_fills_no_memory() {
    let fake = ScriptEngine::new("cat");
    let zeros = || std::fs::File::open("/dev/zero").expect("/dev/zero");
    for args in [&["-p"][..], &["-p", "hi"], &["-p", "-"]] {
        let output = fake.omni(args).stdin(zeros()).output().expect("run");
        assert_eq!(output.status.code(), Some(64), "{args:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("larger than 16 MB"), "{stderr}");
    }
    let file = fake.home.root().join("huge.txt");
    write(&file, "x".repeat(16_000_001));
    let finished = run(&mut fake.omni(&["--prompt-file", file.to_str().expect("path")]), "");
    assert_eq!(finished.code(), 64);
    assert!(!fake.home.data().join("omni-run/rejected-prompts").exists(), "it is a file already");
    write(&file, "x".repeat(16_000_000));
    let finished = run(&mut fake.omni(&["--prompt-file", file.to_str().expect("path")]), "");
    assert!(finished.expect_success().stdout.len() > 16_000_000);
}
