//! What holds for any folder: docs come back byte for byte, the budget holds, the bytes do not
//! depend on the run or on how much was read.

use proptest::prelude::*;

use super::super::describe::{MAX_CHARS, describe};
use super::super::snapshot::{DocEntry, DocKind};
use super::*;

/// Texts rich in what a block could trip over.
fn content() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "`{1,9}",
        "~{3,5}",
        "\n",
        "\r\n",
        "\r",
        " {0,5}",
        "#{1,3} x",
        "\n```rust\n",
        "\\PC{0,12}",
        "<!--",
        "-->",
        Just("./img/a.png".to_owned()),
        Just("\u{feff}".to_owned()),
        "[a-z]{0,60}",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn entry(index: usize, text: String, instruction: bool) -> DocEntry {
    let shown = format!("{index:02}.md");
    DocEntry {
        name: shown.clone().into(),
        path: PathBuf::from("/p/.claude/docs").join(&shown),
        shown,
        size: text.len() as u64,
        at_least: (text.len() as u64).saturating_sub(3),
        instruction,
        kind: DocKind::Text(text),
    }
}

fn snapshot_of(docs: Vec<(String, bool)>) -> ContextSnapshot {
    let entries =
        docs.into_iter().enumerate().map(|(index, (text, flag))| entry(index, text, flag));
    ContextSnapshot {
        docs_dir: Some("/p/.claude/docs".into()),
        docs: entries.collect(),
        ..Default::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_doc_comes_back_byte_for_byte(docs in proptest::collection::vec(content(), 1..6)) {
        let snapshot = snapshot_of(docs.iter().map(|text| (text.clone(), false)).collect());
        let auto = AutoContext::build(&snapshot, &delivery(200_000));
        let (read, outside) = read_block(auto.block().unwrap_or_default());
        let expected: Vec<(String, &String)> = docs
            .iter()
            .enumerate()
            .filter(|(_, text)| !text.trim().is_empty())
            .map(|(index, text)| (format!("{index:02}.md"), text))
            .collect();
        prop_assert_eq!(read.len(), expected.len());
        for ((name, content), (expected_name, text)) in read.iter().zip(&expected) {
            prop_assert_eq!(name, expected_name);
            let whole = if text.ends_with('\n') { (*text).clone() } else { format!("{text}\n") };
            prop_assert_eq!(content, &whole);
        }
        prop_assert!(!outside.contains('\r'));
    }

    #[test]
    fn the_budget_holds_and_the_bytes_repeat(
        docs in proptest::collection::vec((content(), any::<bool>()), 0..12),
        window in 0u64..1_500,
        defuse_image_paths in any::<bool>(),
        head in any::<bool>(),
    ) {
        let route = if head { InstructionRoute::HeadOfBlock } else { InstructionRoute::SystemPrompt };
        let delivery = Delivery { defuse_image_paths, instructions: route, ..delivery(window) };
        let snapshot = snapshot_of(docs);
        let auto = AutoContext::build(&snapshot, &delivery);
        let report = auto.report();
        prop_assert!(report.used <= report.budget);
        prop_assert_eq!(report.used, report.docs.iter().map(|doc| doc.used).sum::<u64>());
        let again = AutoContext::build(&snapshot, &delivery);
        prop_assert_eq!(report, again.report());
        prop_assert_eq!(auto.block(), again.block());
        if let Some(block) = auto.block() {
            prop_assert!(block.starts_with("## ") && !block.ends_with('\n'));
            prop_assert_eq!(report.block_hash.len(), 64);
        }
    }

    #[test]
    fn reading_less_gives_the_same_block(
        docs in proptest::collection::vec((content(), 0u8..8, any::<bool>()), 0..10),
        window in 0u64..1_200,
        defuse_image_paths in any::<bool>(),
        head in any::<bool>(),
    ) {
        let project = Project::new();
        let mut flags = Vec::new();
        for (index, (text, form, flag)) in docs.iter().enumerate() {
            let name = format!("{index:02}.md");
            let bytes = match form {
                0 => [b"\xff\xfe".to_vec(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()].concat(),
                1 => std::iter::once('\u{feff}').chain(text.chars()).flat_map(|c| (c as u32).to_be_bytes()).collect(),
                2 => [text.as_bytes(), b"\0"].concat(),
                3 => [text.as_bytes(), b"\xff"].concat(),
                4 => [&b"\xef\xbb\xbf"[..], text.as_bytes()].concat(),
                _ => text.clone().into_bytes(),
            };
            project.write(name.as_bytes(), &bytes);
            if *flag {
                flags.push(name);
            }
        }
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        let route = if head { InstructionRoute::HeadOfBlock } else { InstructionRoute::SystemPrompt };
        // The comparison itself is in there.
        project.flag(&flags).build_for(&Delivery { defuse_image_paths, instructions: route, ..delivery(window) });
    }

    #[test]
    fn a_description_is_one_short_line(text in "(\\PC|[\\x00-\\x1f`#=<>\\[\\]()!\"*-]|\u{2028}|\u{85}|\u{301}){0,400}") {
        let description = describe(&text, Some("md"));
        prop_assert!(description.chars().count() <= MAX_CHARS);
        prop_assert!(!description.contains(|c: char| crate::ui::is_unprintable(c)));
    }
}
