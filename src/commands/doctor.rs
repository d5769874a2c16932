//! `omni-run doctor`: whether omni-run can be used on this machine, and what to do where not. Every
//! check stands alone: a bad config file does not hide a full disk. It changes nothing.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use nix::unistd::{AccessFlags, eaccess};

use super::engines::{Seen, instruction_words, is_custom, is_on_path, tried_range};
use super::{Workplace, here, own_paths, print};
use crate::config::Config;
use crate::context::figures::{bytes, counted};
use crate::engines::{Catalogue, InstructionChannel};
use crate::error::{ExitKind, Failure};
use crate::paths::Paths;
use crate::session::backup::check;
use crate::session::{Store, StoreError};
use crate::ui::{Ui, one_line};

/// The most that the texts of the config folder may be, in bytes (S25, S32).
const TEXT_CAP: u64 = 16 * 1024;

/// Prints the findings; the exit code is that of the first problem.
pub(super) fn doctor(ui: Ui) -> Result<ExitCode, Failure> {
    let paths = own_paths();
    let mut findings = Findings::default();
    look_at_home(&paths, &mut findings);
    let settings = look_at_config(&paths, &mut findings);
    look_at_data(&paths, &mut findings);
    look_at_path(std::env::var_os("PATH").as_deref(), &mut findings);
    if let Some((config, catalogue)) = settings {
        look_at_engines(&Workplace { paths, config, catalogue }, &mut findings);
    }
    print(ui, &findings.text)?;
    match findings.worst {
        None => Ok(ExitCode::SUCCESS),
        Some(kind) => Ok(ExitCode::from(kind.code())),
    }
}

/// What was found, in the order in which it was looked at.
#[derive(Default)]
struct Findings {
    text: String,
    worst: Option<ExitKind>,
}

impl Findings {
    fn ok(&mut self, what: &str) {
        self.line("ok", what);
    }

    fn note(&mut self, what: &str, next: &str) {
        self.line("note", what);
        self.next(next);
    }

    fn problem(&mut self, failure: &Failure) {
        self.line("problem", &failure.message);
        for hint in &failure.hints {
            self.next(hint);
        }
        self.worst = self.worst.or(Some(failure.kind));
    }

    fn next(&mut self, hint: &str) {
        if !hint.is_empty() {
            self.line("", &format!("-> {hint}"));
        }
    }

    fn line(&mut self, level: &str, what: &str) {
        self.text.push_str(&format!("{level:8} {}\n", one_line(what)));
    }
}

fn look_at_home(paths: &Paths, findings: &mut Findings) {
    let variable = std::env::var_os("HOME").map(PathBuf::from);
    match (&variable, &paths.home) {
        (Some(home), Some(used)) if home == used && home.is_dir() => {
            findings.ok(&format!("HOME: {}", here::shown(home)));
        }
        (_, Some(used)) => findings.note(
            &format!("HOME is not set to a folder; {} is used", here::shown(used)),
            "engines look for their login there: set HOME in the crontab or script",
        ),
        (_, None) => findings.note(
            "there is no home folder: config and data are in the temporary folder",
            "set HOME, or OMNI_RUN_CONFIG_DIR and OMNI_RUN_DATA_DIR",
        ),
    }
}

fn look_at_config(paths: &Paths, findings: &mut Findings) -> Option<(Config, Catalogue)> {
    let file = |name: &str| paths.config.join(name);
    let config = Config::load(&file("config.toml"), |name| std::env::var(name).ok());
    let catalogue = Catalogue::load(&file("engines.toml"));
    for (name, failure) in
        [("config.toml", config.as_ref().err()), ("engines.toml", catalogue.as_ref().err())]
    {
        match failure {
            Some(failure) => findings.problem(failure),
            None if file(name).exists() => findings.ok(&here::shown(&file(name))),
            None => findings.ok(&format!("{}: not there, which is fine", here::shown(&file(name)))),
        }
    }
    for name in ["instructions.md", "profile.md"] {
        let size = std::fs::metadata(file(name)).map_or(0, |about| about.len());
        if size > TEXT_CAP {
            let what = format!("{}: {}", here::shown(&file(name)), bytes(size));
            findings.note(&what, "over 16 KB it stays out of every message: shorten it");
        } else if size > 0 {
            findings.ok(&format!("{}: {}", here::shown(&file(name)), bytes(size)));
        }
    }
    Some((config.ok()?, catalogue.ok()?))
}

