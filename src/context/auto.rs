//! The one builder (S10–S36, S40–S43): a snapshot and a delivery in, everything that is injected out.
//! Pure. Each phase is caught alone (S6): what fails costs its own part and one warning.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::always::{self, Part};
use super::delivery::{Delivery, InstructionRoute};
use super::first_message::{AutoContext, ContextReport, DocReport, DocState};
use super::ledger::Ledger;
use super::snapshot::{ContextSnapshot, DocEntry, DocKind, Switches};
use super::tokens::{self, TextKind};
use super::{attachments, figures, hidden, instructions, profile, reference};

impl AutoContext {
    /// Builds what one engine and model get of a snapshot. Same arguments, same bytes.
    pub(crate) fn build(snapshot: &ContextSnapshot, delivery: &Delivery) -> AutoContext {
        Builder::new(snapshot, delivery).build()
    }
}

/// The state of one build.
struct Builder<'a> {
    snapshot: &'a ContextSnapshot,
    delivery: &'a Delivery,
    ledger: Ledger,
    docs: Vec<DocReport>,
    attach: Vec<DocReport>,
    warnings: Vec<String>,
}

impl<'a> Builder<'a> {
    fn new(snapshot: &'a ContextSnapshot, delivery: &'a Delivery) -> Builder<'a> {
        Builder {
            snapshot,
            delivery,
            ledger: Ledger::new(delivery.budget()),
            docs: snapshot
                .docs
                .iter()
                .map(|doc| untouched(doc, snapshot.request.switches))
                .collect(),
            attach: snapshot
                .attach
                .iter()
                .map(|doc| untouched(doc, snapshot.request.switches))
                .collect(),
            warnings: snapshot.warnings.clone(),
        }
    }

    fn build(mut self) -> AutoContext {
        // In the order of their claims on the budget (S33).
        let section = self.phase("instructions", Builder::instructions);
        let always = self.phase("docs", Builder::always);
        let catalogue = self.phase("reference docs", Builder::catalogue);
        let person = self.phase("profile", Builder::profile);
        let attached = self.phase("attachments", Builder::attachments).unwrap_or_default();
        self.phase("hidden characters", Builder::hidden);

        let (head, section) = match self.delivery.instructions {
            InstructionRoute::SystemPrompt => (None, section),
            InstructionRoute::HeadOfBlock => (section, None),
        };
        let parts: Vec<String> = [head, always, catalogue, person].into_iter().flatten().collect();
        let parts: Vec<&str> = parts.iter().map(|part| part.trim_end_matches('\n')).collect();
        let block = (!parts.is_empty()).then(|| parts.join("\n\n"));

        let report = self.report(block.as_deref(), section.as_deref());
        AutoContext {
            header: attached.header,
            block,
            instructions: section,
            attachments: attached.attachments,
            report,
        }
    }

    /// Runs one phase; a panic in it is a warning, and what it took of the budget comes back.
    fn phase<T>(
        &mut self,
        name: &str,
        run: impl FnOnce(&mut Builder<'a>) -> Option<T>,
    ) -> Option<T> {
        let ledger = self.ledger;
        match catch_unwind(AssertUnwindSafe(|| run(self))) {
            Ok(part) => part,
            Err(_) => {
                self.ledger = ledger;
                self.warnings.push(format!("{name}: left out after an internal error"));
                None
            }
        }
    }

    /// The folder that notes name; only used when there are docs, so there is one.
    fn docs_dir(&self) -> &'a Path {
        self.snapshot.docs_dir.as_deref().unwrap_or(Path::new(""))
    }

    /// The custom and the project's instructions (S31–S33).
    fn instructions(&mut self) -> Option<String> {
        if !self.snapshot.request.switches.instructions {
            return None;
        }
        // Only what stands in the message is scanned for image paths by such an engine.
        let defuse = self.delivery.defuses_instructions();
        let custom = self.snapshot.custom_instructions.as_deref();
        let section = custom.and_then(|text| {
            self.warn_over_cap("custom instructions", text, instructions::CUSTOM_CAP_BYTES);
            instructions::custom(text, defuse)
        });
        let cap = self.delivery.budget().shown();
        let part = instructions::build(
            &self.snapshot.docs,
            self.docs_dir(),
            &cap,
            defuse,
            &mut self.ledger,
        );
        let flagged = self.settle(part);
        match (section, flagged) {
            (Some(custom), Some(flagged)) => Some(format!("{custom}\n{flagged}")),
            (custom, flagged) => custom.or(flagged),
        }
    }

    fn always(&mut self) -> Option<String> {
        if !self.snapshot.request.switches.inline {
            return None;
        }
        let cap = self.delivery.budget().shown();
        let part = always::build(
            &self.snapshot.docs,
            self.docs_dir(),
            &cap,
            self.delivery.defuse_image_paths,
            &mut self.ledger,
        );
        self.settle(part)
    }

    /// Notes what became of each doc of a part.
    fn settle(&mut self, part: Part) -> Option<String> {
        for placed in part.placed {
            if placed.state == DocState::Withheld {
                let shown = &self.snapshot.docs[placed.index].shown;
                let cap = self.delivery.budget().shown();
                self.warnings.push(format!(
                    "{shown}: this instruction is over the {cap} token cap: withheld, the engine is told to read it"
                ));
            }
            let report = &mut self.docs[placed.index];
            report.state = placed.state;
            report.used = placed.used;
        }
        part.text
    }

    fn catalogue(&mut self) -> Option<String> {
        let snapshot = self.snapshot;
        if !snapshot.request.switches.inline {
            return None;
        }
        reference::build(
            &snapshot.rag,
            snapshot.rag_more,
            self.docs_dir(),
            snapshot.cwd_is_project,
            self.delivery.defuse_image_paths,
        )
    }

    fn profile(&mut self) -> Option<String> {
        if !self.snapshot.request.switches.profile {
            return None;
        }
        let text = self.snapshot.profile.as_deref()?;
        self.warn_over_cap("profile", text, profile::CAP_BYTES);
        profile::section(text, self.delivery.defuse_image_paths)
    }

    fn warn_over_cap(&mut self, what: &str, text: &str, cap: u64) {
        if text.len() as u64 > cap {
            self.warnings.push(over_cap(what, cap));
        }
    }

    fn attachments(&mut self) -> Option<attachments::Attached> {
        let mut attached = attachments::build(
            &self.snapshot.docs,
            &self.snapshot.attach,
            self.snapshot.request.switches.attachments,
            &self.delivery.attachments,
            self.delivery.defuse_image_paths,
        );
        for (index, state) in attached.docs.drain(..) {
            self.docs[index].state = state;
        }
        for (index, state) in attached.own.drain(..) {
            self.attach[index].state = state;
        }
        self.warnings.append(&mut attached.warnings);
        Some(attached)
    }

    /// Warns of what cannot be seen, in what is sent.
    fn hidden(&mut self) -> Option<()> {
        let snapshot = self.snapshot;
        let switches = snapshot.request.switches;
        let docs = snapshot.docs.iter().zip(&self.docs).filter_map(|(doc, report)| {
            let sent = matches!(report.state, DocState::Included | DocState::Instruction);
            match &doc.kind {
                DocKind::Text(text) if sent => Some((doc.shown.as_str(), text.as_str())),
                _ => None,
            }
        });
        let own = [
            ("custom instructions", &snapshot.custom_instructions, switches.instructions),
            ("profile", &snapshot.profile, switches.profile),
        ];
        let own = own
            .into_iter()
            .filter_map(|(name, text, on)| Some((name, text.as_deref().filter(|_| on)?)));
        let rag = snapshot
            .rag
            .iter()
            .filter(|_| switches.inline)
            .filter_map(|entry| Some((entry.shown.as_str(), entry.description.as_deref()?)));
        let found: Vec<String> = docs
            .chain(own)
            .chain(rag)
            .filter_map(|(name, text)| hidden::warning(name, text))
            .collect();
        self.warnings.extend(found);
        Some(())
    }

    fn report(mut self, block: Option<&str>, section: Option<&str>) -> ContextReport {
        let length = |text: Option<&str>| text.map_or(0, |text| text.len() as u64);
        let whole =
            |doc: &&DocReport| matches!(doc.state, DocState::Included | DocState::Instruction);
        // Docs were counted one by one; the rest is headings, notes and prose.
        let docs_tokens: u64 = self.docs.iter().filter(whole).map(|doc| doc.about_tokens).sum();
        let rest = (length(block) + length(section)).saturating_sub(self.ledger.used());
        let about_tokens = docs_tokens + tokens::about_bytes(TextKind::Prose, rest);
        let window = self.delivery.window_tokens;
        if about_tokens > window / 2 {
            self.warnings.push(format!(
                "the docs are about {} tokens: they leave less than half of this engine's window of {}",
                figures::tokens(about_tokens),
                figures::tokens(window)
            ));
        }
        ContextReport {
            budget: self.delivery.budget().bytes(),
            used: self.ledger.used(),
            block_bytes: length(block),
            block_hash: block.map(sha256_hex).unwrap_or_default(),
            instruction_bytes: length(section),
            about_tokens,
            window,
            docs: self.docs,
            attach: self.attach,
            rag_files: self.snapshot.rag.len() + self.snapshot.rag_more,
            warnings: self.warnings,
        }
    }
}

