//! Every situation of a first message, on every recipe.

use super::*;

/// Runs a situation on all recipes. `act` gets a ready engine.
fn each(act: impl Fn(&str, &mut Run)) {
    for (id, spec) in recipes() {
        let mut run = Run::ready(&spec);
        act(&id, &mut run);
    }
}

#[test]
fn a_message_gets_the_block_and_the_next_does_not() {
    each(|id, run| {
        run.line("hello wörld 世界 👩‍👧");
        run.assert_delivered(id, "hello wörld 世界 👩‍👧");
        run.line("second");
        assert_eq!(run.engine.submitted[1..], ["second"], "{id}");
    });
}

#[test]
fn three_lines() {
    each(|id, run| {
        run.line("one\ntwo\nthree");
        run.assert_delivered(id, "one\ntwo\nthree");
    });
}

#[test]
fn text_and_enter_in_one_read() {
    each(|id, run| {
        run.burst("hello\r");
        run.pass(6_000);
        run.assert_delivered(id, "hello");
    });
}

#[test]
fn a_slow_engine() {
    each(|id, run| {
        run.engine.delay = Duration::from_millis(200);
        run.burst("hello\r");
        run.pass(12_000);
        run.assert_delivered(id, "hello");
    });
}

#[test]
fn commands_shell_lines_and_empty_enters_pass() {
    each(|id, run| {
        for line in ["/help", "/model x", "", "", "!ls -l"] {
            run.line(line);
        }
        let shell = run.engine.commands.iter().any(|c| c.starts_with('!'));
        assert!(run.engine.submitted.is_empty() && shell, "{id}: {:?}", run.engine.submitted);
        assert_eq!(run.engine.commands, ["/help", "/model x", "!ls -l"], "{id}");
        assert!(run.recorded.is_empty() && run.notes.is_empty(), "{id}");
        run.line("now");
        run.assert_delivered(id, "now");
    });
}

#[test]
fn a_path_is_no_command() {
    each(|id, run| {
        run.line("/etc/hosts what is it");
        run.assert_delivered(id, "/etc/hosts what is it");
    });
}

#[test]
fn a_dialog_is_answered_by_the_user_alone() {
    for (id, spec) in recipes() {
        let mut run = Run::cold(&spec, PREFIX, None);
        run.engine.dialog = true;
        run.start();
        let before = run.sent.len();
        run.pass(5_000);
        assert_eq!(run.sent.len(), before, "{id}: a key of ours");
        run.burst("\r");
        run.pass(2_000);
        assert_eq!((run.engine.answers, &run.sent[before..]), (1, b"\r".as_slice()), "{id}");
        run.line("hello");
        run.assert_delivered(&id, "hello");
    }
}

#[test]
fn a_letter_that_answers_a_dialog_is_no_draft() {
    for (id, spec) in recipes() {
        let mut run = Run::cold(&spec, PREFIX, None);
        run.engine.dialog = true;
        run.start();
        run.burst("a");
        run.pass(300);
        run.engine.dialog = false;
        run.paint();
        run.pass(300);
        run.line("hello");
        run.assert_delivered(&id, "hello");
    }
}

#[test]
fn an_enter_before_the_start_waits_for_the_composer() {
    for (id, spec) in recipes() {
        let mut run = Run::cold(&spec, PREFIX, None);
        run.burst("\r");
        run.pass(3_000);
        assert!(run.sent.is_empty(), "{id}");
        run.burst("hi\r");
        run.pass(100);
        run.start();
        run.pass(6_000);
        // The first Enter met an empty composer.
        run.assert_delivered(&id, "hi");
    }
}

#[test]
fn a_signal_key_before_the_start_goes_at_once() {
    for (id, spec) in recipes() {
        for (key, sends) in [("\x03", false), ("\x1c", false), ("\x1a", true)] {
            let mut run = Run::cold(&spec, PREFIX, None);
            run.burst("hi\r");
            run.pass(500);
            run.burst(key);
            assert_eq!(run.sent.last(), key.as_bytes().last(), "{id} {key:?}");
            // The longest start of all engines is over then.
            run.pass(100_000);
            // An interrupt has taken the Enter along.
            assert_eq!(run.sent.contains(&b'\r'), sends, "{id} {key:?}");
        }
    }
}

