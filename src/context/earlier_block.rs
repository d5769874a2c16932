//! A message that is called up from an engine's own history may carry the block of the session that it
//! is from. What is stored is what was typed (S60): here the two are told apart. Pure.

use super::{always, attachments, instructions, profile, reference};

/// Whether a text begins as a block does.
pub fn begins(text: &str) -> bool {
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

/// The typed part of a text that begins as a block does: the longest of the `earlier` texts that it
/// ends with. Without one, its last paragraph: rather less of what was typed than a byte of a doc.
pub fn typed<'t>(text: &'t str, earlier: &[String]) -> &'t str {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_typed_part_is_told_from_the_block_in_front() {
        let block = format!(
            "{}\n\n### a.md\n```\nx\n\ny\n```\n\n{}\n\nIs ann.",
            always::HEADING,
            profile::HEADING
        );
        let text = format!("{block}\n\none\n\ntwo\n");
        assert!(begins(&text) && begins(&format!("{}\n/a.png\n\nx", attachments::HEADER)));
        assert!(!begins("## Injected Project Docs are good") && !begins("hello"));
        for (earlier, expected) in [
            (vec!["two", "one\n\ntwo", "o"], "one\n\ntwo"),
            (vec!["one\n\ntwo\n"], "one\n\ntwo"),
            (vec!["three", "wo", ""], "two"),
            (vec![], "two"),
        ] {
            let earlier: Vec<String> = earlier.into_iter().map(str::to_owned).collect();
            assert_eq!(typed(&text, &earlier), expected, "{earlier:?}");
        }
    }
}
