//! The API as a program uses it: look, ask, and see what became of it.

use serde_json::{Value, json};

use crate::support::home::write;
use crate::support::serve::{Serve, approve};
use crate::support::{TestHome, run};

const CANARY: &str = "CANARY-OF-THE-BLOCK";

/// A home with the registered project `p1`.
pub(crate) fn home_with(docs: &[(&str, &[u8])]) -> TestHome {
    let home = TestHome::new();
    let project = home.project_with_docs("p1", docs);
    run(home.omni().args(["project", "add", "--id", "p1"]).current_dir(project), "")
        .expect_success();
    home
}

#[test]
fn s80_docs_with_their_order_state_and_totals() {
    let home = home_with(&[
        ("b.md", b"# B\n"),
        ("a.md", b"# A\n"),
        ("rules.md", b"Always."),
        ("pixel.png", b"not really"),
        ("tool.exe", b"x"),
        ("rag/schema.sql", b"-- Tables\n"),
        ("rag/data.bin", b"\0\0"),
    ]);
    let project = home.projects().join("p1");
    for args in [&["docs", "order", "b.md"][..], &["docs", "instruct", "rules.md"]] {
        run(home.omni().args(args).current_dir(&project), "").expect_success();
    }
    let serve = Serve::start(&home);
    let docs = serve.get("/project/p1/docs?engine=echo").json();
    let column = |key: &str| -> Vec<Value> {
        docs["files"].as_array().expect("files").iter().map(|file| file[key].clone()).collect()
    };
    let names = ["b.md", "a.md", "pixel.png", "rules.md", "tool.exe"];
    assert_eq!(column("name"), names.map(Value::from));
    assert_eq!(column("order"), [json!(1), json!(2), json!(3), json!(4), Value::Null]);
    let kinds = ["text", "text", "attachment", "text", "ignored"];
    assert_eq!(column("kind"), kinds.map(Value::from));
    let states = ["injected", "injected", "by_path", "instruction", "ignored"];
    assert_eq!(column("state"), states.map(Value::from));
    assert_eq!(column("instruction"), [false, false, false, true, false].map(Value::from));
    assert_eq!(docs["totalBytes"], 4 + 4 + 7 + 10);
    let rag = &docs["ragFiles"];
    assert_eq!(
        rag[0],
        json!({
            "name": "data.bin", "size": 2, "text": false, "description": null, "listed": true,
        })
    );
    assert_eq!(rag[1]["description"], "Tables");
    assert_eq!(docs["ragTotalBytes"], 2 + 10);
    assert_eq!(docs["budget"]["engine"], "echo");

    // Over the budget of a small engine.
    let small = "[tiny]\nname='Tiny'\nprograms=['tiny']\ninstall='-'\ndefault-window=50\n";
    write(home.config().join("omni-run/engines.toml"), small);
    let docs = serve.get("/project/p1/docs?engine=tiny").json();
    assert_eq!(docs["budget"]["bytes"], 50);
    let states: Vec<&str> = docs["files"]
        .as_array()
        .expect("files")
        .iter()
        .filter_map(|f| f["state"].as_str())
        .collect();
    assert!(states.contains(&"skipped") && states.contains(&"instruction"), "{docs}");
    assert_eq!(serve.get("/project/p1/docs?engine=nobody").code(), "unknown_engine");
    assert_eq!(serve.get("/project/p2/docs").code(), "project_not_found");
}

#[test]
fn s80_a_project_without_docs_has_empty_lists() {
    let home = home_with(&[]);
    let serve = Serve::start(&home);
    let docs = serve.get("/project/p1/docs").json();
    assert_eq!((&docs["files"], &docs["ragFiles"]), (&json!([]), &json!([])));
    let projects = serve.get("/projects").json();
    assert_eq!(projects["projects"][0]["id"], "p1");
    assert_eq!(projects["projects"].as_array().map(Vec::len), Some(1));
}

