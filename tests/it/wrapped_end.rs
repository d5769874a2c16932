//! Every way a session ends or pauses: the terminal is as before, and nobody is left (D13, D17).

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::pty_driver::{Run, wait_until_dead};
use crate::wrapped::{ENGINE, PROBE, Wrapped, outcome, start, wrapped};

const ALL_MODES: &[(&str, &str)] = &[("MODES", "1"), ("KITTY", "1"), ("UNTIDY", "1")];

fn engine_pid(w: &Wrapped) -> i64 {
    w.log.wait_for("start", |_| true)["pid"].as_i64().expect("pid")
}

fn signal(pid: i64, signal: Signal) {
    kill(Pid::from_raw(i32::try_from(pid).expect("pid")), signal).expect("signal");
}

#[test]
fn modes_left_on_after_sigkill_of_the_engine_are_none() {
    let mut w = start(ALL_MODES, |run| run);
    w.log.wait_for("ready", |_| true);
    w.term.wait_for("\u{276f}");
    assert_ne!(w.term.modes_left_on(), Vec::<String>::new(), "they were on");
    signal(engine_pid(&w), Signal::SIGKILL);
    assert_eq!(w.term.wait_for_end().code, Some(137));
    w.term.wait_for_silence();
    assert_eq!(w.term.modes_left_on(), Vec::<String>::new());
    assert_eq!(w.term.local_flags(), w.term.flags_at_start);
}

#[test]
fn modes_left_on_after_sigkill_of_omni_run_are_none_and_the_engine_ends() {
    let mut w = start(ALL_MODES, |run| run);
    w.log.wait_for("ready", |_| true);
    w.term.wait_for("\u{276f}");
    let engine = engine_pid(&w);
    w.term.signal(Signal::SIGKILL);
    assert_eq!(w.term.wait_for_end().signal, Some(9));
    w.term.wait_for_silence();
    assert_eq!(w.term.modes_left_on(), Vec::<String>::new());
    assert_eq!(w.term.local_flags(), w.term.flags_at_start);
    wait_until_dead(engine);
}

#[test]
fn a_panic_restores_the_terminal_and_ends_the_engine() {
    let mut w = start(ALL_MODES, |run| run.env("WRAP_PROBE_GATE", "panic"));
    w.log.wait_for("ready", |_| true);
    w.term.wait_for("\u{276f}");
    let engine = engine_pid(&w);
    w.term.send("x");
    assert_eq!(w.term.wait_for_end().code, Some(101));
    w.term.wait_for_silence();
    assert_eq!(w.term.modes_left_on(), Vec::<String>::new());
    assert_eq!(w.term.local_flags(), w.term.flags_at_start);
    wait_until_dead(engine);
}

#[test]
fn an_engine_that_cleans_up_gets_no_undo() {
    let mut w = wrapped(&[("MODES", "1"), ("KITTY", "1")]);
    w.term.send("/quit\r");
    w.term.wait_for_end();
    let text = std::fs::read_to_string(outcome(&w.dir)).expect("outcome");
    let outcome: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(outcome["undone"], "");
    assert_eq!(outcome["notes"], serde_json::json!([]));
}

#[test]
fn d17_signals_reach_the_engine_and_its_code_comes_back() {
    for (number, name) in
        [(Signal::SIGTERM, "TERM"), (Signal::SIGHUP, "HUP"), (Signal::SIGINT, "INT")]
    {
        let mut w = wrapped(ALL_MODES);
        let engine = engine_pid(&w);
        w.term.signal(number);
        assert_eq!(w.term.wait_for_end().code, Some(143), "{name}");
        w.term.wait_for_silence();
        assert_eq!(w.term.modes_left_on(), Vec::<String>::new(), "{name}");
        assert_eq!(w.log.all("signal").len(), 1, "{name}");
        wait_until_dead(engine);
    }
}

#[test]
fn d17_an_engine_that_ignores_the_hang_up_is_gone() {
    for kill_us in [false, true] {
        let w = wrapped(&[("IGNORE", "1"), ("MODES", "1")]);
        let engine = engine_pid(&w);
        w.term.signal(if kill_us { Signal::SIGKILL } else { Signal::SIGHUP });
        wait_until_dead(engine);
        wait_until_dead(w.term.pid().into());
    }
}

