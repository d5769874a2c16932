//! Field cases I02 and A11's notes: the budget, its notes, and who claims it first (S11–S13, S33).

use super::*;

#[test]
fn s12_a_note_in_place_and_a_smaller_doc_still_fits() {
    let project = Project::with(&[
        ("a.md", &[b'a'; 3_000]),
        ("big.md", &[b'b'; 3_000]),
        ("c.md", b"small\n"),
    ]);
    let auto = project.build_for(&delivery(4_000));
    let path = project.path(b"big.md").display().to_string();
    let note = format!(
        "\n\n### big.md\n*Skipped — would push total over 1K token cap. Use Read tool on `{path}` when needed.*\n\n### c.md\n```\nsmall\n```"
    );
    assert!(auto.block().unwrap().ends_with(&note));
    assert_eq!(state(&auto, "big.md"), DocState::Skipped);
    assert!(auto.report().used <= auto.report().budget);
    assert_eq!(auto.report().chip(0), "docs: 2 files, 3.0 KB (about 752 of 1K tokens), 1 skipped");
}

#[test]
fn s12_the_exact_edge() {
    let section = |content: usize| "\n### a.md\n```\n\n```\n".len() + content;
    let budget = 4_000;
    let fits = budget - section(0);
    for (size, included) in [(fits, true), (fits + 1, false)] {
        let auto =
            Project::with(&[("a.md", &vec![b'a'; size])]).build_for(&delivery(budget as u64));
        assert_eq!(state(&auto, "a.md") == DocState::Included, included);
        assert_eq!(auto.report().used, if included { budget as u64 } else { 0 });
    }
}

#[test]
fn s12_after_a_hundred_notes_one_line() {
    let project = Project::new();
    for index in 0..140 {
        project.write(format!("d{index:03}.md").as_bytes(), &[b'x'; 500]);
    }
    let auto = project.build_for(&delivery(400));
    let block = auto.block().unwrap();
    assert_eq!(block.matches("*Skipped — ").count(), 100);
    let folder = project.docs().display().to_string();
    assert!(
        block.contains("*… and 40 more docs skipped") && block.contains(&format!("`{folder}`"))
    );
    assert_eq!(auto.report().docs.iter().filter(|doc| doc.state == DocState::Skipped).count(), 140);
}

#[test]
fn i02_an_instruction_is_whole_or_withheld() {
    let big = format!("HEAD RULE\n{}TAIL RULE\n", "filler é\n".repeat(60_000));
    let project = Project::with(&[("rules.md", big.as_bytes()), ("back.md", b"background\n")])
        .flag(&["rules.md"]);
    let auto = project.build_for(&delivery(1_000_000));
    let section = auto.instructions().unwrap();
    let path = project.path(b"rules.md").display().to_string();
    assert!(section.contains("### rules.md") && section.contains(&format!("`{path}`")));
    assert!(
        section.contains("binding") && section.contains("125K") && !section.contains("HEAD RULE")
    );
    assert_eq!(state(&auto, "rules.md"), DocState::Withheld);
    assert!(warned(&auto, &["rules.md", "withheld"]));
    // A withheld instruction leaves its budget to the others.
    assert_eq!(state(&auto, "back.md"), DocState::Included);
}

#[test]
fn i02_instructions_claim_the_budget_first() {
    let project = Project::with(&[
        ("a-back.md", &[b'b'; 2_500]),
        ("r1.md", &[b'1'; 2_500]),
        ("r2.md", &[b'2'; 2_500]),
    ])
    .flag(&["r1.md", "r2.md"]);
    let auto = project.build_for(&delivery(4_000));
    assert_eq!(state(&auto, "r1.md"), DocState::Instruction);
    assert_eq!(state(&auto, "r2.md"), DocState::Withheld);
    assert_eq!(state(&auto, "a-back.md"), DocState::Skipped);
    assert!(auto.report().used <= 4_000);
    let exactly =
        Project::with(&[("r.md", &[b'r'; 4_000])]).flag(&["r.md"]).build_for(&delivery(4_000));
    assert_eq!(state(&exactly, "r.md"), DocState::Withheld);
}

#[test]
fn s14_a_warning_when_less_than_half_of_the_window_is_left() {
    use base64::Engine as _;
    let noise: Vec<u8> =
        (0u32..30_000).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let text = base64::engine::general_purpose::STANDARD.encode(noise);
    let auto = Project::with(&[("noise.txt", text.as_bytes())]).build_for(&delivery(45_000));
    assert_eq!(state(&auto, "noise.txt"), DocState::Included);
    assert!(warned(&auto, &["less than half", "45K"]));
    let auto = Project::with(&[("a.md", b"text\n")]).build_for(&delivery(45_000));
    assert!(auto.report().warnings.is_empty());
}

#[test]
fn reading_for_a_launch_reads_no_more_than_it_can_use() {
    use crate::context::snapshot::DocKind;
    let utf16: Vec<u8> =
        [0xff, 0xfe].into_iter().chain("wide\n".repeat(500).bytes().flat_map(|b| [b, 0])).collect();
    let project = Project::with(&[
        ("a.md", &[b'a'; 1_000]),
        ("b-nul.md", &[0; 3_500]),
        ("b.md", &[b'b'; 3_500]),
        ("blank.md", &[b' '; 3_500]),
        ("c.md", b"small\n"),
        ("wide.md", &utf16),
    ]);
    let request = SnapshotRequest { reading: Reading::UpTo(4_000), ..project.request.clone() };
    let snapshot = reader::snapshot(&request);
    let unread: Vec<&str> = snapshot
        .docs
        .iter()
        .filter(|doc| matches!(doc.kind, DocKind::TextUnread))
        .map(|doc| doc.shown.as_str())
        .collect();
    assert_eq!(unread, ["b-nul.md", "b.md", "blank.md"]);
    for defuse_image_paths in [false, true] {
        let auto = project.build_for(&Delivery { defuse_image_paths, ..delivery(4_000) });
        assert_eq!(state(&auto, "wide.md"), DocState::Included);
        assert_eq!(state(&auto, "b-nul.md"), DocState::Skipped);
    }
}
