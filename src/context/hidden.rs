//! Characters that a person who reads a doc cannot see but a model does (A13). They are counted and
//! reported, never removed. Emoji families, flags, Persian and Arabic text, Indic joiners and Thai
//! break marks are honest uses and pass without alarm.

use std::fmt;

/// Kinds of hidden characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The invisible copy of ASCII at U+E0000, outside a flag.
    Tags,
    /// Spaces, joiners and fillers without width, where no script wants them.
    ZeroWidth,
    /// Overrides and isolates that turn the reading order.
    Bidi,
    /// Variation selectors in a row or beyond the sixteen that fonts use: they can spell bytes.
    Selectors,
    /// Soft hyphens in a heading.
    SoftHyphens,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Tags => "invisible tag characters",
            Kind::ZeroWidth => "zero-width characters",
            Kind::Bidi => "bidirectional controls",
            Kind::Selectors => "stray variation selectors",
            Kind::SoftHyphens => "soft hyphens in headings",
        })
    }
}

/// How many of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub kind: Kind,
    /// How many characters.
    pub count: usize,
}

/// Finds hidden characters; one entry for each kind that occurs.
pub fn find(text: &str) -> Vec<Finding> {
    if text.is_ascii() {
        return Vec::new();
    }
    let mut counts = [0usize; 5];
    let mut scan = Scan::default();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if is_tag(c) {
            // A flag is a black flag, some tags, and the tag that ends it.
            let mut run = vec![c];
            while let Some(tag) = chars.next_if(|next| is_tag(*next)) {
                run.push(tag);
            }
            if !is_flag(scan.before, &run) {
                counts[Kind::Tags as usize] += run.len();
            }
            scan.before = '\u{e007f}';
            continue;
        }
        if let Some(kind) = scan.judge(c, chars.peek().copied()) {
            counts[kind as usize] += 1;
        }
    }
    // Left-to-right and right-to-left marks belong into text that has both directions.
    if !scan.right_to_left {
        counts[Kind::Bidi as usize] += scan.marks;
    }
    [Kind::Tags, Kind::ZeroWidth, Kind::Bidi, Kind::Selectors, Kind::SoftHyphens]
        .into_iter()
        .map(|kind| Finding { kind, count: counts[kind as usize] })
        .filter(|finding| finding.count > 0)
        .collect()
}

/// One warning for a doc; `None` without findings.
pub fn warning(shown: &str, text: &str) -> Option<String> {
    let findings = find(text);
    let list: Vec<String> =
        findings.iter().map(|finding| format!("{} {}", finding.count, finding.kind)).collect();
    (!list.is_empty())
        .then(|| format!("{shown}: holds text that cannot be seen: {}", list.join(", ")))
}

#[derive(Default)]
struct Scan {
    before: char,
    heading: bool,
    line_started: bool,
    right_to_left: bool,
    marks: usize,
}

impl Scan {
    fn judge(&mut self, c: char, next: Option<char>) -> Option<Kind> {
        let before = std::mem::replace(&mut self.before, c);
        if c == '\n' || c == '\r' {
            (self.heading, self.line_started) = (false, false);
        } else if !self.line_started && c != ' ' {
            (self.heading, self.line_started) = (c == '#', true);
        }
        match c {
            '\u{ad}' if self.heading => Some(Kind::SoftHyphens),
            '\u{200c}' => (!joins(before) && !next.is_some_and(joins)).then_some(Kind::ZeroWidth),
            '\u{200d}' => {
                let honest =
                    joins(before) || is_emoji_part(before) && next.is_some_and(is_emoji_part);
                (!honest).then_some(Kind::ZeroWidth)
            }
            // Scripts without blanks between words mark where a line may break.
            '\u{200b}' => (!breaks(before) && !next.is_some_and(breaks)).then_some(Kind::ZeroWidth),
            '\u{2060}'..='\u{2064}'
            | '\u{feff}'
            | '\u{180e}'
            | '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{3164}'
            | '\u{ffa0}' => Some(Kind::ZeroWidth),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some(Kind::Bidi),
            '\u{200e}' | '\u{200f}' | '\u{61c}' => {
                self.marks += 1;
                None
            }
            // Ideographs have registered variants in the upper range, one after a character.
            '\u{e0100}'..='\u{e01ef}' => (!is_han(before)).then_some(Kind::Selectors),
            '\u{fe00}'..='\u{fe0f}' => is_selector(before).then_some(Kind::Selectors),
            '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' => {
                self.right_to_left = true;
                None
            }
            _ => None,
        }
    }
}

fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0000}'..='\u{e007f}')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// The flags of England, Scotland and other parts of countries: region codes of at most six.
fn is_flag(before: char, run: &[char]) -> bool {
    let Some(('\u{e007f}', code)) = run.split_last() else { return false };
    before == '\u{1f3f4}'
        && (3..=6).contains(&code.len())
        && code.iter().all(|c| matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}'))
}

/// Scripts whose letters join or keep apart by these signs: Arabic, Syriac, Mongolian, Indic ones.
fn joins(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{fb50}'..='\u{fdff}'
        | '\u{fe70}'..='\u{fefc}' | '\u{1800}'..='\u{18af}' | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}' | '\u{a840}'..='\u{a9ff}' | '\u{11000}'..='\u{11fff}')
}

/// Scripts that put zero-width spaces between words: Thai, Lao, Tibetan, Myanmar, Khmer, and CJK.
fn breaks(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{1950}'..='\u{1aaf}' | '\u{3000}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Emoji, their skin tones, signs that serve as emoji, and the selector that makes them one.
fn is_emoji_part(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{a9}' | '\u{ae}'
        | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{e007f}')
}
