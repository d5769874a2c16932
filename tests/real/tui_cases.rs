//! What a person does in a real engine's interface besides sending a message: the trust dialog first,
//! leaving with and without a message; and an engine that is killed at its composer. Asserted on the
//! recorded request, the stored display text and the terminal. The rest of a person's day is in
//! `tui_life`, the ways to write a message in `tui_input`.

use std::fs;

use crate::pty_driver::{Ended, Key, PtyDriver};
use crate::support::home::write;
use crate::support::run;
use crate::tui_bed::{Bed, end, shown};

const DOC: &str = "Short words.\n";
const CLAUDE_ASKS: &str = "Quick safety check";
const GEMINI_ASKS: &str = "Do you trust the files in this folder?";

/// The first message of a session that is open: on the wire with the block, stored without.
fn first_message(bed: &Bed, term: &mut PtyDriver, block: &str, text: &str) {
    bed.submit(term, text);
    bed.request(term, 1).assert_block_once(block, text);
    bed.answered(term);
    end(term);
    assert_eq!(bed.stored(), [text]);
}

/// What an engine does once its trust dialog is answered.
enum Then {
    GoesOn,
    StartsAnew,
}

/// The person answers the trust dialog with `keys`.
fn trust_dialog_first(id: &str, dialog: &str, keys: &[Key], then: Then) {
    let Some(bed) = Bed::new(id, DOC) else { return };
    let _turn = bed.engine.turn();
    distrust(&bed);
    let block = bed.block();
    let mut term = bed.start(&[]);
    // Gemini draws its dialog before it has set itself up. If it comes to the end of that within 250 ms
    // after the answer, it looks for trust again, closes the dialog and does not start anew any more.
    bed.set_up(&term);
    shown(&term, dialog);
    for key in keys {
        term.press([*key]);
        term.wait_for_quiet();
    }
    match then {
        Then::GoesOn => {
            term.wait_until("end of the dialog", |screen, _| !screen.contains(dialog));
        }
        // The dialog may stay on the screen, above what is drawn next.
        Then::StartsAnew => bed.set_up_anew(&term),
    }
    bed.ready(&term);
    assert_eq!(bed.model.main_requests().len(), 0, "nothing was sent for the dialog");
    first_message(&bed, &mut term, &block, "the message after the dialog");
}

/// Takes the trust back that the test bed gives.
fn distrust(bed: &Bed) {
    let home = bed.home.home();
    match bed.engine.omni_id() {
        "claude" => {
            write(home.join(".claude-config/.claude.json"), r#"{"hasCompletedOnboarding":true}"#);
        }
        "gemini" => write(home.join(".gemini/trustedFolders.json"), "{}"),
        _ => {
            // It asks in repositories only.
            let mut git = bed.home.command("git");
            run(git.args(["init", "-q"]).current_dir(&bed.project), "").expect_success();
            let path = home.join(".codex/config.toml");
            let config = fs::read_to_string(&path).expect("config.toml");
            let (config, _trusted) = config.split_once("\n[projects.").expect("trusted projects");
            write(&path, config);
        }
    }
}

/// The person leaves by keys, after a message or without one.
fn quit(id: &str, keys: &[Key]) {
    let Some(bed) = Bed::new(id, DOC) else { return };
    let block = bed.block();
    for with_message in [false, true] {
        let mut term = bed.open();
        if with_message {
            bed.submit(&mut term, "hello there");
            bed.request(&term, 1).assert_block_once(&block, "hello there");
            bed.answered(&term);
        }
        // Two Ctrl-C belong together.
        term.press(keys.iter().copied());
        assert_eq!(term.wait_for_end(), Ended { code: Some(0), signal: None });
        term.wait_until_as_before();
    }
    assert_eq!(bed.stored(), ["hello there"]);
}

#[cfg(target_os = "linux")]
/// The engine dies by SIGKILL before there was a message: no session.
fn killed(id: &str) {
    let Some(bed) = Bed::new(id, DOC) else { return };
    let _turn = bed.engine.turn();
    let mut term = bed.open();
    crate::tui_life::kill::the_engine(&bed.home, &mut term);
    assert_eq!(bed.stored(), Vec::<String>::new());
}

macro_rules! cases {
    ($($name:ident: $case:expr;)+) => {
        $(#[test]
        fn $name() {
            $case;
        })+
    };
}

cases! {
    trust_dialog_first_claude:
        trust_dialog_first("claude", CLAUDE_ASKS, &[Key::Up, Key::Enter], Then::GoesOn);
    trust_dialog_first_claude_2_1_197:
        trust_dialog_first("claude-2.1.197", CLAUDE_ASKS, &[Key::Enter], Then::GoesOn);
    trust_dialog_first_codex:
        trust_dialog_first("codex", "Trust this folder?", &[Key::Enter], Then::GoesOn);
    trust_dialog_first_gemini:
        trust_dialog_first("gemini", GEMINI_ASKS, &[Key::Enter], Then::StartsAnew);
    trust_refused_first_gemini:
        trust_dialog_first("gemini", GEMINI_ASKS, &[Key::Up, Key::Enter], Then::GoesOn);
    quit_by_ctrl_c_claude: quit("claude", &[Key::Ctrl('c'), Key::Ctrl('c')]);
    quit_by_ctrl_c_pi: quit("pi", &[Key::Ctrl('c'), Key::Ctrl('c')]);
    quit_by_ctrl_d_codex: quit("codex", &[Key::Ctrl('d')]);
}

#[cfg(target_os = "linux")]
cases! {
    killed_claude: killed("claude");
    killed_codex: killed("codex");
    killed_gemini: killed("gemini");
}
