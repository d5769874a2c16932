//! `omni-run man`: pages that the readers of manual pages take.

use std::path::Path;
use std::process::Command;

use crate::support::process::say;
use crate::support::{TestHome, run};

fn pages(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("folder")
        .map(|entry| entry.expect("entry").file_name().into_string().expect("name"))
        .collect();
    names.sort();
    names
}

#[test]
fn each_command_has_a_page_with_its_examples() {
    let home = TestHome::new();
    let folder = home.root().join("man/man1");
    run(home.omni().arg("man").arg(&folder), "").expect_success();
    let names = pages(&folder);
    for name in ["omni-run.1", "omni-run-docs.1", "omni-run-docs-add.1", "omni-run-recipe-run.1"] {
        assert!(names.contains(&name.to_owned()), "{name}: {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("__") || name.contains("-help")), "{names:?}");
    for name in &names {
        let page = std::fs::read_to_string(folder.join(name)).expect("page");
        assert!(page.contains(".SH EXAMPLES"), "{name}");
    }
    let main = run(home.omni().arg("man"), "").expect_success().stdout;
    for section in
        ["NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "FILES"]
    {
        assert!(main.contains(section), "{section}");
    }
    assert_eq!(main, std::fs::read_to_string(folder.join("omni-run.1")).expect("page"));
}

#[test]
fn the_readers_of_manual_pages_take_them() {
    let home = TestHome::new();
    let folder = home.root().join("man/man1");
    run(home.omni().arg("man").arg(&folder), "").expect_success();
    let mut tried = false;
    if Command::new("mandoc").arg("-h").output().is_ok() {
        tried = true;
        for name in pages(&folder) {
            let mut lint = Command::new("mandoc");
            lint.args(["-T", "lint", "-W", "error,stop"]).arg(folder.join(&name));
            let output = lint.output().expect("mandoc");
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "{name}: {said}");
        }
        let mut read = Command::new("mandoc");
        read.args(["-T", "utf8"]).arg(folder.join("omni-run-docs-add.1"));
        let text = String::from_utf8(read.output().expect("mandoc").stdout).expect("UTF-8");
        assert!(text.contains("omni-run docs add --rag api-spec.md"), "lines are kept: {text}");
    }
    if Command::new("man").arg("--version").output().is_ok() {
        tried = true;
        let mut read = Command::new("man");
        read.args(["--warnings", "-E", "UTF-8", "-l"]).arg(folder.join("omni-run.1"));
        read.env("MANWIDTH", "100").env("LC_ALL", "C.UTF-8").env("PAGER", "cat");
        let output = read.output().expect("man");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{said}");
    }
    if !tried {
        say("SKIPPED: manual pages are not read, neither mandoc nor man is installed");
    }
}

#[test]
fn a_folder_that_cannot_be_made_is_said() {
    let home = TestHome::new();
    let finished = run(home.omni().args(["man", "/dev/null/man1"]), "");
    assert_eq!(finished.code(), 73);
    assert!(finished.stderr.contains("/dev/null/man1"), "{}", finished.stderr);
}