#[test]
fn s81_s82_asked_for_approved_and_done() {
    let home = home_with(&[("old.md", b"old"), ("both.md", b"1"), ("rag/both.md", b"2")]);
    let docs = home.projects().join("p1/.claude/docs");
    let source = home.home().join("source.md");
    write(&source, "new text");
    let serve = Serve::start(&home);
    let body = json!({ "path": source, "bucket": "rag", "filename": "named.md" });
    let reply = serve.write("POST", "/project/p1/docs", &body);
    assert_eq!(reply.status, 202);
    let answer = reply.json();
    assert_eq!(answer["status"], "pending");
    let id = answer["actionId"].as_str().expect("id");
    assert_eq!(reply.header("location"), Some(format!("/actions/{id}").as_str()));
    assert!(!docs.join("rag/named.md").exists(), "nothing happens before a person has said yes");

    let action = serve.get(&format!("/actions/{id}")).json();
    assert_eq!(action["status"], "pending");
    assert_eq!(action["payload"]["filename"], "named.md");
    assert_eq!(action["sizeBytes"], 8);
    assert_eq!(approve(&home, id)["status"], "applied");
    assert_eq!(std::fs::read(docs.join("rag/named.md")).expect("there"), b"new text");
    let action = serve.get(&format!("/actions/{id}")).json();
    assert_eq!(
        (&action["status"], &action["outcome"]["code"]),
        (&json!("applied"), &json!("added"))
    );

    let body = json!({ "path": source, "filename": "old.md" });
    assert_eq!(serve.write("POST", "/project/p1/docs", &body).code(), "exists");
    let body = json!({ "path": source, "filename": "old.md", "replace": true });
    let id = serve.ask("POST", "/project/p1/docs", &body);
    assert_eq!(approve(&home, &id)["outcome"]["code"], "replaced");
    assert_eq!(std::fs::read(docs.join("old.md")).expect("there"), b"new text");

    let gone = serve.send("DELETE", "/project/p1/docs/gone.md", &[], b"");
    assert_eq!((gone.status, gone.code().as_str()), (404, "doc_not_found"));
    let both = serve.send("DELETE", "/project/p1/docs/both.md", &[], b"");
    assert_eq!((both.status, both.code().as_str()), (409, "ambiguous"));
    let id = serve.ask("DELETE", "/project/p1/docs/both.md?bucket=rag", &Value::Null);
    assert_eq!(approve(&home, &id)["outcome"]["code"], "deleted");
    assert!(docs.join("both.md").exists() && !docs.join("rag/both.md").exists());

    let open = serve.get("/actions").json();
    assert_eq!(open["actions"], json!([]));
    let all = serve.get("/actions?decided=true&project=p1").json();
    assert_eq!(all["actions"].as_array().map(Vec::len), Some(3));
    assert_eq!(serve.get("/actions?decided=true&limit=1").json()["actions"][0]["id"], id);
    assert_eq!(serve.get("/actions?decided=true&project=p9").json()["actions"], json!([]));
}

