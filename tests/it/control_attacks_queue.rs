//! Attacks on the queue: keys used again, two words on one action, limits passed by doing things
//! twice or at once (H08, H10).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::control_api::home_with;
use crate::support::home::write;
use crate::support::serve::{Serve, approve, approve_by, approver, data};
use crate::support::{TestHome, run};

const NEW: &str = "/project/p1/new";
const HI: &str = r#"{"engine":"echo","prompt":"hi"}"#;

fn queued(serve: &Serve) -> usize {
    serve.get("/actions?decided=true").json()["actions"].as_array().map_or(0, Vec::len)
}

#[test]
fn h08_fifty_at_once_with_one_key_are_one() {
    let home = home_with(&[]);
    let serve = Serve::start(&home);
    let ids: BTreeSet<String> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..50)
            .map(|_| scope.spawn(|| serve.write_with_key("POST", NEW, "key-1", HI)))
            .collect();
        all.into_iter()
            .map(|one| {
                let reply = one.join().expect("thread");
                assert_eq!(reply.status, 202, "{reply:?}");
                reply.json()["actionId"].as_str().expect("id").to_owned()
            })
            .collect()
    });
    assert_eq!(ids.len(), 1);
    assert_eq!(queued(&serve), 1);
}

#[test]
fn h08_a_key_means_one_request_whatever_became_of_it() {
    let home = home_with(&[("a.md", b"a")]);
    run(home.omni().args(["project", "add", "--id", "p2"]).current_dir(home.project("p2")), "")
        .expect_success();
    let mut serve = Serve::start(&home);
    let first = serve.write_with_key("POST", NEW, "k", HI);
    let id = first.json()["actionId"].as_str().expect("id").to_owned();
    // The same, written in another way.
    let same = r#"{ "prompt" : "h\u0069", "engine":"echo" , "model":null}"#;
    for body in [HI, same] {
        let again = serve.write_with_key("POST", NEW, "k", body);
        assert_eq!((again.status, again.json()), (202, first.json()));
    }
    let other = |serve: &Serve| {
        let posts = [
            (NEW, r#"{"engine":"echo","prompt":"ho"}"#),
            (NEW, r#"{"engine":"echo","prompt":"hi","model":"m"}"#),
            ("/project/p2/new", HI),
        ];
        for (path, body) in posts {
            let reply = serve.write_with_key("POST", path, "k", body);
            assert_eq!((reply.status, reply.code().as_str()), (422, "idempotency_key_reused"));
        }
        let patch = serve.write_with_key("PATCH", "/settings", "k", r#"{"chip":true}"#);
        assert_eq!(patch.status, 422);
        let delete = serve.send("DELETE", "/project/p1/docs/a.md", &["Idempotency-Key: k"], b"");
        assert_eq!(delete.status, 422);
    };
    other(&serve);
    assert_eq!(approve(&home, &id)["status"], "applied");
    assert_eq!(serve.write_with_key("POST", NEW, "k", HI).json(), first.json());
    other(&serve);
    serve.end(nix::sys::signal::Signal::SIGTERM);
    let serve = Serve::start(&home);
    assert_eq!(serve.write_with_key("POST", NEW, "k", HI).json(), first.json());
    other(&serve);
    assert_eq!(queued(&serve), 1);
    // Without a key each request is one of its own.
    for _ in 0..2 {
        assert_eq!(
            serve.write("POST", NEW, &json!({ "engine": "echo", "prompt": "hi" })).status,
            202
        );
    }
    assert_eq!(queued(&serve), 3);
}

#[test]
fn h08_a_repeated_upload_is_answered_also_when_its_source_is_gone() {
    let home = home_with(&[]);
    let source = home.home().join("x.md");
    write(&source, "x");
    let serve = Serve::start(&home);
    let body = json!({ "path": source }).to_string();
    let first = serve.write_with_key("POST", "/project/p1/docs", "up", &body);
    assert_eq!(first.status, 202);
    std::fs::remove_file(&source).expect("remove");
    let again = serve.write_with_key("POST", "/project/p1/docs", "up", &body);
    assert_eq!((again.status, again.json()), (202, first.json()));
    // A request that was refused has used up nothing.
    let gone = json!({ "path": home.home().join("y.md") }).to_string();
    assert_eq!(serve.write_with_key("POST", "/project/p1/docs", "late", &gone).status, 400);
    write(home.home().join("y.md"), "y");
    assert_eq!(serve.write_with_key("POST", "/project/p1/docs", "late", &gone).status, 202);
}

#[test]
fn h08_odd_keys_are_refused() {
    let home = home_with(&[]);
    let serve = Serve::start(&home);
    for key in ["", " ", "a b", "ü", &"k".repeat(256), "a\r\nIdempotency-Key: b"] {
        let reply = serve.write_with_key("POST", NEW, key, HI);
        assert_eq!((reply.status, reply.code().as_str()), (400, "bad_idempotency_key"), "{key:?}");
    }
    // What is no header at all does not get as far as that.
    assert_eq!(serve.write_with_key("POST", NEW, "\u{7f}", HI).status, 400);
    assert_eq!(queued(&serve), 0);
    assert_eq!(serve.write_with_key("POST", NEW, &"k".repeat(255), HI).status, 202);
}

#[test]
fn h10_an_action_is_done_once() {
    let home = home_with(&[("a.md", b"a")]);
    let docs = home.projects().join("p1/.claude/docs");
    let source = home.home().join("x.md");
    write(&source, "x");
    let serve = Serve::start(&home);
    let id = serve.ask("POST", "/project/p1/docs", &json!({ "path": source }));
    std::thread::scope(|scope| {
        for mut approver in [0; 4].map(|_| approver(&home, &id)) {
            scope.spawn(move || {
                assert_eq!(approve_by(&mut approver)["outcome"]["code"], "added");
            });
        }
    });
    std::fs::remove_file(docs.join("x.md")).expect("it was there");
    assert_eq!(approve(&home, &id)["outcome"]["code"], "added");
    assert!(!docs.join("x.md").exists(), "a later yes does not do it again");
    // Two requests to delete one doc: the second finds nothing.
    let ids = [0, 1].map(|_| serve.ask("DELETE", "/project/p1/docs/a.md", &Value::Null));
    assert_eq!(approve(&home, &ids[0])["outcome"]["code"], "deleted");
    assert_eq!(approve(&home, &ids[1])["outcome"]["code"], "not_found");
}

/// A project with `megabytes` of docs.
fn filled(megabytes: u64) -> TestHome {
    let home = home_with(&[]);
    let docs = home.projects().join("p1/.claude/docs");
    for number in 0..megabytes / 20 {
        sparse(&docs.join(format!("full-{number}.png")), 20_000_000);
    }
    home
}

fn sparse(path: &std::path::Path, size: u64) {
    std::fs::create_dir_all(path.parent().expect("folder")).expect("folder");
    std::fs::File::create(path).expect("file").set_len(size).expect("size");
}

#[test]
fn h10_what_waits_counts_and_rag_does_not() {
    let home = filled(80);
    let at = |name: &str| home.home().join(name);
    for name in ["one.png", "two.png"] {
        sparse(&at(name), 12_000_000);
    }
    sparse(&at("rest.png"), 8_000_000);
    sparse(&at("byte.md"), 1);
    let serve = Serve::start(&home);
    let post = |name: &str, bucket: &str| {
        let body = json!({ "path": at(name), "bucket": bucket });
        serve.write("POST", "/project/p1/docs", &body)
    };
    let first = post("one.png", "always");
    assert_eq!(first.status, 202);
    let second = post("two.png", "always");
    assert_eq!((second.status, second.code().as_str()), (409, "over_quota"), "80 + 12 + 12");
    assert_eq!(post("two.png", "rag").status, 202);
    let exact = post("rest.png", "always");
    assert_eq!(exact.status, 202, "100 MB exactly");
    assert_eq!(post("byte.md", "always").code(), "over_quota");
    // The room is gone when the person says yes.
    let id = first.json()["actionId"].as_str().expect("id").to_owned();
    sparse(&home.projects().join("p1/.claude/docs/by-hand.png"), 9_000_000);
    assert_eq!(approve(&home, &id)["outcome"]["code"], "over_quota");
    assert!(!home.projects().join("p1/.claude/docs/one.png").exists());
}

#[test]
fn h10_a_queue_that_is_full_takes_no_more_and_can_be_listed() {
    let home = home_with(&[]);
    let serve = Serve::start(&home);
    fill(&home, 2000);
    let reply = serve.write("POST", NEW, &json!({ "engine": "echo", "prompt": "one more" }));
    assert_eq!((reply.status, reply.code().as_str()), (429, "queue_full"));
    assert!(reply.header("retry-after").is_some());
    let all = serve.get("/actions").json();
    let all = all["actions"].as_array().expect("list");
    assert_eq!(all.len(), 2000);
    assert_eq!(all[0]["payload"]["prompt"], "prompt 0", "oldest first");
    let newest = serve.get("/actions?limit=1").json();
    assert_eq!(newest["actions"][0]["id"], all[1999]["id"]);
}

#[test]
fn h10_the_text_that_waits_is_bounded() {
    let home = home_with(&[]);
    let serve = Serve::start(&home);
    let body = json!({ "engine": "echo", "prompt": "x".repeat(60_000) });
    let taken = (0..).find(|_| serve.write("POST", NEW, &body).status != 202).expect("an end");
    assert_eq!(taken, 8_000_000 / 60_000);
    assert_eq!(serve.write("POST", NEW, &body).code(), "queue_full");
    let small = json!({ "engine": "echo", "prompt": "x" });
    assert_eq!(serve.write("POST", NEW, &small).status, 202);
    let list = serve.get("/actions");
    assert_eq!(list.json()["actions"].as_array().map(Vec::len), Some(taken + 1));
    assert!(list.body.len() < 200_000, "prompts are cut in a list: {}", list.body.len());
}

/// Puts so many launches into the queue at once; one by one each would wait for the disk.
fn fill(home: &TestHome, count: i64) {
    let mut store = rusqlite::Connection::open(data(home).join("omni-run.db")).expect("store");
    let sql = "INSERT INTO cli_pending_actions
        (id, kind, project_id, payload_json, asked_by, asked_at, expires_at)
        VALUES (?1, 'launch', 'p1', ?2, 'test', ?3, 9000000000000)";
    let change = store.transaction().expect("begins");
    for number in 0..count {
        let id = uuid::Uuid::now_v7().hyphenated().to_string();
        let prompt = format!("prompt {number}");
        let payload = json!({ "engine": "echo", "prompt": prompt, "model": null }).to_string();
        change.execute(sql, rusqlite::params![id, payload, number]).expect("row");
    }
    change.commit().expect("commit");
}
