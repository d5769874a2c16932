//! What the screen of an engine says: is there a composer, what does it hold, is a dialog or a list
//! open, does the engine work. Pure, from the patterns of `engines.toml` alone.
//!
//! Deliberately simple: rows, prefixes and substrings. A new engine version is a new captured screen
//! in `tests/engines/<id>/` and, at most, another string in the catalogue.

use super::gate_spec::{Frame, ScreenSpec};

/// A rule has at least this many dashes; shorter ones are found in texts.
const RULE_DASHES: usize = 10;

/// What stands before the rows of a composer without a box.
const BAR: char = '┃';

/// A screen as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Its rows, from the top.
    pub rows: Vec<Row>,
    /// The state that the engine told by its state mark.
    pub state: Option<String>,
}

/// One row, without the blanks at its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    text: String,
    /// Byte ranges that are painted faint or grey.
    faint: Vec<std::ops::Range<usize>>,
    /// Where a painted cursor stands, as a byte range.
    cursor: Option<std::ops::Range<usize>>,
    /// The text goes on in the next row without a line break.
    pub wraps: bool,
}

impl Row {
    /// A row in one colour.
    pub fn plain(text: &str) -> Row {
        Row { text: text.trim_end().to_owned(), ..Row::default() }
    }

    /// Adds a cell.
    pub fn push(&mut self, cell: &str, faint: bool, inverse: bool) {
        let range = self.text.len()..self.text.len() + cell.len();
        self.text.push_str(cell);
        if inverse {
            self.cursor.get_or_insert(range.clone());
        }
        if faint {
            match self.faint.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => self.faint.push(range),
            }
        }
    }

    /// Drops the blanks at the end.
    pub fn trim_end(&mut self) {
        self.text.truncate(self.text.trim_end().len());
        let end = self.text.len();
        self.faint.retain(|range| range.start < end);
        if let Some(last) = self.faint.last_mut() {
            last.end = last.end.min(end);
        }
        self.cursor = self.cursor.take().filter(|range| range.end <= end);
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The faint ranges, for captures.
    pub fn faint(&self) -> &[std::ops::Range<usize>] {
        &self.faint
    }

    /// Where the painted cursor stands, for captures.
    pub fn cursor_range(&self) -> Option<std::ops::Range<usize>> {
        self.cursor.clone()
    }

    /// Whether something from `start` on is typed text: neither blank nor faint. A cursor painted
    /// over the first letter of a faint placeholder is not typed.
    fn has_typed_text(&self, start: usize) -> bool {
        let is_faint = |at: usize| self.faint.iter().any(|range| range.contains(&at));
        let mut typed = self
            .text
            .char_indices()
            .filter(|(at, c)| *at >= start && !c.is_whitespace() && !is_faint(*at));
        let Some((first, _)) = typed.next() else { return false };
        let only_one = typed.next().is_none();
        let under_cursor = self.cursor.as_ref().is_some_and(|range| range.contains(&first));
        let before_faint = self.faint.iter().any(|range| range.start > first);
        !(only_one && under_cursor && before_faint)
    }
}

/// What a screen says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The composer, if one is shown.
    pub composer: Option<Composer>,
    /// A dialog, a picker or a question is open.
    pub dialog: bool,
    /// A completion list is open beside the composer.
    pub popup: bool,
    /// No row of it is picked, so that it lets Enter through, see
    /// [`list_pointer`](ScreenSpec::list_pointer).
    pub popup_lets_through: bool,
    /// The engine works.
    pub busy: bool,
    /// A mark that must be there is missing.
    pub not_ready: bool,
}

/// The composer as painted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Composer {
    /// What Enter would do with the text.
    pub mode: Mode,
    /// The text as far as the screen shows it; empty also under a placeholder.
    pub text: String,
    /// A folded paste or an image stands in it: there is more, or other, than the screen shows.
    pub chips: bool,
    /// An image stands in it, where the keys had a path.
    pub images: bool,
}

/// What the composer's prompt says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A message for the model.
    Message,
    /// A shell command.
    Shell,
    /// Not shown: the first row is scrolled away.
    Hidden,
}

