//! The description of a reference doc (S20, A07, A08): its first real level-one heading, else its
//! first line of text, as plain text on one line. One pass over the head of the file, linear
//! whatever it holds. It is no Markdown parser: it knows the constructs that stand before a heading.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::ui::one_line;

/// The longest description, in characters, quotes' escapes included.
pub const MAX_CHARS: usize = 120;

/// Describes a text by its head. `extension` in lower case: settings and code have no underlined
/// headings. Empty where the text has nothing to say.
pub fn describe(head: &str, extension: Option<&str>) -> String {
    let mut reader = Reader {
        underlines: matches!(
            extension,
            None | Some(
                "md" | "markdown" | "mdx" | "mdown" | "mkd" | "txt" | "text" | "rst" | "adoc"
            )
        ),
        ..Reader::default()
    };
    let body = without_front_matter(head);
    for line in body.split(['\n', '\r']) {
        if let Some(heading) = reader.line(line) {
            return fitted(&heading);
        }
    }
    fitted(&reader.first_text.or(reader.first_line).unwrap_or_default())
}

/// What has been read so far.
#[derive(Default)]
struct Reader {
    underlines: bool,
    in_comment: bool,
    code_fence: Option<(u8, usize)>,
    html_heading: Option<String>,
    paragraph: String,
    first_text: Option<String>,
    first_line: Option<String>,
}

impl Reader {
    /// Takes a line; gives the heading if it completes one.
    fn line(&mut self, raw: &str) -> Option<String> {
        if self.inside_code(raw) {
            return None;
        }
        let line = self.without_comments(raw);
        let indented = raw.starts_with("    ") || raw.starts_with('\t');
        let trimmed = line.trim();
        if trimmed.is_empty() {
            self.paragraph.clear();
            return None;
        }
        if let Some(heading) = self.html_heading(trimmed) {
            return Some(heading).filter(|heading| !heading.is_empty());
        }
        if self.html_heading.is_some() {
            return None;
        }
        if indented && self.paragraph.is_empty() {
            // An indented code block; in data files indentation means something else, so that it
            // may still serve as the first line.
            self.note_first(trimmed);
            return None;
        }
        let heading = if indented { None } else { atx(trimmed) };
        if let Some(heading) = heading.filter(|heading| !heading.is_empty()) {
            return Some(heading);
        }
        if self.underlines && !self.paragraph.is_empty() && is_run_of(trimmed, b'=') {
            return Some(plain(&self.paragraph)).filter(|heading| !heading.is_empty());
        }
        if is_markup_only(trimmed) {
            self.paragraph.clear();
            return None;
        }
        self.note_first(trimmed);
        let is_block = trimmed.starts_with(['#', '|', '>']) || is_run_of(trimmed, b'-');
        if is_block {
            self.paragraph.clear();
        } else {
            if !self.paragraph.is_empty() {
                self.paragraph.push(' ');
            }
            self.paragraph.push_str(trimmed);
        }
        None
    }

    fn note_first(&mut self, trimmed: &str) {
        if self.first_text.is_none() {
            let text = plain(strip_line_marks(trimmed));
            if text.chars().any(char::is_alphanumeric) {
                self.first_text = Some(text);
            } else if self.first_line.is_none() {
                self.first_line = Some(one_space(trimmed));
            }
        }
    }

    /// Fenced code, from its opening line to its closing one.
    fn inside_code(&mut self, raw: &str) -> bool {
        let trimmed = raw.trim_start_matches(' ');
        let mark = trimmed.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'));
        let run = mark.map_or(0, |mark| trimmed.bytes().take_while(|byte| *byte == mark).count());
        let shallow = raw.len() - trimmed.len() < 4;
        match (self.code_fence, mark) {
            (Some((open, length)), Some(mark))
                if open == mark && run >= length && shallow && trimmed[run..].trim().is_empty() =>
            {
                self.code_fence = None;
                true
            }
            (Some(_), _) => true,
            (None, Some(mark))
                if run >= 3
                    && shallow
                    && !self.in_comment
                    && !(mark == b'`' && trimmed[run..].contains('`')) =>
            {
                self.code_fence = Some((mark, run));
                self.paragraph.clear();
                true
            }
            (None, _) => false,
        }
    }

    /// The line without the HTML comments in it; a comment may go on over many lines.
    fn without_comments(&mut self, line: &str) -> String {
        let mut kept = String::new();
        let mut rest = line;
        loop {
            if self.in_comment {
                let Some(end) = rest.find("-->") else { return kept };
                rest = &rest[end + 3..];
                self.in_comment = false;
            }
            let Some(start) = rest.find("<!--") else {
                kept.push_str(rest);
                return kept;
            };
            kept.push_str(&rest[..start]);
            rest = &rest[start + 4..];
            self.in_comment = true;
        }
    }

    /// `<h1>…</h1>`, also over several lines.
    fn html_heading(&mut self, trimmed: &str) -> Option<String> {
        let lower = trimmed.to_ascii_lowercase();
        if self.html_heading.is_none() {
            let at = lower.find("<h1")?;
            if !lower[at + 3..].starts_with(['>', ' ', '\t']) {
                return None;
            }
            let open =
                at + 3 + lower[at + 3..].find('>').map_or(lower.len() - at - 3, |end| end + 1);
            return self.html_text(&trimmed[open..], &lower[open..]);
        }
        self.html_text(trimmed, &lower)
    }