#[test]
fn s85_a_launch_runs_after_approval_and_its_text_is_at_sessions() {
    let home = home_with(&[("a.md", CANARY.as_bytes())]);
    let serve = Serve::start(&home);
    let body = json!({ "engine": "echo", "prompt": "- what did you get?", "model": "m-1" });
    let id = serve.ask("POST", "/project/p1/new", &body);
    assert_eq!(serve.get("/sessions").json()["sessions"], json!([]), "not before a yes");
    let mut events = Events::open(&serve);
    assert_eq!(events.next(), ("ready".to_owned(), json!({ "pending": 1 })));
    let action = approve(&home, &id);
    assert_eq!(action["outcome"]["code"], "started", "{action}");
    let session = action["outcome"]["session"].as_str().expect("session").to_owned();
    loop {
        let (name, data) = events.next();
        if name == "session" && data["status"] != "running" {
            assert_eq!(
                data,
                json!({
                    "id": session, "engine": "echo", "project": "p1", "status": "ok",
                })
            );
            break;
        }
    }
    let action = serve.get(&format!("/actions/{id}")).json();
    assert_eq!(action["outcome"]["sessionId"], session.as_str());
    let reply = serve.get(&format!("/sessions/{session}"));
    let shown = reply.json();
    assert_eq!(shown["status"], "ok");
    assert_eq!(shown["mode"], "one_shot");
    assert_eq!(shown["model"], "m-1");
    assert_eq!(shown["exitCode"], 0);
    assert_eq!(shown["typed"], "- what did you get?");
    let text = shown["text"].as_str().expect("text");
    assert!(text.contains("a.md") && text.contains("echo received"), "{text}");
    assert!(!reply.body.contains(CANARY), "not a byte of the block");
    assert_eq!(serve.get(&format!("/sessions/{}", &session[..18])).json()["id"], session.as_str());
}

#[test]
fn s85_what_an_engine_may_do_can_not_be_asked_for() {
    let home = home_with(&[]);
    let serve = Serve::start(&home);
    for (field, value) in [
        ("permissionMode", json!("bypassPermissions")),
        ("dangerouslySkipPermissions", json!(true)),
        ("args", json!(["--yolo"])),
        ("engineArgs", json!(["--dangerously-bypass-approvals-and-sandbox"])),
        ("env", json!({ "A": "b" })),
        ("cwd", json!("/")),
        ("timeout", json!("1h")),
    ] {
        let mut body = json!({ "engine": "echo", "prompt": "hi" });
        body[field] = value;
        let reply = serve.write("POST", "/project/p1/new", &body);
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_body"), "{field}");
    }
    for model in ["--dangerously-skip-permissions", "-x", "a b", "a\nb", ""] {
        let body = json!({ "engine": "echo", "prompt": "hi", "model": model });
        assert_eq!(serve.write("POST", "/project/p1/new", &body).code(), "bad_model", "{model:?}");
    }
    for engine in ["sh", "/bin/sh", "../echo", "echo --help", ""] {
        let body = json!({ "engine": engine, "prompt": "hi" });
        assert_eq!(serve.write("POST", "/project/p1/new", &body).code(), "unknown_engine");
    }
    for prompt in ["", " \n", "a\u{0}b"] {
        let body = json!({ "engine": "echo", "prompt": prompt });
        assert_eq!(serve.write("POST", "/project/p1/new", &body).code(), "bad_prompt");
    }
    assert_eq!(serve.get("/actions?decided=true").json()["actions"], json!([]));
}

#[test]
fn s85_sessions_by_pages() {
    let home = home_with(&[]);
    let project = home.projects().join("p1");
    for prompt in ["one", "two", "three"] {
        run(home.omni().args(["echo", "-p", prompt]).current_dir(&project), "").expect_success();
    }
    run(home.omni().args(["echo", "-p", "elsewhere"]), "").expect_success();
    let serve = Serve::start(&home);
    let page = |query: &str| {
        let answer = serve.get(&format!("/sessions?{query}")).json();
        let words: Vec<String> = answer["sessions"]
            .as_array()
            .expect("list")
            .iter()
            .map(|s| s["firstWords"].as_str().expect("words").to_owned())
            .collect();
        (words, answer["nextCursor"].as_str().map(str::to_owned))
    };
    let (words, cursor) = page("limit=2&project=p1");
    assert_eq!(words, ["three", "two"]);
    let cursor = cursor.expect("more");
    assert_eq!(
        page(&format!("limit=2&project=p1&cursor={cursor}")),
        (vec!["one".to_owned()], None)
    );
    assert_eq!(page("limit=3&project=p1").1, None);
    assert_eq!(page("engine=codex").0.len(), 0);
    assert_eq!(page("").0.len(), 4);
    for bad in ["limit=0", "limit=201", "limit=x", "cursor=x", "limit=1&limit=2", "order=asc"] {
        assert_eq!(serve.get(&format!("/sessions?{bad}")).code(), "invalid_request", "{bad}");
    }
    for unknown in ["ffffffff", "nothing", "..", "%20"] {
        assert_eq!(serve.get(&format!("/sessions/{unknown}")).code(), "session_not_found");
    }
}

