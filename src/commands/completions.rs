//! `omni-run completions` and what its scripts ask: the values at the cursor. A value that can't be
//! looked up is left out without a word; a shell has no place for it.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::CommandFactory;

use super::here::resolution;
use super::recipe::Place as RecipePlace;
use super::{command_line, ids, own_paths, print, sessions};
use crate::cli::{Cli, CompleteCommand, CompletionsArgs, Shell};
use crate::completions::answer::{Candidate, lines};
use crate::completions::place::{Place, Values, find};
use crate::completions::{BASH, FISH, ZSH};
use crate::context::kinds::no_doc;
use crate::context::names::shown;
use crate::engines::Catalogue;
use crate::error::Failure;
use crate::project::{Bucket, docs, registry};
use crate::session::{SessionFilter, Store};
use crate::ui::Ui;

/// Sessions that are offered: who looks further back lists them.
const SESSIONS: u32 = 50;

/// Prints a shell's script.
pub(super) fn completions(args: &CompletionsArgs, ui: Ui) -> Result<ExitCode, Failure> {
    print(
        ui,
        match args.shell {
            Shell::Bash => BASH,
            Shell::Zsh => ZSH,
            Shell::Fish => FISH,
        },
    )
}

/// Answers a shell.
pub(super) fn complete(args: CompleteCommand, ui: Ui) -> Result<ExitCode, Failure> {
    let mut root = Cli::command();
    root.build();
    let words = as_typed(args.words);
    let place = find(&root, &words);
    let mut found = candidates(&place);
    // An engine's name stands for `run ENGINE`.
    if place.commands.is_empty() && place.values == Values::Nothing && place.prefix.is_empty() {
        found.extend(engines());
    }
    print(ui, &lines(&place, found))
}

/// The words with `run` put in where an engine's name or an option stands for it. The first word
/// alone may still become a command.
fn as_typed(words: Vec<OsString>) -> Vec<String> {
    let alone = command_line::own_words(&words) <= 1;
    let last_is_option = words.last().is_some_and(|word| word.to_string_lossy().starts_with('-'));
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    if alone && !last_is_option {
        return words.iter().map(text).collect();
    }
    let all = std::iter::once("omni-run".into()).chain(words);
    command_line::with_run_inserted(all).iter().skip(1).map(text).collect()
}

fn candidates(place: &Place) -> Vec<Candidate> {
    match place.values {
        Values::Nothing | Values::Files | Values::Folders => Vec::new(),
        Values::Engines => engines(),
        Values::Projects => projects().unwrap_or_default(),
        Values::Docs => doc_names(place).unwrap_or_default(),
        Values::Sessions => session_ids().unwrap_or_default(),
        Values::Recipes => recipes(place).unwrap_or_default(),
    }
}

fn engines() -> Vec<Candidate> {
    let catalogue = Catalogue::load(&own_paths().config.join("engines.toml"));
    let catalogue = catalogue.or_else(|_| Catalogue::from_layers(None));
    let catalogue = catalogue.into_iter().flat_map(|all| {
        all.iter().map(|(id, spec)| (id.to_owned(), spec.name.clone())).collect::<Vec<_>>()
    });
    catalogue.collect()
}

fn projects() -> Option<Vec<Candidate>> {
    let store = Store::open_reading(&own_paths()).ok()?;
    let all = registry::list(&store).ok()?;
    let named = all.into_iter().filter_map(|project| {
        Some((project.id?, crate::context::names::shown_path(&project.folder)))
    });
    Some(named.collect())
}

fn doc_names(place: &Place) -> Option<Vec<Candidate>> {
    let project = resolution(&own_paths(), place.project.as_deref()).ok()?.project?;
    let root = project.root?;
    let mut found = Vec::new();
    for (bucket, what) in [(Bucket::Always, "doc"), (Bucket::Rag, "in rag/")] {
        let files = docs::files(&root, bucket).unwrap_or_default();
        for (name, size) in files.into_iter().filter(|(name, _)| no_doc(name).is_none()) {
            let size = crate::context::figures::bytes(size);
            found.push((shown(&name), format!("{what}, {size}")));
        }
    }
    Some(found)
}

fn session_ids() -> Option<Vec<Candidate>> {
    let store = Store::open_reading(&own_paths()).ok()?;
    let filter = SessionFilter { limit: Some(SESSIONS), ..SessionFilter::default() };
    let rows = store.sessions(&filter).ok()?;
    let digits = ids::unique_length(rows.iter().map(|row| row.id.to_string()));
    let candidate = |row: &crate::session::SessionRow| {
        let when = sessions::local_time(row.started_at);
        let id = row.id.to_string()[..digits].to_owned();
        (id, format!("{} {}: {}", &when[..when.len().min(16)], row.engine, row.first_words))
    };
    Some(rows.iter().map(candidate).collect())
}

fn recipes(place: &Place) -> Option<Vec<Candidate>> {
    let shelves = RecipePlace::of(place.project.as_deref()).ok()?.shelves();
    let listed = shelves.list().into_iter().filter(|entry| !entry.hidden);
    let candidate = |entry: crate::recipes::find::Listed| {
        let what = entry.recipe.map_or_else(|_| "has a mistake".to_owned(), |r| r.description());
        (entry.name, what)
    };
    Some(listed.map(candidate).collect())
}
