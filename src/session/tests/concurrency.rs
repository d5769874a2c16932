//! Many launches at once on a database that does not exist yet (G01, S63), and the lock of F05.

use std::io::{BufRead, BufReader, Write};
use std::sync::Barrier;

use super::*;

const LAUNCHES: usize = 48;

fn patient(folder: &Path) -> Opening {
    // The machine that runs the tests may be slower than a user's; losing a row is what counts.
    Opening { busy: Some(Duration::from_secs(60)), ..opening_in(folder) }
}

fn assert_nothing_lost(place: &Place, launches: usize) {
    let store = place.open().unwrap();
    let rows = all(&store);
    assert_eq!(rows.len(), launches);
    for row in &rows {
        assert_eq!(row.outcome, Outcome::Ok);
        assert_eq!(store.messages(row.id).unwrap().len(), 2);
    }
    assert!(place.spooled().is_empty());
    assert!(backup::check(&store, &place.paths()).unwrap().problems.is_empty());
}

fn launch(folder: &Path, text: &str) {
    let (recorder, warning) =
        Recorder::start_with(&paths_in(folder), patient(folder), session(text));
    assert_eq!(warning, None);
    assert_eq!(recorder.finish(end()), None);
}

fn threads_at_once(place: &Place, launches: usize) {
    let barrier = Barrier::new(launches);
    std::thread::scope(|scope| {
        for index in 0..launches {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                launch(place.folder.path(), &format!("text {index}"));
            });
        }
    });
    assert_nothing_lost(place, launches);
}

#[test]
fn g01_threads_on_a_database_that_does_not_exist() {
    threads_at_once(&Place::new(), LAUNCHES);
}

#[test]
fn g02_threads_on_a_disk_without_shared_memory() {
    let place = Place::new();
    std::fs::create_dir_all(store::beside(&place.database(), "-shm")).unwrap();
    threads_at_once(&place, 12);
}

#[test]
fn g01_processes_on_a_database_that_does_not_exist() {
    if let Some(folder) = child_place() {
        return launch(&folder, &format!("from {}", std::process::id()));
    }
    let place = Place::new();
    let test = "concurrency::g01_processes_on_a_database_that_does_not_exist";
    let children: Vec<_> =
        (0..LAUNCHES).map(|_| child(test, place.folder.path()).spawn().unwrap()).collect();
    for child in children {
        assert_success(&child.wait_with_output().unwrap());
    }
    assert_nothing_lost(&place, LAUNCHES);
}

const NOW: UnixMs = 1_796_000_000_000;

#[test]
fn f05_a_second_run_of_a_key_is_told_who_holds_it() {
    let place = Place::new();
    let first = RunLock::acquire(&place.paths(), "nightly", "omni-run echo\n", NOW).unwrap();
    match RunLock::acquire(&place.paths(), "nightly", "second", NOW) {
        Err(LockError::Held { key, holder }) => {
            assert_eq!(key, "nightly");
            let pid = std::process::id();
            assert_eq!(holder, format!("pid {pid} since 2026-11-30T00:53:20Z, omni-run echo\\n"));
        }
        other => panic!("{other:?}"),
    }
    let other_key = RunLock::acquire(&place.paths(), "night/ly", "third", NOW);
    assert!(other_key.is_ok());
    drop(first);
    assert!(RunLock::acquire(&place.paths(), "nightly", "fourth", NOW).is_ok());
}

#[test]
fn f05_a_killed_holder_blocks_nobody_and_its_engine_holds_nothing() {
    let place = Place::new();
    if let Some(folder) = child_place() {
        let _lock = RunLock::acquire(&paths_in(&folder), "job", "child", NOW).unwrap();
        // The engine of the child: lives on when the child is killed, until its stdin closes.
        #[expect(clippy::zombie_processes, reason = "it is to outlive us")]
        let engine = Command::new("cat").stdin(Stdio::inherit()).spawn().unwrap();
        writeln!(std::io::stdout(), "\nholding {}", engine.id()).unwrap();
        std::thread::park();
        return;
    }
    let test = "concurrency::f05_a_killed_holder_blocks_nobody_and_its_engine_holds_nothing";
    let mut holder = child(test, place.folder.path()).stdin(Stdio::piped()).spawn().unwrap();
    let engine_stdin = holder.stdin.take();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().starts_with("holding ")));
    let held = RunLock::acquire(&place.paths(), "job", "second", NOW);
    assert!(matches!(held, Err(LockError::Held { .. })));
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(RunLock::acquire(&place.paths(), "job", "third", NOW).is_ok());
    drop(engine_stdin);
}

#[test]
fn f05_a_lock_that_cannot_be_taken_is_another_error() {
    let place = Place::new();
    std::fs::create_dir(place.paths().data).unwrap();
    std::fs::write(place.paths().data.join("locks"), "").unwrap();
    let lock = RunLock::acquire(&place.paths(), "job", "x", NOW);
    assert!(matches!(lock, Err(LockError::Unavailable { .. })));
}
