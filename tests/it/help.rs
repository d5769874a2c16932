//! The help of every command, so that a change of it is seen in review.

use crate::support::{TestHome, run};

#[test]
fn help_of_each_command() {
    let home = TestHome::new();
    for command in [
        "",
        "run",
        "project",
        "docs",
        "docs ls",
        "docs add",
        "docs rm",
        "docs mv",
        "docs order",
        "docs instruct",
        "docs preview",
        "docs budget",
        "profile",
        "sessions",
        "sessions ls",
        "sessions show",
        "inbox",
        "inbox ls",
        "inbox show",
        "inbox approve",
        "serve",
        "export",
        "import",
        "share",
        "engines",
        "engines ls",
        "engines show",
        "engines check",
        "doctor",
        "config",
        "store",
    ] {
        let words = command.split_whitespace();
        let help = run(home.omni().args(words).arg("--help"), "").expect_success();
        assert_eq!(help.stderr, "");
        let name = if command.is_empty() { "omni-run" } else { command };
        insta::assert_snapshot!(name.replace(' ', "_"), help.stdout);
    }
}

#[test]
fn a_mistake_ends_with_code_2_and_says_what_is_right() {
    let home = TestHome::new();
    let finished = run(home.omni().args(["docs", "lss"]), "");
    assert_eq!(finished.code(), 2);
    assert!(finished.stderr.contains("ls"), "{}", finished.stderr);
    assert_eq!(finished.stdout, "");
}
