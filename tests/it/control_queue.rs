//! The queue of approvals: taking in once, waiting, expiring, deciding (H08, S83, S84, S87).

use omni_run::control::actions::{
    ActionError, Filter, OutcomeCode, Payload, QUEUE_LIMIT, SettingsChange, Status, Wish,
};
use omni_run::project::{Bucket, registry};
use serde_json::json;

use crate::support::approvals::{Desk, NOW, TOO_LONG, add, delete, launch, settings};
use crate::support::home::write;

const POST: &str = "POST /project/p1/docs";

#[test]
fn h08_fifty_at_once_are_one_action() {
    let desk = Desk::new();
    let path = desk.source("a.md", "text");
    let ids: Vec<_> = std::thread::scope(|scope| {
        let ask = || {
            let wish = add(&path, "a.md", Bucket::Always);
            let enqueued = desk.ask_with(wish, Some(("key-1", POST)), NOW).expect("taken in");
            (enqueued.action.id, enqueued.replayed)
        };
        let threads: Vec<_> = (0..50).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().expect("thread")).collect()
    });
    assert!(ids.iter().all(|(id, _)| *id == ids[0].0), "{ids:?}");
    assert_eq!(ids.iter().filter(|(_, replayed)| !replayed).count(), 1);
    assert_eq!(desk.queue().list(&Filter::default()).expect("list").len(), 1);
}

#[test]
fn h08_another_body_or_route_under_the_same_key_is_refused() {
    let desk = Desk::with_docs(&[("a.md", b"x"), ("rag/a.md", b"y")]);
    let path = desk.source("b.md", "text");
    let key = Some(("key-1", POST));
    let first = desk.ask_with(add(&path, "b.md", Bucket::Always), key, NOW).expect("taken in");
    let mut others = vec![
        desk.ask_with(add(&path, "c.md", Bucket::Always), key, NOW),
        desk.ask_with(add(&path, "b.md", Bucket::Rag), key, NOW),
        desk.ask_with(delete("a.md", Some(Bucket::Rag)), key, NOW),
        // Also one that would be refused for itself, and one for a file that is not there.
        desk.ask_with(launch("no-engine", ""), key, NOW),
        desk.ask_with(add(&desk.home.root().join("none"), "b.md", Bucket::Always), key, NOW),
    ];
    for route in ["DELETE /project/p1/docs", "POST /project/p2/docs"] {
        let wish = add(&path, "b.md", Bucket::Always);
        others.push(desk.ask_with(wish, Some(("key-1", route)), NOW));
    }
    for other in others {
        assert!(matches!(other, Err(ActionError::KeyReused)), "{other:?}");
    }
    let actions = desk.queue().list(&Filter::default()).expect("list");
    assert_eq!(actions, [first.action]);
}

#[test]
fn h08_a_key_is_known_after_the_decision_a_restart_and_the_end_of_the_source() {
    let desk = Desk::new();
    let path = desk.source("a.md", "text");
    let ask = |key: &str| {
        desk.ask_with(add(&path, "a.md", Bucket::Always), Some((key, POST)), NOW).expect("known")
    };
    let (approved, rejected) = (ask("key-1").action.id, ask("key-2").action.id);
    assert_ne!(approved, rejected, "another key is another action");
    desk.approve(approved);
    desk.queue().reject(rejected, "a test", NOW).expect("rejected");
    std::fs::remove_file(&path).expect("remove");
    for (key, id, status) in
        [("key-1", approved, Status::Applied), ("key-2", rejected, Status::Rejected)]
    {
        let again = ask(key);
        assert_eq!((again.action.id, again.action.status, again.replayed), (id, status, true));
    }
}

#[test]
fn without_a_key_each_request_is_an_action() {
    let desk = Desk::new();
    let first = desk.asked(launch("echo", "hi"));
    let second = desk.asked(launch("echo", "hi"));
    assert_ne!(first, second);
    let ids: Vec<_> =
        desk.queue().list(&Filter::default()).expect("list").iter().map(|a| a.id).collect();
    assert_eq!(ids, [first, second], "oldest first");
    assert_eq!(desk.queue().waiting(NOW).expect("count"), 2);
    let newest = Filter { limit: Some(1), ..Filter::default() };
    assert_eq!(desk.queue().list(&newest).expect("list")[0].id, second);
    let other = Filter { project: Some("p2".to_owned()), ..Filter::default() };
    assert_eq!(desk.queue().list(&other).expect("list"), []);
}

