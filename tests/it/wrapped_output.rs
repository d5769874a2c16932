//! Output on its way to the terminal: every byte, unaltered, to the last (D08, D14, D16).

use nix::sys::signal::Signal;

use crate::pty_driver::{Run, is_alive, wait_until_dead};
use crate::wrapped::{ENGINE, PROBE, start, wrapped};

#[test]
fn thirty_megabytes_byte_for_byte() {
    let dir = tempfile::tempdir().expect("dir");
    let file = dir.path().join("all");
    // Every byte value, sequences cut anywhere; no newline that the line discipline would change.
    let mut all = Vec::with_capacity(30 << 20);
    let mut state = 7u64;
    while all.len() < 30 << 20 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        all.extend_from_slice(&state.to_le_bytes());
    }
    std::fs::write(&file, &all).expect("write");
    let script = format!("stty raw; cat {}", file.display());
    let mut term = Run::new(PROBE).args(["/bin/sh", "-c", &script]).without_screen().start();
    assert_eq!(term.wait_for_end().code, Some(0));
    term.wait_for_silence();
    let raw = term.raw();
    assert!(
        raw.starts_with(&all),
        "{} of {} bytes, first difference at {:?}",
        raw.len(),
        all.len(),
        raw.iter().zip(&all).position(|(a, b)| a != b)
    );
}

#[test]
fn d16_the_last_line_of_a_fast_engine_is_there_200_times() {
    for round in 0..200 {
        let mut w = start(&[("MODE", "tail")], |run| run);
        let end = w.term.wait_for_end();
        w.term.wait_for_silence();
        assert_eq!(end.code, Some(7), "round {round}");
        assert!(w.term.raw().ends_with(b"LAST-LINE"), "round {round}");
    }
}

#[test]
fn d16_a_grandchild_that_holds_the_terminal_does_not_hold_the_end() {
    let mut w = start(&[("MODE", "child")], |run| run);
    let pid = w.log.wait_for("grandchild", |_| true)["pid"].as_i64().expect("pid");
    // It writes on until the terminal is gone: the end that comes at all has not waited for it.
    assert_eq!(w.term.wait_for_end().code, Some(3));
    w.term.wait_for_silence();
    assert!(String::from_utf8_lossy(&w.term.raw()).contains("LAST-LINE"));
    wait_until_dead(pid);
}

#[test]
fn d14_size_at_the_start_and_after_a_storm_while_typing() {
    let mut w = start(&[], |run| run.size(41, 97));
    assert_eq!(w.log.wait_for("start", |_| true)["size"], serde_json::json!([41, 97]));
    w.term.wait_for("\u{276f}");
    for n in 0..500u16 {
        w.term.resize(20 + n % 30, 60 + n % 70);
        if n % 10 == 0 {
            w.term.send("k");
        }
    }
    w.term.resize(33, 111);
    w.log.wait_for("size", |e| e["size"] == serde_json::json!([33, 111]));
    w.term.send("\r");
    w.log.wait_for("submit", |_| true);
    assert_eq!(w.log.submitted(), ["k".repeat(50)]);
}

#[test]
fn d14_no_size_outside_becomes_24_by_80() {
    let w = start(&[], |run| run.size(0, 0));
    assert_eq!(w.log.wait_for("start", |_| true)["size"], serde_json::json!([24, 80]));
}

#[test]
fn exit_codes_and_signals_come_through() {
    for code in [0, 1, 42, 255] {
        let mut w = wrapped(&[("EXIT", &code.to_string())]);
        w.term.send("/quit\r");
        assert_eq!(w.term.wait_for_end().code, Some(code));
    }
    for signal in [Signal::SIGKILL, Signal::SIGSEGV, Signal::SIGTERM] {
        let mut w = wrapped(&[("MODES", "1"), ("KITTY", "1")]);
        w.term.send(format!("/die {}\r", signal as i32));
        assert_eq!(w.term.wait_for_end().code, Some(128 + signal as i32));
    }
}

#[test]
fn an_engine_that_cannot_be_started_is_named_and_the_terminal_is_as_before() {
    let mut term = Run::new(PROBE).args(["/no/such/engine"]).start();
    assert_eq!(term.wait_for_end().code, Some(69));
    term.wait_for_silence();
    assert_eq!(term.screen().trim(), "warning: /no/such/engine: No such file or directory");
}

#[test]
fn nothing_is_printed_that_the_engine_did_not_print() {
    let bare = |program: &str, args: &[&str]| {
        let mut term = Run::new(program).args(args).start();
        term.wait_for_end();
        term.wait_for_silence();
        term.raw()
    };
    let script = "printf 'a\\033[31mb\\033[m\\n'; stty -a; exit 4";
    let wrapped = bare(PROBE, &["/bin/sh", "-c", script]);
    assert_eq!(
        String::from_utf8_lossy(&wrapped),
        String::from_utf8_lossy(&bare("/bin/sh", &["-c", script]))
    );
}

#[test]
fn the_probe_leaves_no_process_behind() {
    let mut w = wrapped(&[]);
    let engine = w.log.wait_for("start", |_| true)["pid"].as_i64().expect("pid");
    assert!(is_alive(engine));
    w.term.send("/quit\r");
    w.term.wait_for_end();
    wait_until_dead(engine);
    assert!(std::path::Path::new(ENGINE).exists());
}
