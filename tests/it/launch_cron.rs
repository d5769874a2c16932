//! Launches as cron and scripts make them: no HOME, no PATH to speak of, odd locales, overlap.
//! Cases F01, F02, F04, F05.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::script_engine::ScriptEngine;
use crate::support::home::write;
use crate::support::run;

#[test]
fn f01_not_found_names_engine_path_and_the_setting_that_helps() {
    let fake = ScriptEngine::new("cat");
    let mut command = fake.omni(&["-p", "keep me"]);
    let finished = run(command.env("PATH", "/usr/bin:/bin"), "");
    assert_eq!(finished.code(), 69);
    for part in ["`fake`", "PATH=/usr/bin:/bin", "get fake", "path = ", "kept in"] {
        assert!(finished.stderr.contains(part), "{part}: {}", finished.stderr);
    }
    let kept = std::fs::read_dir(fake.home.data().join("omni-run/rejected-prompts")).expect("kept");
    let file = kept.last().expect("one").expect("entry").path();
    assert_eq!(std::fs::read_to_string(file).expect("read"), "keep me");
    let unset = run(fake.omni(&["-p", "x"]).env_remove("PATH"), "");
    assert_eq!(unset.code(), 69);
}

#[test]
fn f01_a_configured_path_works_under_cron_and_its_folder_joins_the_childs_path() {
    let fake = ScriptEngine::new("cat >/dev/null; helper");
    fake.home.install_script("helper", "#!/bin/sh\necho helped\n");
    let program = fake.home.bin().join("fake");
    let entry = format!(
        "[fake]\nname='Fake'\ninstall='x'\npath='{}'\ndefault-window=200000\n",
        program.display()
    );
    write(fake.home.config().join("omni-run/engines.toml"), entry);
    let finished = run(fake.omni(&["-p", "x"]).env("PATH", "/usr/bin:/bin"), "").expect_success();
    assert_eq!(finished.stdout, "helped\n");
}

#[test]
fn f02_without_a_usable_home_the_prompt_still_goes_out() {
    let fake = ScriptEngine::new("echo \"HOME=$HOME\"; cat >/dev/null");
    let config = fake.home.config().join("omni-run");
    for home in ["", "relative", "/nonexistent", "/dev/null"] {
        let mut command = fake.omni(&["-p", "hi"]);
        for variable in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"] {
            command.env_remove(variable);
        }
        // The catalogue with the fake engine, and a data folder that never is this machine's.
        command.env("HOME", home).env("OMNI_RUN_CONFIG_DIR", &config);
        command.env("OMNI_RUN_DATA_DIR", fake.home.root().join("data"));
        let finished = run(&mut command, "").expect_success();
        assert_eq!(finished.stdout, format!("HOME={home}\n"), "the child's HOME is as it was");
    }
    let mut broken = fake.omni(&["-p", "hi"]);
    broken.env("OMNI_RUN_DATA_DIR", "/dev/null/data");
    let finished = run(&mut broken, "").expect_success();
    assert!(finished.stdout.starts_with("HOME="), "the engine ran");
    assert!(finished.stderr.contains("/dev/null/data"), "one warning: {}", finished.stderr);
}

#[test]
fn f02_a_deleted_folder_is_not_guessed_around() {
    let fake = ScriptEngine::new("cat");
    let gone = fake.home.project("gone");
    let script = "cd \"$1\" && rmdir \"$1\" && shift && exec \"$@\"";
    let mut command = fake.home.command("/bin/sh");
    command.args(["-c", script, "sh"]).arg(&gone).arg(env!("CARGO_BIN_EXE_omni-run"));
    let finished = run(command.args(["fake", "-p", "hi", "--cwd"]).arg(&fake.project), "");
    assert!(finished.expect_success().stdout.ends_with("hi"));
}

#[test]
fn f04_the_sent_bytes_are_the_same_in_every_locale() {
    let fake = ScriptEngine::new("cat; echo \"LANG=$LANG LC_ALL=$LC_ALL\"");
    write(fake.project.join(".claude/docs/über.md"), "ß");
    write(fake.project.join(".claude/docs/说明.md"), "说明");
    let sent = |lc: Option<&str>| {
        let mut command = fake.omni(&["-p", "naïve 😀"]);
        command.env_remove("LANG");
        if let Some(lc) = lc {
            command.env("LC_ALL", lc);
        }
        let out = run(&mut command, "").expect_success().stdout;
        assert!(out.ends_with(&format!("LANG= LC_ALL={}\n", lc.unwrap_or_default())), "{out}");
        out.rsplit_once("LANG=").expect("line").0.to_owned()
    };
    let expected = sent(Some("C.UTF-8"));
    assert!(expected.contains("### über.md") && expected.contains("naïve 😀"));
    for lc in [Some("C"), Some("POSIX"), Some("xx_NONSENSE"), None] {
        assert_eq!(sent(lc), expected);
    }
}

