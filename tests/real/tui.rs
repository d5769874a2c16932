//! The real engines' own interfaces, wrapped: the first message typed into the composer carries the
//! block on the wire, once; what is stored is what was typed; the terminal is left as it was. At a
//! plain terminal and at a kitty one.

use crate::pty_driver::Kind;
use crate::tui_bed::{Bed, end};

/// One session: a first message, a second one, the end by SIGTERM.
fn session(id: &str, kind: Kind, first: &str, doc: &str) {
    let Some(bed) = Bed::new(id, doc) else { return };
    let bed = bed.at(kind);
    let _turn = bed.engine.turn();
    let block = bed.block();
    let mut term = bed.open();
    bed.submit(&mut term, first);
    bed.request(&term, 1).assert_block_once(&block, first);
    bed.answered(&term);
    bed.submit(&mut term, "and a second one");
    let wire = bed.request_with(&term, "and a second one");
    wire.assert_display_once("and a second one");
    assert_eq!(wire.user_text().matches(block.as_str()).count(), 1, "still one block");
    term.wait_for_quiet();
    end(&mut term);
    assert_eq!(bed.stored(), [first]);
}

fn given_message(id: &str) {
    let Some(bed) = Bed::new(id, "Short words.\n") else { return };
    let _turn = bed.engine.turn();
    let block = bed.block();
    let prompt = "a given message, 世界";
    let mut term = bed.start(&[prompt]);
    bed.request(&term, 1).assert_block_once(&block, prompt);
    bed.answered(&term);
    end(&mut term);
    assert_eq!(bed.stored(), [prompt]);
}

macro_rules! engine {
    ($name:ident, $id:literal) => {
        mod $name {
            use super::*;

            #[test]
            fn one_line() {
                session($id, Kind::Plain, "hello there", "Short words.\n");
            }

            #[test]
            fn three_lines_wide_and_100_kb() {
                let doc = format!("HEAD\n{}TAIL\n", "words of a doc, 0123456789\n".repeat(3_700));
                let first = "h\u{e9}llo 世界\nline two\nthree \u{1F469}\u{200D}\u{1F467}";
                session($id, Kind::Kitty, first, &doc);
            }

            #[test]
            fn a_given_message() {
                given_message($id);
            }
        }
    };
}

engine!(claude, "claude");
engine!(claude_2_1_197, "claude-2.1.197");
engine!(codex, "codex");
engine!(gemini, "gemini");
engine!(pi, "pi");
engine!(openclaw, "openclaw");
engine!(opencode, "opencode");
engine!(hermes, "hermes");
