//! Sessions whose process is gone are marked, those that live are not, whatever evidence is left.

use super::*;
use crate::launch::owner::Owner;
use crate::launch::plugin_report::PluginReport;

/// A pid over every system's limit: nobody has it.
const NOBODY: i32 = 99_999_999;

fn dead() -> Owner {
    Owner { pid: NOBODY, ..Owner::this_process() }
}

/// Begins a session as if a process that is gone had begun it, and killed it; `notes`: what its mark
/// says beyond the first line.
fn killed(place: &Place, owner: &Owner, notes: &[LiveNote], run_dir: Option<PathBuf>) -> SessionId {
    let new = session("x");
    let store = place.open().unwrap();
    store.begin_as(&new, owner).unwrap();
    let begin = LiveNote::Begin { session: new.id, owner: owner.clone(), run_dir };
    let lines: String = std::iter::once(&begin)
        .chain(notes)
        .map(|note| format!("{}\n", serde_json::to_string(note).unwrap()))
        .collect();
    let folder = place.paths().data.join("live");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{}.live", new.id)), lines).unwrap();
    new.id
}

fn row(place: &Place, id: SessionId) -> SessionRow {
    place.open().unwrap().session(id).unwrap().unwrap()
}

#[test]
fn what_the_mark_of_a_killed_session_says_comes_into_its_row() {
    let place = Place::new();
    let notes = [
        LiveNote::Starting,
        LiveNote::Session { id: "theirs".into() },
        LiveNote::Accepted { how: "it answered".into() },
    ];
    let id = killed(&place, &dead(), &notes, None);
    settle(&place.paths(), Look::Marks).unwrap();
    let row = row(&place, id);
    assert_eq!(row.outcome, Outcome::Crashed);
    assert_eq!(row.engine_session_id.as_deref(), Some("theirs"));
    assert_eq!(row.accepted.as_deref(), Some("it answered"));
    assert!(files_of(&place.paths().data.join("live")).is_empty());
}

#[test]
fn before_the_engine_was_started_it_was_not_started() {
    let place = Place::new();
    let id = killed(&place, &dead(), &[], None);
    settle(&place.paths(), Look::Marks).unwrap();
    assert_eq!(row(&place, id).outcome, Outcome::NotStarted);
}

#[test]
fn a_machine_that_went_down_is_told_from_a_kill() {
    let place = Place::new();
    let before = Owner { boot: "the one before".into(), ..dead() };
    // Without the line about the engine, too: what was not synced is lost with the power.
    let id = killed(&place, &before, &[], None);
    settle(&place.paths(), Look::Marks).unwrap();
    assert_eq!(row(&place, id).outcome, Outcome::Lost);
}

#[test]
fn what_lives_or_belongs_to_another_machine_is_left_alone() {
    let place = Place::new();
    let elsewhere = Owner { host: "elsewhere".into(), ..dead() };
    let other = killed(&place, &elsewhere, &[LiveNote::Starting], None);
    // Its omni-run is gone, its engine not yet.
    let engine = LiveNote::Engine { process: Owner::this_process() };
    let ending = killed(&place, &dead(), &[LiveNote::Starting, engine], None);
    let (recorder, _) = place.start(session("y"));
    let own = recorder.session().id;
    for look in [Look::Marks, Look::Everything] {
        settle(&place.paths(), look).unwrap();
        for id in [other, ending, own] {
            assert_eq!(row(&place, id).outcome, Outcome::Running);
        }
    }
    assert_eq!(recorder.finish(end()), None);
    assert_eq!(row(&place, own).outcome, Outcome::Ok);
}

#[test]
fn a_row_without_a_mark_is_found_by_looking_at_everything() {
    let place = Place::new();
    let id = killed(&place, &dead(), &[], None);
    std::fs::remove_dir_all(place.paths().data.join("live")).unwrap();
    settle(&place.paths(), Look::Marks).unwrap();
    assert_eq!(row(&place, id).outcome, Outcome::Running);
    settle(&place.paths(), Look::Everything).unwrap();
    // Whether the engine was started is not known without the mark.
    assert_eq!(row(&place, id).outcome, Outcome::Crashed);
}

#[test]
fn a_plugins_report_is_evidence_as_long_as_the_run_folder_is_there() {
    let place = Place::new();
    let run_dir = place.folder.path().join("run");
    let report = PluginReport::place(&run_dir);
    std::fs::create_dir_all(report.parent().unwrap()).unwrap();
    std::fs::write(&report, "{\"event\":\"acted\",\"bytes\":7,\"session\":\"theirs\"}\n").unwrap();
    let id = killed(&place, &dead(), &[LiveNote::Starting], Some(run_dir));
    settle(&place.paths(), Look::Marks).unwrap();
    let row = row(&place, id);
    assert!(row.accepted.unwrap().contains("7 bytes"));
    assert_eq!(row.engine_session_id.as_deref(), Some("theirs"));
}

#[test]
fn a_late_end_and_a_new_start_both_win_over_a_crash() {
    let place = Place::new();
    let id = killed(&place, &dead(), &[LiveNote::Starting], None);
    settle(&place.paths(), Look::Marks).unwrap();
    let store = place.open().unwrap();
    let was = row(&place, id);
    let again = NewSession { id, ..session("x") };
    store.begin_again(&again, &Owner::this_process(), &was).unwrap();
    let now = row(&place, id);
    assert_eq!(
        (now.outcome, now.attempts, now.owner),
        (Outcome::Running, 2, Some(Owner::this_process()))
    );
    // Whoever still holds the old row in his hands changes nothing.
    let second = store.begin_again(&again, &Owner::this_process(), &was);
    assert!(matches!(second, Err(StoreError::Changed { .. })));
    assert_eq!(store.messages(id).unwrap().len(), 1, "one operator row");

    let late = killed(&place, &dead(), &[LiveNote::Starting], None);
    settle(&place.paths(), Look::Marks).unwrap();
    store.finish(late, &end()).unwrap();
    assert_eq!(row(&place, late).outcome, Outcome::Ok);
}

#[test]
fn the_first_session_of_a_conversation_is_found_through_the_others() {
    let place = Place::new();
    let store = place.open().unwrap();
    let first = session("first");
    let second = NewSession { resumes: Some(first.id), ..session("") };
    let third = NewSession { resumes: Some(second.id), ..session("third") };
    for new in [&first, &second, &third] {
        store.begin(new).unwrap();
    }
    let last = row(&place, third.id);
    assert_eq!(store.first_of(&last).unwrap().id, first.id);
    let silent = row(&place, second.id);
    assert_eq!(silent.first_words, "first", "of the one that it goes on with");
    assert!(store.messages(second.id).unwrap().is_empty());
}
