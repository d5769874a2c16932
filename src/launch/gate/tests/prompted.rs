//! A first message that is given: it goes in when the composer is there, after the dialogs.

use super::*;

fn prompted(spec: &GateSpec, prefix: &str, text: &str) -> Run {
    let mut run = Run::cold(spec, prefix, Some(text));
    run.pass(500);
    run
}

#[test]
fn it_is_sent_once_the_composer_is_there() {
    for (id, spec) in recipes() {
        let mut run = prompted(&spec, PREFIX, "do it\nnow 世界");
        assert!(run.sent.is_empty(), "{id}");
        run.start();
        run.pass(10_000);
        assert_eq!(run.engine.submitted, [format!("{PREFIX}do it\nnow 世界")], "{id}");
        assert!(run.done && run.notes.is_empty(), "{id}: {:?}", run.notes);
        assert!(run.recorded.is_empty(), "{id}: its row is written before the start");
    }
}

#[test]
fn dialogs_come_first_and_are_the_users() {
    for (id, spec) in recipes() {
        let mut run = prompted(&spec, PREFIX, "do it");
        run.engine.dialog = true;
        run.start();
        run.pass(5_000);
        assert!(run.sent.is_empty(), "{id}");
        run.burst("\r");
        run.pass(10_000);
        assert_eq!(run.engine.answers, 1, "{id}");
        assert_eq!(run.engine.submitted, [format!("{PREFIX}do it")], "{id}");
    }
}

#[test]
fn what_the_user_has_typed_is_not_mixed_with_it() {
    for (id, spec) in recipes() {
        let mut run = prompted(&spec, PREFIX, "do it");
        run.engine.start();
        run.paint();
        run.pass(50);
        run.burst("mine");
        run.pass(10_000);
        assert!(run.engine.submitted.is_empty(), "{id}");
        assert_eq!(run.engine.composer, "mine", "{id}");
        run.burst("\x03");
        run.pass(10_000);
        assert_eq!(run.engine.submitted, [format!("{PREFIX}do it")], "{id}");
    }
}

#[test]
fn a_word_that_looks_like_a_command_is_a_message() {
    for (id, spec) in recipes() {
        for text in ["/help", "!ls"] {
            let mut run = prompted(&spec, "", text);
            run.start();
            run.pass(10_000);
            let sent: Vec<&str> = run.engine.submitted.iter().map(|s| s.trim()).collect();
            assert_eq!(sent, [text], "{id}");
            let mut run = prompted(&spec, PREFIX, text);
            run.start();
            run.pass(10_000);
            assert_eq!(run.engine.submitted, [format!("{PREFIX}{text}")], "{id}");
        }
    }
}

#[test]
fn plugin_engines_get_the_draft_by_keys() {
    let catalogue = Catalogue::from_layers(None).expect("engines.toml");
    let plugins = catalogue.iter().filter(|(_, spec)| spec.gate.route == GateRoute::Plugin);
    for (id, spec) in
        plugins.filter(|(_, spec)| spec.gate.screen.frame != crate::engines::gate_spec::Frame::Bar)
    {
        let mut run = prompted(&spec.gate, PREFIX, "do it");
        run.start();
        run.pass(10_000);
        assert_eq!(run.engine.submitted, ["do it"], "{id}");
        assert!(run.done, "{id}");
    }
}
