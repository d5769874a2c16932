//! What stood in front of earlier first messages, known by its hash alone.
//!
//! An engine that got its block through its composer has block and text in its history. A person who
//! calls such a message up sends it again: the block of that day must come off, or the new one would
//! stand before the old one, and the old one in the store (S54, S60). Only the words are left out of
//! the hash's reach that a composer may change: blanks, line ends, control characters.
//!
//! A block that no hash is known of (its session was ended by SIGKILL, or pruned) is sent as it stands,
//! since a draft is never cut on a guess; in the store rather less of what was typed than a byte of a
//! doc. Pure.

use super::{always, attachments, instructions, profile, reference};
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

/// The fronts that are known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fronts(Vec<FrontMark>);

impl Fronts {
    /// Those with these marks.
    pub fn new(marks: Vec<FrontMark>) -> Fronts {
        Fronts(marks)
    }

    /// The text without the fronts that it surely begins with: what is to be sent again.
    pub fn cut<'t>(&self, text: &'t str) -> &'t str {
        let mut rest = text;
        while let Some(end) = front_end(rest, &self.0) {
            rest = after_blank_line(&rest[end..]);
        }
        rest
    }

    /// What is to be stored of a text: without any front. `earlier` is asked for what was typed before,
    /// where a front is not known.
    pub fn typed<'t>(&self, text: &'t str, earlier: impl FnOnce() -> Vec<String>) -> &'t str {
        let rest = self.cut(text);
        if begins_as_a_block(rest) { guessed(rest, &earlier()) } else { rest }
    }
}

fn begins_as_a_block(text: &str) -> bool {
    let heads = [
        attachments::HEADER,
        instructions::CUSTOM_HEADING,
        instructions::HEADING,
        always::HEADING,
        reference::HEADING,
        profile::HEADING,
    ];
    heads.iter().any(|head| {
        text.trim_start().strip_prefix(head).is_some_and(|rest| rest.starts_with(['\n', '\r']))
    })
}

/// The longest of the `earlier` texts that a text ends with; without one, its last paragraph.
fn guessed<'t>(text: &'t str, earlier: &[String]) -> &'t str {
    let text = text.trim_end();
    let begins_at = |typed: &String| {
        let block = text.strip_suffix(typed.trim_end()).filter(|_| !typed.trim().is_empty())?;
        block.ends_with("\n\n").then_some(block.len())
    };
    match earlier.iter().filter_map(begins_at).min() {
        Some(at) => &text[at..],
        None => text.rsplit("\n\n").next().unwrap_or_default(),
    }
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

    fn known(fronts: &[&str]) -> Fronts {
        Fronts::new(fronts.iter().filter_map(|front| FrontMark::of(front)).collect())
    }

    #[test]
    fn an_old_front_comes_off_and_nothing_else_does() {
        let known = known(&["another front\n\n", OLD, "## Injected Project Docs\n\n"]);
        for typed in ["say it", "  two\n\nlines\n", "", "### a.md\n```\nx\n```"] {
            for text in [format!("{OLD}{typed}"), format!("{OLD}{OLD}{typed}"), typed.to_owned()] {
                assert_eq!(known.cut(&text), typed);
                assert_eq!(known.typed(&text, || panic!("it is known")), typed);
            }
        }
        let changed = OLD.replace("世界", "世");
        let text = format!("{changed}say it");
        // What is known of it is its heading only, which is a front of its own here.
        assert!(known.cut(&text).starts_with("### a.md"));
        assert_eq!(Fronts::new(known.0[1..2].to_vec()).cut(&text), text);
        assert_eq!(Fronts::default().cut(&text), text);
    }

    #[test]
    fn what_a_composer_changes_does_not_hide_it() {
        let known = known(&[OLD]);
        let pasted = OLD.replace('\t', "    ").replace("\r\n", "\n").replace('\u{1}', "\u{2401}");
        assert_eq!(known.cut(&format!("{pasted}say it")), "say it");
        assert_eq!(FrontMark::of(" \n\n"), None);
    }

    #[test]
    fn of_a_front_that_is_not_known_nothing_is_stored() {
        let block = format!(
            "{}\n\n### a.md\n```\nx\n\ny\n```\n\n{}\n\nIs ann.",
            always::HEADING,
            profile::HEADING
        );
        let text = format!("{block}\n\none\n\ntwo\n");
        assert!(begins_as_a_block(&text));
        assert!(begins_as_a_block(&format!("{}\n/a.png\n\nx", attachments::HEADER)));
        let plain = ["## Injected Project Docs are good", "hello"];
        assert!(!plain.into_iter().any(begins_as_a_block));
        for (earlier, expected) in [
            (vec!["two", "one\n\ntwo", "o"], "one\n\ntwo"),
            (vec!["one\n\ntwo\n"], "one\n\ntwo"),
            (vec!["three", "wo", ""], "two"),
            (vec![], "two"),
        ] {
            let earlier: Vec<String> = earlier.into_iter().map(str::to_owned).collect();
            for known in [Fronts::default(), known(&[OLD])] {
                assert_eq!(known.typed(&text, || earlier.clone()), expected, "{earlier:?}");
                // Behind one that is known.
                let behind = format!("{OLD}{text}");
                assert_eq!(known.typed(&behind, || earlier.clone()), expected, "{earlier:?}");
                assert_eq!(Fronts::default().cut(&text), text, "but it is sent");
            }
        }
    }
}