#[test]
fn s87_settings_are_shown_and_harmless_ones_changed_after_approval() {
    let home = home_with(&[]);
    write(home.config().join("omni-run/config.toml"), "secrets = 'deny' # mine\n");
    let serve = Serve::start(&home);
    let shown = |key: &str| {
        let settings = serve.get("/settings").json();
        let list = settings["settings"].as_array().expect("list").clone();
        list.into_iter().find(|setting| setting["key"] == key).expect("setting")
    };
    assert_eq!(
        shown("secrets"),
        json!({
            "key": "secrets", "value": "deny", "source": "config.toml", "changeable": false,
        })
    );
    assert_eq!(shown("chip")["changeable"], true);
    let id = serve.ask("PATCH", "/settings", &json!({ "chip": false, "retention-days": 30 }));
    assert_eq!(shown("chip")["value"], true, "not before a yes");
    assert_eq!(approve(&home, &id)["outcome"]["code"], "changed");
    assert_eq!(shown("chip")["value"], false);
    assert_eq!(shown("retention-days")["value"], 30);
    assert_eq!(shown("secrets")["value"], "deny");
    for bad in [
        json!({ "secrets": "off" }),
        json!({ "default-engine": "echo" }),
        json!({ "models": { "echo": "x" } }),
        json!({ "chip": "yes" }),
        json!({ "chip": null }),
        json!({}),
    ] {
        assert_eq!(serve.write("PATCH", "/settings", &bad).code(), "bad_setting", "{bad}");
    }
    let twice = serve.send(
        "PATCH",
        "/settings",
        &["Content-Type: application/json"],
        br#"{"chip":true,"chip":false}"#,
    );
    assert_eq!(twice.code(), "invalid_body");
}

#[test]
fn without_a_store_lists_are_empty_and_nothing_is_made() {
    let home = TestHome::new();
    let serve = Serve::start(&home);
    for (path, key) in
        [("/projects", "projects"), ("/actions", "actions"), ("/sessions", "sessions")]
    {
        assert_eq!(serve.get(path).json()[key], json!([]), "{path}");
    }
    assert_eq!(serve.get("/project/p1/docs").code(), "project_not_found");
    assert!(!home.data().join("omni-run/omni-run.db").exists());
}

/// A listener to `GET /events`.
pub(crate) struct Events(std::io::BufReader<std::net::TcpStream>);

impl Events {
    /// Opens the stream; the head is read.
    pub(crate) fn open(serve: &Serve) -> Events {
        use std::io::{BufRead, Write};
        let mut stream = serve.connect();
        let head = format!(
            "GET /events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
            serve.port, serve.token
        );
        stream.write_all(head.as_bytes()).expect("sent");
        let mut reader = std::io::BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).expect("status");
        assert!(line.starts_with("HTTP/1.1 200"), "{line}");
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).expect("head");
        }
        Events(reader)
    }

    /// The next event: its name and its data.
    pub(crate) fn next(&mut self) -> (String, Value) {
        self.try_next().expect("the stream goes on")
    }

    /// See [`Events::next`]; `None`: the stream has ended.
    pub(crate) fn try_next(&mut self) -> Option<(String, Value)> {
        use std::io::BufRead;
        let (mut name, mut line) = (String::new(), String::new());
        loop {
            line.clear();
            if self.0.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            // Sizes of chunks stand between the lines.
            if let Some(word) = line.strip_prefix("event: ") {
                name = word.trim().to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data.trim()).expect("JSON")));
            }
        }
    }
}
