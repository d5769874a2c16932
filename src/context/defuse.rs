//! Keeps image paths inside the block text. An engine that scans its whole prompt for paths with an
//! image ending, and attaches what it finds, would take the `./logo.png` of a README for the user's
//! attachment. A zero-width space between the dot and the ending breaks its pattern and nothing
//! else; only for engines whose delivery asks for it.

use std::borrow::Cow;

/// The endings that such an engine looks for, in lower case.
const ENDINGS: [&str; 10] =
    ["png", "jpg", "jpeg", "gif", "webp", "bmp", "tiff", "tif", "heic", "heif"];
const ZERO_WIDTH_SPACE: &str = "\u{200b}";

/// `text` with its image paths broken up.
pub(crate) fn image_paths(text: &str) -> Cow<'_, str> {
    let places = places(text);
    if places.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut defused = String::with_capacity(text.len() + places.len() * ZERO_WIDTH_SPACE.len());
    let mut from = 0;
    for place in places {
        defused.push_str(&text[from..place]);
        defused.push_str(ZERO_WIDTH_SPACE);
        from = place;
    }
    defused.push_str(&text[from..]);
    Cow::Owned(defused)
}

/// How many bytes [`image_paths`] would add.
pub(crate) fn added_bytes(text: &str) -> u64 {
    (places(text).len() * ZERO_WIDTH_SPACE.len()) as u64
}

/// A path that such an engine must not take, as it is printed: whole, but in angle brackets, in
/// front of which its pattern does not match.
pub(crate) fn bracketed(path: &str) -> Cow<'_, str> {
    if places(path).is_empty() { Cow::Borrowed(path) } else { Cow::Owned(format!("<{path}>")) }
}

/// Where an image ending begins, after its dot, in a word with a slash.
fn places(text: &str) -> Vec<usize> {
    let mut places = Vec::new();
    let mut slash = false;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'/' => slash = true,
            b' ' | b'\t' | b'\n' | b'\r' => slash = false,
            b'.' if slash && starts_with_ending(&bytes[at + 1..]) => places.push(at + 1),
            _ => {}
        }
    }
    places
}

fn starts_with_ending(rest: &[u8]) -> bool {
    ENDINGS.iter().any(|ending| {
        rest.get(..ending.len()).is_some_and(|start| start.eq_ignore_ascii_case(ending.as_bytes()))
            && !rest.get(ending.len()).is_some_and(u8::is_ascii_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_paths_no_longer_match_and_nothing_else_changes() {
        let cases = [
            ("![logo](./img/logo.png)", "![logo](./img/logo.\u{200b}png)"),
            ("see /a/B.JPEG, ok", "see /a/B.\u{200b}JPEG, ok"),
            ("file:///x.heif", "file:///x.\u{200b}heif"),
            ("logo.png without a folder", "logo.png without a folder"),
            ("./a.pngx ./b.md", "./a.pngx ./b.md"),
        ];
        for (text, expected) in cases {
            assert_eq!(image_paths(text), expected);
            assert_eq!(added_bytes(text), (expected.len() - text.len()) as u64);
            assert_eq!(image_paths(text).replace(ZERO_WIDTH_SPACE, ""), text);
        }
        assert_eq!(bracketed("/p/rag/a.png"), "</p/rag/a.png>");
        assert_eq!(bracketed("/p/rag/a.md"), "/p/rag/a.md");
    }
}