impl Delivery {
    /// Are image paths in the instructions broken up too? Only where they stand in the message.
    pub(super) fn defuses_instructions(&self) -> bool {
        self.defuse_image_paths && self.instructions == InstructionRoute::HeadOfBlock
    }
}

/// Why a text of the config folder is left out.
pub(super) fn over_cap(what: &str, cap: u64) -> String {
    format!("{what}: over the {} KB it may be: left out whole", cap / 1024)
}

/// The report of an entry before any phase has spoken of it.
fn untouched(doc: &DocEntry, switches: Switches) -> DocReport {
    let off = |what: &str| DocState::Ignored(format!("{what} are switched off"));
    let kind = TextKind::of_name(&doc.shown);
    let (about_tokens, state) = match &doc.kind {
        DocKind::Ignored(why) => (0, DocState::Ignored(why.clone())),
        DocKind::Attachable(_) => (0, DocState::Ignored("left out".into())),
        DocKind::Text(_) | DocKind::TextUnread => {
            let about = match &doc.kind {
                DocKind::Text(text) => tokens::about(kind, text),
                _ => tokens::about_bytes(kind, doc.size),
            };
            let state = match (doc.instruction, switches.instructions, switches.inline) {
                (true, false, _) => off("instructions"),
                (false, _, false) => off("inlined docs"),
                _ => DocState::Ignored("left out".into()),
            };
            (about, state)
        }
    };
    DocReport { name: doc.shown.clone(), size: doc.size, used: 0, about_tokens, state }
}

fn sha256_hex(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::delivery::AttachmentRules;
    use super::*;

    #[test]
    fn s06_a_failing_phase_costs_only_itself() {
        let snapshot = ContextSnapshot::default();
        let attachments = AttachmentRules {
            images: Vec::new(),
            pdf: false,
            office: false,
            max_image_bytes: 0,
            max_image_side: 0,
            max_pdf_bytes: 0,
            max_pdf_pages: 0,
            max_total_bytes: 0,
            max_count: 0,
        };
        let delivery = Delivery {
            window_tokens: 4_000,
            instructions: InstructionRoute::SystemPrompt,
            attachments,
            defuse_image_paths: false,
        };
        let mut builder = Builder::new(&snapshot, &delivery);
        let failed = builder.phase("docs", |builder| -> Option<String> {
            assert!(builder.ledger.take(1_000));
            panic!("a fault of ours");
        });
        assert_eq!(failed, None);
        assert_eq!(builder.ledger.left(), 4_000);
        assert_eq!(builder.phase("profile", |_| Some("kept")), Some("kept"));
        assert_eq!(builder.warnings, ["docs: left out after an internal error"]);
    }
}
