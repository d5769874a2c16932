//! `omni-run docs ls`: every entry of the docs folder with what becomes of it and why, and for each
//! engine how full its budget is. The order is the block's.

use std::process::ExitCode;

use serde_json::{Value, json};

use super::target::{self, Target};
use super::{Workplace, here, print, print_json, table};
use crate::context::first_message::{ContextReport, DocReport, DocState};
use crate::context::snapshot::{DocEntry, DocKind, RagEntry};
use crate::context::{AutoContext, ContextSnapshot, InstructionRoute, Reading, figures};
use crate::error::Failure;
use crate::project::Resolved;
use crate::ui::{Ui, one_line};

/// Signs of a full bar.
const BAR: u64 = 10;
/// Names that a line lists before it only counts.
const NAMES_LISTED: usize = 3;

/// Prints the list.
pub(super) fn ls(
    place: &Workplace,
    named: Option<&str>,
    engine: Option<&str>,
    model: Option<&str>,
    as_json: bool,
    ui: Ui,
) -> Result<ExitCode, Failure> {
    let (project, _) = here::docs_project(&place.paths, named, ui)?;
    let cwd = target::cwd(Some(&project))?;
    let chosen = Target::choose(place, engine, model, &cwd)?;
    let snapshot = target::snapshot(place, Some(&project), &cwd, Reading::Everything);
    let all = Target::all(place, &cwd).into_iter().map(|target| {
        let built = target.build(&snapshot);
        (target, built)
    });
    let list = List { built: chosen.build(&snapshot), chosen, all: all.collect(), snapshot };
    for warning in &list.built.report().warnings {
        ui.warning(warning);
    }
    if as_json {
        return print_json(ui, &list.to_json(&project));
    }
    print(ui, &list.to_text())
}

/// The docs as one engine gets them, and the budgets of all.
struct List {
    snapshot: ContextSnapshot,
    chosen: Target,
    built: AutoContext,
    all: Vec<(Target, AutoContext)>,
}

impl List {
    /// The docs in their order; what is no doc comes last.
    fn entries(&self) -> Vec<(&DocEntry, &DocReport)> {
        let mut entries: Vec<_> =
            self.snapshot.docs.iter().zip(&self.built.report().docs).collect();
        entries.sort_by_key(|(entry, _)| matches!(entry.kind, DocKind::Ignored(_)));
        entries
    }

    fn to_text(&self) -> String {
        let mut text = String::new();
        if self.snapshot.docs.is_empty() && self.snapshot.rag.is_empty() {
            text.push_str("No docs. `omni-run docs add FILE…` puts some in.\n");
        }
        if !self.snapshot.docs.is_empty() {
            let mut rows = vec![
                ["#", "NAME", "BUCKET", "SIZE", "TOKENS", "STATE"].map(str::to_owned).to_vec(),
            ];
            let entries = self.entries();
            rows.extend(entries.iter().enumerate().map(|(at, entry)| self.row(at + 1, entry)));
            text.push_str(&table::table(&rows, &[0, 3, 4]));
            text.push_str(&format!(
                "State for {}; token counts are about.\n",
                engine_and_model(&self.chosen)
            ));
        }
        text.push_str(&self.reference_docs());
        text.push_str("\nBudget of each engine:\n");
        let width = self.all.iter().map(|(target, _)| target.id().len()).max().unwrap_or(0);
        for (target, built) in &self.all {
            let line = budget_line(target, built.report());
            text.push_str(&format!("  {:width$}  {line}\n", one_line(target.id())));
        }
        text
    }

    fn row(&self, order: usize, (entry, doc): &(&DocEntry, &DocReport)) -> Vec<String> {
        let about = match entry.kind {
            DocKind::Text(_) | DocKind::TextUnread => figures::tokens(doc.about_tokens),
            DocKind::Attachable(_) | DocKind::Ignored(_) => "-".to_owned(),
        };
        let order = match entry.kind {
            DocKind::Ignored(_) => "-".to_owned(),
            DocKind::Text(_) | DocKind::TextUnread | DocKind::Attachable(_) => order.to_string(),
        };
        let badge = if entry.instruction { "[Instruction] " } else { "" };
        vec![
            order,
            entry.shown.clone(),
            bucket(entry).to_owned(),
            figures::bytes(doc.size),
            about,
            format!("{badge}{}", self.state(&doc.state)),
        ]
    }

    fn state(&self, state: &DocState) -> String {
        let budget = self.chosen.delivery.budget().shown();
        match state {
            DocState::Included => "included".to_owned(),
            DocState::Instruction => match self.chosen.delivery.instructions {
                InstructionRoute::SystemPrompt => "in the system prompt".to_owned(),
                InstructionRoute::HeadOfBlock => {
                    "at the head of the block: this engine has no route for instructions".to_owned()
                }
            },
            DocState::Skipped => format!("skipped: would go over the budget of {budget} tokens"),
            DocState::Withheld => format!(
                "withheld: over the budget of {budget} tokens; the engine is told to read it first"
            ),
            DocState::Attached => "attached".to_owned(),
            DocState::ByPath(why) => format!("by path: {why}"),
            DocState::Ignored(why) => format!("ignored: {why}"),
            DocState::Empty => "empty: adds nothing".to_owned(),
        }
    }

