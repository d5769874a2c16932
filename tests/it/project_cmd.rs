//! `omni-run project`: ids, lists, suggestions.

use serde_json::Value;

use crate::support::{Finished, TestHome, run};

fn project(home: &TestHome, args: &[&str]) -> Finished {
    run(home.omni().arg("project").args(args), "")
}

#[test]
fn s70_add_list_show_rename_remove() {
    let home = TestHome::new();
    let folder = home.project("My Shop!");
    let folder = folder.to_str().expect("UTF-8");
    let added = project(&home, &["add", folder]).expect_success();
    assert_eq!(added.stdout, "");
    assert!(added.stderr.contains("is the project `my-shop` now"), "{}", added.stderr);
    assert!(added.stderr.contains("no docs yet"), "{}", added.stderr);

    let listed = project(&home, &["ls"]).expect_success();
    assert_eq!(listed.stdout, format!("ID       FOLDER\nmy-shop  {folder}\n"));
    let json: Value =
        serde_json::from_str(&project(&home, &["ls", "--json"]).stdout).expect("JSON");
    assert_eq!(json[0]["id"], "my-shop");
    assert_eq!(json[0]["folder"], folder);
    assert!(json[0]["created_at"].is_i64());

    project(&home, &["rename", "my-shop", "shop"]).expect_success();
    let shown = project(&home, &["show", "shop"]).expect_success();
    assert!(shown.stdout.contains(folder) && shown.stdout.contains("by name"), "{}", shown.stdout);
    project(&home, &["rm", "shop"]).expect_success();
    assert!(std::path::Path::new(folder).is_dir());
    let listed = project(&home, &[]).expect_success();
    assert_eq!(listed.stdout, "");
    assert!(listed.stderr.contains("no project is registered"), "{}", listed.stderr);
}

#[test]
fn mistakes_have_their_code_and_a_way_out() {
    let home = TestHome::new();
    let (one, two) = (home.project("alpha"), home.project("beta"));
    project(&home, &["add", one.to_str().expect("UTF-8")]).expect_success();
    let two = two.to_str().expect("UTF-8");
    for (args, code, said) in [
        (vec!["show", "alhpa"], 66, "did you mean `alpha`?"),
        (vec!["rm", "alphaa"], 66, "did you mean `alpha`?"),
        (vec!["rename", "gamma", "x"], 66, "there is no project `gamma`"),
        (vec!["add", two, "--id", "alpha"], 2, "belongs to"),
        (vec!["add", two, "--id", "Not Good"], 2, "cannot be a project id"),
        (vec!["add", "/no/such/folder"], 66, "cannot be a project"),
        (vec!["add", "/"], 66, "every folder would belong to it"),
    ] {
        let finished = project(&home, &args);
        assert_eq!(finished.code(), code, "{args:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(said), "{args:?}: {}", finished.stderr);
        assert_eq!(finished.stdout, "");
    }
}

#[test]
fn a_folder_name_cannot_forge_a_row() {
    let home = TestHome::new();
    let folder = home.project("x\nforged  /etc\u{1b}[2J");
    project(&home, &["add", folder.to_str().expect("UTF-8"), "--id", "x"]).expect_success();
    let listed = project(&home, &["ls"]).expect_success();
    assert_eq!(listed.stdout.lines().count(), 2, "{:?}", listed.stdout);
    assert!(!listed.stdout.contains('\u{1b}'));
}
