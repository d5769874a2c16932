//! `omni-run engines`: the catalogue against this machine: found where, which version, tried or not,
//! what goes how, and what the person must do first.

use std::ffi::OsString;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::{Value, json};

use super::target::{unknown, version_cache};
use super::{Workplace, here, print, print_json, table};
use crate::cli::{EnginesAction, EnginesArgs};
use crate::engines::{Catalogue, EngineSpec, InstructionChannel, LaunchMode, detect};
use crate::error::{ExitKind, Failure};
use crate::ui::{Ui, one_line, printable_lines};

/// Carries the command out.
pub(super) fn engines(args: EnginesArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let place = Workplace::open()?;
    match args.action.unwrap_or(EnginesAction::Ls { json: false }) {
        EnginesAction::Ls { json } => ls(&place, json, ui),
        EnginesAction::Show { engine, json } => {
            let spec = place.catalogue.get(&engine).ok_or_else(|| unknown(&place, &engine))?;
            let seen = Seen::look(&place, &engine, spec);
            if json { print_json(ui, &seen.to_json()) } else { print(ui, &seen.to_text()) }
        }
        EnginesAction::Check { engine } => check(&place, engine.as_deref(), ui),
    }
}

/// An engine of the catalogue as this machine has it.
pub(super) struct Seen<'a> {
    pub(super) id: &'a str,
    pub(super) spec: &'a EngineSpec,
    pub(super) found: Result<detect::Found, Failure>,
    pub(super) version: Option<String>,
}

impl<'a> Seen<'a> {
    /// Looks for it; asks the binary for its version unless that is known.
    pub(super) fn look(place: &Workplace, id: &'a str, spec: &'a EngineSpec) -> Seen<'a> {
        let path: Option<OsString> = std::env::var_os("PATH");
        let found = detect::find(id, spec, path.as_deref());
        let version = found.as_ref().ok().and_then(|found| {
            let child_path = detect::child_path(spec, found, path.as_deref());
            detect::version(found, spec, &version_cache(place), &child_path)
        });
        Seen { id, spec, found, version }
    }

    /// Whether the version is within the tried range; `None`: not known, or there is no range.
    pub(super) fn tried(&self) -> Option<bool> {
        self.spec.tried(self.version.as_deref()?)
    }

    /// It comes with omni-run.
    pub(super) fn is_built_in(&self) -> bool {
        let own = std::env::current_exe().ok();
        self.found.as_ref().is_ok_and(|found| Some(&found.program) == own.as_ref())
    }

    fn program(&self) -> Option<String> {
        self.found.as_ref().ok().map(|found| here::shown(&found.program))
    }

    fn place(&self) -> String {
        match self.program() {
            Some(_) if self.is_built_in() => "built in".to_owned(),
            Some(program) => program,
            None => "not found".to_owned(),
        }
    }

    fn to_json(&self) -> Value {
        let spec = self.spec;
        json!({
            "id": self.id,
            "name": spec.name,
            "found": self.found.is_ok(),
            "program": self.program(),
            "version": self.version,
            "tried_from": spec.tried.from,
            "tried_to": spec.tried.to,
            "tried": self.tried(),
            "default_window": spec.default_window,
            "message": spec.one_shot.message,
            "instructions": spec.one_shot.instructions,
            "attachments": spec.attachments.channel,
            "install": spec.install,
            "prepare": spec.prepare,
            "notes": spec.notes,
        })
    }

    fn to_text(&self) -> String {
        let spec = self.spec;
        let mut text = format!("{} ({})\n", one_line(&spec.name), one_line(self.id));
        let mut line = |key: &str, value: &str| {
            text.push_str(&format!("  {key}: {}\n", one_line(value)));
        };
        line("program", &self.place());
        if let Err(failure) = &self.found {
            line("why", &failure.message);
        }
        line("version", self.version.as_deref().unwrap_or("not known"));
        line("tried with", &tried_range(spec));
        line("install", &spec.install);
        for step in &spec.prepare {
            line("first", step);
        }
        line("one-shot message", &word(spec.one_shot.message));
        line("one-shot instructions", &instruction_words(spec.one_shot.instructions));
        line("one-shot attachments", &attachment_words(spec));
        line("resume", resume_words(spec));
        if !spec.resume.kept.is_empty() {
            line("keeps conversations in", &spec.resume.kept);
        }
        line("window of an unknown model", &format!("{} tokens", spec.default_window));
        for rule in &spec.windows {
            let since =
                rule.since.as_ref().map_or(String::new(), |v| format!(", from version {v}"));
            let until = rule.until.as_ref().map_or(String::new(), |v| format!(", to version {v}"));
            let models = rule.models.join(", ");
            line("window", &format!("{} tokens: {models}{since}{until}", rule.tokens));
        }
        if !spec.own_instruction_files.is_empty() {
            line("loads by itself", &spec.own_instruction_files.join(", "));
        }
        for note in &spec.notes {
            line("note", note);
        }
        text
    }
}