#[test]
fn d08_an_engine_that_never_reads_can_be_ended_and_what_it_missed_is_said() {
    let mut w = start(&[("MODE", "count"), ("NOREAD_MS", "60000")], |run| run);
    w.term.wait_until("the modes", |_, raw| contains(raw, b"\x1b[?2004h"));
    w.term.send("x".repeat(60_000));
    w.term.signal(Signal::SIGTERM);
    assert_eq!(w.term.wait_for_end().code, Some(137));
    let text = std::fs::read_to_string(outcome(&w.dir)).expect("outcome");
    assert!(text.contains("bytes typed"), "{text}");
}

#[test]
fn d17_the_window_is_closed_with_a_half_typed_message() {
    let mut w = wrapped(&[("IGNORE", "1")]);
    let engine = engine_pid(&w);
    w.term.send("half a mess");
    w.term.wait_for("half a mess");
    let us = w.term.pid();
    w.term.close_window();
    wait_until_dead(engine);
    wait_until_dead(us.into());
    assert!(w.log.submitted().is_empty());
}

/// Under a shell with job control, as at home.
fn under_a_shell(
    w: &tempfile::TempDir,
    command: &str,
    switches: &[(&str, &str)],
) -> crate::pty_driver::PtyDriver {
    let mut run = Run::new("bash")
        .args(["--norc", "--noediting", "-i"])
        .cwd(w.path())
        .env("PS1", "shell> ")
        .env("FAKE_LOG", w.path().join("log.jsonl"))
        .env("WRAP_PROBE_PID", w.path().join("pid"));
    for (name, value) in switches {
        run = run.env(&format!("FAKE_{name}"), value);
    }
    let mut term = run.start();
    term.wait_for("shell>");
    term.send(format!("{command}\n"));
    term
}

/// What is typed while the program ends is the program's: first the shell must be back.
#[track_caller]
fn wait_for_prompt(term: &crate::pty_driver::PtyDriver) {
    term.wait_until("prompt", |screen, _| screen.trim_end().ends_with("shell>"));
}

#[test]
fn d13_ctrl_z_and_fg_bring_engine_draft_and_modes_back() {
    let dir = tempfile::tempdir().expect("dir");
    let mut term =
        under_a_shell(&dir, &format!("{PROBE} {ENGINE}"), &[("MODES", "1"), ("KITTY", "1")]);
    let log = crate::pty_driver::Log(dir.path().join("log.jsonl"));
    log.wait_for("ready", |_| true);
    term.send("ab");
    term.wait_for("\u{276f} ab");
    let on = term.modes_between_frames();
    term.send("\x1a");
    term.wait_for("Stopped");
    wait_for_prompt(&term);
    term.wait_for_modes(&[]);
    assert_eq!(log.all("continue").len(), 0, "the engine is stopped");
    term.send("fg\n");
    log.wait_for("continue", |_| true);
    term.wait_for("\u{276f} ab");
    // It paints more than once: for the signal and for the size.
    term.wait_for_modes(&on);
    term.send("c\r");
    log.wait_for("submit", |_| true);
    assert_eq!(log.submitted(), ["abc"]);
    term.send("/quit\r");
    log.wait_for("exit", |_| true);
    wait_for_prompt(&term);
    term.send("echo code $?\n");
    term.wait_for("code 0");
    term.wait_for_modes(&[]);
}

#[test]
fn d13_a_program_stopped_by_its_terminal_without_any_care_comes_back() {
    let dir = tempfile::tempdir().expect("dir");
    // It sets modes, stays in line mode, and knows nothing of job control.
    let script = "printf '\\033[?2004h\\033[?1003h\\033[>1uon'; read x; echo got $x";
    std::fs::write(dir.path().join("plain"), script).expect("write");
    let mut term = under_a_shell(&dir, &format!("{PROBE} /bin/sh plain"), &[]);
    term.wait_until("the modes", |screen, _| screen.ends_with("on") || screen.contains("\non"));
    let on = term.modes_left_on();
    term.send("\x1a");
    term.wait_for("Stopped");
    wait_for_prompt(&term);
    term.wait_for_modes(&[]);
    term.send("fg\n");
    term.wait_until("the modes again", |_, raw| {
        raw.windows(8).filter(|w| w == b"\x1b[?1003h").count() == 2
    });
    term.send("yes\n");
    term.wait_for("got yes");
    assert_eq!(on, ["?1003", "?2004", "stack 1", "vt100 paste"]);
    wait_for_prompt(&term);
    term.send("echo code $?\n");
    term.wait_for("code 0");
    term.wait_for_modes(&[]);
}

