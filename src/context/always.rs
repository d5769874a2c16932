//! The always bucket (S10–S13): every text doc whole and fenced, or a note where it would go over
//! the budget. Never cuts, never reorders, never reads.

use std::borrow::Cow;
use std::path::Path;

use super::first_message::DocState;
use super::ledger::Ledger;
use super::names::{code_span, longest_backtick_run, shown_path};
use super::snapshot::{DocEntry, DocKind};
use super::{defuse, figures};

/// The heading of the bucket.
pub(crate) const HEADING: &str = "## Injected Project Docs";
/// Notes on docs that are over the budget; what comes after them is only counted (S12).
pub(crate) const MAX_NOTES: usize = 100;
/// CommonMark wants three at least.
const SHORTEST_FENCE: usize = 3;

/// What became of one doc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placed {
    /// Its position in the snapshot.
    pub(crate) index: usize,
    /// What became of it.
    pub(crate) state: DocState,
    /// Bytes taken of the budget.
    pub(crate) used: u64,
}

/// The part of the block, if there is anything in it, and what became of each doc.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// The text, ending in one line break.
    pub(crate) text: Option<String>,
    /// One for each doc that belongs to this part.
    pub(crate) placed: Vec<Placed>,
}

/// How many bytes a doc's section takes as emitted: heading, fences, contents, and the blank line
/// in front of it.
pub(crate) fn section_bytes(shown: &str, text: &str) -> u64 {
    let fence = fence_length(text);
    let lines = "\n### \n\n\n".len() + usize::from(!text.ends_with('\n'));
    (lines + shown.len() + text.len() + 2 * fence) as u64
}

/// Writes the bucket, taking from `ledger` in the order of the docs.
pub(crate) fn build(
    docs: &[DocEntry],
    docs_dir: &Path,
    cap: &str,
    defuse_images: bool,
    ledger: &mut Ledger,
) -> Part {
    let mut text = HEADING.to_owned();
    text.push('\n');
    let mut placed = Vec::new();
    let mut notes = 0;
    let background = |doc: &&DocEntry| !doc.instruction;
    for (index, doc) in docs.iter().enumerate().filter(|(_, doc)| background(doc)) {
        let (state, used) = match place(doc, defuse_images, ledger) {
            Fit::Whole(content, used) => {
                push_section(&mut text, &doc.shown, &content);
                (DocState::Included, used)
            }
            Fit::Over => {
                notes += 1;
                if notes <= MAX_NOTES {
                    push_note(&mut text, doc, cap);
                }
                (DocState::Skipped, 0)
            }
            Fit::Empty => (DocState::Empty, 0),
            Fit::NotText => continue,
        };
        placed.push(Placed { index, state, used });
    }
    if notes > MAX_NOTES {
        let more = figures::counted(notes - MAX_NOTES, "more doc", "more docs");
        let folder = code_span(&shown_path(docs_dir));
        text.push_str(&format!(
            "\n*… and {more} skipped — would push total over {cap} token cap. Use Read tool on the files in {folder} when needed.*\n"
        ));
    }
    let any = text.len() > HEADING.len() + 1;
    Part { text: any.then_some(text), placed }
}

/// Whether a doc's text fits.
pub(crate) enum Fit<'a> {
    /// It does; with the bytes that it took.
    Whole(Cow<'a, str>, u64),
    /// It does not.
    Over,
    /// There is nothing in it.
    Empty,
    /// It is no text.
    NotText,
}

fn place<'a>(doc: &'a DocEntry, defuse_images: bool, ledger: &mut Ledger) -> Fit<'a> {
    fit(doc, defuse_images, ledger, section_bytes)
}

/// Takes a text doc from the ledger, sized by `section`. The size on disk decides before the
/// content does: a doc that cannot fit is over the budget whether or not it was read, and whatever
/// reading it would have shown.
pub(crate) fn fit<'a>(
    doc: &'a DocEntry,
    defuse_images: bool,
    ledger: &mut Ledger,
    section: impl Fn(&str, &str) -> u64,
) -> Fit<'a> {
    if doc.at_least > ledger.left() {
        return Fit::Over;
    }
    match &doc.kind {
        DocKind::Text(text) if text.trim().is_empty() => Fit::Empty,
        DocKind::Text(text) => {
            let text =
                if defuse_images { defuse::image_paths(text) } else { Cow::Borrowed(&**text) };
            let bytes = section(&doc.shown, &text);
            if ledger.take(bytes) { Fit::Whole(text, bytes) } else { Fit::Over }
        }
        DocKind::TextUnread => Fit::Over,
        DocKind::Attachable(_) | DocKind::Ignored(_) => Fit::NotText,
    }
}

fn fence_length(text: &str) -> usize {
    SHORTEST_FENCE.max(longest_backtick_run(text) + 1)
}

fn push_section(block: &mut String, shown: &str, text: &str) {
    let fence = "`".repeat(fence_length(text));
    block.reserve(text.len() + shown.len() + 2 * fence.len() + 16);
    for piece in ["\n### ", shown, "\n", &fence, "\n", text] {
        block.push_str(piece);
    }
    // A lone CR ends a line in CommonMark, but the closing fence must follow a LF (A02).
    if !text.ends_with('\n') {
        block.push('\n');
    }
    block.push_str(&fence);
    block.push('\n');
}

fn push_note(block: &mut String, doc: &DocEntry, cap: &str) {
    let path = code_span(&shown_path(&doc.path));
    block.push_str(&format!(
        "\n### {}\n*Skipped — would push total over {cap} token cap. Use Read tool on {path} when needed.*\n",
        doc.shown
    ));
}