fn word(value: impl Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// What an instruction channel means for the person.
pub(super) fn instruction_words(channel: InstructionChannel) -> String {
    match channel {
        InstructionChannel::HeadOfBlock => {
            "at the head of the block (no way to append to the system prompt)".to_owned()
        }
        InstructionChannel::File
        | InstructionChannel::ConfigValue
        | InstructionChannel::Overlay
        | InstructionChannel::Plugin => format!("in the system prompt ({})", word(channel)),
    }
}

fn resume_words(spec: &EngineSpec) -> &'static str {
    match (spec.resumes(LaunchMode::OneShot), spec.resumes(LaunchMode::Wrapped)) {
        (true, true) => "in one-shot use and in its interface",
        (true, false) => "in one-shot use",
        (false, true) => "in its interface",
        (false, false) => "no",
    }
}

fn attachment_words(spec: &EngineSpec) -> String {
    let kinds = &spec.attachments;
    let mut bytes: Vec<&str> = kinds.images.iter().map(String::as_str).collect();
    let mut by_path = Vec::new();
    for (name, taken) in [("pdf", kinds.pdf), ("docx, xlsx, pptx", kinds.office)] {
        if taken { &mut bytes } else { &mut by_path }.push(name);
    }
    match (bytes.as_slice(), by_path.as_slice()) {
        ([], _) => "all by path only".to_owned(),
        (bytes, []) => format!("{} as bytes ({})", bytes.join(", "), word(kinds.channel)),
        (bytes, by_path) => format!(
            "{} as bytes ({}); {} by path only",
            bytes.join(", "),
            word(kinds.channel),
            by_path.join(", ")
        ),
    }
}

/// `2.1.197 to 2.1.332`, one version, or a dash.
pub(super) fn tried_range(spec: &EngineSpec) -> String {
    match (spec.tried.from.as_str(), spec.tried.to.as_str()) {
        ("", "") => "-".to_owned(),
        (from, to) if from == to => from.to_owned(),
        (from, "") => format!("{from} and later"),
        ("", to) => format!("up to {to}"),
        (from, to) => format!("{from} to {to}"),
    }
}

fn ls(place: &Workplace, as_json: bool, ui: Ui) -> Result<ExitCode, Failure> {
    let seen: Vec<Seen<'_>> =
        place.catalogue.iter().map(|(id, spec)| Seen::look(place, id, spec)).collect();
    if as_json {
        return print_json(ui, &seen.iter().map(Seen::to_json).collect());
    }
    let headings = ["ID", "NAME", "FOUND", "VERSION", "TRIED WITH"];
    let mut rows = vec![headings.map(str::to_owned).to_vec()];
    rows.extend(seen.iter().map(|seen| {
        let untried = if seen.tried() == Some(false) { " (untried)" } else { "" };
        let version = seen.version.as_deref().unwrap_or("-");
        vec![
            seen.id.to_owned(),
            seen.spec.name.clone(),
            seen.place(),
            format!("{version}{untried}"),
            tried_range(seen.spec),
        ]
    }));
    print(ui, &table::table(&rows, &[]))
}

/// Forgets the known versions and asks every program that is found.
fn check(place: &Workplace, only: Option<&str>, ui: Ui) -> Result<ExitCode, Failure> {
    if let Some(id) = only {
        place.catalogue.get(id).ok_or_else(|| unknown(place, id))?;
    }
    // Not there is as good as forgotten; one that stays only costs freshness.
    let _ = std::fs::remove_file(version_cache(place));
    let mut text = String::new();
    let mut broken = None;
    for (id, spec) in place.catalogue.iter().filter(|(id, _)| only.is_none_or(|only| only == *id)) {
        let seen = Seen::look(place, id, spec);
        let (level, what) = match (&seen.found, &seen.version, seen.tried()) {
            (Err(failure), _, _) if only.is_some() => {
                return Err(failure.clone());
            }
            (Err(failure), _, _) if spec.path.is_some() || is_on_path(spec) => {
                ("problem", failure.message.clone())
            }
            (Err(_), _, _) => ("note", format!("install it: {}", spec.install)),
            (Ok(_), None, _) => ("problem", "it prints no version: does it start?".to_owned()),
            (Ok(_), Some(version), Some(false)) => {
                let range = tried_range(spec);
                ("warning", format!("{version} is outside the versions tried ({range})"))
            }
            (Ok(_), Some(version), Some(true) | None) => ("ok", version.clone()),
        };
        if level == "problem" {
            broken = broken.or(Some(spec));
        }
        text.push_str(&format!(
            "{level:8} {id}: {}: {}\n",
            one_line(&seen.place()),
            one_line(&what)
        ));
    }
    print(ui, &printable_lines(&text))?;
    match broken {
        None => Ok(ExitCode::SUCCESS),
        Some(spec) => {
            let message = format!("{} is there but does not start", spec.name);
            Err(Failure::new(ExitKind::EngineUnavailable, message)
                .hint(format!("reinstall it: {}", spec.install)))
        }
    }
}

/// Whether the user's own file brought this engine in.
pub(super) fn is_custom(id: &str) -> bool {
    Catalogue::from_layers(None).is_ok_and(|built_in| built_in.get(id).is_none())
}

/// One of its programs lies on PATH, whether or not it can be started.
pub(super) fn is_on_path(spec: &EngineSpec) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .any(|dir| spec.programs.iter().any(|program| dir.join(program).is_file()))
}
