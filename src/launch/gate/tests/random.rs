//! Whatever the user does, in whatever pace: no byte of his is lost, doubled or reordered, and the
//! block goes out once.

use proptest::prelude::*;

use super::*;
use crate::launch::keys::Decoder;

#[derive(Debug, Clone)]
enum Act {
    Type(&'static str),
    Wait(u64),
    Dialog,
    Resize,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        6 => prop::sample::select(vec![
            "h", "hello", "世", "\r", "\r", "/help\r", "!ls\r", "\n", "\x1b", "\x1b\r", "\x7f", "\t",
            "\x1b[200~p\rq\x1b[201~", "\x1b[13;2u", "\x1b[13u", "\x1b[13;1:3u", "\x03", "\x07",
            "\x1b[A", "\x1b[<0;3;4M", "more text\r", "\\\r", "x\ry\r",
        ]).prop_map(Act::Type),
        4 => (0u64..400).prop_map(Act::Wait),
        1 => Just(Act::Wait(4_000)),
        1 => Just(Act::Dialog),
        1 => Just(Act::Resize),
    ];
    prop::collection::vec(act, 1..16)
}

/// The bytes that are the gate's own, cut out: the rest must be the user's, in order.
fn is_subsequence(users: &[u8], sent: &[u8]) -> bool {
    let mut sent = sent.iter();
    users.iter().all(|byte| sent.any(|s| s == byte))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn nothing_is_lost_and_the_block_goes_once(
        acts in acts(), which in any::<prop::sample::Index>(), eats in 0usize..3,
    ) {
        let recipes = recipes();
        let (_, spec) = which.get(&recipes);
        let mut run = Run::ready(spec);
        run.engine.eats = eats;
        let dialogs = acts.iter().any(|act| matches!(act, Act::Dialog));
        let mut users = Vec::new();
        for act in acts {
            match act {
                Act::Type(text) => {
                    users.extend(text.as_bytes());
                    run.burst(text);
                }
                Act::Wait(ms) => run.pass(ms),
                Act::Dialog => {
                    run.engine.dialog = true;
                    run.paint();
                }
                Act::Resize => run.event(GateEvent::Resized { rows: 30, cols: 90 }),
            }
        }
        run.pass(60_000);
        if run.engine.dialog {
            // Nothing of ours answers it.
            let before = run.engine.answers;
            run.pass(30_000);
            prop_assert_eq!(run.engine.answers, before);
            users.push(b'\r');
            run.burst("\r");
            run.pass(60_000);
        }
        prop_assert!(run.timers.is_empty(), "a timer runs for ever: {:?}", run.timers);
        // What answers a dialog passes what was typed before it came up.
        // A submit is dropped only with a word, when a dialog came over a half-made draft.
        let count = |bytes: &[u8], byte: u8| bytes.iter().filter(|b| **b == byte).count();
        let whole = if dialogs {
            users.iter().all(|byte| count(&users, *byte) <= count(&run.sent, *byte))
        } else {
            is_subsequence(&users, &run.sent)
        };
        prop_assert!(whole || !run.notes.is_empty(), "{users:?} {:?}", run.sent);
        let blocks: usize = run.engine.submitted.iter().map(|s| s.matches(PREFIX).count()).sum();
        prop_assert!(blocks <= 1, "{:?}", run.engine.submitted);
        prop_assert!(run.engine.commands.iter().all(|c| !c.contains(PREFIX)));
        for (text, recorded) in run.engine.submitted.iter().filter_map(|s| s.strip_prefix(PREFIX)).zip(run.recorded.iter().rev()) {
            let told = run.notes.iter().any(|note| note.contains("stored text"));
            // A key in the same read as a dialog's answer may land in the draft.
            prop_assert!(text == recorded || told || dialogs, "{text:?} {recorded:?}");
        }
    }

    #[test]
    fn user_bytes_pass_in_order_while_nothing_submits(text in "[a-z世é \\x09]{0,40}", cut in any::<prop::sample::Index>()) {
        let spec = recipe(GateRoute::Editor);
        let mut run = Run::ready(&spec);
        let bytes = text.as_bytes();
        let at = cut.index(bytes.len() + 1);
        run.burst(&bytes[..at]);
        run.burst(&bytes[at..]);
        prop_assert_eq!(&run.sent, bytes);
        let events = Decoder::new().feed(&run.sent);
        prop_assert_eq!(events.iter().map(|e| e.bytes.len()).sum::<usize>(), bytes.len());
    }
}

#[test]
fn a_blank_line_that_enter_leaves_in_the_composer_is_not_forgotten() {
    for (name, spec) in recipes() {
        let mut run = Run::ready(&spec);
        for text in ["\n", "\r", "more text\r"] {
            run.burst(text);
        }
        run.pass(60_000);
        let sent = run.engine.submitted.iter().filter_map(|text| text.strip_prefix(PREFIX));
        for (text, recorded) in sent.zip(run.recorded.iter().rev()) {
            let told = run.notes.iter().any(|note| note.contains("stored text"));
            assert!(text == recorded || told, "{name}: {text:?} {recorded:?}");
        }
    }
}
