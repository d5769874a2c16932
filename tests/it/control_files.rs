//! Which files an approval may touch, and with which bytes (H04, H05, B07, C01, C02, S81).

use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use omni_run::control::actions::{FILE_LIMIT, Filter, OutcomeCode, Payload, Status, Wish};
use omni_run::project::{Bucket, docs};

use crate::support::approvals::{Desk, NOW, add, delete, replace};
use crate::support::home::write;

/// Approves what has to fail, and sees that nothing is left of it.
#[track_caller]
fn fails(desk: &Desk, wish: Wish, change: impl FnOnce(), code: OutcomeCode) {
    let id = desk.asked(wish);
    let before = desk.tree();
    change();
    let action = desk.approve(id).action;
    let outcome = action.outcome.expect("outcome");
    assert_eq!((action.status, outcome.code), (Status::Failed, code), "{}", outcome.message);
    assert_eq!(desk.tree(), before);
}

#[test]
fn an_approved_file_is_a_doc_with_exactly_its_bytes() {
    let desk = Desk::new();
    let path = desk.source("notes.md", b"# a\r\n\xff\0b");
    let id = desk.asked(Wish::AddDoc {
        path: path.to_str().expect("UTF-8").to_owned(),
        file_name: None,
        bucket: Bucket::Always,
        replace: false,
    });
    let waiting = desk.get(id);
    assert_eq!(waiting.size_bytes, Some(8));
    assert_eq!(waiting.content_hash.as_ref().map(String::len), Some(64));
    assert_eq!(desk.tree(), [""; 0], "nothing happens before the approval");
    let action = desk.approve(id).action;
    assert_eq!(action.outcome.expect("outcome").code, OutcomeCode::Added);
    assert_eq!(desk.doc("notes.md").as_deref(), Some(b"# a\r\n\xff\0b".as_slice()));
    assert_eq!(desk.tree(), [".claude/docs/notes.md"]);
    let rag = desk.asked(add(&path, "notes.md", Bucket::Rag));
    assert_eq!(desk.approve(rag).action.status, Status::Applied);
    assert_eq!(desk.tree(), [".claude/docs/notes.md", ".claude/docs/rag/notes.md"]);
}

#[test]
fn h04_no_name_leads_out_of_the_folder() {
    let desk = Desk::with_docs(&[("a.md", b"x"), ("rag/x.md", b"y")]);
    write(desk.project.join("keep.txt"), "keep");
    let path = desk.source("src.md", "text");
    let before = desk.tree();
    for name in [
        "../keep.txt",
        "../../keep.txt",
        "..\\keep.txt",
        "/etc/passwd",
        "rag/x.md",
        ".",
        "..",
        "",
        "a.md/",
        "./a.md",
        "a\0.md",
        "..",
        ".md",
        "...",
        "%2e%2e",
        "x.md\n",
        "\u{85}x.md",
    ] {
        for bucket in [Bucket::Always, Bucket::Rag] {
            let refused = desk.ask(add(&path, name, bucket)).expect_err(name);
            assert_eq!(refused.code(), "bad_name", "{name:?}");
            let refused = desk.ask(delete(name, Some(bucket))).expect_err(name);
            assert!(["bad_name", "doc_not_found"].contains(&refused.code()), "{name:?}");
        }
        assert!(desk.ask(delete(name, None)).is_err(), "{name:?}");
    }
    assert_eq!(desk.tree(), before);
    assert_eq!(desk.queue().waiting(NOW).expect("count"), 0);
}

#[test]
fn b07_odd_names_are_refused_with_a_reason() {
    let desk = Desk::new();
    let path = desk.source("src.md", "text");
    let long = format!("{}.md", "x".repeat(253));
    for name in [
        "nul",
        "CON.md",
        "con .txt",
        "aux.md.",
        "x.md ",
        "x.md.",
        "a:b.md",
        "shell.md::$DATA",
        ".md",
        "...",
        &long,
        "x.md.exe",
        "nosuffix",
        ".env",
        "id_rsa",
        "key.pem",
        "rag",
        "COM\u{b9}.md",
        "x.md~",
        "#x.md#",
    ] {
        let refused = desk.ask(add(&path, name, Bucket::Always)).expect_err(name);
        assert_eq!(refused.code(), "bad_name", "{name:?}: {refused}");
    }
    for name in ["README", "\u{8bf4}\u{660e}.md", "a b.md", "x.PDF", "com.md"] {
        desk.ask(add(&path, name, Bucket::Always)).expect(name);
    }
}