#[test]
fn s83_what_nobody_decides_expires_and_is_kept_for_the_record() {
    let desk = Desk::new();
    let path = desk.source("a.md", "text");
    let id = desk.asked(add(&path, "a.md", Bucket::Always));
    let queue = desk.queue();
    let late = NOW + TOO_LONG;
    assert!(!queue.has_to_look(NOW).expect("look") && queue.has_to_look(late).expect("look"));
    assert_eq!(queue.waiting(late).expect("count"), 0, "not waiting any more, also before a look");
    // The approval itself is too late, with or without a look before it.
    let decided = queue.approve(id, "a test", late).expect("decided");
    assert!(!decided.first);
    assert_eq!(decided.action.status, Status::Expired);
    assert_eq!(decided.action.decided_by, None);
    assert_eq!(decided.action.outcome.expect("outcome").code, OutcomeCode::Expired);
    assert_eq!(desk.doc("a.md"), None);

    let second = desk.asked(launch("echo", "hi"));
    queue.look(NOW + 1).expect("look");
    assert_eq!(desk.get(second).status, Status::Pending);
    queue.look(late).expect("look");
    assert_eq!(desk.get(second).status, Status::Expired);
    let reject = queue.reject(second, "a test", late).expect("decided");
    assert_eq!((reject.first, reject.action.status), (false, Status::Expired));
    assert_eq!(queue.list(&Filter::default()).expect("list"), []);
    let all = Filter { decided: true, ..Filter::default() };
    assert_eq!(queue.list(&all).expect("list").len(), 2);
}

#[test]
fn s83_who_asked_and_who_decided_is_kept() {
    let desk = Desk::new();
    let id = desk.asked(settings(&json!({ "chip": false })));
    let before = desk.get(id);
    assert_eq!((before.asked_by.as_str(), before.asked_at), ("a test", NOW));
    let decided = desk.queue().approve(id, "me at /dev/pts/1", NOW + 5).expect("decided");
    let action = desk.get(id);
    assert_eq!(decided.action, action);
    assert_eq!(action.decided_by.as_deref(), Some("me at /dev/pts/1"));
    assert_eq!((action.decided_at, action.applied_at), (Some(NOW + 5), Some(NOW + 5)));
    let rejected = desk.asked(launch("echo", "hi"));
    desk.queue().reject(rejected, "me", NOW + 7).expect("decided");
    let action = desk.get(rejected);
    assert_eq!((action.status, action.decided_by.as_deref()), (Status::Rejected, Some("me")));
    assert_eq!((action.decided_at, action.applied_at), (Some(NOW + 7), None));
}

#[test]
fn h10_a_word_after_the_first_changes_nothing() {
    let desk = Desk::new();
    let path = desk.source("a.md", "text");
    let id = desk.asked(add(&path, "a.md", Bucket::Always));
    let first = desk.approve(id);
    assert!(first.first);
    // Gone by hand: a second click must not bring it back.
    std::fs::remove_file(desk.docs().join("a.md")).expect("remove");
    let second = desk.approve(id);
    assert_eq!((second.first, &second.action), (false, &first.action));
    let reject = desk.queue().reject(id, "a test", NOW + 9).expect("decided");
    assert_eq!((reject.first, &reject.action), (false, &first.action));
    assert_eq!(desk.doc("a.md"), None);

    let id = desk.asked(add(&path, "b.md", Bucket::Always));
    desk.queue().reject(id, "a test", NOW + 1).expect("decided");
    let late = desk.approve(id);
    assert_eq!((late.first, late.action.status), (false, Status::Rejected));
    assert_eq!(desk.doc("b.md"), None);
}

#[test]
fn s85_what_a_launch_can_not_ask_for() {
    let desk = Desk::new();
    let model = |model: &str| Wish::Launch {
        engine: "echo".to_owned(),
        prompt: "hi".to_owned(),
        model: Some(model.to_owned()),
    };
    for (wish, code) in [
        (launch("ehco", "hi"), "unknown_engine"),
        (launch("../echo", "hi"), "unknown_engine"),
        (launch("echo", " \n"), "bad_prompt"),
        (launch("echo", "a\0b"), "bad_prompt"),
        (model("--dangerously"), "bad_model"),
        (model(""), "bad_model"),
        (model("a b"), "bad_model"),
        (model("a\nb"), "bad_model"),
    ] {
        let refused = desk.ask(wish.clone()).expect_err("refused");
        assert_eq!(refused.code(), code, "{wish:?}");
    }
    let near = desk.ask(launch("ehco", "hi")).expect_err("refused").hint();
    assert_eq!(near.as_deref(), Some("did you mean `echo`?"));
    assert!(desk.ask(model("opus-4.5[1m]")).is_ok());
}

