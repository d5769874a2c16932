//! Full disks and read-only folders (G05). Both need a process of their own: a file size limit and
//! a user id can't be taken back.

use std::os::unix::fs::PermissionsExt;

use nix::sys::resource::{Resource, setrlimit};

use super::*;

/// As `ulimit -f 8` (blocks of 1024 bytes in bash).
const LIMIT: u64 = 8 * 1024;

fn limit_file_size() {
    ignore_file_size_signal();
    setrlimit(Resource::RLIMIT_FSIZE, LIMIT, LIMIT).unwrap();
}

#[test]
fn g05_over_the_file_size_limit_the_row_is_spooled() {
    if let Some(folder) = child_place() {
        limit_file_size();
        let (recorder, warning) =
            Recorder::start_with(&paths_in(&folder), opening_in(&folder), session("small"));
        let warning = warning.unwrap();
        assert!(warning.contains("no room") && warning.contains(".start.json"), "{warning}");
        assert_eq!(recorder.finish(end()), None);
        return;
    }
    let place = Place::new();
    let test = "limits::g05_over_the_file_size_limit_the_row_is_spooled";
    assert_success(&child(test, place.folder.path()).output().unwrap());
    // Nothing is left that blocks the next start, and nothing is lost.
    let rows = all(&place.open().unwrap());
    assert_eq!((rows.len(), rows[0].outcome), (1, Outcome::Ok));
}

#[test]
fn g05_a_3_mb_prompt_over_the_limit_is_lost_with_one_warning() {
    if let Some(folder) = child_place() {
        limit_file_size();
        let big = session(&"x".repeat(3_000_000));
        let (recorder, warning) =
            Recorder::start_with(&paths_in(&folder), opening_in(&folder), big);
        assert!(warning.unwrap().contains("is not recorded"));
        assert_eq!(recorder.finish(end()), None);
        return;
    }
    let place = Place::new();
    drop(place.open().unwrap());
    let test = "limits::g05_a_3_mb_prompt_over_the_limit_is_lost_with_one_warning";
    assert_success(&child(test, place.folder.path()).output().unwrap());
    assert!(place.spooled().is_empty(), "no half file");
    let store = place.open().unwrap();
    assert!(all(&store).is_empty(), "no half row");
    store.begin(&session("next")).unwrap();
}

#[test]
fn g05_a_child_gets_the_signal_as_it_was() {
    if child_place().is_some() {
        ignore_file_size_signal();
        setrlimit(Resource::RLIMIT_FSIZE, 0, 0).unwrap();
        // The engine must die of the signal as it would without us.
        let status = Command::new("sh").args(["-c", "echo x > big"]).status().unwrap();
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        assert_eq!(signal, Some(nix::sys::signal::Signal::SIGXFSZ as i32));
        return;
    }
    let place = Place::new();
    let test = "limits::g05_a_child_gets_the_signal_as_it_was";
    let mut child = child(test, place.folder.path());
    child.env("PATH", "/usr/bin:/bin").current_dir(place.folder.path());
    assert_success(&child.output().unwrap());
}

/// Makes `paths` belong to a user without rights, and makes the child that user. As a plain user
/// the mode bits bind us already.
fn drop_rights() {
    if nix::unistd::geteuid().is_root() {
        nix::unistd::setgid(nix::unistd::Gid::from_raw(65534)).unwrap();
        nix::unistd::setuid(nix::unistd::Uid::from_raw(65534)).unwrap();
    }
}

fn give_to(user: u32, path: &Path) {
    if nix::unistd::geteuid().is_root() {
        std::os::unix::fs::chown(path, Some(user), Some(user)).unwrap();
    }
}

#[test]
fn g05_read_only_file_and_folder() {
    if let Some(folder) = child_place() {
        drop_rights();
        let (paths, opening) = (paths_in(&folder), opening_in(&folder));
        assert_eq!(all(&Store::open_reading(&paths).unwrap()).len(), 1, "lists can still be read");
        let (recorder, warning) = Recorder::start_with(&paths, opening, session("x"));
        let warning = warning.unwrap();
        assert!(warning.contains("omni-run-spool-"), "{warning}");
        assert_eq!(recorder.finish(end()), None);
        let lock = RunLock::acquire(&paths, "job", "x", 0);
        assert!(matches!(lock, Err(LockError::Unavailable { .. })));
        return;
    }
    let place = Place::new();
    place.open().unwrap().begin(&session("before")).unwrap();
    let all_of_it = [
        place.folder.path().to_owned(),
        place.folder.path().join("tmp"),
        place.paths().data,
        place.database(),
    ];
    all_of_it.iter().for_each(|path| give_to(65534, path));
    let set_mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode(&place.database(), 0o400);
    set_mode(&place.paths().data, 0o500);
    let test = "limits::g05_read_only_file_and_folder";
    let output = child(test, place.folder.path()).output().unwrap();
    set_mode(&place.paths().data, 0o700);
    set_mode(&place.database(), 0o600);
    all_of_it.iter().for_each(|path| give_to(0, path));
    assert_success(&output);
    assert_eq!(all(&place.open().unwrap()).len(), 1);
}