#[test]
fn h04_the_folder_is_walked_again_without_links_at_the_approval() {
    let desk = Desk::new();
    let outside = desk.home.root().join("outside");
    std::fs::create_dir_all(outside.join("docs/rag")).expect("outside");
    let path = desk.source("a.md", "text");
    // Each folder of the way is swapped for a link that leads out, between asking and approving.
    for (link, to) in [
        (".claude", outside.clone()),
        (".claude/docs", outside.join("docs")),
        (".claude/docs/rag", outside.join("docs/rag")),
    ] {
        let id = desk.asked(add(&path, "a.md", Bucket::Rag));
        let _ = std::fs::remove_dir_all(desk.project.join(".claude"));
        let link = desk.project.join(link);
        std::fs::create_dir_all(link.parent().expect("parent")).expect("folders");
        symlink(&to, &link).expect("link");
        let action = desk.approve(id).action;
        assert_eq!(action.status, Status::Failed, "{}", link.display());
        std::fs::remove_file(&link).expect("unlink");
    }
    // The project's own folder.
    let id = desk.asked(add(&path, "a.md", Bucket::Always));
    let aside = desk.home.root().join("aside");
    std::fs::rename(&desk.project, &aside).expect("aside");
    symlink(&outside, &desk.project).expect("link");
    let outcome = desk.approve(id).action.outcome.expect("outcome");
    assert_eq!(outcome.code, OutcomeCode::ProjectGone, "{}", outcome.message);
    let found: Vec<_> = walk(&outside).into_iter().filter(|path| path.is_file()).collect();
    assert!(found.is_empty(), "{found:?}");
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut at = 0;
    while at < found.len() {
        if found[at].is_dir() {
            let entries = std::fs::read_dir(&found[at]).expect("folder");
            found.extend(entries.flatten().map(|entry| entry.path()));
        }
        at += 1;
    }
    found
}

#[test]
fn h05_the_bytes_approved_are_the_bytes_that_land() {
    let desk = Desk::new();
    let secret = desk.source("outside/secret.md", "CANARY-OUTSIDE");
    let source = || desk.source("src.md", "benign");
    let wish = |path: &Path| add(path, "a.md", Bucket::Always);
    let changed = OutcomeCode::SourceChanged;

    let path = source();
    fails(&desk, wish(&path), || write(&path, "malign"), changed);

    let path = source();
    fails(&desk, wish(&path), || std::fs::remove_file(&path).expect("remove"), changed);

    let path = source();
    let grow = || write(&path, vec![b'b'; 30_000_000]);
    fails(&desk, wish(&path), grow, changed);

    let path = source();
    let swap = || {
        std::fs::remove_file(&path).expect("remove");
        symlink(&secret, &path).expect("link");
    };
    fails(&desk, wish(&path), swap, changed);

    // The same size and the same times.
    std::fs::remove_file(&path).expect("remove");
    let path = source();
    let disguise = || {
        let times = std::fs::metadata(&path).expect("metadata");
        write(&path, "malign");
        let file = std::fs::File::options().write(true).open(&path).expect("open");
        file.set_modified(times.modified().expect("time")).expect("touch");
        let now = std::fs::metadata(&path).expect("metadata");
        assert_eq!((now.len(), now.mtime()), (times.len(), times.mtime()));
    };
    fails(&desk, wish(&path), disguise, changed);

    // A folder of the way becomes a link to one with a file of the same name.
    let path = desk.source("sub/src.md", "benign");
    let elsewhere = desk.source("elsewhere/src.md", "malign");
    let swap_parent = || {
        let folder = path.parent().expect("folder");
        std::fs::rename(folder, folder.with_extension("old")).expect("rename");
        symlink(elsewhere.parent().expect("folder"), folder).expect("link");
    };
    fails(&desk, wish(&path), swap_parent, changed);

    // Of no special kind any more: neither opens anything nor waits for a writer.
    let path = desk.source("pipe.md", "benign");
    let pipe = || {
        std::fs::remove_file(&path).expect("remove");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("pipe");
    };
    fails(&desk, wish(&path), pipe, changed);
    assert_eq!(desk.tree(), [""; 0]);
}

