//! How much room docs may take, and who decides at the same moment (H10, S81).

use omni_run::control::actions::{ALWAYS_LIMIT, OutcomeCode, Status};
use omni_run::project::Bucket;

use crate::support::approvals::{Desk, add, delete, replace};
use crate::support::home::write;

const MB: u64 = 1_000_000;

/// A file with holes: it has a size and takes no room.
fn sized(path: &std::path::Path, size: u64) {
    write(path, "");
    let file = std::fs::File::options().write(true).open(path).expect("open");
    file.set_len(size).expect("size");
}

#[test]
fn h10_uploads_that_wait_count() {
    let desk = Desk::new();
    sized(&desk.docs().join("there.md"), 60 * MB);
    let path = desk.source("24.md", "");
    sized(&path, 24 * MB);
    desk.asked(add(&path, "one.md", Bucket::Always));
    let refused = desk.ask(add(&path, "two.md", Bucket::Always)).expect_err("over");
    assert_eq!(refused.code(), "over_quota");
    assert!(refused.to_string().contains("60 MB and 24 MB more wait"), "{refused}");
    // The rag bucket has no limit, and what waits for it does not count.
    for name in ["a.md", "b.md", "c.md", "d.md"] {
        desk.asked(add(&path, name, Bucket::Rag));
    }
    let rest = desk.source("16.md", "");
    sized(&rest, 16 * MB);
    desk.asked(add(&rest, "three.md", Bucket::Always));
    let byte = desk.source("byte.md", "x");
    let refused = desk.ask(add(&byte, "four.md", Bucket::Always)).expect_err("over");
    assert_eq!(refused.code(), "over_quota");
}

#[test]
fn h10_the_room_is_looked_at_again_when_it_is_taken() {
    let desk = Desk::new();
    let path = desk.source("24.md", "");
    sized(&path, 24 * MB);
    let ids: Vec<_> =
        ["a.md", "b.md", "c.md"].map(|name| desk.asked(add(&path, name, Bucket::Always))).into();
    // By hand, since they were asked for.
    sized(&desk.docs().join("there.md"), 80 * MB);
    for id in ids {
        let action = desk.approve(id).action;
        let outcome = action.outcome.expect("outcome");
        assert_eq!((action.status, outcome.code), (Status::Failed, OutcomeCode::OverQuota));
    }
    assert_eq!(desk.tree(), [".claude/docs/there.md"]);
}

#[test]
fn h10_a_hundred_exactly_fits_and_what_is_replaced_makes_room() {
    let desk = Desk::new();
    sized(&desk.docs().join("there.md"), ALWAYS_LIMIT - 24 * MB);
    let path = desk.source("24.md", "");
    sized(&path, 24 * MB);
    let id = desk.asked(add(&path, "a.md", Bucket::Always));
    assert_eq!(desk.approve(id).action.status, Status::Applied);
    let id = desk.asked(replace(&path, "a.md"));
    assert_eq!(desk.approve(id).action.status, Status::Applied);
    let byte = desk.source("byte.md", "x");
    assert_eq!(
        desk.ask(add(&byte, "b.md", Bucket::Always)).expect_err("over").code(),
        "over_quota"
    );
    desk.approve(desk.asked(delete("there.md", None)));
    desk.asked(add(&byte, "b.md", Bucket::Always));
}

/// Many at once, each in a process of its own: the limit holds whoever is first.
#[test]
fn h10_approvals_at_the_same_moment_keep_the_limit() {
    let desk = Desk::new();
    let path = desk.source("20.md", "");
    sized(&path, 20 * MB);
    let ids: Vec<_> = ["a.md", "b.md", "c.md", "d.md", "e.md"]
        .map(|name| desk.asked(add(&path, name, Bucket::Always)).to_string())
        .into();
    // Room for three of the five.
    sized(&desk.docs().join("there.md"), 35 * MB);
    let children: Vec<_> = ids
        .iter()
        .map(|id| desk.probe(&["approve", id]).stdout(std::process::Stdio::piped()).spawn())
        .collect();
    let mut applied = 0;
    for child in children {
        let out = child.expect("probe").wait_with_output().expect("end");
        let action: serde_json::Value = serde_json::from_slice(&out.stdout).expect("action");
        match action["outcome"]["code"].as_str() {
            Some("added") => applied += 1,
            code => assert_eq!(code, Some("over_quota")),
        }
    }
    assert_eq!((applied, desk.tree().len()), (3, 4));
}

#[test]
fn h10_two_who_approve_at_the_same_moment_do_it_once() {
    for _ in 0..5 {
        let desk = Desk::new();
        let path = desk.source("a.md", "text");
        let id = desk.asked(add(&path, "a.md", Bucket::Always));
        let decided: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| desk.approve(id))).collect();
            threads.into_iter().map(|thread| thread.join().expect("thread")).collect()
        });
        assert_eq!(decided.iter().filter(|decided| decided.first).count(), 1);
        for other in &decided {
            assert_eq!(other.action, decided[0].action);
            assert_eq!(other.action.status, Status::Applied);
        }
        assert_eq!(desk.tree(), [".claude/docs/a.md"]);
    }
}
