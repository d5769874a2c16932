//! omni-run is killed in the middle of an approval, at each step. The next look ends the action by
//! what it finds: done once, or told as not done, with nothing left over (S83, H10).

use std::os::unix::process::ExitStatusExt;

use omni_run::control::actions::{ActionId, OutcomeCode, Status, Wish};
use omni_run::project::{Bucket, docs, registry};
use serde_json::json;

use crate::support::approvals::{Desk, NOW, TOO_LONG, add, delete, replace, settings};
use crate::support::home::write;
use crate::support::run;

/// Approves in a process that is killed at this step.
#[track_caller]
fn killed(desk: &Desk, id: ActionId, step: &str) {
    let mut probe = desk.probe(&["approve", &id.to_string()]);
    probe.env("OMNI_TEST_DIE_AT", step);
    let end = run(&mut probe, "");
    assert_eq!(end.status.signal(), Some(9), "{step}: {end:?}");
}

/// Asks and is killed; a status of `None` is for a kill after the last mark.
#[track_caller]
fn left_in_the_middle(desk: &Desk, wish: Wish, step: &str) -> ActionId {
    // By the clock of the probe, or it would be too late for it.
    let now = clock();
    let id = desk.ask_at(wish, now).expect("taken in").action.id;
    killed(desk, id, step);
    let status = if step == "marked" { Status::Applied } else { Status::Applying };
    assert_eq!(desk.get(id).status, status, "{step}");
    id
}

fn clock() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    i64::try_from(since.expect("clock").as_millis()).expect("clock")
}

#[track_caller]
fn look(desk: &Desk) {
    desk.queue().look(clock()).expect("look");
    let locks = std::fs::read_dir(desk.paths().data.join("locks")).expect("locks").flatten();
    let left: Vec<_> = locks
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("action-"))
        .collect();
    assert_eq!(left, [""; 0], "locks of decided actions");
}

#[test]
fn h10_a_copy_killed_at_each_step_lands_once_and_whole() {
    for step in ["claimed", "draft", "copied", "linked", "landed", "done", "marked"] {
        let desk = Desk::new();
        let path = desk.source("a.md", "text");
        let id = left_in_the_middle(&desk, add(&path, "a.md", Bucket::Always), step);
        look(&desk);
        let action = desk.get(id);
        let code = action.outcome.as_ref().expect("outcome").code;
        assert_eq!((action.status, code), (Status::Applied, OutcomeCode::Added), "{step}");
        assert_eq!(action.decided_by.as_deref(), Some("probe"));
        assert_eq!(desk.tree(), [".claude/docs/a.md"], "{step}");
        assert_eq!(desk.doc("a.md").as_deref(), Some(b"text".as_slice()));
        // A second click, after the doc was removed by hand, brings nothing back.
        std::fs::remove_file(desk.docs().join("a.md")).expect("remove");
        let again = desk.approve(id);
        assert_eq!((again.first, again.action), (false, action));
        assert_eq!(desk.tree(), [""; 0], "{step}");
    }
}

#[test]
fn h10_a_replacement_killed_at_each_step_lands_once_and_whole() {
    for step in ["claimed", "draft", "copied", "landed", "done", "marked"] {
        let desk = Desk::with_docs(&[("a.md", b"old")]);
        let path = desk.source("new.md", "new");
        let id = left_in_the_middle(&desk, replace(&path, "a.md"), step);
        let now = desk.doc("a.md");
        assert!(now == Some(b"old".to_vec()) || now == Some(b"new".to_vec()), "{step}: {now:?}");
        look(&desk);
        let code = desk.get(id).outcome.expect("outcome").code;
        assert_eq!(code, OutcomeCode::Replaced, "{step}");
        assert_eq!(desk.tree(), [".claude/docs/a.md"], "{step}");
        assert_eq!(desk.doc("a.md").as_deref(), Some(b"new".as_slice()), "{step}");
    }
}