#[test]
fn a_session_stopped_by_ctrl_z_can_be_ended_by_a_signal() {
    for end in ["kill %1", "kill -HUP %1"] {
        let dir = tempfile::tempdir().expect("dir");
        let mut term = under_a_shell(&dir, &format!("{PROBE} {ENGINE}"), &[("MODES", "1")]);
        let log = crate::pty_driver::Log(dir.path().join("log.jsonl"));
        let engine = log.wait_for("start", |_| true)["pid"].as_i64().expect("pid");
        log.wait_for("ready", |_| true);
        term.send("\x1a");
        term.wait_for("Stopped");
        wait_for_prompt(&term);
        term.send(format!("{end}\n"));
        wait_until_dead(probe_pid(&dir));
        wait_until_dead(engine);
        term.send("echo still $((1 + 1))\n");
        term.wait_for("still 2");
        term.wait_for_modes(&[]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_engine_that_ends_by_a_real_time_signal_has_ended() {
    let dir = tempfile::tempdir().expect("dir");
    std::fs::write(dir.path().join("plain"), "printf 'on\\n'; read x; kill -34 $$").expect("write");
    let mut term = under_a_shell(&dir, &format!("{PROBE} /bin/sh plain"), &[]);
    term.wait_until("the start", |screen, _| screen.contains("\non"));
    term.send("\n");
    wait_for_prompt(&term);
    term.send("echo code $?\n");
    term.wait_for("code 162");
}

/// The process id of the probe that the shell runs.
fn probe_pid(dir: &tempfile::TempDir) -> i64 {
    let text = std::fs::read_to_string(dir.path().join("pid")).expect("pid");
    text.parse().expect("a number")
}

#[test]
fn the_shell_is_as_before_after_sigkill_of_omni_run() {
    // More than once: the shell and the keeper race for the terminal.
    for _ in 0..10 {
        let dir = tempfile::tempdir().expect("dir");
        let mut term = under_a_shell(&dir, &format!("{PROBE} {ENGINE}"), ALL_MODES);
        crate::pty_driver::Log(dir.path().join("log.jsonl")).wait_for("ready", |_| true);
        term.wait_for("\u{276f}");
        signal(probe_pid(&dir), Signal::SIGKILL);
        // Where the shell is quicker, it writes this on the screen that the undo then leaves.
        term.wait_until("the shell", |_, raw| contains(raw, b"Killed"));
        term.wait_until("the undo", |_, raw| contains(raw, b"\x1b[?1049l"));
        term.send("echo alive $((6*7))\n");
        term.wait_for("alive 42");
        term.wait_until_as_before();
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|w| w == part)
}

#[test]
fn d13_a_stop_from_outside_stops_both_and_fg_brings_them_back() {
    let dir = tempfile::tempdir().expect("dir");
    let mut term = under_a_shell(&dir, &format!("{PROBE} {ENGINE}"), &[("KITTY", "1")]);
    let log = crate::pty_driver::Log(dir.path().join("log.jsonl"));
    log.wait_for("ready", |_| true);
    term.send("ab");
    term.wait_for("\u{276f} ab");
    signal(probe_pid(&dir), Signal::SIGTSTP);
    term.wait_for("Stopped");
    wait_for_prompt(&term);
    term.wait_for_modes(&[]);
    let from = term.raw().len();
    term.send("fg\n");
    // The screen shows the draft from before: only a new frame says that the engine is back.
    term.wait_until("a new frame", |_, raw| contains(&raw[from..], b"\x1b[?2026l"));
    term.send("c\x1b[13u");
    log.wait_for("submit", |_| true);
    assert_eq!(log.submitted(), ["abc"]);
}

#[test]
fn d13_without_a_shell_ctrl_z_never_freezes() {
    let mut w = wrapped(&[]);
    w.term.send("ab\x1a");
    w.log.wait_for("continue", |_| true);
    w.term.send("c\r");
    w.log.wait_for("submit", |_| true);
    assert_eq!(w.log.submitted(), ["abc"]);
}
