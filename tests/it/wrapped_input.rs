//! Keys on their way to the engine: every byte, in order, whatever the pieces (D02, D04, D11).

use crate::wrapped::{start, wrapped};

#[test]
fn d04_a_paste_one_byte_at_a_time_a_lone_escape_and_enter() {
    let mut w = wrapped(&[]);
    for byte in b"\x1b[200~a\rb\x1b[201~ text" {
        w.term.send([*byte]);
    }
    w.term.wait_for("b text");
    w.term.send("\x1b");
    w.log.wait_for("escape", |_| true);
    w.term.send("\r");
    w.log.wait_for("submit", |_| true);
    assert_eq!(w.log.submitted(), ["a\nb text"]);
}

#[test]
fn d02_without_bracketed_paste_the_marks_are_what_the_user_sent() {
    let mut w = wrapped(&[("NO2004", "1")]);
    assert!(!String::from_utf8_lossy(&w.term.raw()).contains("\x1b[?2004h"));
    w.term.send("one\rtwo\r");
    w.log.wait_for("submit", |e| e["text"] == "two");
    assert_eq!(w.log.submitted(), ["one", "two"]);
}

#[test]
fn d11_an_emoji_byte_by_byte_and_output_byte_by_byte() {
    let mut w = wrapped(&[("CHUNK", "1")]);
    for byte in "\u{1F469}\u{200D}\u{1F4BB} \u{4e2d}".bytes() {
        w.term.send([byte]);
    }
    w.term.send("\r");
    w.log.wait_for("submit", |_| true);
    assert_eq!(w.log.submitted(), ["\u{1F469}\u{200D}\u{1F4BB} \u{4e2d}"]);
    w.term.send("/flood 200000\r");
    w.term.wait_for("flooded");
    // The next frame may be under way: only its last sign may still be cut.
    let broken = std::str::from_utf8(&w.term.raw()).err().and_then(|e| e.error_len());
    assert_eq!(broken, None);
}

#[test]
fn d10_the_kitty_keyboard_reaches_the_engine_and_is_popped() {
    let mut w = wrapped(&[("KITTY", "1"), ("UNTIDY", "1")]);
    w.term.send("\x1b[104u\x1b[13;2ui\x1b[13;1:1u\x1b[13;1:3u");
    w.log.wait_for("submit", |_| true);
    assert_eq!(w.log.submitted(), ["h\ni"]);
    w.term.send("/quit\r");
    assert_eq!(w.term.wait_for_end().code, Some(0));
    w.term.wait_for_silence();
    assert_eq!(w.term.modes_left_on(), Vec::<String>::new());
}

#[test]
fn type_ahead_before_the_engine_is_up_arrives() {
    let mut w = start(&[("READY_MS", "600")], |run| run);
    w.log.wait_for("start", |_| true);
    w.term.send("early");
    // Line mode would make a newline of an Enter, wrapped or not.
    w.term.wait_for("\u{276f} early");
    w.term.send(" bird\r");
    w.log.wait_for("submit", |_| true);
    assert_eq!(w.log.submitted(), ["early bird"]);
}

#[test]
fn d08_a_paste_into_an_engine_that_sleeps_arrives_exact() {
    let mut w = start(&[("MODE", "count"), ("NOREAD_MS", "2000")], |run| run);
    w.term.wait_until("the modes", |_, raw| raw.windows(8).any(|w| w == b"\x1b[?2004h"));
    let mut text: Vec<u8> = (0..220_000u32).map(|n| b'!' + (n % 90) as u8).collect();
    text.extend_from_slice(b"END\r");
    let sum = text.iter().fold(0u64, |s, b| s.wrapping_mul(31).wrapping_add(u64::from(*b)));
    w.term.send(&text);
    let counted = w.log.wait_for("counted", |_| true);
    assert_eq!((&counted["len"], &counted["sum"]), (&text.len().into(), &sum.into()));
}

#[test]
fn d08_a_paste_and_a_flood_at_once_on_a_slow_terminal() {
    let mut w = wrapped(&[("FLOOD", "2000000")]);
    w.term.read_slowly(std::time::Duration::from_millis(1));
    let pasted = "0123456789".repeat(30_000);
    w.term.send("first\r");
    w.term.send(format!("\x1b[200~{pasted}\x1b[201~"));
    w.term.send("\r");
    w.log.wait_for("submit", |e| e["len"] == 300_000);
    w.log.wait_for("flooded", |_| true);
    w.term.read_slowly(std::time::Duration::ZERO);
    w.term.wait_for("flooded");
}

#[test]
fn d08_ctrl_s_holds_and_ctrl_q_goes_on() {
    // A program in line mode with flow control, as the user's own terminal has it.
    let mut term = crate::pty_driver::Run::new(crate::wrapped::PROBE)
        .args(["/bin/sh", "-c", "stty ixon; echo up; read a; echo got $a; read b; echo then $b"])
        .start();
    term.wait_for("up");
    term.send("\x13");
    term.send("x\n");
    term.send("\x11");
    term.wait_for("got x");
    term.send("y\n");
    term.wait_for("then y");
    assert_eq!(term.wait_for_end().code, Some(0));
}
