//! What stood in front of earlier first messages, known by its hash alone.
//!
//! An engine that got its block through its composer has block and text in its history. A person who
//! calls such a message up sends it again: the block of that day must come off, or the new one would
//! stand before the old one, and the old one in the store (S54, S60). Only the words are left out of
//! the hash's reach that a composer may change: blanks, line ends, control characters. Pure.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The mark of a front: header, block, and all else before the display text. Holds no byte of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrontMark {
    /// How many of its characters count.
    chars: usize,
    /// SHA-256 of these, hex.
    hash: String,
}

impl FrontMark {
    /// The mark of a text; `None` where nothing is in front.
    pub fn of(front: &str) -> Option<FrontMark> {
        let text: String = front.chars().filter(counts).collect();
        let chars = text.chars().count();
        let hash = hex(&Sha256::digest(text.as_bytes()));
        (chars > 0).then_some(FrontMark { chars, hash })
    }
}

/// The text without the fronts that it begins with; the text itself where none is known.
pub fn without_front<'t>(text: &'t str, known: &[FrontMark]) -> &'t str {
    let mut rest = text;
    while let Some(end) = front_end(rest, known) {
        rest = after_blank_line(&rest[end..]);
    }
    rest
}

/// Where the longest known front at the start of the text ends.
fn front_end(text: &str, known: &[FrontMark]) -> Option<usize> {
    let longest = known.iter().map(|mark| mark.chars).max()?;
    let (mut hasher, mut seen, mut found) = (Sha256::new(), String::new(), None);
    let counted = text.char_indices().filter(|(_, c)| counts(c)).take(longest);
    for (nth, (at, c)) in counted.enumerate() {
        seen.push(c);
        let mut candidates = known.iter().filter(|mark| mark.chars == nth + 1).peekable();
        if candidates.peek().is_none() {
            continue;
        }
        hasher.update(seen.as_bytes());
        seen.clear();
        let hash = hex(&hasher.clone().finalize());
        if candidates.any(|mark| mark.hash == hash) {
            found = Some(at + c.len_utf8());
        }
    }
    found
}

/// Whether a composer keeps the character as it is: pastes turn tabs and line ends into others, and
/// we turn control characters into their pictures.
fn counts(c: &char) -> bool {
    !c.is_whitespace() && !c.is_control() && !matches!(c, '\u{2400}'..='\u{2421}' | '\u{fffd}')
}

/// The rest behind the end of a line and one blank line.
fn after_blank_line(text: &str) -> &str {
    let mut rest = text;
    for _ in 0..2 {
        let trimmed = rest.trim_start_matches([' ', '\t', '\r']);
        let Some(next) = trimmed.strip_prefix('\n') else { break };
        rest = next;
    }
    rest
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "## Injected Project Docs\n\n### a.md\n```\nx\ty\r\n世界 \u{1}\n```\n\n";

    fn known(fronts: &[&str]) -> Vec<FrontMark> {
        fronts.iter().filter_map(|front| FrontMark::of(front)).collect()
    }

    #[test]
    fn an_old_front_comes_off_and_nothing_else_does() {
        let known = known(&["another front\n\n", OLD, "## Injected Project Docs\n\n"]);
        for typed in ["say it", "  two\n\nlines\n", "", "### a.md\n```\nx\n```"] {
            assert_eq!(without_front(&format!("{OLD}{typed}"), &known), typed);
            assert_eq!(without_front(&format!("{OLD}{OLD}{typed}"), &known), typed, "twice");
            assert_eq!(without_front(typed, &known), typed);
        }
        let changed = OLD.replace("世界", "世");
        let text = format!("{changed}say it");
        // What is known of it is its heading only, which is a front of its own here.
        assert!(without_front(&text, &known).starts_with("### a.md"));
        assert_eq!(without_front(&text, &known[1..2]), text);
        assert_eq!(without_front(&text, &[]), text);
    }

    #[test]
    fn what_a_composer_changes_does_not_hide_it() {
        let known = known(&[OLD]);
        let pasted = OLD.replace('\t', "    ").replace("\r\n", "\n").replace('\u{1}', "\u{2401}");
        assert_eq!(without_front(&format!("{pasted}say it"), &known), "say it");
        assert_eq!(FrontMark::of(" \n\n"), None);
    }
}
