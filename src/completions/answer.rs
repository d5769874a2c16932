//! The answer to a shell: a line that says what is to be completed, then a candidate a line, value
//! and description with a tab between them. Pure.

use super::place::{Place, Values};
use crate::ui::{is_unprintable, one_line};

/// Longest description, in characters: a terminal is about twice as wide.
const DESCRIPTION: usize = 50;

/// A value that was looked up, and what it is.
pub type Candidate = (String, String);

/// The lines for a place; `found` are the values of its kind.
pub fn lines(place: &Place, found: Vec<Candidate>) -> String {
    let by_shell = match place.values {
        Values::Files => Some("files\n"),
        Values::Folders => Some("dirs\n"),
        // A project may be named by its folder.
        Values::Projects if place.typed.starts_with(['/', '.', '~']) => Some("dirs\n"),
        _ => None,
    };
    if let Some(kind) = by_shell {
        return kind.to_owned();
    }
    let mut text = String::from("words\n");
    for (value, description) in place.words.iter().cloned().chain(found) {
        // A name with a control character can't be typed anyway.
        if value.starts_with(&place.typed) && !value.chars().any(is_unprintable) {
            text.push_str(&format!("{}{value}\t{}\n", place.prefix, briefly(&description)));
        }
    }
    text
}

fn briefly(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = one_line(&words.join(" "));
    match line.chars().count() > DESCRIPTION {
        true => line.chars().take(DESCRIPTION - 1).chain(['…']).collect(),
        false => line,
    }
}
