//! The one line at each launch (S71): what went in, what did not, and what waits for the person.

use super::figures::{self, counted};
use super::first_message::{ContextReport, DocState};

impl ContextReport {
    /// `docs: 12 files, 48 KB (about 12K of 50K tokens), 1 skipped, 2 attached, 1 instruction;
    /// 3 approvals waiting`. What is zero is left out; empty with nothing to say.
    pub fn chip(&self, approvals: usize) -> String {
        let all = || self.docs.iter().chain(&self.attach);
        let count = |test: fn(&DocState) -> bool| all().filter(|doc| test(&doc.state)).count();
        let instructions = count(|state| *state == DocState::Instruction);
        let files = count(|state| *state == DocState::Included) + instructions;
        let mut parts = Vec::new();
        if files > 0 {
            let whole =
                |state: &DocState| matches!(state, DocState::Included | DocState::Instruction);
            let about = all().filter(|doc| whole(&doc.state)).map(|doc| doc.about_tokens).sum();
            parts.push(counted(files, "file", "files"));
            parts.push(format!(
                "{} (about {} of {} tokens)",
                figures::bytes(self.used),
                figures::tokens(about),
                figures::tokens(self.budget / 4)
            ));
        }
        let rest = [
            (count(|state| *state == DocState::Skipped), "skipped"),
            (count(|state| *state == DocState::Withheld), "withheld"),
            (count(|state| *state == DocState::Attached), "attached"),
            (count(|state| matches!(state, DocState::ByPath(_))), "by path only"),
            (instructions, if instructions == 1 { "instruction" } else { "instructions" }),
        ];
        parts.extend(rest.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")));
        if parts.is_empty() && self.rag_files > 0 && self.block_bytes > 0 {
            parts.push(format!(
                "{} listed",
                counted(self.rag_files, "reference file", "reference files")
            ));
        }
        let waiting = (approvals > 0).then(|| waiting(approvals));
        let docs = (!parts.is_empty()).then(|| parts.join(", "));
        match (docs, waiting) {
            (None, None) => String::new(),
            (docs, waiting) => {
                let line: Vec<String> = docs.into_iter().chain(waiting).collect();
                format!("docs: {}", line.join("; "))
            }
        }
    }
}

/// That so many actions wait for a person.
pub(crate) fn waiting(approvals: usize) -> String {
    format!("{} waiting", counted(approvals, "approval", "approvals"))
}

#[cfg(test)]
mod tests {
    use super::super::first_message::DocReport;
    use super::*;

    fn doc(state: DocState, about_tokens: u64) -> DocReport {
        DocReport { name: "x".into(), size: 1, used: 1, about_tokens, state }
    }

    #[test]
    fn s71_reads_like_the_spec() {
        let mut report =
            ContextReport { budget: 200_000, used: 48_000, window: 200_000, ..Default::default() };
        assert_eq!(report.chip(0), "");
        assert_eq!(report.chip(1), "docs: 1 approval waiting");
        report.docs = (0..11).map(|_| doc(DocState::Included, 1_000)).collect();
        report.docs.push(doc(DocState::Instruction, 1_000));
        report.docs.push(doc(DocState::Skipped, 9_000));
        report.docs.push(doc(DocState::Attached, 0));
        report.attach.push(doc(DocState::Attached, 0));
        assert_eq!(
            report.chip(3),
            "docs: 12 files, 48 KB (about 12K of 50K tokens), 1 skipped, 2 attached, 1 instruction; \
             3 approvals waiting"
        );
        report.docs.truncate(1);
        report.attach.clear();
        report.used = 1_200;
        assert_eq!(report.chip(0), "docs: 1 file, 1.2 KB (about 1K of 50K tokens)");
    }
}
