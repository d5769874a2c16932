//! How a run ends: exit codes, lying ones, signals, the time-out, orphans, tails. Cases E05, D16,
//! D17 as far as pipes go.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::script_engine::ScriptEngine;
use crate::support::run;

fn start(command: &mut Command) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("start");
    let out = BufReader::new(child.stdout.take().expect("stdout"));
    (child, out)
}

fn line(out: &mut impl BufRead) -> String {
    let mut line = String::new();
    out.read_line(&mut line).expect("line");
    line.trim().to_owned()
}

/// Waits for the end of a process that is not our child: it is gone, or a zombie of whoever is.
fn gone(pid: i32) -> bool {
    let limit = Instant::now() + Duration::from_secs(120);
    while Instant::now() < limit {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        if stat.is_empty() || stat.contains(") Z ") {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

#[test]
fn the_engines_code_passes_through_and_a_signal_is_128_and_its_number() {
    for (body, code) in [("exit 0", 0), ("exit 7", 7), ("exit 144", 144), ("kill -9 $$", 137)] {
        let fake = ScriptEngine::new(body);
        assert_eq!(run(&mut fake.omni(&["-p", "hi"]), "").code(), code, "{body}");
    }
}

#[test]
fn e05_quiet_failures_are_said_and_recorded_as_failures() {
    let spec = "[fake.one-shot]\nempty-is-failure = true\n";
    let empty = ScriptEngine::with_spec("cat >/dev/null", spec);
    let finished = run(&mut empty.omni(&["-p", "hi"]), "");
    assert_eq!(finished.code(), 1);
    assert!(finished.stderr.contains("said nothing"), "{}", finished.stderr);
    let lenient = ScriptEngine::new("cat >/dev/null");
    assert_eq!(run(&mut lenient.omni(&["-p", "hi"]), "").code(), 0);
    assert_eq!(run(&mut lenient.omni(&["-p", "hi", "--strict"]), "").code(), 1);
    let by_stdout = ScriptEngine::new("echo Not logged in; echo why >&2; exit 1");
    let finished = run(&mut by_stdout.omni(&["-p", "hi"]), "");
    assert_eq!((finished.code(), finished.stdout.as_str()), (1, "Not logged in\n"));
    assert!(finished.stderr.contains("why\n"), "stderr is passed on");
    let row = run(&mut empty.command(&["sessions", "ls", "--json"]), "").expect_success().stdout;
    assert!(row.contains("failed"), "{row}");
}

#[test]
fn the_time_out_ends_the_whole_group_with_124() {
    let fake = ScriptEngine::new("sleep 600 & echo $! $$; wait");
    let (mut child, mut out) = start(&mut fake.omni(&["-p", "hi", "--timeout", "1s"]));
    let pids = line(&mut out);
    assert_eq!(child.wait().expect("wait").code(), Some(124));
    for pid in pids.split(' ') {
        assert!(gone(pid.parse().expect("pid")), "{pid} lives on");
    }
}

/// Other systems have no way to find them.
#[cfg(target_os = "linux")]
#[test]
fn the_time_out_ends_those_that_left_the_group_too() {
    // One below the engine in a session of its own, and one whose parent is gone; both ignore TERM.
    let stubborn = "trap '' TERM; echo $$; exec >/dev/null; while :; do sleep 600; done";
    let fake = ScriptEngine::new(&format!(
        "setsid sh -c \"{stubborn}\" & sleep 0.2\n(setsid sh -c \"{stubborn}\" &)\nwait",
        stubborn = stubborn.replace('$', "\\$"),
    ));
    let (mut child, mut out) = start(&mut fake.omni(&["-p", "hi", "--timeout", "2s"]));
    let pids = [line(&mut out), line(&mut out)];
    assert_eq!(child.wait().expect("wait").code(), Some(124));
    for pid in pids {
        assert!(gone(pid.parse().expect("pid")), "{pid} lives on");
    }
}

/// The same for an end from outside.
#[cfg(target_os = "linux")]
#[test]
fn d17_a_signal_ends_those_that_left_the_group_too() {
    let stubborn = "trap '' TERM HUP; echo \\$\\$; exec >/dev/null; while :; do sleep 600; done";
    for signal in [Signal::SIGTERM, Signal::SIGHUP] {
        let fake = ScriptEngine::new(&format!(
            "setsid sh -c \"{stubborn}\" & (setsid sh -c \"{stubborn}\" &)\nwait"
        ));
        let (mut child, mut out) = start(&mut fake.omni(&["-p", "hi"]));
        let pids = [line(&mut out), line(&mut out)];
        kill(Pid::from_raw(child.id().cast_signed()), signal).expect("kill");
        assert_eq!(child.wait().expect("wait").code(), Some(128 + signal as i32));
        for pid in pids {
            assert!(gone(pid.parse().expect("pid")), "{pid} lives on after {signal}");
        }
    }
}

#[test]
fn a_temporary_folder_that_is_not_absolute_is_no_folder_of_the_project() {
    let fake = ScriptEngine::new("cat; pwd");
    let project = fake.home.project("p1");
    for temp in ["", "tmp", "."] {
        let mut omni = fake.omni(&["-p", "hi"]);
        omni.env("TMPDIR", temp).env_remove("XDG_RUNTIME_DIR").current_dir(&project);
        let finished = run(&mut omni, "").expect_success();
        assert!(finished.stdout.contains("hi"), "{finished:?}");
        let left = std::fs::read_dir(&project).expect("project").flatten();
        let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        assert_eq!(left, [".claude"], "TMPDIR={temp:?}");
    }
}

#[test]
fn signals_reach_the_group_and_the_code_says_so() {
    for (signal, code) in [
        (Signal::SIGINT, 130),
        (Signal::SIGTERM, 143),
        (Signal::SIGHUP, 129),
        (Signal::SIGQUIT, 131),
    ] {
        // An engine that calls its end by a signal a success, as some do.
        let fake = ScriptEngine::new(
            "trap 'kill $!; exit 0' INT TERM HUP QUIT; sleep 600 & echo $! $$; wait",
        );
        let (mut child, mut out) = start(&mut fake.omni(&["-p", "hi"]));
        let pids = line(&mut out);
        kill(Pid::from_raw(child.id().cast_signed()), signal).expect("kill");
        assert_eq!(child.wait().expect("wait").code(), Some(code), "{signal}");
        for pid in pids.split(' ') {
            assert!(gone(pid.parse().expect("pid")), "{pid} lives on after {signal}");
        }
    }
}

#[test]
fn an_engine_that_ignores_signals_is_killed_after_the_grace_time() {
    let fake = ScriptEngine::new("trap '' TERM; echo $$; while :; do sleep 600; done");
    let (mut child, mut out) = start(&mut fake.omni(&["-p", "hi"]));
    let pid = line(&mut out);
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM).expect("kill");
    assert_eq!(child.wait().expect("wait").code(), Some(137));
    assert!(gone(pid.parse().expect("pid")));
}

#[test]
fn d17_a_killed_omni_run_leaves_no_engine_behind() {
    let fake = ScriptEngine::new("trap '' HUP; sleep 600 & echo $! $$; wait");
    let (mut child, mut out) = start(&mut fake.omni(&["-p", "hi"]));
    let pids = line(&mut out);
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL).expect("kill");
    child.wait().expect("wait");
    for pid in pids.split(' ') {
        assert!(gone(pid.parse().expect("pid")), "{pid} lives on");
    }
    // The run folder that could not be removed goes with the next start.
    run(&mut fake.command(&["echo", "-p", "x"]), "").expect_success();
    let left = std::fs::read_dir(fake.home.runtime().join("omni-run")).expect("runs").count();
    assert_eq!(left, 0, "swept");
}

#[test]
fn d16_the_last_line_is_there_every_time() {
    let fake = ScriptEngine::new("cat >/dev/null; printf 'a%.0s' 1 2 3; echo; echo LAST-LINE");
    for _ in 0..50 {
        let finished = run(&mut fake.omni(&["-p", "hi"]), "").expect_success();
        assert_eq!(finished.stdout, "aaa\nLAST-LINE\n");
    }
}

#[test]
fn d16_a_grandchild_that_holds_the_pipes_delays_the_end_by_a_moment_only() {
    let fake = ScriptEngine::new("sleep 600 & echo $!; exit 3");
    let (mut child, mut out) = start(&mut fake.omni(&["-p", "hi"]));
    let pid: i32 = line(&mut out).parse().expect("pid");
    assert_eq!(child.wait().expect("wait").code(), Some(3));
    // It is alive, so its end was not waited for.
    kill(Pid::from_raw(pid), Signal::SIGKILL)
        .expect("the grandchild is left as the engine left it");
}

#[test]
fn d16_a_closed_stdout_ends_quietly() {
    let fake = ScriptEngine::new("cat >/dev/null; yes | head -c 3000000");
    let (mut child, mut out) = start(&mut fake.omni(&["-p", "hi"]));
    assert_eq!(line(&mut out), "y");
    drop(out);
    let mut stderr = String::new();
    child.stderr.take().expect("stderr").read_to_string(&mut stderr).expect("read");
    child.wait().expect("wait");
    assert!(!stderr.contains("panic") && !stderr.contains("Broken pipe"), "{stderr}");
}

#[test]
fn d16_a_slow_reader_gets_every_byte() {
    let fake =
        ScriptEngine::new("cat >/dev/null; head -c 30000000 /dev/zero | tr '\\0' x; echo END");
    let (mut child, mut out) = start(&mut fake.omni(&["-p", "hi"]));
    // The engine is long done with the pipe's worth when the rest is read.
    assert!(!out.fill_buf().expect("first bytes").is_empty());
    let mut all = Vec::new();
    out.read_to_end(&mut all).expect("read");
    assert_eq!(all.len(), 30_000_004);
    assert!(all.ends_with(b"xEND\n"));
    assert!(child.wait().expect("wait").success());
}

#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    // As under nohup: the engine sends the signal to its parent and both go on.
    let fake = ScriptEngine::new("kill -HUP $PPID; kill -HUP $$; echo still here");
    let mut command = fake.home.command("/bin/sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" fake -p hi"]).arg(env!("CARGO_BIN_EXE_omni-run"));
    let finished = run(command.current_dir(&fake.project), "").expect_success();
    assert_eq!(finished.stdout, "still here\n");
}

#[test]
fn an_engines_own_code_after_a_signal_is_kept() {
    let fake = ScriptEngine::new("trap 'exit 33' INT; echo $$; while :; do sleep 0.1; done");
    let (mut child, mut out) = start(&mut fake.omni(&["-p", "hi"]));
    line(&mut out);
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).expect("kill");
    assert_eq!(child.wait().expect("wait").code(), Some(33));
}

#[test]
fn absurd_time_outs_are_refused_before_anything_starts() {
    let fake = ScriptEngine::new("touch \"$HOME/started\"");
    for time in ["0", "18446744073709551615s", "9223372036854775807h", "-1s", "5x"] {
        let finished = run(&mut fake.omni(&["-p", "hi", &format!("--timeout={time}")]), "");
        assert_eq!(finished.code(), 2, "{time}: {}", finished.stderr);
    }
    assert!(!fake.home.home().join("started").exists());
}
