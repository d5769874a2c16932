//! `--log-file`: what a launch did, for every command; never a word of prompt, docs or environment.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::script_engine::ScriptEngine;
use crate::support::home::write;
use crate::support::run;

struct Bed {
    fake: ScriptEngine,
    file: PathBuf,
}

impl Bed {
    fn new(body: &str) -> Bed {
        let fake = ScriptEngine::new(body);
        let file = fake.home.root().join("log.txt");
        Bed { fake, file }
    }

    fn logged(&self, args: &[&str]) -> std::process::Command {
        let mut command = self.fake.command(args);
        command.arg("--log-file").arg(&self.file);
        command
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.file).unwrap_or_default()
    }
}

#[test]
fn a_launch_is_told_from_start_to_end_in_a_private_file() {
    let bed = Bed::new("cat >/dev/null; echo answer; exit 3");
    assert_eq!(run(&mut bed.logged(&["fake", "-p", "hi"]), "").code(), 3);
    let log = bed.text();
    for part in [
        " INFO omni_run: omni-run version=",
        "command=\"run\"",
        "resolved engine=fake version=\"fake 1.0.0\"",
        "mode=OneShot",
        "folder=",
        "delivers text=\"stdin\"",
        "typed_bytes=2",
        "docs=1",
        "starting session=",
        "the engine runs pid=",
        "ended session=",
        "code=3",
        "answer_bytes=7",
        "done ms=",
    ] {
        assert!(log.contains(part), "{part}\n{log}");
    }
    let mode = std::fs::metadata(&bed.file).expect("file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    run(&mut bed.logged(&["fake", "-p", "hi"]), "");
    assert!(bed.text().starts_with(&log), "appended");
    assert!(log.lines().all(|line| line.contains('[') && line.starts_with("20")), "{log}");
}

#[test]
fn h07_no_text_of_prompt_docs_environment_arguments_or_engine_is_logged() {
    let bed = Bed::new("cat >/dev/null; echo CANARY-ANSWER; echo CANARY-STDERR >&2; exit 1");
    bed.fake.home.set_env("OMNI_RUN_LOG_LEVEL", "trace");
    bed.fake.home.set_env("SOME_KEY", "CANARY-VARIABLE");
    write(bed.fake.project.join(".claude/docs/doc.md"), "CANARY-DOC\n");
    write(bed.fake.project.join(".claude/recipes/r.md"), "CANARY-RECIPE {{x}}\n");
    write(bed.fake.project.join(".claude/recipes/bad.md"), "{{CANARY RECIPE}}\n");
    write(bed.fake.home.config().join("omni-run/profile.md"), "CANARY-PROFILE\n");
    let logged = |args: &[&str], stdin: &str| run(&mut bed.logged(args), stdin);
    logged(&["fake", "-p", "CANARY-PROMPT"], "CANARY-STDIN");
    let mut with_args = bed.fake.omni(&["-p", "CANARY-PROMPT", "--log-file"]);
    run(with_args.arg(&bed.file).args(["--", "--key", "CANARY-ARGUMENT"]), "");
    logged(&["recipe", "run", "r", "--engine", "fake", "--set", "x=CANARY-VALUE"], "");
    logged(&["recipe", "run", "bad", "--engine", "fake"], "");
    logged(&["recipe", "run", "r", "--set", "CANARY-VALUE"], "");
    // A prompt whose engine was forgotten, and a prompt that can't be sent.
    logged(&["CANARY-PROMPT is this"], "");
    logged(&["fake", "-p", "--stdin"], "  ");
    write(bed.fake.project.join("bad.txt"), b"CANARY-FILE \xff".as_slice());
    logged(&["fake", "--prompt-file", "bad.txt"], "");
    let mut elsewhere = bed.logged(&["fake", "-p", "CANARY-PROMPT"]);
    run(elsewhere.env("PATH", "/CANARY-PATH:/usr/bin:/bin"), "");
    run(bed.logged(&["fake", "-p", "x"]).env("OMNI_RUN_CHIP", "CANARY-CHIP"), "");
    write(bed.fake.home.config().join("omni-run/config.toml"), "chip = 'CANARY-CONFIG'\n");
    logged(&["fake", "-p", "CANARY-PROMPT"], "");
    let log = bed.text();
    assert!(log.matches("omni-run version=").count() >= 9, "all were logged: {log}");
    assert!(log.contains("no `fake` found on PATH") && log.contains("code=69"), "{log}");
    assert!(log.contains("config.toml:1") && log.contains("code=78"), "{log}");
    assert!(!log.contains("CANARY"), "{log}");
}

#[test]
fn a_warning_of_an_engine_is_counted_not_quoted() {
    let spec = "[fake.one-shot]\nempty-is-failure = true\n";
    let fake = ScriptEngine::with_spec("cat >/dev/null", spec);
    let file = fake.home.root().join("log.txt");
    let mut command = fake.omni(&["-p", "hi", "--retries", "1", "--log-file"]);
    assert_eq!(run(command.arg(&file), "").code(), 1);
    let log = std::fs::read_to_string(file).expect("log");
    assert!(log.contains("a warning in the words of another who=\"Fake\""), "{log}");
    assert!(log.contains("WARN omni_run::ui: Fake: try 1 of 2 failed"), "{log}");
    assert!(log.contains("tries=2"), "{log}");
}

#[test]
fn the_level_is_that_of_the_variable_else_of_the_config() {
    let bed = Bed::new("cat");
    let config = bed.fake.home.config().join("omni-run/config.toml");
    write(&config, "log-level = 'error'\n");
    run(&mut bed.logged(&["fake", "-p", "hi"]), "").expect_success();
    assert_eq!(bed.text(), "");
    run(bed.logged(&["fake", "-p", "hi"]).env("OMNI_RUN_LOG_LEVEL", "info"), "").expect_success();
    assert!(bed.text().contains("resolved"));
    for (file, variable) in [("log-level = 'loud'\n", None), ("", Some("loud"))] {
        write(&config, file);
        let mut command = bed.logged(&["fake", "-p", "hi"]);
        if let Some(level) = variable {
            command.env("OMNI_RUN_LOG_LEVEL", level);
        }
        let finished = run(&mut command, "");
        assert_eq!(finished.code(), 78, "{}", finished.stderr);
        assert!(finished.stderr.contains("loud"), "{}", finished.stderr);
    }
}

#[test]
fn every_command_logs_its_start_its_failure_and_its_end() {
    let bed = Bed::new("cat");
    for args in [
        &["docs", "ls"][..],
        &["project", "ls"],
        &["sessions"],
        &["engines"],
        &["config"],
        &["recipe", "ls"],
        &["store", "path"],
    ] {
        run(&mut bed.logged(args), "").expect_success();
        let log = bed.text();
        let start = format!("command=\"{}\"", args[0]);
        assert!(log.contains(&start) && log.trim_end().contains("done ms="), "{log}");
    }
    assert_eq!(run(&mut bed.logged(&["sessions", "show", "nope"]), "").code(), 66);
    assert!(bed.text().contains("ERROR omni_run::ui: "), "{}", bed.text());
}

#[test]
fn a_name_forges_no_line_and_a_store_out_of_reach_is_logged() {
    let bed = Bed::new("cat");
    write(bed.fake.project.join(".claude/docs/a\n2026-01-01 ERROR forged.md"), b"\0\0".as_slice());
    let mut command = bed.logged(&["fake", "-p", "hi"]);
    run(command.env("OMNI_RUN_DATA_DIR", "/dev/null/data"), "").expect_success();
    let log = bed.text();
    assert!(!log.lines().any(|line| line.starts_with("2026-01-01")), "{log}");
    assert!(log.contains("/dev/null/data"), "{log}");
}
