//! Attacks on the token, and what the token can not do (H07): guessing, leaks, and the guarantee that
//! no request with it changes a file, approves, starts an engine or opens the inbox page.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::control_api::home_with;
use crate::support::home::write;
use crate::support::serve::{Serve, approve, data};
use crate::support::{TestHome, run};

#[test]
fn h07_guessing_is_slowed_and_its_owner_is_not() {
    let home = TestHome::new();
    let serve = Serve::start(&home);
    let (start, last) = serve.token.split_at(serve.token.len() - 1);
    let near = format!("{start}{}", if last == "0" { "1" } else { "0" });
    let mut codes = BTreeMap::new();
    for number in 0..60 {
        let guess = if number % 2 == 0 { near.clone() } else { format!("omr_{number:064}") };
        let bearer = format!("Authorization: Bearer {guess}");
        let reply = serve.send_as("GET", "/healthz", &[&bearer], b"");
        *codes.entry(reply.status).or_insert(0) += 1;
        if reply.status == 429 {
            assert_eq!(reply.code(), "too_many_failures");
            assert!(reply.header("retry-after").is_some());
        } else {
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        }
        assert_eq!(serve.get("/healthz").status, 200, "the owner is let in");
    }
    // Twenty a minute; on a slow machine this may have taken two.
    assert!(codes[&401] <= 40 && codes[&429] >= 20, "{codes:?}");
}

/// All text that a process or its files show.
fn everywhere(home: &TestHome, serve: &Serve) -> Vec<(String, Vec<u8>)> {
    let pid = serve.pid();
    let mut found = Vec::new();
    for name in ["cmdline", "environ"] {
        let path = format!("/proc/{pid}/{name}");
        if let Ok(bytes) = std::fs::read(&path) {
            found.push((path, bytes));
        }
    }
    let mut folders = vec![home.root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                Ok(kind) if kind.is_file() && !path.ends_with("api-token") => {
                    found.push((
                        path.display().to_string(),
                        std::fs::read(&path).unwrap_or_default(),
                    ));
                }
                _ => {}
            }
        }
    }
    found
}

#[test]
fn h07_the_token_is_in_its_file_and_nowhere_else() {
    let home = home_with(&[("a.md", b"a")]);
    // A script of the user keeps it in a variable; an engine does not get that.
    let seen = home.root().join("seen.txt");
    let script =
        format!("#!/bin/sh\ncat > /dev/null\nenv > {}\necho \"$@\" done\n", seen.display());
    home.install_script("spy", &script);
    let spy = "[spy]\nname='Spy'\nprograms=['spy']\ninstall='-'\ndefault-window=200000\n\
               version-args=['--version']\n";
    write(home.config().join("omni-run/engines.toml"), spy);
    run(home.omni().args(["serve", "--rotate-token"]), "").expect_success();
    home.set_env("OMNI_RUN_TOKEN", crate::support::serve::token(&home));
    home.set_env("OMNI_RUN_LOG_LEVEL", "trace");
    let log = home.root().join("serve.log");
    let mut command = home.omni();
    // The server itself is started without the variable: its own environment is its owner's doing.
    command.arg("--log-file").arg(&log).env_remove("OMNI_RUN_TOKEN");
    let serve = Serve::start_with(&home, &mut command, &[]);
    for (method, path) in [("GET", "/nowhere"), ("GET", "/project/x/docs"), ("PUT", "/settings")] {
        let reply = serve.send(method, path, &["X-Odd: header"], b"");
        assert!(reply.status >= 400);
        let told = format!("{reply:?}");
        assert!(!told.contains(&serve.token) && !told.contains("X-Odd"), "{told}");
    }
    let bad = serve.send("POST", "/project/p1/new", &["Content-Type: application/json"], b"{");
    assert_eq!(bad.status, 400);
    let wrong = format!("Authorization: Bearer {}x", serve.token);
    assert_eq!(serve.send_as("GET", "/healthz", &[&wrong], b"").status, 401);
    let body = json!({ "engine": "spy", "prompt": "hi" });
    let id = serve.ask("POST", "/project/p1/new", &body);
    let action = approve(&home, &id);
    assert_eq!(action["outcome"]["code"], "started", "{action}");
    let session = format!("/sessions/{}", action["outcome"]["session"].as_str().expect("id"));
    let mut events = crate::control_api::Events::open(&serve);
    while serve.get(&session).json()["status"] == "running" {
        events.next();
    }
    run(home.omni().args(["spy", "-p", "by hand", "--project", "p1"]), "").expect_success();
    let env = std::fs::read_to_string(&seen).expect("the engine has run");
    assert!(env.contains("OMNI_RUN_SESSION=") && !env.contains("OMNI_RUN_TOKEN"), "{env}");
    let lists = [serve.get("/actions?decided=true").body, serve.get("/sessions").body];
    for (place, bytes) in everywhere(&home, &serve) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(&serve.token), "{place} has the token");
    }
    for text in lists {
        assert!(!text.contains(&serve.token) && !text.contains("Bearer"), "{text}");
    }
    assert!(std::fs::read_to_string(log).expect("log").contains("serving"));
}

