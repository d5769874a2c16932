//! Passwords that look like words, `password=hunter2`. A warning for each of them in docs would be noise;
//! they count where a text goes to other people, who lose little by one mask too many.

use super::forms::{LONGEST_VALUE, Named, VAGUE, ends_in_key, named_values};

/// Names whose value is nothing else: a `token` is often a word of a parser.
const KEYS: &[&str] = &["password", "passwd", "pwd", "passphrase", "secret"];
/// The shortest value, in bytes.
const SHORTEST: usize = 4;
/// What stands beside such a name in code, in forms and in prose, in lower case.
const NO_VALUES: &[&str] = &[
    "string",
    "text",
    "bool",
    "boolean",
    "bytes",
    "char",
    "null",
    "none",
    "undefined",
    "true",
    "false",
    "required",
    "optional",
    "hidden",
    "redacted",
    "masked",
    "unset",
    "empty",
    "missing",
    "wrong",
];
/// Parts of placeholders, in lower case.
const PLACEHOLDERS: &[&str] =
    &["example", "placeholder", "changeme", "change-me", "your", "xxxx", "...", "***"];

/// The weak passwords of one line.
pub(super) fn in_line(line: &str, mut add: impl FnMut(usize, usize, &'static str)) {
    for Named { start, value, quoted, assigned } in named_values(line, KEYS) {
        let end = start + value.len();
        // Behind `= ` and `: ` without quotes may be code or a sentence; a lone word at the end is a value.
        let lone = line[end..].trim().is_empty();
        if (quoted || assigned || lone) && is_value(value) {
            add(start, end, VAGUE);
        }
    }
}

fn is_value(value: &str) -> bool {
    let lower = value.to_lowercase();
    let is_code = |c: char| matches!(c, '(' | '{' | '[' | '<' | '>' | '«' | '\\');
    (SHORTEST..=LONGEST_VALUE).contains(&value.len())
        && !value.starts_with(['$', '%'])
        && !value.contains(is_code)
        && !value.contains("://")
        && !NO_VALUES.contains(&lower.as_str())
        && !PLACEHOLDERS.iter().any(|part| lower.contains(part))
        // `password=self.password`
        && !ends_in_key(lower.as_bytes(), KEYS)
}
