//! Field case C05: files and folders without permission. Root reads everything, so where the tests
//! run as root the snapshot is taken on a thread with the file system identity of nobody.

use std::os::unix::fs::PermissionsExt;

use super::*;

const NOBODY: u32 = 65_534;

/// Takes a snapshot as a user whom permissions stop; `None` where that cannot be had.
fn as_a_user(request: &SnapshotRequest) -> Option<ContextSnapshot> {
    if !nix::unistd::geteuid().is_root() {
        return Some(reader::snapshot(request));
    }
    #[cfg(target_os = "linux")]
    {
        let request = request.clone();
        // The identity belongs to the thread and ends with it.
        let taken = std::thread::spawn(move || {
            let nobody = nix::unistd::Uid::from_raw(NOBODY);
            nix::unistd::setfsuid(nobody);
            // A second call tells whether the first one was allowed.
            (nix::unistd::setfsuid(nobody) == nobody).then(|| reader::snapshot(&request))
        });
        taken.join().unwrap()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = NOBODY;
        None
    }
}

#[allow(clippy::print_stderr)] // A test that could not run says so.
fn skipped() {
    eprintln!("skipped: root on this system cannot take a user's place");
}

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn project() -> Project {
    let project = Project::with(&[
        ("ok.md", b"fine\n"),
        ("shut.md", b"closed\n"),
        ("shut.png", b"closed"),
        ("rag/a.md", b"# A\n"),
    ]);
    chmod(project.root(), 0o755);
    project
}

#[test]
fn c05_unreadable_entries_cost_only_themselves() {
    let project = project();
    for name in ["shut.md", "shut.png"] {
        chmod(&project.path(name.as_bytes()), 0);
    }
    chmod(&project.path(b"rag"), 0);
    let taken = as_a_user(&project.request);
    chmod(&project.path(b"rag"), 0o755);
    let Some(snapshot) = taken else { return skipped() };
    let auto = AutoContext::build(&snapshot, &delivery(200_000));
    assert_eq!(auto.block().unwrap(), "## Injected Project Docs\n\n### ok.md\n```\nfine\n```");
    for name in ["shut.md", "shut.png", ".claude/docs/rag"] {
        assert!(
            warned(&auto, &[name, "permission denied"]),
            "{name}: {:?}",
            auto.report().warnings
        );
    }
    assert_eq!(auto.report().warnings.len(), 3);
}

#[test]
fn c05_an_unreadable_folder_is_one_warning() {
    for (mode, names_known) in [(0o000, false), (0o444, true)] {
        let project = project();
        chmod(&project.docs(), mode);
        let taken = as_a_user(&project.request);
        chmod(&project.docs(), 0o755);
        let Some(snapshot) = taken else { return skipped() };
        let auto = AutoContext::build(&snapshot, &delivery(200_000));
        assert_eq!(auto.block(), None);
        assert!(warned(&auto, &["permission denied"]));
        assert_eq!(!auto.report().docs.is_empty(), names_known);
    }
}