/// Every file of a folder with its bytes.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.clone(), std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}

#[test]
fn h07_with_the_token_nothing_can_be_done_but_asked_for() {
    let home = home_with(&[("a.md", b"a"), ("rag/r.md", b"r")]);
    let ran = home.root().join("ran.txt");
    let script = format!("#!/bin/sh\necho ran >> {}\necho 1.0.0\n", ran.display());
    home.install_script("spy", &script);
    let spy = "default-engine = 'spy'\n";
    write(home.config().join("omni-run/config.toml"), spy);
    let spy = "[spy]\nname='Spy'\nprograms=['spy']\ninstall='-'\ndefault-window=200000\n\
               version-args=['--version']\nwindows=[{models=['*'],tokens=1000,since='1.0'}]\n";
    write(home.config().join("omni-run/engines.toml"), spy);
    let source = home.home().join("new.md");
    write(&source, "new");
    let project = home.projects().join("p1");
    run(home.omni().args(["docs", "instruct", "a.md"]).current_dir(&project), "").expect_success();
    let _ = std::fs::remove_file(&ran);
    // A flag whose file was renamed: a look at it may not write either.
    std::fs::rename(project.join(".claude/docs/a.md"), project.join(".claude/docs/z.md"))
        .expect("rename");
    let before = [files(&project), files(&home.config())];

    let serve = Serve::start(&home);
    let ids = [
        serve.ask("POST", "/project/p1/docs", &json!({ "path": source })),
        serve.ask("DELETE", "/project/p1/docs/r.md", &Value::Null),
        serve.ask("POST", "/project/p1/new", &json!({ "engine": "spy", "prompt": "hi" })),
        serve.ask("PATCH", "/settings", &json!({ "chip": false })),
    ];
    let document = serve.get("/openapi.json").json();
    let mut paths: Vec<String> =
        document["paths"].as_object().expect("paths").keys().cloned().collect();
    paths.retain(|path| path != "/events");
    for id in &ids {
        for tail in ["", "/approve", "/reject", "/decide", "/apply", "?approve=true", "/run"] {
            paths.push(format!("/actions/{id}{tail}"));
            paths.push(format!("/inbox/{id}{tail}"));
            paths.push(format!("/inbox/actions/{id}{tail}"));
        }
    }
    for path in ["/inbox", "/inbox/", "/inbox/login", "/inbox/session", "/approve", "/token", "/"] {
        paths.push(path.to_owned());
    }
    let body = json!({ "approve": true, "status": "applied", "decision": "approve", "ids": ids });
    for path in &paths {
        let path = path.replace("{filename}", "z.md").replace("{id}", "p1");
        for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
            for kind in ["application/json", "application/x-www-form-urlencoded"] {
                let kind = format!("Content-Type: {kind}");
                let text = match kind.ends_with("json") {
                    true => body.to_string(),
                    false => format!("id={}&approve=true", ids[0]),
                };
                let reply = serve.send(method, &path, &[&kind], text.as_bytes());
                let told = format!("{reply:?}");
                assert!(reply.status != 500 && reply.header("set-cookie").is_none(), "{told}");
                if path.starts_with("/inbox") {
                    assert!(reply.status >= 400, "{method} {path}: {told}");
                }
            }
        }
    }
    for id in &ids {
        let action = serve.get(&format!("/actions/{id}")).json();
        assert_eq!(action["status"], "pending", "{action}");
    }
    for query in ["", "?engine=spy", "?engine=echo&model=x"] {
        assert_eq!(serve.get(&format!("/project/p1/docs{query}")).status, 200);
    }
    assert_eq!(before, [files(&project), files(&home.config())]);
    assert!(!ran.exists(), "no program was started, also not for its version");
    assert_eq!(serve.get("/sessions").json()["sessions"], json!([]));
    // The flags are told right all the same.
    let docs = serve.get("/project/p1/docs").json();
    assert_eq!(
        (&docs["files"][0]["name"], &docs["files"][0]["instruction"]),
        (&json!("z.md"), &json!(true))
    );
    assert!(data(&home).join("api-token").exists());
}