impl Reading {
    /// A composer for messages is shown and nothing stands over it.
    pub fn takes_message(&self) -> bool {
        !self.dialog
            && !self.busy
            && !self.not_ready
            && self.composer.as_ref().is_some_and(|composer| composer.mode == Mode::Message)
    }

    /// The composer is shown and holds nothing.
    pub fn is_empty(&self) -> bool {
        self.composer.as_ref().is_some_and(|composer| composer.text.is_empty())
    }
}

/// Reads a screen.
pub fn read(spec: &ScreenSpec, screen: &Snapshot) -> Reading {
    let rows = &screen.rows;
    let found = match spec.frame {
        Frame::Rules => between_rules(spec, rows),
        Frame::Open => last_prompt(spec, rows),
        Frame::Bar => beside_bar(rows),
    };
    // The talk above the composer may quote a dialog, the draft in it any mark.
    let (top, end) = found.as_ref().map_or((0, 0), |found| (found.top, found.end));
    let shows = |marks: &[String], rows: &[Row]| {
        rows.iter().any(|row| marks.iter().any(|mark| row.text.contains(mark.as_str())))
    };
    let around = |marks: &[String]| shows(marks, &rows[..top]) || shows(marks, &rows[end..]);
    let state = screen.state.as_deref();
    let in_states = |states: &[String]| state.is_some_and(|s| states.iter().any(|x| x == s));
    // Without a prompt of its own a composer cannot be told from a selector in its place.
    let below = if spec.prompts.is_empty() && spec.frame == Frame::Rules { top } else { end };
    let above = found.as_ref().map(|found| list_above(spec, &rows[..found.top]));
    let (above, picked) = above.unwrap_or_default();
    let other =
        around(&spec.popups) || found.as_ref().is_some_and(|found| list_below(spec, rows, found));
    Reading {
        dialog: shows(&spec.dialogs, &rows[below..]),
        popup: above || other,
        popup_lets_through: above && !picked && !other && !spec.list_pointer.is_empty(),
        busy: around(&spec.busy) || in_states(&spec.busy_states),
        not_ready: (!spec.ready.is_empty() && !shows(&spec.ready, rows))
            || (!spec.idle_states.is_empty() && !in_states(&spec.idle_states)),
        composer: found.map(|found| composer(spec, rows, &found)),
    }
}

/// Where a composer is.
struct Found {
    /// Its first row.
    top: usize,
    /// The row after its last one.
    end: usize,
    /// Where the text of its first row begins, in bytes.
    indent: usize,
    mode: Mode,
}

/// The prompt that a row begins with, and where its text begins.
fn prompt(spec: &ScreenSpec, row: &Row) -> Option<(Mode, usize)> {
    let begins = |prompts: &[String]| {
        prompts.iter().find_map(|prompt| {
            // The blanks at the end of a row are not kept.
            if row.text == prompt.trim_end() {
                return Some(row.text.len());
            }
            let rest = row.text.strip_prefix(prompt.as_str())?;
            // `❯` is a prompt, `❯❯` is not; the blank after it may have been trimmed.
            (rest.is_empty() || rest.starts_with([' ', '\u{a0}']) || prompt.ends_with(' '))
                .then_some(prompt.len())
        })
    };
    begins(&spec.prompts)
        .map(|at| (Mode::Message, at))
        .or_else(|| begins(&spec.shell_prompts).map(|at| (Mode::Shell, at)))
}

fn between_rules(spec: &ScreenSpec, rows: &[Row]) -> Option<Found> {
    let end = rows.iter().rposition(is_rule)?;
    // A draft may hold a rule of its own: the upper edge is the nearest one with a prompt below.
    let mut upper = rows[..end].iter().enumerate().rev().filter(|(_, row)| is_rule(row));
    if spec.prompts.is_empty() {
        let top = upper.next()?.0 + 1;
        let shell = spec.shell_prompts.iter().any(|p| rows[top].text.starts_with(p.as_str()));
        let mode = if shell { Mode::Shell } else { Mode::Message };
        return (top < end).then_some(Found { top, end, indent: 0, mode });
    }
    upper.filter(|(at, _)| at + 1 < end).find_map(|(at, rule)| {
        let is_scrolled = spec.scrolled.iter().any(|mark| rule.text.contains(mark.as_str()));
        let scrolled = is_scrolled.then_some((Mode::Hidden, 0));
        let (mode, indent) = prompt(spec, &rows[at + 1]).or(scrolled)?;
        Some(Found { top: at + 1, end, indent, mode })
    })
}

