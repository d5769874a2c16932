//! The registry.

use super::*;
use crate::session::StoreError;

#[test]
fn a_project_is_added_shown_renamed_and_removed() {
    let place = Place::new();
    let (b, a) = (place.dir("Beta One"), place.dir("alpha"));
    let added = registry::add(&place.store, &b, None, NOW).unwrap();
    assert_eq!(added.id.as_deref(), Some("beta-one"));
    registry::add(&place.store, &a, Some("a.1"), NOW).unwrap();
    let ids = || -> Vec<String> {
        registry::list(&place.store).unwrap().into_iter().filter_map(|p| p.id).collect()
    };
    assert_eq!(ids(), ["a.1", "beta-one"]);
    assert_eq!(registry::show(&place.store, "beta-one").unwrap(), added);
    registry::rename(&place.store, "beta-one", "b", NOW).unwrap();
    assert_eq!(ids(), ["a.1", "b"]);
    assert_eq!(registry::remove(&place.store, "b").unwrap().folder, b);
    assert_eq!(ids(), ["a.1"]);
    assert!(b.exists());
}

#[test]
fn duplicates_and_strange_folders_are_refused() {
    let place = Place::new();
    let (a, b) = (place.dir("a"), place.dir("b"));
    let add = |folder: &Path, id| registry::add(&place.store, folder, id, NOW);
    add(&a, None).unwrap();
    assert!(
        matches!(add(&b, Some("a")), Err(RegistryError::IdTaken { folder, .. }) if folder == a)
    );
    assert!(matches!(add(&a, Some("z")), Err(RegistryError::FolderTaken { id, .. }) if id == "a"));
    assert!(matches!(add(&a, None), Err(RegistryError::FolderTaken { .. })));
    assert!(matches!(add(&b, Some("__b__")), Err(RegistryError::InvalidId { .. })));
    add(&b, None).unwrap();
    let renamed = registry::rename(&place.store, "b", "a", NOW);
    assert!(matches!(renamed, Err(RegistryError::IdTaken { .. })));
    assert!(registry::rename(&place.store, "b", "b", NOW).is_ok());
    for folder in [Path::new("/"), &place.root.join("none"), place.store.file()] {
        assert!(matches!(add(folder, Some("x")), Err(RegistryError::NoFolder { .. })));
    }
}

#[test]
fn an_unknown_id_gets_a_suggestion() {
    let place = Place::new();
    registry::add(&place.store, &place.dir("website"), None, NOW).unwrap();
    let failure: crate::error::Failure =
        registry::remove(&place.store, "webstie").unwrap_err().into();
    assert_eq!(failure.kind.code(), 66);
    assert_eq!(failure.hints, ["did you mean `website`?"]);
}

#[test]
fn a_renamed_project_keeps_its_sessions() {
    let place = Place::new();
    registry::add(&place.store, &place.dir("a"), None, NOW).unwrap();
    place
        .raw()
        .execute_batch(
            "INSERT INTO sessions (id, engine, project_id, cwd, mode, argv_json, started_at)
             VALUES ('0199aaaa-0000-7000-8000-000000000001', 'echo', 'a', '/', 'one_shot', '[]', 1)",
        )
        .unwrap();
    registry::rename(&place.store, "a", "b", NOW).unwrap();
    let filter =
        crate::session::SessionFilter { project: Some("b".to_owned()), ..Default::default() };
    assert_eq!(place.store.sessions(&filter).unwrap().len(), 1);
}

#[test]
fn a_folder_that_had_settings_keeps_them_when_it_is_registered() {
    let place = Place::new();
    let a = place.dir("a");
    std::fs::create_dir_all(a.join(".claude/docs")).unwrap();
    std::fs::write(a.join(".claude/docs/x.md"), "x").unwrap();
    super::docs::instruct(&place.store, &a, "x.md").unwrap();
    assert!(registry::list(&place.store).unwrap().is_empty());
    let added = registry::add(&place.store, &a, None, NOW).unwrap();
    assert_eq!(added.docs.flags.len(), 1);
}

#[test]
fn the_columns_hold_what_the_spec_says() {
    let place = Place::new();
    let a = place.dir("a");
    std::fs::create_dir_all(a.join(".claude/docs")).unwrap();
    std::fs::write(a.join(".claude/docs/x.md"), "x").unwrap();
    super::docs::instruct(&place.store, &a, "x.md").unwrap();
    let (flags, order): (String, String) = place
        .raw()
        .query_row("SELECT doc_instruction_json, doc_order_json FROM projects", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!((flags.as_str(), order.as_str()), ("[\"x.md\"]", "[]"));
    place.raw().execute_batch("UPDATE projects SET doc_order_json = 'junk'").unwrap();
    let known = registry::of_folder(&place.store, &a);
    assert!(matches!(known, Err(StoreError::Corrupt { .. })));
}
