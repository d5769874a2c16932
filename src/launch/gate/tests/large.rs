//! Drafts that are long for the engine or the screen: each is sent whole, or left as it was.

use super::*;

fn pasted(text: &str) -> String {
    format!("\x1b[200~{}\x1b[201~", text.replace('\n', "\r"))
}

/// A composer that shows the end of such a draft.
fn ready() -> Run {
    let mut run = Run::ready(&recipe(GateRoute::ClearAndPaste));
    run.engine.scrolls = true;
    run
}

/// As long as it takes an engine some seconds to delete; the screen shows the same all the time.
fn long() -> String {
    "0123456789abcdef\n".repeat(3_000) + "END"
}

#[test]
fn a_draft_that_is_deleted_slowly_is_sent() {
    let mut run = ready();
    run.burst(pasted(&long()));
    run.pass(1_000);
    // 51,003 Backspaces in 2.5 s.
    run.engine.pace = 408;
    run.burst("\r");
    run.pass(2_000);
    run.engine.pace = usize::MAX;
    run.pass(8_000);
    run.assert_delivered("slow", &long());
}

#[test]
fn a_draft_that_the_recipe_gives_up_is_put_back() {
    for text in ["hello".to_owned(), long()] {
        let mut run = ready();
        run.burst(pasted(&text));
        run.pass(1_000);
        run.burst("\r");
        run.pass(20);
        // It is deleted while the engine begins to work, so there is no way for the message now.
        run.engine.working = true;
        run.paint();
        run.pass(30_000);
        assert!(run.engine.composer == text, "{} bytes are left", run.engine.composer.len());
        assert!(run.engine.submitted.is_empty() && run.recorded.is_empty());
        assert_eq!(run.notes.len(), 1, "{:?}", run.notes);
        run.engine.working = false;
        run.paint();
        run.notes.clear();
        run.burst("\r");
        run.pass(12_000);
        run.assert_delivered("given back", &text);
    }
}

#[test]
fn an_engine_that_stops_before_the_backspaces() {
    let mut run = ready();
    run.typing("hello");
    run.engine.delay = Duration::from_secs(40);
    run.burst("\r");
    run.pass(35_000);
    assert_eq!(run.notes.len(), 1, "{:?}", run.notes);
    run.pass(45_000);
    run.engine.delay = Duration::from_millis(8);
    assert!(run.engine.submitted.is_empty() && run.engine.composer == "hello");
    run.notes.clear();
    run.burst("\r");
    run.pass(6_000);
    run.assert_delivered("stopped", "hello");
}

#[test]
fn a_dialog_over_a_draft_that_is_deleted() {
    let mut run = Run::ready(&recipe(GateRoute::ClearAndPaste));
    run.typing("hello");
    run.burst("\r");
    run.pass(20);
    run.engine.dialog = true;
    run.paint();
    run.pass(60_000);
    run.burst("\r");
    run.pass(5_000);
    assert_eq!(run.engine.answers, 1);
    run.assert_delivered("behind a dialog", "hello");
}

#[test]
fn an_engine_that_takes_no_backspaces() {
    let mut run = ready();
    run.engine.no_backspace = true;
    run.line("hello");
    assert_eq!(run.engine.submitted, ["hello"]);
    assert_eq!(run.notes.len(), 1, "{:?}", run.notes);
    // Of this one the screen does not tell whether it is whole: the user decides.
    let text = format!("x{}", long());
    run.typing("x");
    run.burst(pasted(&long()));
    run.pass(500);
    run.burst("\r");
    run.pass(30_000);
    assert!(run.engine.submitted.len() == 1 && run.engine.composer == text);
    run.burst("\r");
    run.pass(6_000);
    assert!(run.engine.submitted[1..] == [text]);
    assert!(run.recorded.is_empty() && !run.done);
}

