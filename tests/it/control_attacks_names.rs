//! Attacks by name and path: traversal in every spelling, odd names, and a source that is swapped
//! between the request and the approval (H04, H05).

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::control_api::home_with;
use crate::support::home::write;
use crate::support::serve::{Serve, approve};
use crate::support::{TestHome, run};

fn kept(home: &TestHome) -> bool {
    let keep = home.projects().join("p1/keep.txt");
    std::fs::read(keep).is_ok_and(|text| text == b"keep")
}

fn home() -> TestHome {
    let home = home_with(&[("a.md", b"a"), ("rag/r.md", b"r")]);
    write(home.projects().join("p1/keep.txt"), "keep");
    write(home.projects().join("p1/.claude/keep.txt"), "keep");
    home
}

#[test]
fn h04_a_name_to_delete_leads_nowhere() {
    let home = home();
    let serve = Serve::start(&home);
    for name in [
        "../../keep.txt",
        "..%2f..%2fkeep.txt",
        "..%2F..%2Fkeep.txt",
        "%2e%2e%2f%2e%2e%2fkeep.txt",
        "%2e%2e/%2e%2e/keep.txt",
        "..%252f..%252fkeep.txt",
        "..%5c..%5ckeep.txt",
        "..\\..\\keep.txt",
        "%2fetc%2fpasswd",
        "/etc/passwd",
        "rag%2fr.md",
        "rag/r.md",
        "rag",
        ".",
        "..",
        "%2e",
        "%2e%2e",
        "",
        "a.md/",
        "a.md%00",
        "a.md%00.txt",
        "%00",
        "%0a",
        "a.md%0d%0aX: y",
        "%c0%ae%c0%ae%c0%afkeep.txt",
        "%e0%80%ae",
        "%ff",
        "%",
        "%2",
        "%zz",
        "a.md%20",
        "A.MD%E2%80%AE",
        "a.md;x",
        "..;/keep.txt",
        "~/keep.txt",
        "%uff0e%uff0e",
        "\u{ff0e}\u{ff0e}",
    ] {
        let reply = serve.send("DELETE", &format!("/project/p1/docs/{name}"), &[], b"");
        assert!([400, 404].contains(&reply.status), "{name}: {reply:?}");
        assert!(kept(&home));
    }
    let long = "x".repeat(8000);
    let reply = serve.send("DELETE", &format!("/project/p1/docs/{long}.md"), &[], b"");
    assert!([400, 404].contains(&reply.status), "{reply:?}");
    for bucket in ["RAG", "both", "", "always,rag", "../rag", "rag%00"] {
        let path = format!("/project/p1/docs/a.md?bucket={bucket}");
        let reply = serve.send("DELETE", &path, &[], b"");
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_request"), "{bucket}");
    }
    assert_eq!(
        serve.get("/actions?decided=true").json()["actions"],
        json!([]),
        "nothing is queued"
    );
}

#[test]
fn h04_a_project_is_found_by_its_id_alone() {
    let home = home();
    let serve = Serve::start(&home);
    let folder = home.projects().join("p1").display().to_string().replace('/', "%2f");
    for id in [
        "..%2fp1",
        "p1%2f..",
        "P1",
        "p1%00",
        "p1%20",
        "%2e",
        "..",
        ".",
        "__claude__",
        "*",
        "p%",
        "%c0%ae",
        "p1'--",
        &folder,
    ] {
        for (method, path) in
            [("GET", format!("/project/{id}/docs")), ("DELETE", format!("/project/{id}/docs/a.md"))]
        {
            let reply = serve.send(method, &path, &[], b"");
            assert!([400, 404].contains(&reply.status), "{id}: {reply:?}");
        }
        let body = json!({ "engine": "echo", "prompt": "hi" });
        let reply = serve.write("POST", &format!("/project/{id}/new"), &body);
        assert!([400, 404].contains(&reply.status), "{id}: {reply:?}");
    }
    assert_eq!(serve.get("/actions?decided=true").json()["actions"], json!([]));
}

#[test]
fn h04_a_name_to_add_is_one_component_of_a_known_kind() {
    let home = home();
    let source = home.home().join("source.md");
    write(&source, "text");
    let serve = Serve::start(&home);
    let long = format!("{}.md", "x".repeat(198));
    for name in [
        "../x.md",
        "..",
        ".",
        "",
        "/abs.md",
        "a/b.md",
        "a\\b.md",
        "..\\x.md",
        "a\u{0}.md",
        "a\n.md",
        ".hidden.md",
        "x.md/",
        "rag",
        "RAG",
        "CON.md",
        "nul.md",
        "lpt1.md",
        "x.exe",
        "noext",
        "x.md.",
        "x.md ",
        " x.md",
        "x.md~",
        "#x.md#",
        "\u{202e}dm.exe.md",
        &long,
        "x.pem",
        "id_rsa",
        ".env",
        "x.md\u{2028}",
    ] {
        let body = json!({ "path": source, "filename": name });
        let reply = serve.write("POST", "/project/p1/docs", &body);
        assert_eq!((reply.status, reply.code().as_str()), (400, "bad_name"), "{name:?}: {reply:?}");
    }
    for bucket in [json!("RAG"), json!("both"), json!(null), json!(1), json!(["always"])] {
        let body = json!({ "path": source, "bucket": bucket });
        let reply = serve.write("POST", "/project/p1/docs", &body);
        assert_eq!((reply.status, reply.code().as_str()), (400, "invalid_body"), "{bucket}");
    }
    assert_eq!(serve.get("/actions?decided=true").json()["actions"], json!([]));
}