#[test]
fn c01_only_a_regular_file_is_a_source() {
    let desk = Desk::new();
    let work = desk.source("real.md", "CANARY-OUTSIDE").parent().expect("folder").to_owned();
    nix::unistd::mkfifo(&work.join("pipe.md"), nix::sys::stat::Mode::S_IRWXU).expect("pipe");
    let _socket = std::os::unix::net::UnixListener::bind(work.join("socket.md")).expect("socket");
    std::fs::create_dir(work.join("dir.md")).expect("folder");
    symlink(work.join("real.md"), work.join("link.md")).expect("link");
    symlink(&work, desk.home.root().join("linked")).expect("link");
    let code = |path: &Path| desk.ask(add(path, "a.md", Bucket::Always)).map_err(|e| e.code());
    for name in ["pipe.md", "socket.md", "dir.md", "link.md"] {
        assert_eq!(code(&work.join(name)), Err("bad_source"), "{name}");
    }
    assert_eq!(code(&desk.home.root().join("linked/real.md")), Err("bad_source"));
    assert_eq!(code(Path::new("/dev/zero")), Err("bad_source"));
    assert_eq!(code(&work.join("none.md")), Err("source_not_found"));
    assert_eq!(code(&work.join("real.md/x")), Err("source_not_found"));
    for odd in ["real.md", "", "/", "~/real.md"] {
        assert_eq!(code(Path::new(odd)), Err("bad_path"), "{odd:?}");
    }
    assert_eq!(code(&work.join("../work/real.md")), Err("bad_path"));
    // A link is told by its own path, so that a person sees which one.
    let refused = desk.ask(add(&desk.home.root().join("linked/real.md"), "a.md", Bucket::Rag));
    let text = refused.expect_err("link").to_string();
    assert!(text.contains("/linked` is a link"), "{text}");
    assert!(code(&work.join("real.md")).is_ok());
}

#[test]
fn s81_a_doc_has_at_most_25_mb() {
    let desk = Desk::new();
    let sized = |name: &str, size: u64| {
        let path = desk.source(name, "");
        let file = std::fs::File::options().write(true).open(&path).expect("open");
        file.set_len(size).expect("size");
        path
    };
    let refused = desk.ask(add(&sized("big.md", FILE_LIMIT + 1), "a.md", Bucket::Rag));
    assert_eq!(refused.expect_err("too large").code(), "too_large");
    let id = desk.asked(add(&sized("most.md", FILE_LIMIT), "a.md", Bucket::Rag));
    assert_eq!(desk.approve(id).action.status, Status::Applied);
    assert_eq!(std::fs::metadata(desk.docs().join("rag/a.md")).expect("doc").len(), FILE_LIMIT);
}

#[test]
fn s81_a_name_that_is_taken_needs_replace() {
    let desk = Desk::with_docs(&[("a.md", b"old"), ("dir.md/x", b"")]);
    let path = desk.source("new.md", "new");
    let code = |wish| desk.ask(wish).map_err(|e| e.code()).map(|_| ());
    assert_eq!(code(add(&path, "a.md", Bucket::Always)), Err("exists"));
    assert_eq!(code(replace(&path, "dir.md")), Err("exists"), "a folder is never replaced");
    // Free when it was asked for, taken when it is approved.
    let taken = OutcomeCode::Exists;
    let id = desk.asked(add(&path, "b.md", Bucket::Always));
    write(desk.docs().join("b.md"), "by hand");
    let outcome = desk.approve(id).action.outcome.expect("outcome");
    assert_eq!((outcome.code, desk.doc("b.md")), (taken, Some(b"by hand".to_vec())));
    let id = desk.asked(replace(&path, "a.md"));
    assert_eq!(desk.approve(id).action.outcome.expect("outcome").code, OutcomeCode::Replaced);
    assert_eq!(desk.doc("a.md"), Some(b"new".to_vec()));
    // A link in the docs folder is replaced by nobody: it could stand for any file.
    let victim = desk.source("victim.md", "victim");
    symlink(&victim, desk.docs().join("link.md")).expect("link");
    assert_eq!(code(replace(&path, "link.md")), Err("exists"));
    assert_eq!(std::fs::read_to_string(victim).expect("victim"), "victim");
}

