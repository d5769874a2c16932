//! File names: finding the one that was meant, and which ones a new doc may have. Pure.
//!
//! macOS hands out decomposed names, keyboards write composed ones. A name means the file with
//! exactly its bytes; else the file with the same composed form, if that is one only (B05).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use unicode_normalization::UnicodeNormalization;

/// Which of several names was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// The one at this index.
    One(usize),
    /// None of them.
    None,
    /// More than one has its composed form, none its bytes.
    Several,
}

/// Finds `wanted` among `names`.
pub fn find<T: AsRef<OsStr>>(wanted: &OsStr, names: &[T]) -> Found {
    if let Some(index) = names.iter().position(|name| name.as_ref() == wanted) {
        return Found::One(index);
    }
    let Some(wanted) = composed(wanted) else { return Found::None };
    let mut same = names
        .iter()
        .enumerate()
        .filter(|(_, name)| composed(name.as_ref()).is_some_and(|name| name == wanted));
    match (same.next(), same.next()) {
        (None, _) => Found::None,
        (Some((index, _)), None) => Found::One(index),
        (Some(_), Some(_)) => Found::Several,
    }
}

fn composed(name: &OsStr) -> Option<String> {
    Some(name.to_str()?.nfc().collect())
}

/// A name on one line, with bytes that are not UTF-8 and control characters as escapes.
pub fn shown(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        text.push_str(&crate::ui::one_line(chunk.valid()));
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Longest name of a doc, in bytes.
const LONGEST: usize = 200;

/// Names that Windows gives to devices: a project is shared with people who use it.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Attachable kinds (S3).
const ATTACHABLE: [&str; 9] = ["png", "jpg", "jpeg", "gif", "webp", "pdf", "docx", "xlsx", "pptx"];

/// Why a new doc can't have this name (S81); `Ok` if it can. `is_text` says which names are text.
pub fn check_new(name: &OsStr, is_text: impl Fn(&OsStr) -> bool) -> Result<(), String> {
    let bytes = name.as_bytes();
    let text = name.to_str().ok_or("the name is not UTF-8")?;
    let stem = text.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    // The raised digits count as well there.
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '\u{b9}' | '\u{b2}' | '\u{b3}');
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|n| n.chars().count() == 1 && n.chars().all(is_digit))
    };
    let reason = if text.is_empty() {
        "the name is empty"
    } else if text.contains(['/', '\\']) {
        "the name has a path separator"
    } else if text.contains(':') {
        "the name has a colon, which opens another file on some systems"
    } else if text.chars().any(crate::ui::is_unprintable) {
        "the name has a control character"
    } else if text.starts_with('.') {
        "a name with a leading dot is hidden"
    } else if bytes.len() > LONGEST {
        "the name is longer than 200 bytes"
    } else if text.ends_with(['.', ' ']) || text.starts_with(' ') {
        "the name ends with a dot, or begins or ends with a space"
    } else if text.eq_ignore_ascii_case("rag")
        || DEVICES.contains(&stem.as_str())
        || numbered("com")
        || numbered("lpt")
    {
        "the name is reserved"
    } else if text.ends_with('~') || text.starts_with('#') && text.ends_with('#') {
        "the name is that of an editor's leftover"
    } else if !is_text(name) && !is_attachable(name) {
        "this kind of file is not known: neither text nor attachable"
    } else {
        return Ok(());
    };
    Err(reason.to_owned())
}

fn is_attachable(name: &OsStr) -> bool {
    let extension = name.as_bytes().rsplit(|b| *b == b'.').next().unwrap_or_default();
    name.as_bytes().contains(&b'.')
        && ATTACHABLE.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b05_exact_bytes_first_then_the_unique_composed_form() {
        let (nfc, nfd) = ("\u{e9}.md", "e\u{301}.md");
        let find = |wanted: &str, names: &[&str]| super::find(OsStr::new(wanted), names);
        assert_eq!(find(nfd, &[nfc, nfd]), Found::One(1));
        assert_eq!(find(nfd, &["a", nfc]), Found::One(1));
        assert_eq!(find(nfc, &["a"]), Found::None);
        // Korean has three ways: composed, decomposed, and mixed.
        let mixed = "\u{1112}\u{1161}\u{11ab}\u{ae00}";
        let mixed_too = "\u{d55c}\u{1100}\u{1173}\u{11af}";
        assert_eq!(find("\u{d55c}\u{ae00}", &[mixed, mixed_too]), Found::Several);
        let raw = OsStr::from_bytes(b"\xff.md");
        assert_eq!(super::find(raw, &[OsStr::new("a"), raw]), Found::One(1));
    }

    #[test]
    fn s81_names_of_new_docs() {
        let is_text = |name: &OsStr| name.as_bytes().ends_with(b".md");
        let long = format!("{}.md", "x".repeat(198));
        for good in ["a.md", "A b.md", "\u{fc}.md", "x.PDF", "com.md", "com10.md", "console.md"] {
            assert_eq!(check_new(OsStr::new(good), is_text), Ok(()), "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            "a/b.md",
            "a\\b.md",
            "a\nb.md",
            ".x.md",
            &long,
            "a.md.",
            " a.md",
            "rag",
            "CON.md",
            "con .txt",
            "COM\u{b9}.md",
            "a:b.md",
            "shell.md::$DATA",
            "nul",
            "lpt1.md",
            "x.exe",
            "noext",
            "pdf",
            "a.md~",
            "\u{202e}a.md",
        ] {
            assert!(check_new(OsStr::new(bad), is_text).is_err(), "{bad}");
        }
        assert!(check_new(OsStr::from_bytes(b"\xff.md"), is_text).is_err());
    }

    #[test]
    fn a_name_is_shown_on_one_line() {
        assert_eq!(shown(OsStr::from_bytes(b"a\xff\n\xc3\xbc")), "a\\xff\\n\u{fc}");
    }
}