#[test]
fn h05_a_source_is_a_regular_file_without_links_on_its_way() {
    let home = home();
    let outside = home.home().join("outside");
    write(outside.join("secret.md"), "secret");
    symlink(outside.join("secret.md"), home.home().join("link.md")).expect("link");
    symlink(&outside, home.home().join("linked")).expect("link");
    nix::unistd::mkfifo(&home.home().join("pipe.md"), nix::sys::stat::Mode::S_IRWXU).expect("fifo");
    let big = std::fs::File::create(home.home().join("big.md")).expect("file");
    big.set_len(25_000_001).expect("size");
    let serve = Serve::start(&home);
    let at = |name: &str| home.home().join(name).display().to_string();
    for (path, code) in [
        (at("link.md"), "bad_source"),
        (at("linked/secret.md"), "bad_source"),
        (at("pipe.md"), "bad_source"),
        (at("outside"), "bad_name"),
        (at("none.md"), "source_not_found"),
        (at("outside/../outside/secret.md"), "bad_path"),
        (at("big.md"), "too_large"),
        ("relative.md".to_owned(), "bad_path"),
        ("~/x.md".to_owned(), "bad_path"),
        ("file:///etc/hostname.md".to_owned(), "bad_path"),
        ("/dev/zero".to_owned(), "bad_name"),
        ("".to_owned(), "bad_name"),
        ("/a\u{0}b.md".to_owned(), "bad_name"),
    ] {
        let reply = serve.write("POST", "/project/p1/docs", &json!({ "path": path }));
        assert_eq!(reply.code(), code, "{path:?}: {reply:?}");
    }
    let body = json!({ "path": "/dev/zero", "filename": "zero.md" });
    assert_eq!(serve.write("POST", "/project/p1/docs", &body).code(), "bad_source");
    assert_eq!(serve.get("/actions?decided=true").json()["actions"], json!([]));
}

#[test]
fn h05_what_is_swapped_after_the_request_does_not_land() {
    type Swap = fn(&std::path::Path, &std::path::Path);
    let swaps: [(&str, Swap); 7] = [
        ("rewritten", |source, _| write(source, "evil")),
        ("same size", |source, _| write(source, "EVIL ONE")),
        ("a link", |source, secret| {
            std::fs::remove_file(source).expect("remove");
            symlink(secret, source).expect("link");
        }),
        ("a link to the same bytes", |source, _| {
            let twin = source.with_file_name("twin.md");
            std::fs::rename(source, &twin).expect("rename");
            symlink(&twin, source).expect("link");
        }),
        ("grown", |source, _| {
            let file = std::fs::OpenOptions::new().write(true).open(source).expect("open");
            file.set_len(30_000_000).expect("size");
        }),
        ("gone", |source, _| std::fs::remove_file(source).expect("remove")),
        ("behind a swapped folder", |source, secret| {
            let folder = source.parent().expect("folder");
            std::fs::rename(folder, folder.with_extension("old")).expect("rename");
            let evil = secret.parent().expect("folder").join(source.file_name().expect("name"));
            write(evil, "evil");
            symlink(secret.parent().expect("folder"), folder).expect("link");
        }),
    ];
    let home = home();
    let serve = Serve::start(&home);
    for (number, (what, swap)) in swaps.into_iter().enumerate() {
        let source = home.home().join(format!("from-{number}/swap-{number}.md"));
        let secret = home.home().join(format!("secret-{number}/secret.md"));
        write(&source, "GOOD ONE");
        write(&secret, "secret");
        let old = std::fs::metadata(&source).expect("there").modified().expect("time");
        let id = serve.ask("POST", "/project/p1/docs", &json!({ "path": source }));
        swap(&source, &secret);
        if let Ok(file) = std::fs::File::options().write(true).open(&source) {
            // As `touch -r` does.
            let _ = file.set_modified(old);
        }
        let action = approve(&home, &id);
        assert_eq!(action["status"], "failed", "{what}: {action}");
        assert_eq!(action["outcome"]["code"], "source_changed", "{what}");
        let shown = serve.get(&format!("/actions/{id}")).json();
        assert_eq!(shown["outcome"]["code"], "source_changed", "{what}");
        let landed = home.projects().join(format!("p1/.claude/docs/swap-{number}.md"));
        assert!(landed.symlink_metadata().is_err(), "{what}");
    }
}

#[test]
fn h05_a_docs_folder_that_became_a_link_is_not_written_through() {
    let home = home();
    let source = home.home().join("x.md");
    write(&source, "x");
    let serve = Serve::start(&home);
    let id = serve.ask("POST", "/project/p1/docs", &json!({ "path": source }));
    let gone = serve.ask("DELETE", "/project/p1/docs/a.md", &Value::Null);
    let docs = home.projects().join("p1/.claude/docs");
    let elsewhere = home.home().join("elsewhere");
    write(elsewhere.join("a.md"), "a");
    std::fs::rename(&docs, home.home().join("docs-old")).expect("rename");
    symlink(&elsewhere, &docs).expect("link");
    for id in [&id, &gone] {
        assert_eq!(approve(&home, id)["status"], "failed");
    }
    assert!(!elsewhere.join("x.md").exists() && elsewhere.join("a.md").exists());
    // Another folder under the project's id is another project.
    let other = home.project("other");
    run(home.omni().args(["project", "rm", "p1"]), "").expect_success();
    run(home.omni().args(["project", "add", "--id", "p1"]).current_dir(&other), "")
        .expect_success();
    assert_eq!(serve.get("/project/p1/docs").json()["files"], json!([]));
}
