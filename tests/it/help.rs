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
        "recipe",
        "recipe ls",
        "recipe show",
        "recipe run",
        "schedule",
        "completions",
        "man",
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
        "sessions rm",
        "sessions prune",
        "search",
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

/// Every command that a person may type says how.
#[test]
fn every_command_has_examples() {
    use clap::CommandFactory;
    let mut root = omni_run::cli::Cli::command().disable_help_subcommand(true);
    root.build();
    let mut lacking = Vec::new();
    let mut left = vec![&root];
    while let Some(command) = left.pop() {
        let name = command.get_bin_name().unwrap_or_default().to_owned();
        let help = command.clone().render_long_help().to_string();
        let examples = help.split_once("Examples:\n").map_or("", |(_, examples)| examples);
        // The name that is typed: `omni-run ENGINE` for `omni-run run`.
        let typed = if name == "omni-run run" { "omni-run " } else { name.as_str() };
        if !examples.lines().any(|line| line.starts_with("  ") && line.contains(typed)) {
            lacking.push(name);
        }
        left.extend(command.get_subcommands().filter(|sub| !sub.is_hide_set()));
    }
    assert_eq!(lacking, Vec::<String>::new());
}
