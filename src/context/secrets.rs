//! Keys and passwords in docs (S72): found by form, one linear pass, told by name and line. Examples
//! and placeholders are left alone, so that a warning means something. What follows from a finding is
//! the policy's business, not this module's; a secret itself is never repeated.

mod forms;
mod weak;

use super::first_message::{ContextReport, DocState};
use super::snapshot::{ContextSnapshot, DocKind};

/// One secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// The line it is on, from 1.
    pub line: usize,
    /// What it looks like.
    pub kind: &'static str,
}

/// One secret with its place, for masking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first byte in the text.
    pub start: usize,
    /// The byte behind its last.
    pub end: usize,
    /// The line it begins on, from 1.
    pub line: usize,
    /// What it looks like.
    pub kind: &'static str,
}

/// The secrets in every text that the snapshot holds: name as printed, line, kind.
pub fn scan(snapshot: &ContextSnapshot) -> Vec<(String, usize, &'static str)> {
    scan_docs(snapshot, |_| true)
}

/// The secrets in what one launch sends: docs that its report has as included or instruction, the
/// custom instructions and the profile.
pub fn scan_sent(
    snapshot: &ContextSnapshot,
    report: &ContextReport,
) -> Vec<(String, usize, &'static str)> {
    scan_docs(snapshot, |index| {
        report
            .docs
            .get(index)
            .is_some_and(|doc| matches!(doc.state, DocState::Included | DocState::Instruction))
    })
}

fn scan_docs(
    snapshot: &ContextSnapshot,
    is_sent: impl Fn(usize) -> bool,
) -> Vec<(String, usize, &'static str)> {
    let switches = snapshot.request.switches;
    let docs = snapshot.docs.iter().enumerate().filter_map(|(index, doc)| match &doc.kind {
        DocKind::Text(text) => {
            let on = if doc.instruction { switches.instructions } else { switches.inline };
            (on && is_sent(index)).then_some((doc.shown.as_str(), text.as_str()))
        }
        DocKind::TextUnread | DocKind::Attachable(_) | DocKind::Ignored(_) => None,
    });
    let own = [
        ("instructions.md", snapshot.custom_instructions.as_deref(), switches.instructions),
        ("profile.md", snapshot.profile.as_deref(), switches.profile),
    ];
    let own = own.into_iter().filter_map(|(name, text, on)| Some((name, text.filter(|_| on)?)));
    let mut found: Vec<_> = docs
        .chain(own)
        .flat_map(|(name, text)| {
            find(text).into_iter().map(move |found| (name.to_owned(), found.line, found.kind))
        })
        .collect();
    // A reference doc is listed by its title; the line is that of the title, not of the file.
    for entry in snapshot.rag.iter().filter(|_| switches.inline) {
        let title = entry.description.as_deref().unwrap_or_default();
        found.extend(find(title).into_iter().map(|f| (format!("rag/{}", entry.shown), 1, f.kind)));
    }
    found
}

/// Finds secrets; at most one of a kind on a line, and none of the vague kind beside a known form.
pub fn find(text: &str) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    let spans = spans(text);
    for of_line in spans.chunk_by(|a, b| a.line == b.line) {
        let known = of_line.iter().any(|span| span.kind != forms::VAGUE);
        let before = findings.len();
        for span in of_line.iter().filter(|span| !known || span.kind != forms::VAGUE) {
            let finding = Finding { line: span.line, kind: span.kind };
            if !findings[before..].contains(&finding) {
                findings.push(finding);
            }
        }
    }
    findings
}

/// Every secret with its place, in order; none overlaps another.
pub fn spans(text: &str) -> Vec<Span> {
    in_order(text, false)
}

/// The same for a text that goes to other people: passwords that look like words as well.
pub fn spans_for_others(text: &str) -> Vec<Span> {
    in_order(text, true)
}

fn in_order(text: &str, also_weak: bool) -> Vec<Span> {
    let mut found = forms::private_keys(text);
    let mut start = 0;
    for line in text.split('\n') {
        let mut add = |from, to, kind| found.push((start + from, start + to, kind));
        forms::in_line(line, &mut add);
        if also_weak {
            weak::in_line(line, add);
        }
        start += line.len() + 1;
    }
    // Of two that begin together the longer one counts: it hides both.
    found.sort_by_key(|(from, to, _)| (*from, std::cmp::Reverse(*to)));
    let (mut spans, mut line, mut counted) = (Vec::<Span>::new(), 1, 0);
    for (start, end, kind) in found {
        match spans.last_mut() {
            Some(last) if start < last.end => {
                // What sticks out of the one before is hidden with it; the clearer name counts.
                last.end = last.end.max(end);
                last.kind = if last.kind == forms::VAGUE { kind } else { last.kind };
            }
            _ => {
                line += text.as_bytes()[counted..start].iter().filter(|b| **b == b'\n').count();
                counted = start;
                spans.push(Span { start, end, line, kind });
            }
        }
    }
    spans
}
