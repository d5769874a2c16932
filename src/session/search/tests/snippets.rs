//! What a hit shows of its message.

use proptest::prelude::*;

use crate::session::search::matching::find;
use crate::session::search::query::Query;
use crate::session::search::snippet::snippet;

fn shown(asked: &str, text: &str, width: usize) -> String {
    let query = Query::parse(asked).expect("query");
    let places = find(&query, text, true).map(|found| found.places).unwrap_or_default();
    let mark = |hit: bool, text: String| if hit { format!("[{text}]") } else { text };
    snippet(text, &places, width).into_iter().map(|part| mark(part.hit, part.text)).collect()
}

#[test]
fn a_short_text_is_shown_whole_on_one_line() {
    assert_eq!(shown("lamp", "  A red\n\n\tlamp.\n", 40), "A red [lamp].");
    assert_eq!(shown("\"red lamp\"", "red\nlamp", 40), "[red lamp]");
}

#[test]
fn a_long_text_is_shown_where_most_of_the_words_are() {
    let text =
        format!("lamp {} a red lamp stands here {}", "filler ".repeat(60), "more ".repeat(60));
    assert_eq!(shown("red lamp", &text, 40), "…a [red] [lamp] stands here more more more mo…");
    assert_eq!(shown("lamp", &text, 12), "[lamp] filler…");
    let end = format!("{}lamp", "filler ".repeat(60));
    assert_eq!(shown("lamp", &end, 20), "…[lamp]");
}

#[test]
fn characters_stay_whole() {
    assert_eq!(shown("👍", "👩\u{200d}💻👍🏽", 1), "👩\u{200d}💻…");
    assert_eq!(shown("搜索", &"全文搜索引擎".repeat(9), 8), "全文[搜索]引擎全文…");
    assert_eq!(shown("cafe", "cafe\u{301}", 9), "[cafe\u{301}]");
}

proptest! {
    #[test]
    fn any_text_gives_a_snippet_of_its_width(
        text in "(\\PC|[ \n]|lamp ){0,80}", width in 1..30_usize
    ) {
        let line = shown("lamp", &text, width);
        let most = width * 8 + 4;
        prop_assert!(line.chars().filter(|c| *c == '\n').count() == 0);
        prop_assert!(line.len() <= most * 8, "{line:?}");
    }
}
