//! From a folder or a name to a project.

use super::*;
use crate::error::Failure;
use crate::session::StoreError;

impl Place {
    fn resolve(&self, named: Option<&str>, cwd: &Path) -> Result<Option<Resolved>, Failure> {
        let ask = Ask { named: named.map(OsStr::new), cwd, home: Some(&self.root) };
        let resolution = resolve(ask, Ok(&self.store))?;
        assert_eq!(resolution.warnings, Vec::<String>::new());
        Ok(resolution.project)
    }

    fn id(&self, named: Option<&str>, cwd: &Path) -> Option<String> {
        self.resolve(named, cwd).unwrap()?.id
    }

    fn root_of(&self, named: Option<&str>, cwd: &Path) -> Option<PathBuf> {
        self.resolve(named, cwd).unwrap()?.root
    }
}

#[test]
fn s50_the_deepest_registered_project_around_the_folder() {
    let place = Place::new();
    let (outer, inner) = (place.dir("outer"), place.dir("outer/inner"));
    let deep = place.dir("outer/inner/.claude/docs/x/y");
    registry::add(&place.store, &outer, None, NOW).unwrap();
    // A folder with docs inside a registered project belongs to that project.
    assert_eq!(place.id(None, &deep).as_deref(), Some("outer"));
    registry::add(&place.store, &inner, None, NOW).unwrap();
    assert_eq!(place.id(None, &deep).as_deref(), Some("inner"));
    assert_eq!(place.id(None, &outer).as_deref(), Some("outer"));
    // A name that only begins alike is another folder.
    assert_eq!(place.resolve(None, &place.dir("outer2")).unwrap(), None);
}

#[test]
fn s50_else_the_nearest_folder_with_docs() {
    let place = Place::new();
    let docs = place.dir("p/.claude/docs");
    let sub = place.dir("p/sub/deeper");
    let found = place.resolve(None, &sub).unwrap().unwrap();
    assert_eq!((found.id, found.root), (None, Some(place.root.join("p"))));
    std::fs::write(docs.join("x.md"), "x").unwrap();
    super::docs::instruct(&place.store, &place.root.join("p"), "x.md").unwrap();
    assert_eq!(place.resolve(None, &sub).unwrap().unwrap().instructions, ["x.md"]);
    // Links are not followed, files are no folders.
    let other = place.dir("q/.claude");
    std::os::unix::fs::symlink(&docs, other.join("docs")).unwrap();
    assert_eq!(place.resolve(None, &place.root.join("q")).unwrap(), None);
    let file = place.dir("r/.claude");
    std::fs::write(file.join("docs"), "").unwrap();
    assert_eq!(place.resolve(None, &place.root.join("r")).unwrap(), None);
}

#[test]
fn s50_by_id_or_path() {
    let place = Place::new();
    let (a, sub) = (place.dir("a"), place.dir("a/sub"));
    registry::add(&place.store, &a, Some("site"), NOW).unwrap();
    assert_eq!(place.id(Some("site"), Path::new("/")).as_deref(), Some("site"));
    let slash = format!("{}/", a.display());
    for path in [a.to_str().unwrap(), &slash, "..", "../../a", "./.."] {
        assert_eq!(place.id(Some(path), &sub).as_deref(), Some("site"), "{path}");
    }
    // A folder is taken at its word, not for the project around it.
    assert_eq!(place.root_of(Some("."), &sub), Some(sub.clone()));
    assert_eq!(place.root_of(Some("sub"), &a), Some(sub));
    for unknown in ["siet", "/no/such", "", "./x"] {
        let failure = place.resolve(Some(unknown), &a).unwrap_err();
        assert_eq!(failure.kind.code(), 66, "{unknown}");
    }
    let failure = place.resolve(Some("siet"), &a).unwrap_err();
    assert_eq!(failure.hints, ["did you mean `site`?"]);
    std::fs::remove_dir_all(&a).unwrap();
    let failure = place.resolve(Some("site"), Path::new("/")).unwrap_err();
    assert_eq!((failure.kind.code(), failure.hints.len()), (66, 1));
}

#[test]
fn c08_links_dots_and_slashes_lead_to_one_project() {
    let place = Place::new();
    let real = place.dir("real/sub").parent().unwrap().to_owned();
    let link = place.root.join("link");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    registry::add(&place.store, &link.join("sub/.."), Some("p"), NOW).unwrap();
    assert_eq!(place.id(None, &link.join("sub")).as_deref(), Some("p"));
    assert_eq!(place.id(None, &real.join("sub/../sub/")).as_deref(), Some("p"));
    assert_eq!(place.root_of(Some("link/"), &place.root), Some(real));
}

#[test]
fn f02_the_root_is_never_guessed_and_a_deleted_folder_is_no_panic() {
    let place = Place::new();
    assert_eq!(place.resolve(None, Path::new("/")).unwrap(), None);
    assert_eq!(place.resolve(None, &place.root.join("gone/away")).unwrap(), None);
    // The current folder was deleted under us: its parents still tell.
    place.dir("p/.claude/docs");
    assert_eq!(place.root_of(None, &place.root.join("p/gone")), Some(place.root.join("p")));
}

#[test]
fn s55_virtual_projects() {
    let place = Place::new();
    let virtual_ = |name: &str| place.resolve(Some(name), Path::new("/")).unwrap().unwrap();
    let none = virtual_("__claude__");
    assert_eq!((none.root, none.virtual_), (None, true));
    let folder = place.dir("Claude");
    let some = virtual_("__claude__");
    assert_eq!((some.id.as_deref(), some.root), (Some("__claude__"), Some(folder)));
    assert_eq!(virtual_("__scratch__").root, None);
    assert!(place.resolve(Some("____"), Path::new("/")).is_err());
}

#[test]
fn without_a_store_the_folder_decides_and_a_warning_is_given() {
    let place = Place::new();
    let root = place.dir("p/.claude/docs").join("../..").canonicalize().unwrap();
    registry::add(&place.store, &root, Some("p"), NOW).unwrap();
    let locked = StoreError::Locked { file: "/x.db".into() };
    let ask = Ask { named: None, cwd: &root, home: None };
    let resolution = resolve(ask, Err(&locked)).unwrap();
    assert_eq!(resolution.project.unwrap().root, Some(root.clone()));
    assert_eq!(resolution.warnings.len(), 1);
    let missing = StoreError::Missing { file: "/x.db".into() };
    assert!(resolve(ask, Err(&missing)).unwrap().warnings.is_empty());
    let named = Ask { named: Some(OsStr::new("other")), ..ask };
    let failure = resolve(named, Err(&locked)).unwrap_err();
    assert!(failure.hints[0].contains("locked"), "{failure:?}");
    // A store that breaks while it is asked: one warning, not one for each question.
    place.raw().execute_batch("DROP TABLE projects").unwrap();
    let resolution = resolve(ask, Ok(&place.store)).unwrap();
    assert_eq!((resolution.project.unwrap().id, resolution.warnings.len()), (None, 1));
}

#[test]
fn a_path_that_is_not_utf8_is_a_project_too() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let root = place.root.join(OsStr::from_bytes(b"caf\xe9"));
    if std::fs::create_dir(&root).is_err() {
        // Disks of macOS refuse such names.
        return;
    }
    let added = registry::add(&place.store, &root, None, NOW).unwrap();
    assert_eq!(added.folder, root);
    assert_eq!(place.id(None, &root).as_deref(), Some("caf"));
}
