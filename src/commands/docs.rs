//! `omni-run docs`: what changes the docs folder, its order and its flags. Each message says what
//! was done and what it means for the next session. Lists and previews are in files of their own.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::gather::current_dir;
use super::here::{docs_project, is_text, shown};
use super::target::{self, Target};
use super::{Workplace, docs_budget, docs_ls, docs_preview, now_ms};
use crate::cli::{DocsAction, DocsArgs};
use crate::context::first_message::DocState;
use crate::context::{Reading, figures};
use crate::error::{ExitKind, Failure};
use crate::project::docs::{self, Added, Addition, DocsError};
use crate::project::{Bucket, Resolved, names};
use crate::session::Store;
use crate::ui::Ui;

/// When a change of the docs counts (S34).
const WHEN: &str = "from the next session's first message on";

/// Carries the command out.
pub(super) fn docs(args: DocsArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let place = Workplace::open()?;
    let named = args.which.project.as_deref();
    let ls = DocsAction::Ls { engine: None, model: None, json: false };
    match args.action.unwrap_or(ls) {
        DocsAction::Ls { engine, model, json } => {
            docs_ls::ls(&place, named, engine.as_deref(), model.as_deref(), json, ui)
        }
        DocsAction::Preview { engine, model, instructions } => docs_preview::preview(
            &place,
            named,
            engine.as_deref(),
            model.as_deref(),
            instructions,
            ui,
        ),
        DocsAction::Budget { engine, model, json } => {
            docs_budget::budget(&place, named, engine.as_deref(), model.as_deref(), json, ui)
        }
        change => Change::open(place, named, ui)?.carry_out(change),
    }
}

/// A change of one project's docs.
struct Change {
    place: Workplace,
    store: Store,
    project: Resolved,
    root: PathBuf,
    ui: Ui,
}

impl Change {
    fn open(place: Workplace, named: Option<&str>, ui: Ui) -> Result<Change, Failure> {
        let (project, root) = docs_project(&place.paths, named, ui)?;
        let store = Store::open(&place.paths)?;
        for note in store.notes() {
            ui.warning(note);
        }
        Ok(Change { place, store, project, root, ui })
    }