#[test]
fn an_enter_before_a_dialog_does_not_answer_it() {
    for (id, spec) in recipes() {
        let mut run = Run::cold(&spec, PREFIX, None);
        run.burst("hi\r");
        run.engine.dialog = true;
        run.pass(500);
        run.start();
        run.pass(20_000);
        assert_eq!(run.engine.answers, 0, "{id}");
        run.burst("\r");
        run.pass(3_000);
        assert_eq!(run.engine.answers, 1, "{id}");
        run.line("hello");
        run.assert_delivered(&id, "hello");
    }
}

#[test]
fn an_unknown_start_screen_gets_its_enter_soon() {
    for (id, spec) in recipes() {
        let mut run = Run::cold(&spec, PREFIX, None);
        run.event(GateEvent::EngineBytes(b"A question that nobody knows [y/N]"));
        run.pass(2_000);
        run.burst("\r");
        run.pass(300);
        assert_eq!(run.sent, b"\r", "{id}");
    }
}

#[test]
fn the_terminals_own_echo_is_no_start_screen() {
    for (id, spec) in recipes() {
        let mut run = Run::cold(&spec, PREFIX, None);
        run.burst("early");
        run.event(GateEvent::EngineBytes(b"early"));
        run.pass(50);
        run.burst("\r");
        run.pass(4_000);
        assert_eq!(run.sent, b"early", "{id}: the Enter waits");
        run.engine.composer = "early".to_owned();
        run.start();
        run.pass(6_000);
        run.assert_delivered(&id, "early");
    }
}

#[test]
fn newline_keys_and_enters_in_pastes_do_not_submit() {
    each(|id, run| {
        for bytes in ["a", "\n", "b", "\x1b\r", "c", "\x1b[13;2u", "\x1b[200~d\re\x1b[201~"] {
            run.burst(bytes);
            run.pass(100);
        }
        assert!(run.engine.submitted.is_empty(), "{id}");
        run.burst("\r");
        run.pass(6_000);
        run.assert_delivered(id, "a\nb\nc\nd\ne");
    });
}

#[test]
fn a_backslash_before_enter() {
    for (id, spec) in recipes().into_iter().filter(|(_, spec)| spec.backslash_newline) {
        let mut run = Run::ready(&spec);
        run.typing("one\\");
        run.burst("\r");
        run.pass(500);
        assert!(run.engine.submitted.is_empty(), "{id}");
        run.line("two");
        run.assert_delivered(&id, "one\ntwo");
    }
}

#[test]
fn kitty_enters() {
    for enter in ["\x1b[13u", "\x1b[13;1:1u", "\x1b[57414u", "\x1b[27;1;13~"] {
        each(|id, run| {
            run.typing("hello");
            run.burst(enter);
            run.burst("\x1b[13;1:3u");
            run.pass(6_000);
            run.assert_delivered(id, "hello");
            assert!(run.sent.ends_with(b"\x1b[13;1:3u"), "{id}: the release comes last");
        });
    }
}

#[test]
fn what_is_typed_behind_waits_its_turn() {
    each(|id, run| {
        run.typing("hello");
        run.burst("\rnext\x1b[A\r");
        run.pass(10_000);
        assert_eq!(run.engine.submitted, [format!("{PREFIX}hello"), "next".to_owned()], "{id}");
        assert_eq!(run.recorded, ["hello"], "{id}");
    });
}

#[test]
fn replies_are_not_held() {
    each(|id, run| {
        run.typing("hello");
        run.burst("\r");
        let before = run.sent.len();
        run.burst("x\x1b[?62c\x1b[3;4R");
        assert!(run.sent[before..].ends_with(b"\x1b[?62c\x1b[3;4R"), "{id}");
        run.pass(6_000);
        assert_eq!(run.engine.submitted.len(), 1, "{id}");
        assert_eq!(run.engine.composer, "x", "{id}");
    });
}

#[test]
fn recalled_from_history() {
    each(|id, run| {
        run.engine.history = Some("from the past".to_owned());
        run.burst("\x1b[A");
        run.pass(300);
        run.burst("\r");
        run.pass(6_000);
        assert_eq!(run.engine.submitted, [format!("{PREFIX}from the past")], "{id}");
        assert_eq!(run.recorded, ["from the past"], "{id}");
    });
}

