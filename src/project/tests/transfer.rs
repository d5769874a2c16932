//! Moving docs between the buckets.

use super::*;
use crate::project::docs::{files, instruct, set_order};

fn names(root: &Path, bucket: Bucket) -> Vec<String> {
    let files = files(root, bucket).unwrap();
    files.into_iter().map(|(name, _)| name.into_string().unwrap()).collect()
}

#[test]
fn a_doc_goes_to_the_other_bucket_without_flag_and_place() {
    let place = Place::new();
    let root = place.dir("p");
    let always = place.dir("p/.claude/docs");
    for name in ["a.md", "b.md"] {
        std::fs::write(always.join(name), name).unwrap();
    }
    let order: Vec<_> = ["b.md", "a.md"].map(Into::into).into();
    set_order(&place.store, &root, &order, NOW).unwrap();
    instruct(&place.store, &root, OsStr::new("b.md"), is_text, NOW).unwrap();

    transfer(&place.store, &root, OsStr::new("b.md"), Bucket::Always, NOW).unwrap();
    assert_eq!(
        (names(&root, Bucket::Always), names(&root, Bucket::Rag)),
        (vec!["a.md".to_owned()], vec!["b.md".to_owned()])
    );
    let kept = registry::of_folder(&place.store, &root).unwrap().unwrap().docs;
    assert_eq!(kept.order, ["a.md"]);
    assert!(kept.flags.is_empty());

    transfer(&place.store, &root, OsStr::new("b.md"), Bucket::Rag, NOW).unwrap();
    assert_eq!(std::fs::read_to_string(always.join("b.md")).unwrap(), "b.md");
    let kept = registry::of_folder(&place.store, &root).unwrap().unwrap().docs;
    assert!(kept.flags.is_empty(), "it comes back as background");
}

#[test]
fn a_taken_name_a_link_and_a_missing_doc_are_left_as_they_are() {
    let place = Place::new();
    let root = place.dir("p");
    let (always, rag) = (place.dir("p/.claude/docs"), place.dir("p/.claude/docs/rag"));
    std::fs::write(always.join("a.md"), "one").unwrap();
    std::fs::write(rag.join("a.md"), "two").unwrap();
    std::os::unix::fs::symlink("a.md", always.join("link.md")).unwrap();
    let go = |name: &str, from| transfer(&place.store, &root, OsStr::new(name), from, NOW);
    for from in [Bucket::Always, Bucket::Rag] {
        assert!(matches!(go("a.md", from), Err(DocsError::Exists { .. })));
    }
    assert!(matches!(go("link.md", Bucket::Always), Err(DocsError::BadName { .. })));
    for name in ["A.MD", "none.md", "../x", "rag"] {
        assert!(matches!(go(name, Bucket::Always), Err(DocsError::NotFound { .. })), "{name}");
    }
    assert_eq!(std::fs::read_to_string(always.join("a.md")).unwrap(), "one");
    assert_eq!(std::fs::read_to_string(rag.join("a.md")).unwrap(), "two");
}