    fn carry_out(self, change: DocsAction) -> Result<ExitCode, Failure> {
        match change {
            DocsAction::Add { files, rag, replace } => {
                let bucket = if rag { Bucket::Rag } else { Bucket::Always };
                self.add(&files, bucket, replace)?;
            }
            DocsAction::Rm { names, rag, top } => self.remove(&names, bucket(rag, top))?,
            DocsAction::Mv { from, to, rag, top } => self.rename(&from, &to, bucket(rag, top))?,
            DocsAction::Order { names, reset } if names.is_empty() && !reset => {
                return Err(Failure::new(ExitKind::Usage, "no doc is named")
                    .hint("name the docs that come first, in their order")
                    .hint("`omni-run docs order --reset` forgets the saved order"));
            }
            DocsAction::Order { names, .. } => self.order(&names)?,
            DocsAction::Instruct { name } => self.instruct(&name)?,
            DocsAction::Uninstruct { name } => {
                docs::uninstruct(&self.store, &self.root, OsStr::new(&name), now_ms())?;
                let name = names::shown(OsStr::new(&name));
                self.ui.status(&format!("`{name}` is a background doc again {WHEN}"));
            }
            DocsAction::Ls { .. } | DocsAction::Preview { .. } | DocsAction::Budget { .. } => {}
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Adds what can be added; the first failure is the command's.
    fn add(&self, files: &[PathBuf], bucket: Bucket, replace: bool) -> Result<(), Failure> {
        let mut failures = Vec::new();
        let mut added = Vec::new();
        for file in files {
            match self.add_one(&current_dir().join(file), bucket, replace) {
                Ok(done) => added.push(done),
                Err(failure) => failures.push(failure),
            }
        }
        self.say_added(&added, bucket);
        let mut failures = failures.into_iter();
        let Some(first) = failures.next() else { return Ok(()) };
        for other in failures {
            self.ui.failure(&other);
        }
        Err(first)
    }

    fn add_one(
        &self,
        file: &Path,
        bucket: Bucket,
        replace: bool,
    ) -> Result<(OsString, Added), Failure> {
        let mut source = open_source(file)?;
        let name = file.file_name().unwrap_or_default();
        let addition = Addition {
            source: &mut source,
            name,
            bucket,
            replace,
            replaces: None,
            expected_hash: None,
            draft: None,
        };
        Ok((name.to_owned(), docs::add(&self.store, &self.root, addition, is_text, now_ms())?))
    }

    /// A line for each file: a doc that is there but does not go in, or not as it looks, is said at
    /// once.
    fn say_added(&self, added: &[(OsString, Added)], bucket: Bucket) {
        let becomes = match bucket {
            Bucket::Always if !added.is_empty() => self.what_becomes_of_docs(),
            Bucket::Always | Bucket::Rag => Vec::new(),
        };
        for (name, added) in added {
            let done = format!(
                "{} `{}` ({})",
                if added.replaced { "replaced" } else { "added" },
                names::shown(name),
                figures::bytes(added.size)
            );
            let state = becomes.iter().find(|(known, _)| known == name).map(|(_, state)| state);
            let but = |why: &str| self.ui.warning(&format!("{done}, but it {why}"));
            let means = match (bucket, state) {
                (Bucket::Rag, _) => "listed in the catalogue",
                (Bucket::Always, Some(DocState::Instruction)) => "an instruction, as before,",
                (Bucket::Always, Some(DocState::Attached)) => "attached",
                (Bucket::Always, None | Some(DocState::Included)) => "in the docs block",
                (Bucket::Always, Some(DocState::Skipped | DocState::Withheld)) => {
                    but("is over the budget: a note stands in its place; see `omni-run docs ls`");
                    continue;
                }
                (Bucket::Always, Some(DocState::ByPath(why))) => {
                    but(&format!("goes by path only: {why}"));
                    continue;
                }
                (Bucket::Always, Some(DocState::Ignored(why))) => {
                    but(&format!("is not used: {why}"));
                    continue;
                }
                (Bucket::Always, Some(DocState::Empty)) => {
                    but("is empty and adds nothing");
                    continue;
                }
            };
            self.ui.status(&format!("{done}: {means} {WHEN}"));
        }
    }

    /// The docs with their states on the default engine; none where that can't be said.
    fn what_becomes_of_docs(&self) -> Vec<(OsString, DocState)> {
        let Ok(cwd) = target::cwd(Some(&self.project)) else { return Vec::new() };
        let Ok(target) = Target::choose(&self.place, None, None, &cwd) else { return Vec::new() };
        let reading = Reading::UpTo(target.budget());
        let snapshot = target::snapshot(&self.place, Some(&self.project), &cwd, reading);
        let built = target.build(&snapshot);
        let states = built.report().docs.iter().map(|doc| doc.state.clone());
        snapshot.docs.into_iter().map(|entry| entry.name).zip(states).collect()
    }

    fn remove(&self, names: &[String], bucket: Option<Bucket>) -> Result<(), Failure> {
        for name in names {
            let name = OsStr::new(name);
            let removed = docs::remove(&self.store, &self.root, name, bucket, now_ms());
            let (bucket, name) = removed.map_err(with_bucket_hint)?;
            let name = names::shown(&name);
            let place = match bucket {
                Bucket::Always => "",
                Bucket::Rag => "rag/",
            };
            self.ui.status(&format!("removed `{place}{name}`: gone {WHEN}"));
        }
        Ok(())
    }

    fn rename(&self, from: &str, to: &str, bucket: Option<Bucket>) -> Result<(), Failure> {
        let (from, to) = (OsStr::new(from), OsStr::new(to));
        let renamed = docs::rename(&self.store, &self.root, from, to, bucket, is_text, now_ms());
        renamed.map_err(with_bucket_hint)?;
        let (from, to) = (names::shown(from), names::shown(to));
        self.ui.status(&format!("`{from}` is `{to}` now; its place and its flag went along"));
        Ok(())
    }

    fn order(&self, names: &[String]) -> Result<(), Failure> {
        let wanted: Vec<OsString> = names.iter().map(OsString::from).collect();
        let order = docs::set_order(&self.store, &self.root, &wanted, now_ms())?;
        let order: Vec<String> = order.iter().map(|name| names::shown(OsStr::new(name))).collect();
        let message = match order.as_slice() {
            [] => format!("the docs are ordered by name {WHEN}"),
            order => format!("order: {}, then the rest by name, {WHEN}", order.join(", ")),
        };
        self.ui.status(&message);
        self.say_unregistered();
        Ok(())
    }

    fn instruct(&self, name: &str) -> Result<(), Failure> {
        let new = docs::instruct(&self.store, &self.root, OsStr::new(name), is_text, now_ms())?;
        let name = names::shown(OsStr::new(name));
        self.ui.status(&match new {
            true => format!(
                "`{name}` is an instruction: it goes into the system prompt, verbatim and before \
                 all other docs, {WHEN}"
            ),
            false => format!("`{name}` is an instruction already"),
        });
        self.say_unregistered();
        Ok(())
    }

    /// Order and flags are kept by folder; an id is for people.
    fn say_unregistered(&self) {
        if self.project.id.is_none() {
            let folder = shown(&self.root);
            self.ui.status(&format!(
                "kept for the folder {folder}, which has no project id yet; `omni-run project add` \
                 gives it one"
            ));
        }
    }
}

fn bucket(rag: bool, top: bool) -> Option<Bucket> {
    match (rag, top) {
        (true, _) => Some(Bucket::Rag),
        (false, true) => Some(Bucket::Always),
        (false, false) => None,
    }
}

fn with_bucket_hint(error: DocsError) -> Failure {
    let ambiguous = matches!(error, DocsError::Ambiguous { .. });
    let failure = Failure::from(error);
    match ambiguous {
        true => failure.hint("`--top` takes the one at the top level, `--rag` the one in rag/"),
        false => failure,
    }
}

/// Opens a file that the user named. Links are followed; a pipe would block for ever.
fn open_source(file: &Path) -> Result<File, Failure> {
    let failed = |why: String| Failure::new(ExitKind::NotFound, format!("{}: {why}", shown(file)));
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(nix::libc::O_NONBLOCK)
        .open(file)
        .map_err(|e| failed(e.to_string()))?;
    let about = opened.metadata().map_err(|e| failed(e.to_string()))?;
    if about.is_file() { Ok(opened) } else { Err(failed("is not a regular file".to_owned())) }
}