#[test]
fn s81_order_and_flags_stay_right() {
    let is_text = |name: &std::ffi::OsStr| name.to_str().is_some_and(|name| name.ends_with(".md"));
    let desk = Desk::with_docs(&[("a.md", b"a"), ("b.md", b"b")]);
    let queue = desk.queue();
    let store = queue.store();
    docs::instruct(store, &desk.project, "a.md".as_ref(), is_text, NOW).expect("flag");
    docs::set_order(store, &desk.project, &["b.md".into(), "a.md".into()], NOW).expect("order");
    let settings = || {
        let project = omni_run::project::registry::of_folder(store, &desk.project).expect("read");
        let docs = project.expect("project").docs;
        let flags: Vec<String> = docs.flags.into_iter().map(|flag| flag.name).collect();
        (docs.order, flags)
    };
    let path = desk.source("new.md", "new");
    // One that replaces an instruction stays one: the person saw which doc it takes the place of.
    desk.approve(desk.asked(replace(&path, "a.md")));
    assert_eq!(settings(), (vec!["b.md".into(), "a.md".into()], vec!["a.md".into()]));
    desk.approve(desk.asked(delete("a.md", None)));
    assert_eq!(settings(), (vec!["b.md".into()], vec![]));
    // A new doc under the old name is no instruction.
    docs::instruct(store, &desk.project, "b.md".as_ref(), is_text, NOW).expect("flag");
    std::fs::remove_file(desk.docs().join("b.md")).expect("remove");
    desk.approve(desk.asked(add(&path, "b.md", Bucket::Always)));
    assert_eq!(settings(), (vec!["b.md".into()], vec![]));
}

#[test]
fn h10_exactly_the_named_bucket_loses_its_doc() {
    let both: &[(&str, &[u8])] = &[("x.md", b"top"), ("rag/x.md", b"rag"), ("y.md", b"y")];
    let desk = Desk::with_docs(both);
    let refused = desk.ask(delete("x.md", None)).expect_err("ambiguous");
    assert_eq!(refused.code(), "ambiguous");
    let id = desk.asked(delete("x.md", Some(Bucket::Rag)));
    assert_eq!(desk.approve(id).action.outcome.expect("outcome").code, OutcomeCode::Deleted);
    assert_eq!(desk.tree(), [".claude/docs/x.md", ".claude/docs/y.md"]);
    // Found where it is, and kept to that place: what comes to the other one later is not meant.
    let id = desk.asked(delete("x.md", None));
    let Payload::DeleteDoc(doc) = desk.get(id).payload else { panic!("a deletion") };
    assert_eq!(doc.bucket, Bucket::Always);
    std::fs::rename(desk.docs().join("x.md"), desk.docs().join("rag/x.md")).expect("move");
    let outcome = desk.approve(id).action.outcome.expect("outcome");
    assert_eq!((outcome.code, desk.doc("rag/x.md").is_some()), (OutcomeCode::NotFound, true));
    // Words that are no bucket.
    for word in ["RAG", "both", "", "Always"] {
        assert_eq!(Bucket::parse(word), None, "{word}");
    }
}

#[test]
fn a_doc_that_was_changed_since_is_not_deleted() {
    let desk = Desk::with_docs(&[("a.md", b"old")]);
    let change = || write(desk.docs().join("a.md"), "new and precious");
    fails(&desk, delete("a.md", None), change, OutcomeCode::DocChanged);
    let gone = || std::fs::remove_file(desk.docs().join("a.md")).expect("remove");
    let id = desk.asked(delete("a.md", None));
    gone();
    assert_eq!(desk.approve(id).action.outcome.expect("outcome").code, OutcomeCode::NotFound);
}

