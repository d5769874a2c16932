//! The prompt of a recipe: text with `{{name}}` where a value goes. Pure.
//!
//! `{{ name }}` is the same as `{{name}}`. `\{{` is a literal `{{`, and of two backslashes in front
//! of `{{` one stays. Anything else between `{{` and `}}` is a mistake: what looks like a parameter is
//! never sent as it stands.

use std::collections::BTreeMap;

/// Longest name of a parameter, in characters.
const LONGEST_NAME: usize = 64;

/// A prompt with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    source: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Parameter(String),
}

impl Template {
    /// Takes the text below the front matter apart. Blank lines at its beginning and its end are
    /// the file's, not the prompt's. `first_line` is the number of the body's first line in the file.
    ///
    /// # Errors
    /// The line with the mistake, and what it is.
    pub fn parse(body: &str, first_line: usize) -> Result<Template, (usize, String)> {
        let (source, skipped) = without_blank_ends(body);
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut rest = source;
        let mut line = first_line + skipped;
        while let Some(at) = rest.find("{{") {
            let before = &rest[..at];
            let slashes = before.len() - before.trim_end_matches('\\').len();
            line += before.matches('\n').count();
            text.push_str(&before[..at - slashes]);
            text.push_str(&"\\".repeat(slashes / 2));
            let after = &rest[at + 2..];
            if slashes % 2 == 1 {
                text.push_str("{{");
                rest = after;
            } else if after.starts_with('{') {
                // `{{{name}}}`: a brace around a parameter.
                text.push('{');
                rest = &rest[at + 1..];
            } else {
                let (name, end) = parameter(after).map_err(|what| (line, what))?;
                line += after[..end].matches('\n').count();
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Parameter(name.to_owned()));
                rest = &after[end..];
            }
        }
        text.push_str(rest);
        pieces.push(Piece::Text(text));
        pieces.retain(|piece| *piece != Piece::Text(String::new()));
        Ok(Template { source: source.to_owned(), pieces })
    }

    /// The text as it is written in the file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Nothing would be sent.
    pub fn is_empty(&self) -> bool {
        self.source.trim().is_empty()
    }

    /// The parameters, each once, in the order in which they first appear.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for piece in &self.pieces {
            if let Piece::Parameter(name) = piece
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        names
    }

    /// The text with the values in place. One pass: a value is never looked at again.
    pub fn expand(&self, values: &BTreeMap<String, String>) -> String {
        let mut text = String::with_capacity(self.source.len());
        for piece in &self.pieces {
            match piece {
                Piece::Text(own) => text.push_str(own),
                Piece::Parameter(name) => {
                    text.push_str(values.get(name).map_or("", String::as_str));
                }
            }
        }
        text
    }
}

/// A name that a parameter may have.
pub fn is_name(name: &str) -> bool {
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let rest = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    first && rest && name.len() <= LONGEST_NAME
}

/// The name behind `{{`, and where `}}` ends.
fn parameter(after: &str) -> Result<(&str, usize), String> {
    let escape = "write `\\{{` for a literal `{{`";
    // A name has one line; a `}}` far below belongs to something else.
    let line = after.split('\n').next().unwrap_or_default();
    let Some(end) = line.find("}}") else {
        return Err(format!("`{{{{` without `}}}}` on its line; {escape}"));
    };
    let name = line[..end].trim();
    if is_name(name) {
        return Ok((name, end + 2));
    }
    let shown: String = crate::ui::one_line(&line[..end]).chars().take(LONGEST_NAME).collect();
    Err(format!(
        "`{{{{{shown}}}}}` is no parameter: a name has letters, digits, `_` and `-`; {escape}"
    ))
}

/// Without the blank lines at both ends and the last line end; and how many lines went at the front.
fn without_blank_ends(body: &str) -> (&str, usize) {
    let mut start = 0;
    let mut skipped = 0;
    for line in body.split_inclusive('\n') {
        if !line.trim().is_empty() || !line.ends_with('\n') {
            break;
        }
        start += line.len();
        skipped += 1;
    }
    let mut end = body.len();
    while let Some(at) = body[start..end].rfind('\n') {
        if !body[start + at..end].trim().is_empty() {
            break;
        }
        end = start + at;
    }
    (&body[start..end], skipped)
}