fn last_prompt(spec: &ScreenSpec, rows: &[Row]) -> Option<Found> {
    let (top, (mode, indent)) = rows
        .iter()
        .enumerate()
        .rev()
        .find_map(|(at, row)| prompt(spec, row).map(|found| (at, found)))?;
    let end = rows[top..]
        .iter()
        .position(|row| row.text.is_empty() || is_edge(row))
        .map_or(rows.len(), |length| top + length);
    Some(Found { top, end: end.max(top + 1), indent, mode })
}

fn has_bar(row: &Row) -> bool {
    row.text.trim_start().starts_with(BAR)
}

/// The last run of rows behind a bar: a blank one, the text, a blank one, the model.
fn beside_bar(rows: &[Row]) -> Option<Found> {
    let last = rows.iter().rposition(has_bar)?;
    let first = rows[..last].iter().rposition(|row| !has_bar(row)).map_or(0, |at| at + 1);
    let top = first + 1;
    let end = last.checked_sub(1).filter(|end| *end > top)?;
    let indent = rows[top].text.find(BAR)? + BAR.len_utf8();
    Some(Found { top, end, indent, mode: Mode::Message })
}

fn is_rule(row: &Row) -> bool {
    let text = row.text.trim();
    text.starts_with("───") && text.chars().filter(|c| *c == '─').count() >= RULE_DASHES
}

/// The lower edge of a box of half blocks or dashes.
fn is_edge(row: &Row) -> bool {
    let text = row.text.trim();
    is_rule(row)
        || (!text.is_empty() && text.chars().all(|c| ('\u{2580}'..='\u{259f}').contains(&c)))
}

fn begins_list_row(spec: &ScreenSpec, row: &Row) -> bool {
    let text = row.text.trim_start();
    spec.popup_rows.iter().any(|mark| text.starts_with(mark.as_str()))
}

/// Whether a list is open above the composer's upper edge, and one of its rows is picked. `rows`: those
/// above the composer.
fn list_above(spec: &ScreenSpec, rows: &[Row]) -> (bool, bool) {
    let mut list = rows
        .iter()
        .rev()
        .skip_while(|row| is_rule(row))
        // A list is indented; what stands above it may be talk.
        .take_while(|row| row.text.starts_with(' '))
        .peekable();
    let nearest = list.peek().is_some_and(|row| begins_list_row(spec, row));
    let pointer = spec.list_pointer.as_str();
    let picked = !pointer.is_empty() && list.any(|row| row.text.trim_start().starts_with(pointer));
    (nearest || picked, picked)
}

/// Whether a list is open below the composer and its lower edge.
fn list_below(spec: &ScreenSpec, rows: &[Row], found: &Found) -> bool {
    let below = rows[found.end..]
        .iter()
        .filter(|row| !is_edge(row) && !row.text.is_empty())
        .take(2)
        .any(|row| begins_list_row(spec, row));
    below || (spec.at_completion && completes_name(rows, found))
}

/// Whether the draft's last word, an `@name` without a blank after it, is offered a completion.
fn completes_name(rows: &[Row], found: &Found) -> bool {
    let last = &rows[found.end - 1].text;
    let Some(name) = last.split_whitespace().next_back().and_then(|word| word.strip_prefix('@'))
    else {
        return false;
    };
    let offered = rows[found.end..].iter().find(|row| !is_edge(row) && !row.text.is_empty());
    let (name, offered) = (name.to_lowercase(), offered.map(|row| row.text.to_lowercase()));
    name.is_empty() || offered.is_some_and(|offered| offered.contains(&name))
}