/// A descriptor of the database that this process closes takes SQLite's locks with it: another one then
/// removes the log under a server that still writes it.
#[test]
fn s86_nothing_of_omni_runs_own_is_a_source_under_any_name() {
    let desk = Desk::with_docs(&[("a.md", b"x")]);
    // Keeps the log and its index there.
    let open = desk.queue();
    open.list(&Filter::default()).expect("open");
    let data = desk.paths().data;
    write(data.join("api-token"), "omr_");
    let ours = locks(&data);
    assert!(!ours.is_empty() || !cfg!(target_os = "linux"), "SQLite holds locks");
    for name in ["omni-run.db", "omni-run.db-wal", "omni-run.db-shm", "api-token"] {
        let refused = desk.ask(add(&data.join(name), "b.md", Bucket::Always)).expect_err(name);
        assert_eq!(refused.code(), "bad_source", "{name}");
    }
    for name in ["omni-run.db", "omni-run.db-shm"] {
        let other = desk.source("dir/x.md", "").with_file_name(format!("{name}.md"));
        std::fs::hard_link(data.join(name), &other).expect("hard link");
        let refused = desk.ask(add(&other, "b.md", Bucket::Always)).expect_err(name);
        assert_eq!(refused.code(), "bad_source", "{name}");
        // As a doc it is not opened either.
        std::fs::hard_link(data.join(name), desk.docs().join("linked.md")).expect("hard link");
        assert!(desk.ask(delete("linked.md", None)).is_err(), "{name}");
        std::fs::remove_file(desk.docs().join("linked.md")).expect("remove");
    }
    assert_eq!(locks(&data), ours, "the locks are held still");
}

/// This process's POSIX locks on files in a folder, as the system lists them; elsewhere than on Linux
/// nothing.
fn locks(folder: &Path) -> Vec<String> {
    let Ok(listed) = std::fs::read_to_string("/proc/locks") else { return Vec::new() };
    let inodes: Vec<String> = std::fs::read_dir(folder)
        .expect("folder")
        .map(|entry| format!(":{} ", entry.expect("entry").metadata().expect("about").ino()))
        .collect();
    let pid = format!(" {} ", std::process::id());
    let ours = |line: &&str| {
        line.contains("POSIX")
            && line.contains(&pid)
            && inodes.iter().any(|inode| line.contains(inode))
    };
    let mut found: Vec<String> = listed
        .lines()
        .filter(ours)
        .map(|line| line.split_once(": ").map_or(line, |(_, lock)| lock).to_owned())
        .collect();
    found.sort();
    found
}

#[test]
fn s83_a_doc_that_was_edited_since_is_not_replaced() {
    let desk = Desk::with_docs(&[("a.md", b"old")]);
    let path = desk.source("src.md", "new");
    let edit = || write(desk.docs().join("a.md"), "edited by the person");
    fails_but_for(&desk, replace(&path, "a.md"), edit, OutcomeCode::DocChanged, "a.md");
    // A doc that came since was never shown either.
    let come = || write(desk.docs().join("b.md"), "written since");
    fails_but_for(&desk, replace(&path, "b.md"), come, OutcomeCode::Exists, "b.md");
    // One that went leaves a place that is free.
    let id = desk.asked(replace(&path, "a.md"));
    std::fs::remove_file(desk.docs().join("a.md")).expect("remove");
    assert_eq!(desk.approve(id).action.status, Status::Applied);
    assert_eq!(desk.doc("a.md").as_deref(), Some(b"new".as_slice()));
}

/// The approval fails, tells why beforehand, and the doc has the bytes that `change` wrote.
#[track_caller]
fn fails_but_for(desk: &Desk, wish: Wish, change: impl Fn(), code: OutcomeCode, name: &str) {
    let id = desk.asked(wish);
    change();
    let written = desk.doc(name);
    let obstacle = desk.queue().preview(&desk.get(id)).obstacle;
    assert!(obstacle.is_some_and(|why| why.contains("has changed")), "{name}");
    let action = desk.approve(id).action;
    let outcome = action.outcome.expect("outcome");
    assert_eq!((action.status, outcome.code), (Status::Failed, code), "{}", outcome.message);
    assert_eq!(desk.doc(name), written);
}
