//! What queries mean, and what is wrong with those that mean nothing.

use proptest::prelude::*;

use crate::error::{ExitKind, Failure};
use crate::session::search::query::{Phrase, Query, QueryError};

/// The query written out: phrases in brackets, `|` for OR, `*` for an open end, `-` for excluded.
fn shown(text: &str) -> String {
    let query = Query::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let phrase = |phrase: &Phrase| {
        let pieces: Vec<String> = phrase
            .pieces
            .iter()
            .map(|piece| format!("{}{}", piece.term, if piece.open { "*" } else { "" }))
            .collect();
        format!("[{}]", pieces.join(" "))
    };
    let groups =
        query.groups.iter().map(|group| group.any.iter().map(phrase).collect::<Vec<_>>().join("|"));
    groups
        .chain(query.excluded.iter().map(|e| format!("-{}", phrase(e))))
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn what_queries_mean() {
    for (text, expected) in [
        ("red Lamp", "[red] [lamp]"),
        ("red AND lamp", "[red] [lamp]"),
        ("\"red lamp\"", "[red lamp]"),
        ("conf*", "[conf*]"),
        ("conf**", "[conf*]"),
        ("\"red la\"*", "[red la*]"),
        ("store.rs foo_bar", "[store rs] [foo bar]"),
        ("a OR b c", "[a]|[b] [c]"),
        ("a b OR c OR d", "[a] [b]|[c]|[d]"),
        ("a -b", "[a] -[b]"),
        ("a NOT b", "[a] -[b]"),
        ("a AND NOT b", "[a] -[b]"),
        ("-b a", "[a] -[b]"),
        ("a -\"b c\"", "[a] -[b c]"),
        ("not and or", "[not] [and] [or]"),
        ("\"OR\" \"-x\"", "[or] [x]"),
        ("a & b ... — c", "[a] [b] [c]"),
        ("a OR & b", "[a] [b]"),
        ("--project p1", "[project] [p1]"),
        ("\"2*3\"", "[2 3]"),
        ("\"a\"b\"c d\"", "[a] [b] [c d]"),
        ("\"\" a", "[a]"),
        ("搜索", "[搜索]"),
        ("全文搜索", "[全文 文搜 搜索]"),
        ("中", "[中*]"),
        ("中*", "[中*]"),
        ("语言Rust", "[语言 言 rust]"),
        ("Rust语言", "[rust 语言]"),
        ("👍", "[👍]"),
        ("x\u{0}y", "[x y]"),
    ] {
        assert_eq!(shown(text), expected, "{text:?}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let operator = |operator, at, side| QueryError::Operator { operator, at, side };
    for (text, expected) in [
        ("", QueryError::Empty),
        ("  \t", QueryError::Empty),
        ("… ?", QueryError::NoTerms { query: "… ?".to_owned() }),
        ("-…", QueryError::NoTerms { query: "-…".to_owned() }),
        ("a \"b c", QueryError::OpenQuote { at: 3 }),
        ("é -\"", QueryError::OpenQuote { at: 4 }),
        ("*", QueryError::Star { at: 1 }),
        ("a *", QueryError::Star { at: 3 }),
        ("*foo", QueryError::Star { at: 1 }),
        ("fo*o", QueryError::Star { at: 3 }),
        ("\"\"*", QueryError::Star { at: 3 }),
        ("-", QueryError::Dash { at: 1 }),
        ("a - b", QueryError::Dash { at: 3 }),
        ("OR", operator("OR", 1, "before")),
        ("OR a", operator("OR", 1, "before")),
        ("AND a", operator("AND", 1, "before")),
        ("a OR", operator("OR", 3, "behind")),
        ("a AND", operator("AND", 3, "behind")),
        ("a NOT", operator("NOT", 3, "behind")),
        ("a OR OR b", operator("OR", 3, "behind")),
        ("a NOT OR b", operator("NOT", 3, "behind")),
        ("a OR -b", QueryError::ExcludedAlternative { at: 3 }),
        ("a OR NOT b", QueryError::ExcludedAlternative { at: 3 }),
        ("-a OR b", QueryError::ExcludedAlternative { at: 4 }),
        ("-a", QueryError::OnlyExcluded),
        ("NOT a", QueryError::OnlyExcluded),
    ] {
        let error = Query::parse(text).expect_err(text);
        assert_eq!(error, expected, "{text:?}");
        let failure = Failure::from(error);
        assert_eq!((failure.kind, failure.hints.len()), (ExitKind::Usage, 1), "{text:?}");
    }
    let long = "a ".repeat(65);
    assert_eq!(Query::parse(&long), Err(QueryError::TooLong));
    assert!(Query::parse(&long[2..]).is_ok());
}

proptest! {
    #[test]
    fn any_input_is_a_query_or_an_error(text in any::<String>()) {
        let _ = Query::parse(&text);
    }

    #[test]
    fn input_made_of_operators_too(text in "[a\"* ORNTAD中-]{0,12}") {
        let _ = Query::parse(&text);
    }
}
