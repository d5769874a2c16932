//! Field cases A07 and A08: the description of a reference doc (S20).

use super::super::describe::{MAX_CHARS, describe};

#[test]
fn a08_the_first_real_heading() {
    let cases = [
        ("# Title\ntext", "Title"),
        ("text first\n\n# Title", "Title"),
        ("<!-- licence -->\n# Title", "Title"),
        ("<!--\n# Not this\nmany lines\n-->\n\n# Title", "Title"),
        ("[//]: # (markdownlint-disable)\n\n# Title", "Title"),
        ("[ref]: http://x \"# no\"\n# Title", "Title"),
        ("Title\nin two lines\n=====\n", "Title in two lines"),
        ("Sub\n---\n\nTitle\n===", "Title"),
        ("<h1 align=\"center\">Title</h1>", "Title"),
        ("<h1>\n  <img src=x>\n  Title\n</h1>", "Title"),
        ("[![ci](https://a/b.svg)](https://c) ![x](y)\n# Title", "Title"),
        ("<p align=center><img src=\"a.png\"></p>\nText", "Text"),
        ("# Title #", "Title"),
        ("# C#", "C#"),
        ("---\ntitle: Other\n# comment\n---\n# Title", "Title"),
        ("+++\ntitle = 1\n+++\nTitle\n===", "Title"),
        ("```sh\n# not this\n```\n# Title", "Title"),
        ("~~~\n# not this\n```\n~~~\n# Title", "Title"),
        ("    # not this\n\n# Title", "Title"),
        ("#no heading\n#\n# Title", "Title"),
        ("# A [link](http://x) and `code` **bold** snake_case", "A link and code bold snake_case"),
        ("# ![logo](a.png) Title", "Title"),
        ("## Only two\ntext", "Only two"),
        ("| a | b |\n|---|---|\n", "a | b"),
        ("\n\n  \nfirst line\nsecond", "first line"),
        ("#!/bin/sh\n# Builds it\n", "Builds it"),
        ("-- Canonical DB schema\ncreate table", "Canonical DB schema"),
        ("// A module\nfn main() {}", "A module"),
        ("/* A header */\nint x;", "A header"),
        ("{\n  \"name\": \"x\"\n}", "\\\"name\\\": \\\"x\\\""),
        ("<?xml version=\"1.0\"?>\n<!DOCTYPE x>\n<a>Text</a>", "Text"),
        ("# He said \"hi\"\tand\u{2028}left", "He said \\\"hi\\\" and left"),
        ("# a\rOK", "a"),
        ("---\n---", ""),
        ("", ""),
    ];
    for (text, expected) in cases {
        assert_eq!(describe(text, Some("md")), expected, "{text:?}");
    }
    assert_eq!(describe("a: 1\n===\n", Some("yaml")), "a: 1");
}

#[test]
fn a07_cut_at_a_character() {
    for sign in ["é", "界", "😀", "e\u{301}", "👨\u{200d}👩\u{200d}👧", "\"", "\u{1b}"] {
        for before in 112..122 {
            let text = format!("# {}{}", "x".repeat(before), sign.repeat(9));
            let description = describe(&text, Some("md"));
            let count = description.chars().count();
            assert!(count <= MAX_CHARS, "{sign:?} after {before}: {count}");
            // No sign is cut in the middle, and none that fits is left out.
            let width = crate::ui::one_line(sign).replace('"', "\\\"").chars().count();
            assert!(count + width > MAX_CHARS);
            assert_eq!((count - before.min(120)) % width, 0);
        }
    }
    assert_eq!(describe(&format!("# {}", "界".repeat(119)), Some("md")).chars().count(), 119);
    let pile = format!("# e{}", "\u{301}".repeat(500));
    assert_eq!(describe(&pile, Some("md")).chars().count(), MAX_CHARS);
}