#[test]
fn h10_a_deletion_killed_at_each_step_takes_flag_and_place_along() {
    let is_text = |_: &std::ffi::OsStr| true;
    for step in ["claimed", "landed", "done", "marked"] {
        let desk = Desk::with_docs(&[("a.md", b"a"), ("b.md", b"b"), ("rag/a.md", b"r")]);
        let queue = desk.queue();
        docs::instruct(queue.store(), &desk.project, "a.md".as_ref(), is_text, NOW).expect("flag");
        let order = ["b.md".into(), "a.md".into()];
        docs::set_order(queue.store(), &desk.project, &order, NOW).expect("order");
        let id = left_in_the_middle(&desk, delete("a.md", Some(Bucket::Always)), step);
        look(&desk);
        assert_eq!(desk.get(id).outcome.expect("outcome").code, OutcomeCode::Deleted, "{step}");
        assert_eq!(desk.tree(), [".claude/docs/b.md", ".claude/docs/rag/a.md"], "{step}");
        let kept = registry::of_folder(queue.store(), &desk.project).expect("read");
        let kept = kept.expect("project").docs;
        assert_eq!((kept.order, kept.flags), (vec!["b.md".to_owned()], vec![]), "{step}");
    }
}

#[test]
fn h10_settings_killed_at_each_step_are_set_once() {
    for step in ["claimed", "copied", "landed", "done", "marked"] {
        let desk = Desk::new();
        let file = desk.home.config().join("omni-run/config.toml");
        write(&file, "# mine\nchip = true\n");
        let id = left_in_the_middle(&desk, settings(&json!({ "chip": false })), step);
        look(&desk);
        assert_eq!(desk.get(id).outcome.expect("outcome").code, OutcomeCode::Changed, "{step}");
        let text = std::fs::read_to_string(&file).expect("config");
        assert_eq!(text, "# mine\nchip = false\n", "{step}");
    }
}

/// What somebody has changed since the kill is theirs: neither overwritten nor deleted.
#[test]
fn h10_what_was_changed_after_a_kill_is_left_as_it_is() {
    let source = |desk: &Desk| desk.source("new.md", "new");
    for step in ["claimed", "copied", "landed"] {
        let desk = Desk::with_docs(&[("a.md", b"old")]);
        let id = left_in_the_middle(&desk, replace(&source(&desk), "a.md"), step);
        write(desk.docs().join("a.md"), "by hand");
        look(&desk);
        let action = desk.get(id);
        let code = action.outcome.expect("outcome").code;
        assert_eq!((action.status, code), (Status::Failed, OutcomeCode::Interrupted), "{step}");
        assert_eq!(desk.doc("a.md"), Some(b"by hand".to_vec()), "{step}");
        assert_eq!(desk.tree(), [".claude/docs/a.md"], "{step}");
    }
    let desk = Desk::with_docs(&[("a.md", b"old")]);
    let id = left_in_the_middle(&desk, delete("a.md", None), "claimed");
    write(desk.docs().join("a.md"), "by hand");
    look(&desk);
    assert_eq!(desk.get(id).outcome.expect("outcome").code, OutcomeCode::Interrupted);
    assert_eq!(desk.doc("a.md"), Some(b"by hand".to_vec()));
}

#[test]
fn h05_a_source_that_changed_after_a_kill_does_not_land() {
    for step in ["claimed", "draft", "copied"] {
        let desk = Desk::new();
        let path = desk.source("a.md", "benign");
        let id = left_in_the_middle(&desk, add(&path, "a.md", Bucket::Always), step);
        write(&path, "malign");
        look(&desk);
        assert_eq!(desk.get(id).outcome.expect("outcome").code, OutcomeCode::SourceChanged);
        assert_eq!(desk.tree(), [""; 0], "{step}");
    }
}

#[test]
fn an_approval_that_was_left_for_a_week_is_not_carried_out() {
    let desk = Desk::new();
    let path = desk.source("a.md", "text");
    let id = left_in_the_middle(&desk, add(&path, "a.md", Bucket::Always), "copied");
    desk.queue().look(clock() + TOO_LONG).expect("look");
    assert_eq!(desk.get(id).outcome.expect("outcome").code, OutcomeCode::Interrupted);
    assert_eq!(desk.tree(), [""; 0]);
}

/// The next click is a look too.
#[test]
fn a_click_ends_what_a_kill_has_left() {
    let desk = Desk::new();
    let path = desk.source("a.md", "text");
    let id = left_in_the_middle(&desk, add(&path, "a.md", Bucket::Always), "copied");
    let decided = desk.queue().approve(id, "somebody else", clock()).expect("decided");
    assert_eq!((decided.first, decided.action.status), (false, Status::Applied));
    assert_eq!(decided.action.decided_by.as_deref(), Some("probe"), "the first word stands");
    assert_eq!(desk.tree(), [".claude/docs/a.md"]);
}
