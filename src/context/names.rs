//! File names as people and models see them, as they are compared, and as they are found again.
//!
//! A name on disk is bytes. It is printed on one line with everything odd escaped, ordered without
//! regard to case or locale, and looked up by its bytes before its normalised form. Nothing here
//! touches the disk.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use unicode_normalization::UnicodeNormalization as _;

use crate::ui::one_line;

/// A name on one line: control characters escaped, bytes that are not UTF-8 as `\xFF`, so that two
/// names that a lossy conversion would make equal stay two.
pub fn shown(name: &OsStr) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.as_bytes().utf8_chunks() {
        text.push_str(&one_line(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    text
}

/// A path on one line, like [`shown`].
pub fn shown_path(path: &Path) -> String {
    shown(path.as_os_str())
}

/// `text` as a Markdown code span whose fence is longer than any run of backticks in it.
pub fn code_span(text: &str) -> String {
    let run = longest_backtick_run(text);
    let fence = "`".repeat(if run == 0 { 1 } else { run + 1 });
    // CommonMark takes one space off both sides, so this adds nothing to the path.
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The longest run of backticks anywhere in `text`.
pub fn longest_backtick_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// The form that decides the order "by name": lower case, the same in every locale.
pub fn order_key(name: &OsStr) -> String {
    name.to_string_lossy().to_lowercase()
}

/// Sorts by name: case-insensitively, ties by bytes (S5).
pub fn sort_by_name<T>(items: &mut [T], name: impl Fn(&T) -> &OsStr) {
    items.sort_by_cached_key(|item| {
        let name = name(item);
        (order_key(name), name.as_bytes().to_vec())
    });
}

/// The order of two names (S5).
pub fn compare(a: &OsStr, b: &OsStr) -> Ordering {
    order_key(a).cmp(&order_key(b)).then_with(|| a.as_bytes().cmp(b.as_bytes()))
}

/// What a wanted name turned out to be among the names of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup {
    /// The entry with exactly these bytes, or the only one with the same normalised form.
    Found(usize),
    /// Several entries have the same normalised form and none has these bytes.
    Ambiguous,
    /// No such entry.
    Missing,
}

/// Finds names by their bytes, else by their NFC form where that is unique: macOS hands out
/// decomposed names, keyboards type composed ones.
#[derive(Debug, Default)]
pub struct NameIndex {
    exact: HashMap<Vec<u8>, usize>,
    normal: HashMap<String, Vec<usize>>,
}

impl NameIndex {
    /// Indexes `names`; the answers are positions in this order.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a OsStr>) -> NameIndex {
        let mut index = NameIndex::default();
        for (position, name) in names.into_iter().enumerate() {
            index.exact.insert(name.as_bytes().to_vec(), position);
            if let Some(name) = name.to_str() {
                index.normal.entry(name.nfc().collect()).or_default().push(position);
            }
        }
        index
    }

    /// Looks a name up.
    pub fn find(&self, wanted: &str) -> Lookup {
        if let Some(position) = self.find_exact(wanted) {
            return Lookup::Found(position);
        }
        match self.normal.get(&wanted.nfc().collect::<String>()).map(Vec::as_slice) {
            Some([only]) => Lookup::Found(*only),
            Some(_) => Lookup::Ambiguous,
            None => Lookup::Missing,
        }
    }

    fn find_exact(&self, wanted: &str) -> Option<usize> {
        self.exact.get(wanted.as_bytes()).copied()
    }

    /// The positions of `wanted` in the wanted order, each once. A name that is there byte for byte
    /// is never taken by another spelling of it.
    pub fn positions(&self, wanted: &[String]) -> Vec<usize> {
        let exact: Vec<Option<usize>> = wanted.iter().map(|name| self.find_exact(name)).collect();
        let mut taken: std::collections::HashSet<usize> = exact.iter().flatten().copied().collect();
        let mut positions = Vec::new();
        let mut placed = std::collections::HashSet::new();
        for (name, exact) in wanted.iter().zip(exact) {
            let position = exact.or_else(|| match self.find(name) {
                Lookup::Found(position) if taken.insert(position) => Some(position),
                _ => None,
            });
            if let Some(position) = position.filter(|position| placed.insert(*position)) {
                positions.push(position);
            }
        }
        positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b01_b04_names_stay_on_one_line_and_apart() {
        let cases: [(&[u8], &str); 5] = [
            (b"plain.md", "plain.md"),
            (b"a\n## Project Instructions.md", "a\\n## Project Instructions.md"),
            (b"caf\xe9.md", "caf\\xE9.md"),
            (b"\xff\xfe", "\\xFF\\xFE"),
            ("a\u{2028}b\u{85}.md".as_bytes(), "a\\u{2028}b\\u{85}.md"),
        ];
        for (name, expected) in cases {
            assert_eq!(shown(OsStr::from_bytes(name)), expected);
        }
        assert_ne!(shown(OsStr::from_bytes(b"\xfe.md")), shown(OsStr::from_bytes(b"\xff.md")));
    }

    #[test]
    fn b02_code_spans_outgrow_the_backticks_inside() {
        assert_eq!(code_span("/a/b.md"), "`/a/b.md`");
        assert_eq!(code_span("/a/`b`.md"), "``/a/`b`.md``");
        assert_eq!(code_span("/a/```"), "```` /a/``` ````");
    }

    #[test]
    fn s05_order_is_by_letters_then_bytes() {
        let mut names = ["b.md", "B.md", "a.md", "Ä.md", "C.md"].map(OsStr::new);
        sort_by_name(&mut names, |name| name);
        assert_eq!(names, ["a.md", "B.md", "b.md", "C.md", "Ä.md"].map(OsStr::new));
        assert_eq!(compare(OsStr::new("B"), OsStr::new("b")), Ordering::Less);
    }

    #[test]
    fn b05_bytes_before_the_normalised_form() {
        let (nfc, nfd) = ("\u{e9}.md", "e\u{301}.md");
        let only_nfd = NameIndex::new([OsStr::new("a.md"), OsStr::new(nfd)]);
        assert_eq!(only_nfd.find(nfc), Lookup::Found(1));
        assert_eq!(only_nfd.find("x.md"), Lookup::Missing);
        let both = NameIndex::new([OsStr::new(nfc), OsStr::new(nfd)]);
        assert_eq!(both.find(nfc), Lookup::Found(0));
        assert_eq!(both.find(nfd), Lookup::Found(1));
        // A third spelling of the same: U+212B is canonically the A with ring.
        let rings = NameIndex::new([OsStr::new("\u{c5}"), OsStr::new("A\u{30a}")]);
        assert_eq!(rings.find("\u{212b}"), Lookup::Ambiguous);
        assert_eq!(only_nfd.positions(&[nfc.into(), nfd.into(), "a.md".into()]), [1, 0]);
    }
}