fn composer(spec: &ScreenSpec, rows: &[Row], found: &Found) -> Composer {
    let held = &rows[found.top..found.end];
    let typed = held
        .iter()
        .enumerate()
        .any(|(at, row)| row.has_typed_text(if at == 0 { found.indent } else { 0 }));
    let first = &held[0].text[..found.indent];
    let mut text = String::new();
    for (at, row) in held.iter().enumerate() {
        let line = if at == 0 {
            let rest = &row.text[found.indent..];
            let rest = rest.strip_prefix([' ', '\u{a0}']).unwrap_or(rest);
            if first.ends_with(BAR) { rest.trim_start() } else { rest }
        } else {
            let text = row.text.trim_start().strip_prefix(BAR).unwrap_or(&row.text);
            let width = if text.len() < row.text.len() { 2 } else { columns(first) + 1 };
            unindent(text, width)
        };
        if at > 0 && !held[at - 1].wraps {
            text.push('\n');
        }
        text.push_str(line);
    }
    let text = text.trim_end().to_owned();
    let shown = text.trim_start();
    let is_placeholder = spec.placeholders.iter().any(|p| shown.starts_with(p.as_str()));
    let text = if typed && !is_placeholder { text } else { String::new() };
    let holds = |marks: &[String]| marks.iter().any(|mark| text.contains(mark.as_str()));
    let (chips, images) = (holds(&spec.chips), holds(&spec.images));
    Composer { mode: found.mode, text, chips: chips || images, images }
}

/// How wide a prompt is; prompts are narrow characters.
fn columns(prompt: &str) -> usize {
    if prompt.is_empty() { 0 } else { prompt.chars().count() }
}

/// Drops the blanks that stand for the prompt in the rows after the first.
fn unindent(text: &str, width: usize) -> &str {
    let blanks = text.bytes().take(width).take_while(|b| *b == b' ').count();
    &text[blanks..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(text: &str) -> Snapshot {
        Snapshot { rows: text.lines().map(Row::plain).collect(), state: None }
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn spec() -> ScreenSpec {
        ScreenSpec {
            frame: Frame::Rules,
            prompts: words(&[">"]),
            shell_prompts: words(&["!"]),
            scrolled: words(&["↑ "]),
            dialogs: words(&["Enter to confirm"]),
            busy: words(&["working"]),
            popup_rows: words(&["+ "]),
            ..ScreenSpec::default()
        }
    }

    const RULE: &str = "────────────────────";

    #[test]
    fn marks_in_the_draft_and_rules_in_it_count_for_nothing() {
        let text = format!(
            "Enter to confirm\n{RULE}\n> a working\n  {RULE}\n  Enter to confirm\n{RULE}\n foot"
        );
        let reading = read(&spec(), &screen(&text));
        assert!(reading.takes_message(), "{reading:?}");
        let composer = reading.composer.expect("a composer");
        assert_eq!(composer.text, format!("a working\n{RULE}\nEnter to confirm"));
    }

    #[test]
    fn a_scrolled_draft_hides_its_mode() {
        let text = format!("talk\n─── ↑ 11 more {RULE}\n  line 12\n  line 13\n{RULE}\n");
        let composer = read(&spec(), &screen(&text)).composer.expect("a composer");
        assert_eq!(composer.mode, Mode::Hidden);
        assert!(composer.text.ends_with("line 13"));
    }

    #[test]
    fn dialogs_work_lists_and_shells() {
        let frame = |text: &str| format!("{RULE}\n{text}\n{RULE}\n");
        let shell = read(&spec(), &screen(&frame("! ls")));
        assert!(!shell.takes_message() && shell.composer.is_some());
        assert!(read(&spec(), &screen("  > 1. Yes\nEnter to confirm")).dialog);
        assert!(read(&spec(), &screen(&format!("working\n{}", frame("> hi")))).busy);
        assert!(read(&spec(), &screen(&format!("{}+ file.md", frame("> @fi")))).popup);
        assert!(read(&spec(), &screen(&frame(">"))).is_empty());
        assert_eq!(read(&spec(), &screen("nothing")), Reading::default());
    }

    #[test]
    fn a_faint_placeholder_under_a_painted_cursor_is_no_text() {
        let mut row = Row::plain(">");
        for (at, c) in " Try it".chars().enumerate() {
            row.push(&c.to_string(), at > 1, at == 1);
        }
        assert!(!row.has_typed_text(1));
        let mut typed = Row::plain("> x");
        typed.push(" ", false, true);
        assert!(typed.has_typed_text(1));
    }
}