#[test]
fn s87_only_harmless_settings_can_be_asked_for() {
    for (body, key) in [
        (json!({ "secrets": "off" }), "secrets"),
        (json!({ "default-engine": "x" }), "default-engine"),
        (json!({ "models": {} }), "models"),
        (json!({ "chip": true, "engines": {} }), "engines"),
        (json!({ "chip": "yes" }), "chip"),
        (json!({ "chip": null }), "chip"),
        (json!({ "retention-days": -1 }), "retention-days"),
        (json!({ "log-level": "loud" }), "log-level"),
        (json!({}), ""),
        (json!([]), ""),
    ] {
        match SettingsChange::from_json(&body) {
            Err(ActionError::BadSetting { key: told, .. }) => assert_eq!(told, key, "{body}"),
            other => panic!("{body}: {other:?}"),
        }
    }
}

#[test]
fn s87_approved_settings_are_in_the_file_and_the_rest_of_it_stays() {
    let desk = Desk::new();
    let file = desk.home.config().join("omni-run/config.toml");
    write(&file, "# mine\nsecrets = \"deny\"\nchip = true # so\n");
    let id = desk.asked(settings(&json!({ "chip": false, "log-level": "info" })));
    assert!(matches!(desk.get(id).payload, Payload::Settings(_)));
    let done = desk.approve(id).action;
    assert_eq!((done.status, done.outcome.expect("outcome").code), {
        (Status::Applied, OutcomeCode::Changed)
    });
    assert_eq!(
        std::fs::read_to_string(&file).expect("config"),
        "log-level = \"info\"\n# mine\nsecrets = \"deny\"\nchip = false # so\n"
    );
    // A file that is wrong is nobody's to mend but the person's.
    write(&file, "chip = maybe\n");
    let id = desk.asked(settings(&json!({ "chip": true })));
    let failed = desk.approve(id).action;
    assert_eq!((failed.status, failed.outcome.expect("outcome").code), {
        (Status::Failed, OutcomeCode::ConfigUnusable)
    });
    assert_eq!(std::fs::read_to_string(&file).expect("config"), "chip = maybe\n");
}

#[test]
fn a_renamed_project_keeps_what_waits_and_a_removed_one_does_not() {
    let desk = Desk::new();
    let path = desk.source("a.md", "text");
    let (renamed, removed) = (
        desk.asked(add(&path, "a.md", Bucket::Always)),
        desk.asked(add(&path, "b.md", Bucket::Always)),
    );
    let queue = desk.queue();
    registry::rename(queue.store(), "p1", "p9", NOW).expect("rename");
    let action = desk.approve(renamed).action;
    assert_eq!((action.project.as_deref(), action.status), (Some("p9"), Status::Applied));
    // The id means another folder now.
    registry::remove(queue.store(), "p9").expect("remove");
    let other = desk.home.project("other");
    registry::add(queue.store(), &other, Some("p9"), NOW).expect("add");
    let action = desk.approve(removed).action;
    let code = action.outcome.expect("outcome").code;
    assert_eq!((action.status, code), (Status::Failed, OutcomeCode::ProjectGone));
    assert!(desk.doc("b.md").is_none() && !other.join(".claude").exists());
}

#[test]
fn a_program_that_has_run_wild_fills_the_queue_and_no_more() {
    let desk = Desk::new();
    let first = desk.asked(launch("echo", "hi"));
    // One row many times: each by itself would wait for the disk.
    let raw = rusqlite::Connection::open(desk.queue().store().file()).expect("database");
    let copied = raw.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1 - 1)
         INSERT INTO cli_pending_actions (id, kind, project_id, project_path, payload_json,
           asked_by, asked_at, expires_at)
         SELECT substr(id, 1, 24) || printf('%012x', i), kind, project_id, project_path,
           payload_json, asked_by, asked_at, expires_at
         FROM cli_pending_actions, n WHERE id = ?2",
        rusqlite::params![QUEUE_LIMIT, first.to_string()],
    );
    assert_eq!(copied.expect("copy") + 1, QUEUE_LIMIT as usize);
    let refused = desk.ask(launch("echo", "hi")).expect_err("full");
    assert_eq!(refused.code(), "queue_full");
    assert!(
        desk.ask_at(launch("echo", "hi"), NOW + TOO_LONG).is_ok(),
        "what expired has left room"
    );
}
