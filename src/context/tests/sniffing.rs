//! Field cases A03, A04, A05: bytes that are not plain UTF-8.

use super::*;

fn utf16(text: &str, big: bool, mark: bool) -> Vec<u8> {
    let mark: &[u16] = if mark { &[0xfeff] } else { &[] };
    let units = mark.iter().copied().chain(text.encode_utf16());
    units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

fn utf32(text: &str, big: bool) -> Vec<u8> {
    let code = |c: char| if big { (c as u32).to_be_bytes() } else { (c as u32).to_le_bytes() };
    std::iter::once('\u{feff}').chain(text.chars()).flat_map(code).collect()
}

#[test]
fn a03_byte_order_marks() {
    let text = "# Größe 界 😀\nline\n";
    let mut half = utf16(text, false, true);
    half.push(b'x');
    let cases: [(&str, Vec<u8>, Option<&str>); 9] = [
        ("a-utf8.md", [b"\xef\xbb\xbf", text.as_bytes()].concat(), Some(text)),
        ("b-16le.md", utf16(text, false, true), Some(text)),
        ("c-16be.md", utf16(text, true, true), Some(text)),
        ("d-32le.md", utf32(text, false), Some(text)),
        ("e-32be.md", utf32(text, true), Some(text)),
        ("f-no-mark.md", utf16("plain old text\n", false, false), None),
        ("g-no-mark-be.md", utf16("plain old text\n", true, false), None),
        ("h-mid.md", "a\u{feff}b\n".into(), Some("a\u{feff}b\n")),
        ("i-half.md", half, Some("# Größe 界 😀\nline\n\u{fffd}")),
    ];
    let project = Project::new();
    for (name, bytes, _) in &cases {
        project.write(name.as_bytes(), bytes);
        project.write(format!("rag/{name}").as_bytes(), bytes);
    }
    let auto = project.build();
    let (read, outside) = read_block(auto.block().unwrap());
    for (name, _, expected) in &cases {
        let found =
            read.iter().find(|(read, _)| read == name).map(|(_, text)| text.trim_end_matches('\n'));
        assert_eq!(found, expected.map(|text| text.trim_end_matches('\n')), "{name}");
        if expected.is_some_and(|text| text.starts_with('#')) {
            let line = outside.lines().find(|line| line.contains(&format!("rag/{name} "))).unwrap();
            assert!(line.ends_with("— \"Größe 界 😀\""), "{line}");
        }
    }
    for name in ["f-no-mark.md", "g-no-mark-be.md"] {
        assert!(warned(&auto, &[name, "UTF-16 without a byte order mark"]));
        assert!(warned(&auto, &["rag/", name]));
    }
    assert!(warned(&auto, &["i-half.md", "1 bad place", "U+FFFD"]));
}

#[test]
fn a04_legacy_encodings() {
    let prose = "All of this is plain English prose, with one café in it. ".repeat(3);
    let one_bad = prose.replacen('é', "\u{1}", 1).into_bytes();
    let at = one_bad.iter().position(|byte| *byte == 1).unwrap();
    let one_bad: Vec<u8> = one_bad.into_iter().map(|b| if b == 1 { 0xe9 } else { b }).collect();
    let gb18030 = b"\xd6\xd0\xce\xc4\xce\xc4\xb5\xb5\xca\xc7\xd5\xe2\xd1\xf9\xb5\xc4".repeat(9);
    let shift_jis = b"\x93\xfa\x96\x7b\x8c\xea\x82\xcc\x83\x65\x83\x4c\x83\x58\x83\x67".repeat(9);
    let cyrillic = b"\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0! ".repeat(9);
    let latin: Vec<u8> =
        "Wir prüfen die Änderungen am Freitag und geben sie danach für alle frei. "
            .chars()
            .map(|c| u8::try_from(c as u32).unwrap())
            .collect();
    let cases: [(&str, &[u8], bool); 7] = [
        ("one.md", &one_bad, true),
        ("latin1.md", &latin, true),
        ("gb18030.md", &gb18030, false),
        ("sjis.md", &shift_jis, false),
        ("cp1251.md", &cyrillic, false),
        ("overlong.md", b"a path with an overlong \xc0\xaf slash in it\n", true),
        ("cut.md", b"this text was cut off in a wide sign \xe7\x95", true),
    ];
    let project = Project::new();
    for (name, bytes, _) in cases {
        project.write(name.as_bytes(), bytes);
    }
    let auto = project.build();
    for (name, _, goes_in) in cases {
        assert_eq!(state(&auto, name) == DocState::Included, goes_in, "{name}");
        assert!(warned(&auto, &[name, "UTF-8", " at byte "]), "{name}");
    }
    assert!(warned(&auto, &["one.md", "1 bad place", &format!("first at byte {at}")]));
    assert!(auto.block().unwrap().contains("one caf\u{fffd} in it"));
    assert_eq!(auto.report().warnings.len(), cases.len());
}

#[test]
fn a05_nul_bytes() {
    let project = Project::with(&[
        ("nul.md", b"code: `\0` sample\n"),
        ("rules.md", b"rule one\0\n"),
        ("elf.txt", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0"),
        ("ok.md", b"fine\n"),
        ("rag/nul.md", b"# T\0\n"),
    ])
    .flag(&["rules.md"]);
    let auto = project.build();
    assert!(!auto.block().unwrap().contains('\0'));
    assert_eq!(read_block(auto.block().unwrap()).0, [("ok.md".into(), "fine\n".into())]);
    assert_eq!(auto.instructions(), None);
    assert!(warned(&auto, &["nul.md: skipped", "NUL at byte 7"]));
    assert!(warned(&auto, &["rules.md: instruction not sent", "NUL at byte 8"]));
    assert!(warned(&auto, &["elf.txt", "not text"]));
    assert!(auto.block().unwrap().contains("- .claude/docs/rag/nul.md (5 B)"));
}

#[test]
fn heads_are_cut_at_a_character() {
    use crate::context::sniff::decode_head;
    for text in ["ab\u{e9}", "ab界", "ab😀"] {
        for cut in 2..text.len() {
            let head = decode_head(text.as_bytes()[..cut].to_vec(), false);
            assert_eq!(head.as_deref(), Some("ab"), "{text} cut at {cut}");
        }
        assert_eq!(decode_head(text.as_bytes().to_vec(), true).as_deref(), Some(text));
    }
}