/// A composer that has folded a paste of this text into a chip.
fn with_folded(spec: &GateSpec, text: &str) -> Run {
    let mut run = Run::ready(spec);
    run.engine.folds = true;
    run.burst(pasted(text));
    run.pass(1_000);
    run
}

/// Where a paste is folded, few keys reach the start: an engine paints each of them.
#[test]
fn a_folded_paste_takes_few_keys_to_its_start() {
    let spec = recipe(GateRoute::PasteAtStart);
    let text = long();
    let mut run = with_folded(&spec, &text);
    let before = run.sent.len();
    run.burst("\r");
    run.pass(6_000);
    run.assert_delivered("folded", &text);
    let ours = run.sent.len() - before - PREFIX.len();
    assert!(ours < spec.paste.start_key.len() * spec.paste.start_times + 30, "{ours} bytes");
}

/// Without: the Enter waits until the engine has taken the keys and the paste.
#[test]
fn after_many_keys_enter_waits_for_the_paste() {
    let spec = recipe(GateRoute::PasteAtStart);
    let mut run = Run::ready(&spec);
    run.engine.scrolls = true;
    let text = "z\n".repeat(400) + "END";
    run.burst(pasted(&text));
    run.pass(1_000);
    // 40 keys in 20 ms, and never a pause of more.
    run.engine.pace = 40;
    let before = run.sent.len();
    run.burst("\r");
    run.pass(300);
    assert!(!run.sent[before..].ends_with(b"\r"), "at once");
    run.pass(8_000);
    run.assert_delivered("many lines", &text);
    assert_eq!(run.sent[before..].iter().filter(|byte| **byte == b'\r').count(), 1);
}

/// While the engine still paints, a large message is not given up and gets no second Enter.
#[test]
fn a_large_message_that_is_taken_late() {
    let spec = recipe(GateRoute::PasteAtStart);
    let text = long();
    let mut run = with_folded(&spec, &text);
    run.engine.delay = Duration::from_secs(5);
    let before = run.sent.len();
    run.burst("\r");
    for _ in 0..50 {
        run.pass(100);
        run.paint();
    }
    run.pass(6_000);
    run.assert_delivered("late", &text);
    assert_eq!(run.sent[before..].iter().filter(|byte| **byte == b'\r').count(), 1);
}

/// The screen has the head of each line only; the keys tell the rest.
#[test]
fn long_lines_that_the_screen_cuts() {
    let lines: String = (0..8).map(|n| format!("{n}{}\n", "abcdefghi ".repeat(20))).collect();
    for text in ["abcdefghi ".repeat(300), lines] {
        for (id, spec) in recipes() {
            for scrolls in [false, true] {
                let mut run = Run::ready(&spec);
                run.event(GateEvent::Resized { rows: 40, cols: 64 });
                run.engine.scrolls = scrolls;
                run.burst(&text);
                run.pass(1_000);
                run.burst("\r");
                run.pass(8_000);
                run.assert_delivered(&id, text.trim_end());
            }
        }
    }
}

/// Nobody tells what stands in the composer, or keys and screen differ: no Backspace is sent.
#[test]
fn a_draft_that_is_not_known_is_left_as_it_is() {
    let long = "abcdefghi ".repeat(30).trim_end().to_owned();
    for (typed, stands) in [("\x1b[A", long.as_str()), ("hello", "other words")] {
        let mut run = Run::ready(&recipe(GateRoute::ClearAndPaste));
        run.event(GateEvent::Resized { rows: 40, cols: 64 });
        run.burst(typed);
        run.engine.rewrite(stands);
        run.pass(300);
        run.engine.rewrite(stands);
        run.paint();
        run.pass(300);
        run.burst("\r");
        run.pass(8_000);
        assert_eq!(run.engine.submitted, [stands]);
        assert!(!run.sent.contains(&0x7f) && run.recorded.is_empty() && !run.done);
        assert_eq!(run.notes.len(), 1, "{:?}", run.notes);
    }
}
