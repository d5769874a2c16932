//! Places of the real command line, and the lines of an answer.

use clap::CommandFactory;

use super::answer::lines;
use super::place::{Place, Values, find};
use crate::cli::Cli;

fn at(words: &[&str]) -> Place {
    let mut root = Cli::command();
    root.build();
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    find(&root, &words)
}

fn offered(words: &[&str]) -> Vec<String> {
    at(words).words.into_iter().map(|(word, _)| word).collect()
}

#[test]
fn subcommands_and_options_are_those_of_the_command() {
    let top = offered(&[""]);
    assert!(top.contains(&"docs".to_owned()) && top.contains(&"recipe".to_owned()), "{top:?}");
    assert!(!top.iter().any(|word| word.starts_with("__")), "hidden ones are not offered");
    assert!(offered(&["docs", ""]).contains(&"instruct".to_owned()));
    let options = offered(&["docs", "ls", "-"]);
    for option in ["--engine", "--json", "--project", "--quiet", "-q"] {
        assert!(options.contains(&option.to_owned()), "{option}: {options:?}");
    }
    assert!(!offered(&["docs", "ls", "--"]).contains(&"-q".to_owned()));
    assert_eq!(offered(&["run", "echo", ""]), Vec::<String>::new(), "a prompt is anything");
}

#[test]
fn values_are_known_by_the_arguments_name() {
    for (words, values) in [
        (&["run", ""][..], Values::Engines),
        (&["run", "--project", ""], Values::Projects),
        (&["run", "--project="], Values::Projects),
        (&["run", "-p", "--model", "m", ""], Values::Engines),
        (&["run", "--resume", ""], Values::Sessions),
        (&["run", "echo", "hi", "--attach", ""], Values::Files),
        (&["run", "echo", "--cwd", ""], Values::Folders),
        (&["run", "echo", "--", ""], Values::Files),
        (&["docs", "ls", "--engine", ""], Values::Engines),
        (&["docs", "rm", ""], Values::Docs),
        (&["docs", "rm", "a.md", ""], Values::Docs),
        (&["docs", "order", "a", "b", "c", ""], Values::Docs),
        (&["docs", "instruct", ""], Values::Docs),
        (&["docs", "instruct", "a.md", ""], Values::Nothing),
        (&["docs", "add", ""], Values::Files),
        (&["project", "rename", ""], Values::Projects),
        (&["project", "rm", ""], Values::Projects),
        (&["project", "add", ""], Values::Folders),
        (&["sessions", "show", ""], Values::Sessions),
        (&["sessions", "rm", ""], Values::Sessions),
        (&["sessions", "rm", "01", ""], Values::Sessions),
        (&["sessions", "prune", "--engine", ""], Values::Engines),
        (&["sessions", "ls", "--project", ""], Values::Projects),
        (&["search", "lamp", "--project", ""], Values::Projects),
        (&["search", "--engine", ""], Values::Engines),
        (&["search", ""], Values::Nothing),
        (&["engines", "show", ""], Values::Engines),
        (&["recipe", "run", ""], Values::Recipes),
        (&["recipe", "run", "docs", "--engine", ""], Values::Engines),
        (&["schedule", ""], Values::Recipes),
        (&["--log-file", ""], Values::Files),
        (&["--log-file", "docs", "docs", "rm", ""], Values::Docs),
    ] {
        assert_eq!(at(words).values, values, "{words:?}");
    }
}

#[test]
fn choices_come_with_their_meaning_and_after_an_equals_sign_too() {
    for words in [&["run", "x", "--output", "j"][..], &["run", "x", "--output=j"]] {
        let place = at(words);
        let text = lines(&place, Vec::new());
        let prefix = if words.len() == 3 { "--output=" } else { "" };
        assert!(text.starts_with(&format!("words\n{prefix}json\tOne object")), "{text}");
        assert!(!text.contains("stream"), "{text}");
    }
}

#[test]
fn the_project_of_the_words_is_the_one_whose_docs_are_meant() {
    assert_eq!(at(&["docs", "--project", "p", "rm", ""]).project.as_deref(), Some("p"));
    assert_eq!(at(&["docs", "rm", "--project=p", ""]).project.as_deref(), Some("p"));
    assert_eq!(at(&["docs", "rm", ""]).project, None);
}

#[test]
fn an_answer_is_one_line_for_each_value_that_fits() {
    let place = at(&["run", "co"]);
    let found = vec![
        ("cobalt".to_owned(), "Long\nwords ".repeat(20)),
        ("clay".to_owned(), String::new()),
        ("co\tx".to_owned(), String::new()),
    ];
    let text = lines(&place, found);
    let all: Vec<&str> = text.lines().collect();
    assert_eq!(all.len(), 2, "{text}");
    assert!(all[1].starts_with("cobalt\tLong words Long") && all[1].ends_with('…'), "{text}");
    assert_eq!(lines(&at(&["run", "--project", "./x"]), Vec::new()), "dirs\n");
    assert_eq!(lines(&at(&["run", "--attach", ""]), Vec::new()), "files\n");
}