    fn html_text(&mut self, text: &str, lower: &str) -> Option<String> {
        let gathered = self.html_heading.get_or_insert_with(String::new);
        if let Some(end) = lower.find("</h1") {
            gathered.push_str(&text[..end]);
            let heading = plain(gathered);
            self.html_heading = None;
            return Some(heading);
        }
        gathered.push_str(text);
        gathered.push(' ');
        None
    }
}

/// The text behind YAML or TOML front matter, if it is closed.
fn without_front_matter(head: &str) -> &str {
    for mark in ["---", "+++"] {
        let mut lines = head.split_inclusive('\n');
        if lines.next().is_none_or(|first| first.trim_end() != mark) {
            continue;
        }
        let mut offset = head.find('\n').map_or(head.len(), |at| at + 1);
        for line in lines {
            offset += line.len();
            if line.trim_end() == mark || (mark == "---" && line.trim_end() == "...") {
                return &head[offset..];
            }
        }
    }
    head
}

/// The text of an ATX heading of level one, closed or not.
fn atx(trimmed: &str) -> Option<String> {
    let text = trimmed.strip_prefix('#').filter(|text| text.starts_with([' ', '\t']))?.trim();
    let open = text.trim_end_matches('#');
    let closed = open.is_empty() || open.ends_with([' ', '\t']);
    Some(plain(if closed { open } else { text }))
}

fn is_run_of(trimmed: &str, mark: u8) -> bool {
    !trimmed.is_empty() && trimmed.bytes().all(|byte| byte == mark)
}

/// Lines that say nothing: badges and images, link definitions (`[//]: # (comment)` too), rules,
/// lone tags, declarations, the first line of a script.
fn is_markup_only(trimmed: &str) -> bool {
    let is_rule = trimmed.len() >= 3
        && ['-', '*', '_', '='].iter().any(|mark| trimmed.chars().all(|c| c == *mark || c == ' '));
    let is_definition = trimmed.starts_with('[')
        && trimmed.find("]:").is_some_and(|at| !trimmed[..at].contains("]("));
    let declares = ["#!", "<?", "<!"].iter().any(|start| trimmed.starts_with(start));
    let has_markup = trimmed.contains("](") || trimmed.contains('<');
    is_rule || is_definition || declares || (has_markup && plain(trimmed).is_empty())
}

/// The marks of headings, quotes and comments at the head of a line, taken off.
fn strip_line_marks(trimmed: &str) -> &str {
    let text = trimmed.trim_start_matches("/*").trim_end_matches("*/");
    let text = text.trim_start_matches(['#', '>', ';', '%', '|']);
    let text = ["--", "//", "\"\"\"", "(*", "* "].iter().fold(text.trim(), |text, mark| {
        text.strip_prefix(mark).map_or(text, |text| text.trim_start_matches(['/', '-', '!', '*']))
    });
    text.trim().trim_end_matches('|').trim_end_matches("\"\"\"").trim_end()
}

/// Text without inline markup: links keep their text, images and tags go.
fn plain(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    // Where the text of each open bracket begins in `kept`, and whether it is an image's.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let (mut parentheses_left, mut tags_left) = (true, true);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' if rest.starts_with(|next: char| next.is_ascii_punctuation()) => {
                kept.extend(rest.chars().next());
                rest = &rest[1..];
            }
            '!' if rest.starts_with('[') => {
                open.push((kept.len(), true));
                rest = &rest[1..];
            }
            '[' => open.push((kept.len(), false)),
            ']' => match open.pop() {
                Some((start, image)) => {
                    if let Some(target) = rest.strip_prefix('(').filter(|_| parentheses_left) {
                        match target.find(')') {
                            Some(end) => {
                                rest = &target[end + 1..];
                                if image {
                                    kept.truncate(start);
                                }
                            }
                            None => parentheses_left = false,
                        }
                    } else if image {
                        kept.truncate(start);
                    }
                }
                None => kept.push(']'),
            },
            '<' if tags_left && rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') => {
                match rest.find('>') {
                    Some(end) => rest = &rest[end + 1..],
                    None => {
                        tags_left = false;
                        kept.push('<');
                    }
                }
            }
            '*' | '`' => {}
            c => kept.push(c),
        }
    }
    one_space(&kept)
}

fn one_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// On one line, quotes escaped, cut at a grapheme boundary.
fn fitted(text: &str) -> String {
    let mut shown = String::new();
    let mut left = MAX_CHARS;
    for grapheme in one_space(text).graphemes(true) {
        let escaped = one_line(grapheme).replace('"', "\\\"");
        let count = escaped.chars().count();
        if count > left {
            // A pile of combining signs longer than the whole description: cut between them.
            if shown.is_empty() {
                shown.extend(escaped.chars().take(MAX_CHARS));
            }
            break;
        }
        left -= count;
        shown.push_str(&escaped);
    }
    shown
}