/// S54, S60: the block of another day, which such an engine has in its history, is not sent again and
/// not stored.
#[test]
fn recalled_with_the_block_of_an_earlier_session() {
    for (id, spec) in recipes().into_iter().filter(|(_, spec)| spec.needs_editor()) {
        for front in [EARLIER.to_owned(), PREFIX.to_owned(), format!("{PREFIX}{EARLIER}")] {
            let mut run = Run::ready(&spec);
            run.engine.history = Some(format!("{front}from the past"));
            run.burst("\x1b[A");
            run.pass(300);
            run.burst("\r");
            run.pass(6_000);
            run.assert_delivered(&id, "from the past");
        }
        // Docs that are switched off stay off, and a command stays text.
        let mut run = Run::cold(&spec, "", None);
        run.start();
        run.engine.history = Some(format!("{EARLIER}/help me"));
        run.burst("\x1b[A");
        run.pass(300);
        run.burst("\r");
        run.pass(6_000);
        assert_eq!(run.engine.submitted, [" /help me"], "{id}");
        assert_eq!(run.recorded, ["/help me"], "{id}");
    }
}

/// A pasted path that the engine made an image of: the composer's text counts, not what the keys were.
#[test]
fn an_image_in_the_draft() {
    let with_images = |spec: &GateSpec| !spec.screen.images.is_empty();
    for (id, spec) in recipes().into_iter().filter(|(_, spec)| with_images(spec)) {
        let mut run = Run::ready(&spec);
        let draft = format!("{}1] what?", spec.screen.images[0]);
        run.typing("/tmp/a.png what?");
        run.engine.rewrite(&draft);
        run.paint();
        run.pass(300);
        run.burst("\r");
        run.pass(6_000);
        if spec.needs_editor() {
            run.assert_delivered(&id, &draft);
        } else {
            // It can't be put back, so the message goes as it is and the docs wait.
            assert_eq!(run.engine.submitted, [draft], "{id}");
            assert_eq!((run.recorded.len(), run.done), (0, false), "{id}");
            assert_eq!(run.notes.len(), 1, "{id}: {:?}", run.notes);
        }
    }
}

/// The engines drop blanks at the end of a message: what is stored is what was sent.
#[test]
fn blanks_at_the_end_are_not_stored() {
    each(|id, run| {
        run.line("hello  ");
        assert_eq!(run.recorded, ["hello"], "{id}");
        assert_eq!(run.engine.submitted, [format!("{PREFIX}hello")], "{id}");
    });
}

/// A name at the end of the draft would open the engine's list once more when the editor gives the text
/// back, and the list would take the Enter and change the text.
#[test]
fn a_name_at_the_end_opens_no_list() {
    for (id, spec) in recipes().into_iter().filter(|(_, spec)| spec.route == GateRoute::Editor) {
        let mut run = Run::ready(&spec);
        run.typing("look at @not");
        run.burst("\r");
        while run.helper.is_none() {
            run.pass(20);
        }
        assert_eq!(run.engine.composer, format!("{PREFIX}look at @not "), "{id}");
        run.pass(6_000);
        run.assert_delivered(&id, "look at @not");
    }
}

#[test]
fn a_completion_list_that_eats_an_enter() {
    each(|id, run| {
        run.engine.eats = 1;
        run.line("hello");
        run.assert_delivered(id, "hello");
    });
}

#[test]
fn a_dialog_over_an_unsent_message() {
    each(|id, run| {
        run.engine.eats = 1;
        run.typing("hello");
        run.burst("\r");
        while run.recorded.is_empty() {
            run.pass(20);
        }
        run.pass(700);
        run.engine.dialog = true;
        run.paint();
        run.pass(30_000);
        assert!(!run.done, "{id}");
        run.burst("\r");
        run.pass(6_000);
        assert_eq!(run.engine.answers, 1, "{id}");
        run.assert_delivered(id, "hello");
    });
}

