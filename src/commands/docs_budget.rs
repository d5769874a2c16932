//! `omni-run docs budget`: what a first message carries, counted with a real tokenizer, and the
//! instruction files that the engine loads by itself on top of it.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::docs_ls::engine_and_model;
use super::target::{self, Target};
use super::{Workplace, here, print, print_json, table};
use crate::context::snapshot::DocKind;
use crate::context::tokens::count_exact;
use crate::context::{AutoContext, ContextSnapshot, Reading, figures};
use crate::error::Failure;
use crate::ui::{Ui, one_line};

/// The most of an instruction file that is read; engines cut far below it. In bytes.
const OWN_FILE_LIMIT: u64 = 4 << 20;

/// Prints the account.
pub(super) fn budget(
    place: &Workplace,
    named: Option<&str>,
    engine: Option<&str>,
    model: Option<&str>,
    as_json: bool,
    ui: Ui,
) -> Result<ExitCode, Failure> {
    let (project, root) = here::docs_project(&place.paths, named, ui)?;
    let cwd = target::cwd(Some(&project))?;
    let target = Target::choose(place, engine, model, &cwd)?;
    let snapshot = target::snapshot(place, Some(&project), &cwd, Reading::UpTo(target.budget()));
    let built = target.build(&snapshot);
    for warning in &built.report().warnings {
        ui.warning(warning);
    }
    let account = Account::take(&target, &snapshot, &built, &root);
    if !as_json {
        return print(ui, &account.to_text(&target, &built));
    }
    let mut value = json!({
        "project": project.id,
        "folder": root.to_string_lossy(),
        "engine": target.id(),
        "model": target.model,
    });
    account.add_json(&mut value, &built);
    print_json(ui, &value)
}

/// Length of a text by both measures.
#[derive(Clone, Copy, Default)]
struct Measure {
    tokens: u64,
    bytes: u64,
}

impl Measure {
    fn of(text: &str) -> Measure {
        Measure { tokens: count_exact(text) as u64, bytes: text.len() as u64 }
    }

    fn plus(self, other: Measure) -> Measure {
        Measure { tokens: self.tokens + other.tokens, bytes: self.bytes + other.bytes }
    }

    fn to_json(self) -> Value {
        json!({ "tokens": self.tokens, "bytes": self.bytes })
    }
}

/// Everything that was counted.
struct Account {
    block: Measure,
    instructions: Measure,
    /// By path below the project.
    own_files: Vec<(String, Measure)>,
    /// Name, state, measure of each text doc; tokens are unknown for one that was not read.
    docs: Vec<(String, Value, u64, Option<u64>)>,
}

impl Account {
    fn take(
        target: &Target,
        snapshot: &ContextSnapshot,
        built: &AutoContext,
        root: &Path,
    ) -> Account {
        let measure = |text: Option<&str>| text.map(Measure::of).unwrap_or_default();
        let own = &target.engine.catalogue().own_instruction_files;
        let own_files = own.iter().filter_map(|name| {
            Some((name.clone(), Measure::of(&read_own_file(&root.join(name))?)))
        });
        let docs = snapshot.docs.iter().zip(&built.report().docs).filter_map(|(entry, doc)| {
            let tokens = match &entry.kind {
                DocKind::Text(text) => Some(count_exact(text) as u64),
                DocKind::TextUnread => None,
                DocKind::Attachable(_) | DocKind::Ignored(_) => return None,
            };
            let state = serde_json::to_value(&doc.state).unwrap_or_default();
            Some((doc.name.clone(), state["state"].clone(), doc.size, tokens))
        });
        Account {
            block: measure(built.block()),
            instructions: measure(built.instructions()),
            own_files: own_files.collect(),
            docs: docs.collect(),
        }
    }

    fn injected(&self) -> Measure {
        let own = self.own_files.iter().map(|(_, measure)| *measure);
        own.fold(self.block.plus(self.instructions), Measure::plus)
    }

    fn to_text(&self, target: &Target, built: &AutoContext) -> String {
        let (report, all) = (built.report(), self.injected());
        let share = (all.tokens * 1000).checked_div(report.window).unwrap_or(0);
        let mut text = format!(
            "Injected: {} tokens ({}) for {}: {}.{} % of its window of {} tokens\n\n",
            all.tokens,
            figures::bytes(all.bytes),
            engine_and_model(target),
            share / 10,
            share % 10,
            report.window,
        );
        let row = |name: &str, measure: Measure| {
            let tokens = format!("{} tokens", measure.tokens);
            vec![format!("  {name}"), tokens, figures::bytes(measure.bytes)]
        };
        let mut rows = vec![row("block", self.block), row("instructions", self.instructions)];
        rows.extend(self.own_files.iter().map(|(name, measure)| {
            let mut row = row(name, *measure);
            row.push("the engine loads it by itself".to_owned());
            row
        }));
        text.push_str(&table::table(&rows, &[1, 2]));
        text.push_str(&format!(
            "\nBudget of docs and instructions: {} of {} used\n",
            figures::bytes(report.used),
            figures::bytes(report.budget),
        ));
        if !self.docs.is_empty() {
            text.push('\n');
            let rows: Vec<Vec<String>> = self
                .docs
                .iter()
                .map(|(name, state, bytes, tokens)| {
                    let tokens = match tokens {
                        Some(tokens) => format!("{tokens} tokens"),
                        None => "not counted".to_owned(),
                    };
                    let state = state.as_str().unwrap_or_default().to_owned();
                    vec![format!("  {name}"), tokens, figures::bytes(*bytes), state]
                })
                .collect();
            text.push_str(&table::table(&rows, &[1, 2]));
        }
        text
    }

    fn add_json(&self, value: &mut Value, built: &AutoContext) {
        let report = built.report();
        value["window_tokens"] = report.window.into();
        value["budget_bytes"] = report.budget.into();
        value["used_bytes"] = report.used.into();
        value["injected"] = self.injected().to_json();
        value["block"] = self.block.to_json();
        value["instructions"] = self.instructions.to_json();
        value["own_files"] = self
            .own_files
            .iter()
            .map(|(path, m)| json!({ "path": path, "tokens": m.tokens, "bytes": m.bytes }))
            .collect();
        value["docs"] = self
            .docs
            .iter()
            .map(|(name, state, bytes, tokens)| {
                json!({ "name": name, "state": state, "bytes": bytes, "tokens": tokens })
            })
            .collect();
        value["warnings"] = report.warnings.iter().map(|line| one_line(line)).collect();
    }
}

/// A file that the engine would load; `None` where there is none. What is not UTF-8 is counted as it
/// is shown.
fn read_own_file(path: &Path) -> Option<String> {
    // Engines follow links here, and so does the count; a pipe would block for ever.
    let file = OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(OWN_FILE_LIMIT).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
