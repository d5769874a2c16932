//! `omni-run share`: one session as a page for other people. Secrets are masked and listed; nothing
//! is written before the person has said yes.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::sessions::by_prefix;
use super::sink::Sink;
use super::{here, own_paths, print};
use crate::cli::ShareArgs;
use crate::context::figures::{self, counted};
use crate::error::{ExitKind, Failure};
use crate::paths::{Paths, create_private_dir};
use crate::session::export::{Masked, Masker, Transcript, share_page};
use crate::session::{SessionId, Store, StoreError};
use crate::ui::{Ui, one_line};

/// Carries the command out.
pub(super) fn share(args: &ShareArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let paths = own_paths();
    let transcript = find(&paths, &args.session)?;
    let target = match &args.output {
        Some(file) => file.clone(),
        None => default_target(&paths, transcript.row.id)?,
    };
    // Refused before anything is asked.
    let mut sink = Sink::open(Some(&target), args.force, ui)?;
    let mut masker = Masker::new(paths.home.as_deref(), args.keep_secrets);
    let page = share_page(&transcript, &mut masker);
    let (lines, warnings) = summary(&transcript, &page, &target, &masker, args.keep_secrets);
    if !args.yes && io::stdin().is_terminal() && io::stderr().is_terminal() {
        consent(&lines, &warnings, ui)?;
    } else {
        tell(&lines, &warnings, ui);
        if !args.yes {
            let message = "nothing is written without consent, and nobody can be asked here";
            return Err(Failure::new(ExitKind::Refused, message)
                .hint("`--yes` writes the page without asking"));
        }
    }
    sink.write(&page)?;
    match sink.finish()? {
        Some(file) => {
            ui.status("written; look at it before you hand it on");
            print(ui, &format!("{}\n", file.display()))
        }
        None => Ok(ExitCode::SUCCESS),
    }
}

fn find(paths: &Paths, prefix: &str) -> Result<Transcript, Failure> {
    let unknown = || StoreError::UnknownSession { prefix: prefix.to_owned() };
    let Some(store) = Store::open_if_there(paths)? else { return Err(unknown().into()) };
    let row = by_prefix(&store, prefix)?;
    Ok(store.transcript(row.id)?.ok_or_else(unknown)?)
}

/// In the data folder: the current one is often a repository, and a page that was made to be looked
/// at must not end up in a commit.
fn default_target(paths: &Paths, id: SessionId) -> Result<PathBuf, Failure> {
    let folder = paths.data.join("shares");
    create_private_dir(&folder).map_err(|e| {
        let message = format!("the folder {} cannot be made: {e}", here::shown(&folder));
        Failure::new(ExitKind::CannotCreate, message).hint("name a file with `-o FILE`")
    })?;
    Ok(folder.join(format!("omni-run-{id}.html")))
}

/// What goes into the page, where it goes, and each thing that was masked: a line each, those that
/// warn behind the others.
fn summary(
    transcript: &Transcript,
    page: &str,
    target: &Path,
    masker: &Masker,
    keep_secrets: bool,
) -> (Vec<String>, Vec<String>) {
    let row = &transcript.row;
    let (messages, size) = (transcript.messages.len(), figures::bytes(page.len() as u64));
    let mut lines = vec![format!(
        "share: session {} of {}: {} and the folder it ran in, {size}, to {}",
        row.id,
        row.engine,
        counted(messages, "message", "messages"),
        if target == Path::new("-") { "standard output".to_owned() } else { here::shown(target) },
    )];
    if masker.homes_found() > 0 {
        let times = counted(masker.homes_found(), "time", "times");
        lines.push(format!("the home folder is written as `~`, {times}"));
    }
    let state = if keep_secrets { "NOT masked" } else { "masked" };
    let mut found: Vec<&Masked> = masker.found().iter().collect();
    found.sort_by_key(|found| (found.message.unwrap_or(usize::MAX), found.line));
    let warnings = found.into_iter().map(|found| {
        let place = match found.message {
            Some(message) => format!("message {message}, line {}", found.line),
            None => "beside the messages".to_owned(),
        };
        format!("{place}: looks like {}, {state}", found.kind)
    });
    (lines, warnings.collect())
}

/// Shows the person what will be written, and takes a yes.
fn consent(lines: &[String], warnings: &[String], ui: Ui) -> Result<(), Failure> {
    let text = lines.iter().chain(warnings).map(|line| one_line(line)).collect::<Vec<_>>();
    if ui.said_yes(&text.join("\n"), "Write this page? [y/N] ") {
        return Ok(());
    }
    Err(Failure::new(ExitKind::Refused, "nothing was written"))
}

fn tell(lines: &[String], warnings: &[String], ui: Ui) {
    lines.iter().for_each(|line| ui.status(line));
    warnings.iter().for_each(|line| ui.warning(line));
}
