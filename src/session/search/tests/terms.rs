//! The terms of texts in many scripts. They are fixed: see the module.

use crate::session::search::terms::{Kind, LONGEST_WORD, for_each};

fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for_each(text, |term, _, range| {
        assert!(text.get(range).is_some_and(|part| !part.is_empty()), "{text:?}: {term:?}");
        terms.push(term.to_owned());
    });
    terms
}

#[test]
fn words_of_scripts_with_blanks() {
    for (text, expected) in [
        ("Hello, WORLD-42!", &["hello", "world", "42"][..]),
        ("src/session/store.rs:17", &["src", "session", "store", "rs", "17"]),
        ("get_user_name()", &["get", "user", "name"]),
        ("don't", &["don", "t"]),
        ("Café cafe\u{301} Straße ẞ ÅNGSTRÖM", &["cafe", "cafe", "strasse", "ss", "angstrom"]),
        ("ﬁle ＡＢＣ １２", &["file", "abc", "12"]),
        ("Ελλάς ΕΛΛΆΣ", &["ελλασ", "ελλασ"]),
        ("Ёлка и Йод", &["елка", "и", "иод"]),
        ("שָׁלוֹם", &["שלום"]),
        ("مُحَمَّد", &["محمد"]),
        ("हिन्दी में", &["हिन्दी", "में"]),
        ("soft\u{ad}hyphen", &["softhyphen"]),
        ("", &[]),
        (" \u{0} \t— …", &[]),
    ] {
        assert_eq!(terms(text), expected, "{text:?}");
    }
}

#[test]
fn pairs_of_scripts_without_blanks() {
    for (text, expected) in [
        ("搜索", &["搜索", "索"][..]),
        ("中", &["中"]),
        ("全文搜索", &["全文", "文搜", "搜索", "索"]),
        ("Rust语言2版", &["rust", "语言", "言", "2", "版"]),
        ("検索、する。", &["検索", "索", "する", "る"]),
        ("ｶﾞﾗｽ", &["ガラ", "ラス", "ス"]),
        ("か\u{3099}く", &["がく", "く"]),
        ("한국어", &["한국", "국어", "어"]),
        ("\u{1112}\u{1161}\u{11ab}글", &["한글", "글"]),
        ("ไทย", &["ไท", "ทย", "ย"]),
        ("\u{2f81a}", &["\u{51ac}"]),
    ] {
        assert_eq!(terms(text), expected, "{text:?}");
    }
}

#[test]
fn symbols_stand_alone() {
    assert_eq!(terms("ok👍🏽 done ✅→x"), ["ok", "👍", "done", "✅", "→", "x"]);
    assert_eq!(terms("👩\u{200d}💻"), ["👩", "💻"]);
}

#[test]
fn a_long_run_counts_with_its_beginning() {
    let long = "Ab".repeat(5000);
    assert_eq!(terms(&long), ["ab".repeat(LONGEST_WORD / 2)]);
    let accented = format!("{}é{}", "x".repeat(LONGEST_WORD - 1), "y".repeat(9));
    assert_eq!(terms(&accented), [format!("{}e", "x".repeat(LONGEST_WORD - 1))]);
}

#[test]
fn the_kinds_tell_runs_apart() {
    let mut kinds = Vec::new();
    for_each("a 中文 国", |_, kind, _| kinds.push(kind));
    let last = |alone| Kind::Last { alone };
    assert_eq!(kinds, [Kind::Whole, Kind::Pair, last(false), last(true)]);
}

proptest::proptest! {
    #[test]
    fn any_text_has_terms_without_ascii_signs(text in proptest::prelude::any::<String>()) {
        for term in terms(&text) {
            // What stands between terms in the index, and what its own terms begin with.
            let foreign = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric() || c.is_whitespace();
            assert!(!term.is_empty() && !term.contains(foreign), "{text:?}: {term:?}");
        }
    }
}