fn look_at_data(paths: &Paths, findings: &mut Findings) {
    // The nearest folder that is there decides whether the rest can be made.
    let nearest = paths.data.ancestors().find(|dir| dir.exists()).unwrap_or(Path::new("/"));
    match eaccess(nearest, AccessFlags::W_OK | AccessFlags::X_OK) {
        Ok(()) if nearest.is_dir() => {
            findings.ok(&format!("data folder: {}", here::shown(&paths.data)));
        }
        Ok(()) => findings.problem(&no_data_folder(paths, "is in the way of a file")),
        Err(error) => findings.problem(&no_data_folder(paths, error.desc())),
    }
    let checked = Store::open_reading(paths).and_then(|store| check(&store, paths));
    match checked {
        Ok(report) if report.problems.is_empty() => {
            let sessions = usize::try_from(report.sessions).unwrap_or(0);
            findings.ok(&format!("store: {}", counted(sessions, "session", "sessions")));
            if report.spooled > 0 {
                findings.note(
                    &counted(report.spooled, "spooled file waits", "spooled files wait"),
                    "the next run, or `omni-run store check`, takes them in",
                );
            }
        }
        Ok(report) => findings.problem(
            &Failure::new(ExitKind::Internal, format!("store: {}", report.problems.join("; ")))
                .hint("`omni-run store backup FILE` saves what can be read; then move it away"),
        ),
        Err(StoreError::Missing { .. }) => findings.ok("store: none yet, the first run makes it"),
        Err(error) => findings.problem(&error.into()),
    }
    let rejected = paths.data.join("rejected-prompts");
    let kept = std::fs::read_dir(&rejected).map_or(0, Iterator::count);
    if kept > 0 {
        let what = counted(kept, "prompt was", "prompts were");
        findings.note(
            &format!("{what} kept that could not be sent"),
            &format!("look into {} and delete what you do not need", here::shown(&rejected)),
        );
    }
}

fn no_data_folder(paths: &Paths, why: &str) -> Failure {
    let folder = here::shown(&paths.data);
    Failure::new(ExitKind::CannotCreate, format!("data folder {folder}: {why}"))
        .hint("set OMNI_RUN_DATA_DIR to a folder that can be written")
}

fn look_at_path(path: Option<&OsStr>, findings: &mut Findings) {
    let Some(path) = path else {
        findings.note("PATH is not set", "set it, or give each engine its `path` in engines.toml");
        return;
    };
    let ignored: Vec<String> = std::env::split_paths(path)
        .filter(|dir| !dir.is_absolute())
        .map(|dir| format!("`{}`", here::shown(&dir)))
        .collect();
    if ignored.is_empty() {
        findings.ok(&format!("PATH: {}", path.to_string_lossy()));
    } else {
        findings.note(
            &format!("PATH has items that are not searched for engines: {}", ignored.join(", ")),
            "use absolute folders",
        );
    }
}

fn look_at_engines(place: &Workplace, findings: &mut Findings) {
    let mut missing = Vec::new();
    let mut usable = 0;
    for (id, spec) in place.catalogue.iter() {
        let seen = Seen::look(place, id, spec);
        let custom = if is_custom(id) { ", from your engines.toml" } else { "" };
        match &seen.found {
            // One that is there and cannot be started is worth a line of its own.
            Err(failure) if spec.path.is_some() || is_on_path(spec) => {
                findings.note(&failure.message, failure.hints.first().map_or("", |hint| hint));
            }
            Err(_) => missing.push(id),
            Ok(found) => {
                usable += usize::from(!seen.is_built_in());
                let program = here::shown(&found.program);
                let version = seen.version.as_deref().unwrap_or("no version");
                let what = format!("{id}: {program}, {version}{custom}");
                if seen.tried() == Some(false) {
                    let range = tried_range(spec);
                    findings.note(&what, &format!("tried with {range}; it starts all the same"));
                } else {
                    findings.ok(&what);
                }
                for step in &spec.prepare {
                    findings.next(&format!("if not done yet: {step}"));
                }
                if spec.one_shot.instructions == InstructionChannel::HeadOfBlock {
                    let words = instruction_words(spec.one_shot.instructions);
                    findings.next(&format!("instructions go {words}"));
                }
            }
        }
    }
    if !missing.is_empty() {
        findings.note(
            &format!("not found: {}", missing.join(", ")),
            "`omni-run engines show ID` has the line that installs one",
        );
    }
    if usable == 0 {
        findings.problem(
            &Failure::new(
                ExitKind::EngineUnavailable,
                "no engine is installed but the built-in one",
            )
            .hint("install one of them; see `omni-run engines show ID`"),
        );
    }
}
