//! Which texts meet a query, where, and in which order hits come.

use crate::session::search::matching::find;
use crate::session::search::query::Query;
use crate::session::search::rank::{Share, scores, step};

fn query(text: &str) -> Query {
    Query::parse(text).expect("query")
}

/// The matched parts of `text`; `None`: it does not meet the query.
fn parts<'t>(asked: &str, text: &'t str) -> Option<Vec<&'t str>> {
    let found = find(&query(asked), text, true)?;
    Some(found.places.into_iter().map(|(range, _)| &text[range]).collect())
}

#[test]
fn places_are_those_of_the_text_as_it_was_written() {
    for (asked, text, expected) in [
        ("cafe", "Ein Café, cafe\u{301}!", Some(&["Café", "cafe\u{301}"][..])),
        ("\"red lamp\"", "red. Lamp; lamp red", Some(&["red. Lamp"])),
        ("\"a a\"", "a a a", Some(&["a a", "a a"])),
        ("conf*", "config CONFLICT con", Some(&["config", "CONFLICT"])),
        ("\"the conf\"*", "the conflict", Some(&["the conflict"])),
        ("搜索", "全文搜索引擎", Some(&["搜索"])),
        ("全文搜索", "用全文搜索。文搜索", Some(&["全文搜索"])),
        ("索", "搜索引", Some(&["索"])),
        ("擎", "引擎", Some(&["擎"])),
        ("语言Rust", "用语言 Rust", Some(&["语言 Rust"])),
        ("か\u{3099}", "すがた", Some(&["が"])),
        ("👍", "ok 👍🏽", Some(&["👍"])),
        ("a b", "a", None),
        ("a OR b", "b", Some(&["b"])),
        ("a -b", "a b", None),
        ("a -\"b c\"", "a c b", Some(&["a"])),
        ("a -\"b c\"", "a b c", None),
        ("\"a b\"", "a x b", None),
        ("搜引", "搜索引", None),
    ] {
        assert_eq!(parts(asked, text).as_deref(), expected, "{asked:?} in {text:?}");
    }
}

#[test]
fn the_longest_phrase_fits_in_the_bits() {
    let words: Vec<String> = (0..64).map(|n| format!("w{n}")).collect();
    let text = words.join(" ");
    let found = find(&query(&format!("\"{text}\"")), &format!("x {text} y"), true).expect("match");
    assert_eq!(found.places, [(2..text.len() + 2, 0)]);
    assert!(find(&query(&format!("\"{text}\"")), &text[3..], false).is_none());
}

#[test]
fn often_rare_and_short_are_better() {
    let shares = [Share { having: 500.0, of: 1000.0 }, Share { having: 5.0, of: 1000.0 }];
    let of = |messages: &[([u32; 2], u32)]| -> Vec<f64> {
        scores(messages.iter().map(|(counts, length)| (counts.as_slice(), *length)), &shares)
    };
    let scores = of(&[([1, 0], 100), ([3, 0], 100), ([1, 0], 400), ([0, 1], 100), ([1, 1], 100)]);
    assert!(scores[1] > scores[0], "often");
    assert!(scores[2] < scores[0], "long");
    assert!(scores[3] > scores[1], "rare");
    assert!(scores[4] > scores[3], "both");
    assert!(of(&[]).is_empty());
}

#[test]
fn about_as_good_is_the_same_step() {
    assert_eq!((step(10.0, 10.0), step(9.8, 10.0)), (0, 0));
    assert_eq!((step(9.5, 10.0), step(0.0, 10.0), step(0.0, 0.0)), (1, 20, 0));
}