#[test]
fn an_engine_that_does_not_take_it_is_told_of_and_cleared_by_the_user() {
    each(|id, run| {
        run.engine.deaf = true;
        run.line("hello");
        run.pass(20_000);
        assert!(!run.done && run.engine.submitted.is_empty(), "{id}");
        assert_eq!(run.notes.len(), 1, "{id}: {:?}", run.notes);
        // Sent by the user after all: the block is not put in again.
        run.engine.deaf = false;
        run.burst("\r");
        run.pass(8_000);
        assert_eq!(run.engine.submitted, [format!("{PREFIX}hello")], "{id}");
        assert!(run.done, "{id}");
    });
    each(|id, run| {
        run.engine.deaf = true;
        run.line("hello");
        run.pass(20_000);
        run.engine.deaf = false;
        run.burst("\x03");
        run.pass(300);
        run.line("again");
        assert_eq!(run.engine.submitted, [format!("{PREFIX}again")], "{id}");
    });
}

#[test]
fn the_users_own_editor() {
    for (id, spec) in recipes().into_iter().filter(|(_, spec)| spec.editor.ctrl.is_some()) {
        let mut run = Run::ready(&spec);
        run.typing("dra");
        run.burst("\x07");
        run.pass(1_000);
        assert_eq!(run.users_editor, 1, "{id}");
        // These go to his editor.
        run.burst("\r:wq\r");
        run.engine.rewrite("drafted\nin his editor");
        run.pass(6_000);
        run.burst("\r");
        run.pass(6_000);
        run.assert_delivered(&id, "drafted\nin his editor");
    }
}

#[test]
fn an_engine_that_works_gets_its_enter() {
    each(|id, run| {
        run.engine.working = true;
        run.paint();
        run.line("steer");
        assert_eq!(run.engine.submitted, ["steer"], "{id}");
        assert!(!run.done && run.recorded.is_empty(), "{id}");
    });
}

#[test]
fn a_lone_escape_is_through_in_time() {
    each(|id, run| {
        run.typing("a");
        run.burst("\x1b");
        assert!(!run.sent.ends_with(b"\x1b"), "{id}");
        run.pass(60);
        assert!(run.sent.ends_with(b"\x1b"), "{id}");
    });
}

#[test]
fn without_bracketed_paste_nothing_is_framed() {
    each(|id, run| {
        run.engine.takes_paste = false;
        run.paint();
        run.line("hello");
        assert!(!run.sent.windows(6).any(|w| w == b"\x1b[200~"), "{id}");
        assert!(run.engine.submitted[0].ends_with("hello"), "{id}");
        let with = run.engine.submitted[0].starts_with(PREFIX);
        assert!(with || !run.notes.is_empty(), "{id}: without a word");
    });
}

#[test]
fn an_editor_key_without_an_answer() {
    let spec = recipe(GateRoute::Editor);
    let mut run = Run::ready(&spec);
    run.engine.has_editor = false;
    run.line("hello");
    assert_eq!(run.engine.submitted, ["hello"]);
    assert_eq!(run.notes.len(), 1);
    assert!(!run.done);
    // The helper is late: it must not open the user's editor.
    run.event(GateEvent::EditorCalled { text: String::new() });
    assert_eq!(run.users_editor, 0);
    run.pass(1_000);
    run.engine.has_editor = true;
    run.line("again");
    assert_eq!(run.engine.submitted[1..], [format!("{PREFIX}again")]);
}

#[test]
fn nothing_to_inject_is_still_recorded() {
    for (id, spec) in recipes() {
        let mut run = Run::cold(&spec, "", None);
        run.start();
        run.line("/help");
        run.line("hello");
        assert_eq!(run.engine.submitted, ["hello"], "{id}");
        assert_eq!(run.recorded, ["hello"], "{id}");
        assert!(run.done, "{id}");
    }
}

#[test]
fn a_plugin_engine_is_only_observed() {
    let spec = GateSpec { route: GateRoute::Plugin, ..GateSpec::default() };
    let mut gate = for_engine(&spec, PREFIX.to_owned(), None, Fronts::default());
    let now = Instant::now();
    assert_eq!(
        gate.event(GateEvent::UserBytes(b"hi\r\x1b"), now),
        [Effect::ToEngine(b"hi\r\x1b".to_vec())]
    );
    let report = |event: &str, text: Option<&str>| {
        GateEvent::PluginReport(PluginReport {
            event: event.to_owned(),
            text: text.map(str::to_owned),
            session: None,
        })
    };
    assert_eq!(
        gate.event(report("raw", Some("hi")), now),
        [Effect::Record(DisplayText::new("hi"))]
    );
    assert!(!gate.is_done());
    assert_eq!(gate.event(report("acted", None), now), [Effect::Done]);
    assert!(gate.is_done());
}