#[test]
fn f05_a_second_run_of_the_same_key_ends_at_once_and_a_killed_holder_blocks_nothing() {
    let fake = ScriptEngine::new("cat >/dev/null; echo up; read x < \"$HOME/go\"");
    let go = fake.home.home().join("go");
    nix::unistd::mkfifo(&go, nix::sys::stat::Mode::S_IRWXU).expect("fifo");
    let hold = || {
        let mut child = fake
            .omni(&["-p", "hi", "--no-overlap=job"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("start");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("stdout"));
        out.read_line(&mut line).expect("line");
        assert_eq!(line, "up\n");
        child
    };
    let mut first = hold();
    let second = run(&mut fake.omni(&["-p", "hi", "--no-overlap=job"]), "");
    assert_eq!(second.code(), 75);
    assert!(second.stderr.contains(&format!("pid {}", first.id())), "{}", second.stderr);
    let other = ScriptEngine::new("echo free");
    run(&mut other.omni(&["-p", "hi", "--no-overlap=job"]), "").expect_success();

    kill(Pid::from_raw(first.id().cast_signed()), Signal::SIGKILL).expect("kill");
    first.wait().expect("wait");
    let mut third = hold();
    write(&go, "go\n");
    assert!(third.wait().expect("wait").success());
}

/// Next to nothing: no HOME, the shortest PATH, the C locale, no terminal, standard input closed.
/// Only omni-run's own two folders are named, so that the test keeps off this machine's.
fn as_cron(fake: &ScriptEngine, args: &[&str]) -> std::process::Output {
    let mut command = std::process::Command::new("/usr/bin/setsid");
    command.args(["--wait", "/bin/sh", "-c", "exec \"$0\" \"$@\" <&-"]);
    command.arg(env!("CARGO_BIN_EXE_omni-run")).args(args);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("LANG", "C");
    command.env("OMNI_RUN_CONFIG_DIR", fake.home.config().join("omni-run"));
    command.env("OMNI_RUN_DATA_DIR", fake.home.data().join("omni-run"));
    command.current_dir("/").stdin(Stdio::null()).output().expect("setsid")
}

#[test]
fn f01_f02_f04_e04_a_run_as_cron_makes_it_delivers_everything() {
    let fake = ScriptEngine::new("echo \"HOME=$HOME LANG=$LANG\"; cat");
    let journal = fake.home.root().join("cursor.log");
    let engines = format!(
        "[fake]\nname='Fake'\ninstall='-'\npath='{}'\ndefault-window=200000\n\
         [cursor]\npath='{}'\n[cursor.env]\nFAKE_CURSOR_LOG='{}'\n",
        fake.home.bin().join("fake").display(),
        env!("CARGO_BIN_EXE_fake-cursor-agent"),
        journal.display()
    );
    write(fake.home.config().join("omni-run/engines.toml"), engines);
    write(fake.project.join(".claude/docs/über.md"), "Fußnote 世界\n");
    let project = fake.project.to_str().expect("path");
    let prompt = "- naïve 😀";
    for (engine, answer) in
        [("fake", "HOME= LANG=C\n"), ("echo", "echo received"), ("cursor", "MOCK-REPLY-OK\n")]
    {
        let option = format!("--prompt={prompt}");
        let output = as_cron(&fake, &[engine, "--project", project, &option]);
        let (out, err) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{engine}: {err}");
        assert!(out.starts_with(answer), "{engine}: {out}");
        assert!(!err.contains("silent"), "a closed stdin is not waited for: {err}");
        if engine == "fake" {
            assert!(out.contains("### über.md") && out.contains("Fußnote 世界"), "{out}");
            assert!(out.ends_with(&format!("\n\n{prompt}")), "{out}");
        }
    }
    let journal = std::fs::read_to_string(journal).expect("the stand-in's log");
    let call: serde_json::Value =
        serde_json::from_str(journal.lines().last().expect("a call")).expect("JSON");
    let sent = call["prompt"].as_str().expect("prompt");
    assert!(sent.contains("Fußnote 世界") && sent.ends_with(prompt), "{sent}");
    let list = run(&mut fake.command(&["sessions", "ls", "--json"]), "").expect_success().stdout;
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    assert_eq!(list.as_array().expect("list").len(), 3, "each is recorded");
}

#[test]
fn f01_as_cron_an_engine_that_is_not_on_the_path_is_named_with_the_remedy() {
    let fake = ScriptEngine::new("cat");
    let output = as_cron(&fake, &["fake", "-p", "hi"]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(69), "{err}");
    for part in ["PATH=/usr/bin:/bin", "get fake", "path = "] {
        assert!(err.contains(part), "{part}: {err}");
    }
    let nothing = as_cron(&fake, &["echo"]);
    assert_eq!(nothing.status.code(), Some(64), "no prompt and nobody to type one");
}
