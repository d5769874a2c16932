//! Field cases C01, C02, C04, C07, C08: what lies in the folder beside docs.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::*;

#[test]
fn c01_special_files() {
    let mut project = Project::with(&[("ok.md", b"fine\n")]);
    for name in ["notes.md", "pic.png", "rag/pipe.md"] {
        mkfifo(&project.path(name.as_bytes()), Mode::S_IRWXU).unwrap();
    }
    let _socket = UnixListener::bind(project.path(b"api.md")).unwrap();
    fs::create_dir(project.path(b"dir.md")).unwrap();
    fs::create_dir(project.path(b"dir.png")).unwrap();
    fs::create_dir(project.path(b"plain-folder")).unwrap();
    symlink("/dev/zero", project.path(b"zero.md")).unwrap();
    project.request.profile = Some(project.path(b"notes.md"));
    project.request.custom_instructions = Some("/dev/zero".into());
    project.request.attach = vec![project.path(b"pic.png"), "/dev/null".into(), "/no/such".into()];
    let start = Instant::now();
    let auto = project.build();
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(read_block(auto.block().unwrap()).0, [("ok.md".into(), "fine\n".into())]);
    let expected = [
        ("notes.md", "named pipe"),
        ("pic.png", "named pipe"),
        ("rag/pipe.md", "named pipe"),
        ("api.md", "socket"),
        ("dir.md", "a folder"),
        ("dir.png", "a folder"),
        ("zero.md", "symbolic link"),
        ("profile", "named pipe"),
        ("custom instructions", "device"),
        ("/dev/null", "device"),
        ("/no/such", "no such file"),
    ];
    for (name, why) in expected {
        assert!(warned(&auto, &[name, why]), "{name} {:?}", auto.report().warnings);
    }
    assert!(!warned(&auto, &["plain-folder"]));
    assert!(auto.attachments().is_empty() && auto.header().is_none());
}

#[test]
fn c02_links_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir_all(outside.path().join("docs/rag")).unwrap();
    for name in ["secret.md", "docs/secret.md", "docs/rag/secret.md", "secret.png"] {
        fs::write(outside.path().join(name), "CANARY-OUTSIDE\n").unwrap();
    }
    let never = |project: &Project, link: &str| {
        let auto = project.build();
        let all = format!(
            "{:?} {:?} {:?} {:?}",
            auto.block(),
            auto.instructions(),
            auto.header(),
            auto.report()
        );
        assert!(!all.contains("CANARY") && !all.contains("secret.md"), "{all}");
        assert_eq!(auto.report().warnings.iter().filter(|w| w.contains(link)).count(), 1, "{all}");
        auto
    };
    let project = Project::with(&[("ok.md", b"fine\n")]);
    symlink(outside.path().join("secret.md"), project.path(b"notes.md")).unwrap();
    assert!(never(&project, "notes.md").block().unwrap().contains("fine"));

    let project = Project::with(&[("ok.md", b"fine\n")]);
    symlink(project.path(b"ok.md"), project.path(b"again.md")).unwrap();
    symlink(outside.path().join("secret.png"), project.path(b"rag/pic.png")).unwrap();
    symlink(outside.path().join("secret.png"), project.path(b"pic.png")).unwrap();
    assert_eq!(never(&project, "again.md").attachments().len(), 0);

    let project = Project::with(&[("ok.md", b"fine\n")]);
    fs::remove_dir(project.path(b"rag")).unwrap();
    symlink(outside.path().join("docs/rag"), project.path(b"rag")).unwrap();
    assert!(never(&project, ".claude/docs/rag").block().unwrap().contains("fine"));

    for link in [".claude", ".claude/docs"] {
        let project = Project::new();
        fs::remove_dir_all(project.root().join(link)).unwrap();
        let target =
            if link == ".claude" { outside.path().to_owned() } else { outside.path().join("docs") };
        symlink(target, project.root().join(link)).unwrap();
        assert_eq!(never(&project, link).block(), None);
    }
}

#[test]
fn c04_editor_junk() {
    let project = Project::with(&[("notes.md", b"the doc\n")]);
    symlink("user@host.1234", project.path(b".#notes.md")).unwrap();
    for name in [
        ".notes.md.swp",
        "notes.md~",
        "#notes.md#",
        "._notes.md",
        ".DS_Store",
        "Thumbs.db",
        "~$plan.docx",
        "notes.md.orig",
        "4913",
        "notes.md.tmp.1",
        "rag/.DS_Store",
        "rag/x.md~",
    ] {
        project.write(name.as_bytes(), b"JUNK\0JUNK");
    }
    let auto = project.build();
    assert_eq!(
        auto.block().unwrap(),
        "## Injected Project Docs\n\n### notes.md\n```\nthe doc\n```"
    );
    assert!(auto.report().warnings.is_empty(), "{:?}", auto.report().warnings);
    assert!(
        matches!(state(&auto, ".#notes.md"), DocState::Ignored(why) if why.contains("leftover"))
    );
}

#[test]
fn c07_ten_thousand() {
    let project = Project::new();
    for index in 0..10_000 {
        project.write(format!("rag/r{index:05}.md").as_bytes(), b"# T\n");
    }
    for index in 0..1_200 {
        project.write(format!("d{index:04}.md").as_bytes(), b"tiny doc\n");
    }
    let start = Instant::now();
    let snapshot = project.snapshot();
    let auto = AutoContext::build(&snapshot, &delivery(1_000_000));
    assert!(start.elapsed() < Duration::from_secs(2));
    assert_eq!((snapshot.rag.len(), snapshot.rag_more), (100, 9_900));
    let block = auto.block().unwrap();
    assert!(block.contains("- .claude/docs/rag/r00099.md (~1 tokens) — \"T\"\n- … and 9900 more"));
    assert!(block.ends_with("- … and 9900 more"));
    assert_eq!(auto.report().rag_files, 10_000);
    assert_eq!(read_block(block).0.len(), 1_200);
}

#[test]
fn c08_wrong_places() {
    let mut project = Project::with(&[("big.md", &[b'x'; 9_000]), ("rag/a.md", b"# A\n")]);
    let root = project.root().to_owned();
    let note = |auto: &AutoContext| {
        let path = root.join(".claude/docs/big.md").display().to_string();
        assert!(
            auto.block().unwrap().contains(&format!("Use Read tool on `{path}` when needed.*"))
        );
    };
    let small = delivery(1_000);
    project.request.cwd = root.join("sub");
    let auto = project.build_for(&small);
    note(&auto);
    assert!(
        auto.block().unwrap().contains(&format!("- {}/.claude/docs/rag/a.md (", root.display()))
    );
    // The same folder in other words is still the project folder.
    fs::create_dir(root.join("sub")).unwrap();
    for cwd in [root.join("sub/.."), root.join("")] {
        project.request.cwd = cwd;
        assert!(project.build_for(&small).block().unwrap().contains("- .claude/docs/rag/a.md ("));
    }
    for odd in [None, Some("a file")] {
        let project = Project::new();
        fs::remove_dir_all(project.docs()).unwrap();
        if let Some(text) = odd {
            fs::write(project.docs(), text).unwrap();
        }
        let auto = project.build();
        assert_eq!(auto.block(), None);
        assert_eq!(auto.report().warnings.is_empty(), odd.is_none());
    }
    let missing =
        SnapshotRequest { project_root: Some("/no/such/project".into()), ..Default::default() };
    assert_eq!(reader::snapshot(&missing).warnings.len(), 1);
    assert!(reader::snapshot(&SnapshotRequest::default()).warnings.is_empty());
}
