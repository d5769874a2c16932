//! Custom and project instructions (S31–S33, S36): verbatim, unfenced, whole or withheld. Only the
//! stored flag makes a doc an instruction; nothing in the doc itself does (A16).

use std::path::Path;

use super::always::{Fit, MAX_NOTES, Part, Placed, fit};
use super::first_message::DocState;
use super::ledger::Ledger;
use super::names::{code_span, shown_path};
use super::snapshot::DocEntry;
use super::{defuse, figures};

/// The heading of the flagged docs.
pub(crate) const HEADING: &str = "## Project Instructions";
/// The heading of the user's own instructions, which stand before them.
pub(crate) const CUSTOM_HEADING: &str = "## Custom Instructions";
/// The most that the custom instructions may be, in bytes (S32): whole or not at all.
pub(crate) const CUSTOM_CAP_BYTES: u64 = 16 * 1024;

/// How many bytes an instruction takes of the budget as emitted: heading, contents, and the blank
/// line in front of it.
pub(crate) fn section_bytes(shown: &str, text: &str) -> u64 {
    let lines = "\n### \n\n".len() + usize::from(!text.ends_with('\n'));
    (lines + shown.len() + text.len()) as u64
}

/// Writes the flagged docs, taking from `ledger` in their order.
pub(crate) fn build(
    docs: &[DocEntry],
    docs_dir: &Path,
    cap: &str,
    defuse_images: bool,
    ledger: &mut Ledger,
) -> Part {
    let mut text = format!("{HEADING}\n");
    let mut placed = Vec::new();
    let mut withheld = 0;
    for (index, doc) in docs.iter().enumerate().filter(|(_, doc)| doc.instruction) {
        let (state, used) = match fit(doc, defuse_images, ledger, section_bytes) {
            Fit::Whole(content, used) => {
                push_section(&mut text, &doc.shown, &content);
                (DocState::Instruction, used)
            }
            Fit::Over => {
                withheld += 1;
                if withheld <= MAX_NOTES {
                    push_notice(&mut text, doc, cap);
                }
                (DocState::Withheld, 0)
            }
            Fit::Empty => (DocState::Empty, 0),
            Fit::NotText => continue,
        };
        placed.push(Placed { index, state, used });
    }
    if withheld > MAX_NOTES {
        let more = figures::counted(withheld - MAX_NOTES, "more instruction", "more instructions");
        let folder = code_span(&shown_path(docs_dir));
        text.push_str(&format!(
            "\n*… and {more} withheld — over the {cap} token cap. They are binding: read in full the files in {folder} before acting.*\n"
        ));
    }
    let any = text.len() > HEADING.len() + 1;
    Part { text: any.then_some(text), placed }
}

/// The section of the user's own instructions.
pub(crate) fn custom(text: &str, defuse_images: bool) -> Option<String> {
    if text.trim().is_empty() || text.len() as u64 > CUSTOM_CAP_BYTES {
        return None;
    }
    let text = if defuse_images { defuse::image_paths(text) } else { text.into() };
    let end = if text.ends_with('\n') { "" } else { "\n" };
    Some(format!("{CUSTOM_HEADING}\n\n{text}{end}"))
}

fn push_section(section: &mut String, shown: &str, text: &str) {
    for piece in ["\n### ", shown, "\n\n", text] {
        section.push_str(piece);
    }
    if !text.ends_with('\n') {
        section.push('\n');
    }
}

fn push_notice(section: &mut String, doc: &DocEntry, cap: &str) {
    let path = code_span(&shown_path(&doc.path));
    section.push_str(&format!(
        "\n### {}\n\n*Withheld — this project instruction would push total over {cap} token cap. It exists and it is binding: read it in full with the Read tool at {path} before acting.*\n",
        doc.shown
    ));
}