    fn reference_docs(&self) -> String {
        let (listed, more) = (&self.snapshot.rag, self.snapshot.rag_more);
        if listed.is_empty() {
            return String::new();
        }
        let files = figures::counted(listed.len() + more, "file", "files");
        let mut text = format!("\nReference docs in rag/ ({files}, by catalogue only):\n");
        let rows: Vec<Vec<String>> = listed
            .iter()
            .map(|file| {
                let about = file.description.as_deref().unwrap_or_default();
                vec![format!("  {}", file.shown), figures::bytes(file.size), about.to_owned()]
            })
            .collect();
        text.push_str(&table::table(&rows, &[1]));
        if more > 0 {
            text.push_str(&format!("  … and {more} more\n"));
        }
        text
    }

    fn to_json(&self, project: &Resolved) -> Value {
        let files: Vec<Value> = self
            .entries()
            .into_iter()
            .enumerate()
            .map(|(at, (entry, doc))| {
                let state = serde_json::to_value(&doc.state).unwrap_or_default();
                json!({
                    "name": doc.name,
                    "order": if bucket(entry) == "ignored" { None } else { Some(at + 1) },
                    "bucket": bucket(entry),
                    "size": doc.size,
                    "about_tokens": doc.about_tokens,
                    "instruction": entry.instruction,
                    "state": state["state"],
                    "reason": state["reason"],
                })
            })
            .collect();
        json!({
            "project": project.id,
            "folder": project.root.as_ref().map(|dir| dir.to_string_lossy()),
            "docs_folder": self.snapshot.docs_dir.as_ref().map(|dir| dir.to_string_lossy()),
            "engine": self.chosen.id(),
            "model": self.chosen.model,
            "total_bytes": self.snapshot.docs.iter().map(|doc| doc.size).sum::<u64>(),
            "files": files,
            "rag_files": self.snapshot.rag.iter().map(rag_value).collect::<Vec<_>>(),
            "rag_more": self.snapshot.rag_more,
            "engines": self.all.iter().map(engine_value).collect::<Vec<_>>(),
            "warnings": self.built.report().warnings,
        })
    }
}

fn rag_value(file: &RagEntry) -> Value {
    json!({
        "name": file.shown,
        "size": file.size,
        "text": file.text,
        "description": file.description,
    })
}

fn engine_value((target, built): &(Target, AutoContext)) -> Value {
    let report = built.report();
    json!({
        "id": target.id(),
        "model": target.model,
        "window_tokens": report.window,
        "budget_bytes": report.budget,
        "used_bytes": report.used,
        "budget_tokens": report.budget / 4,
        "about_tokens": about_tokens(report),
        "skipped": with_state(report, |state| *state == DocState::Skipped),
        "withheld": with_state(report, |state| *state == DocState::Withheld),
        "by_path": with_state(report, |state| matches!(state, DocState::ByPath(_))),
    })
}

fn bucket(entry: &DocEntry) -> &'static str {
    match entry.kind {
        DocKind::Text(_) | DocKind::TextUnread => "always",
        DocKind::Attachable(_) => "attachment",
        DocKind::Ignored(_) => "ignored",
    }
}

/// The engine's id, and the model where one is set.
pub(super) fn engine_and_model(target: &Target) -> String {
    match &target.model {
        Some(model) => format!("{} with {}", one_line(target.id()), one_line(model)),
        None => one_line(target.id()),
    }
}

/// `[######----] 48 KB of 500 KB (about 12K of 125K tokens), 1 skipped`
fn budget_line(target: &Target, report: &ContextReport) -> String {
    let mut line = format!(
        "{} {} of {} (about {} of {} tokens)",
        bar(report.used, report.budget),
        figures::bytes(report.used),
        figures::bytes(report.budget),
        figures::tokens(about_tokens(report)),
        target.delivery.budget().shown(),
    );
    for (word, names) in [
        ("skipped", with_state(report, |state| *state == DocState::Skipped)),
        ("withheld", with_state(report, |state| *state == DocState::Withheld)),
        ("by path", with_state(report, |state| matches!(state, DocState::ByPath(_)))),
    ] {
        if !names.is_empty() {
            line.push_str(&format!(", {} {word}", names.len()));
            if names.len() <= NAMES_LISTED {
                line.push_str(&format!(" ({})", names.join(", ")));
            }
        }
    }
    line
}

/// A bar that shows "something" as soon as there is something, and "full" only when it is.
fn bar(used: u64, budget: u64) -> String {
    let full = used.saturating_mul(BAR).checked_div(budget).unwrap_or(0);
    let full = full.min(BAR).max(u64::from(used > 0)) as usize;
    format!("[{}{}]", "#".repeat(full), "-".repeat(BAR as usize - full))
}

/// About how many tokens the docs that go in whole are.
fn about_tokens(report: &ContextReport) -> u64 {
    report
        .docs
        .iter()
        .filter(|doc| matches!(doc.state, DocState::Included | DocState::Instruction))
        .map(|doc| doc.about_tokens)
        .sum()
}

fn with_state(report: &ContextReport, test: impl Fn(&DocState) -> bool) -> Vec<&str> {
    report.docs.iter().filter(|doc| test(&doc.state)).map(|doc| doc.name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_says_something_and_full_only_when_it_is_so() {
        for (used, expected) in [
            (0, "[----------]"),
            (1, "[#---------]"),
            (48_000, "[####------]"),
            (99_999, "[#########-]"),
            (100_000, "[##########]"),
        ] {
            assert_eq!(bar(used, 100_000), expected, "{used}");
        }
        assert_eq!(bar(5, 0), "[#---------]");
    }
}
