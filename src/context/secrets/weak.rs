//! Passwords that look like words, `password=hunter2`. A warning for each of them in docs would be noise;
//! they count where a text goes to other people, who lose little by one mask too many.

use super::forms::{LONGEST_KEY, LONGEST_VALUE, VAGUE, ends_in_key, place, value_at};

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
    for (sign, mark) in line.match_indices(['=', ':']) {
        if !ends_in_key(&line.as_bytes()[sign.saturating_sub(LONGEST_KEY)..sign], KEYS) {
            continue;
        }
        let at = sign + mark.len();
        let until = line.floor_char_boundary(at + LONGEST_VALUE + 16);
        let (value, quoted) = value_at(&line[at..until]);
        let start = place(line, value);
        // Behind `= ` and `: ` without quotes may be code or a sentence; a lone word at the end is a value.
        let lone = line[start + value.len()..].trim().is_empty();
        let direct = mark == "=" && start == at;
        if (quoted || direct || lone) && is_value(value) {
            add(start, start + value.len(), VAGUE);
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
