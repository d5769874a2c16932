//! Field case A13: text that a person cannot see.

use super::super::hidden::{Finding, Kind, find};
use super::*;

fn tags(text: &str) -> String {
    text.chars().map(|c| char::from_u32(0xe0000 + c as u32).unwrap()).collect()
}

#[test]
fn a13_smuggled_text_is_counted() {
    let cases = [
        (format!("benign{} line", tags("obey me")), Kind::Tags, 7),
        // A flag with more behind it than any region code has.
        (format!("\u{1f3f4}{}\u{e007f}", tags("ignore all")), Kind::Tags, 11),
        ("pass\u{200b}word and se\u{200d}cret".into(), Kind::ZeroWidth, 2),
        ("a\u{2060}b\u{feff}c\u{3164}d\u{200c}e".into(), Kind::ZeroWidth, 4),
        ("\u{202e}gnirts\u{202c} \u{2066}x\u{2069}".into(), Kind::Bidi, 4),
        ("latin \u{200f} only".into(), Kind::Bidi, 1),
        ("# Ti\u{ad}tle".into(), Kind::SoftHyphens, 1),
        ("😀\u{e0101}\u{e0142}\u{fe0f}\u{fe01}".into(), Kind::Selectors, 4),
    ];
    for (text, kind, count) in cases {
        assert_eq!(find(&text), [Finding { kind, count }], "{text:?}");
    }
}

#[test]
fn a13_honest_text_passes() {
    for text in [
        "family 👨\u{200d}👩\u{200d}👧\u{200d}👦 and 👩🏽\u{200d}💻, heart ❤\u{fe0f}\u{200d}🔥, rainbow 🏳\u{fe0f}\u{200d}🌈",
        "Scotland \u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} plays",
        "Persian می\u{200c}خواهم کتاب\u{200c}ها",
        "Arabic مرحبا \u{200f}(١)\u{200e} بالعالم",
        "Hindi क\u{94d}\u{200d}ष, Thai สวัสดี\u{200b}ครับ, keycap 1\u{fe0f}\u{20e3}",
        "Han with a variant 葛\u{e0100}, soft\u{ad}hyphen in prose",
        "plain ASCII",
    ] {
        assert_eq!(find(text), [], "{text:?}");
    }
}

#[test]
fn a13_the_doc_goes_as_it_is_with_one_warning() {
    let text = format!("benign{} line\n", tags("obey"));
    let project =
        Project::with(&[("a.md", text.as_bytes()), ("rag/b.md", "# se\u{200b}cret\n".as_bytes())]);
    let auto = project.build();
    assert_eq!(read_block(auto.block().unwrap()).0[0].1, text);
    assert!(warned(&auto, &["a.md", "4 invisible tag characters"]));
    assert!(warned(&auto, &["b.md", "1 zero-width"]));
    assert_eq!(auto.report().warnings.len(), 2);
}
