//! Where an export goes: standard output, or a new file that only its owner can read. The file
//! appears whole, under its name, or not at all; one that is there is left alone unless told.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::gather::current_dir;
use super::{for_terminal, here};
use crate::error::{ExitKind, Failure};
use crate::ui::Ui;

/// The name that stands for standard output.
const STDOUT: &str = "-";

/// An open target.
pub(super) enum Sink {
    Stdout { ui: Ui, is_terminal: bool },
    File(NewFile),
}

/// A file that is not there under its name yet.
pub(super) struct NewFile {
    draft: NamedTempFile,
    target: PathBuf,
    force: bool,
}

/// Whether the reader wants more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    More,
    Enough,
}

impl Sink {
    /// `None` and `-`: standard output.
    pub(super) fn open(target: Option<&Path>, force: bool, ui: Ui) -> Result<Sink, Failure> {
        match target.filter(|target| *target != Path::new(STDOUT)) {
            None => Ok(Sink::Stdout { ui, is_terminal: io::stdout().is_terminal() }),
            Some(target) => NewFile::open(current_dir().join(target), force).map(Sink::File),
        }
    }

    /// Writes a piece. [`Flow::Enough`]: the reader has left (`| head`), which is no error.
    pub(super) fn write(&mut self, text: &str) -> Result<Flow, Failure> {
        let written = match self {
            Sink::Stdout { ui, is_terminal: true } => ui.data(for_terminal(text).as_bytes()),
            Sink::Stdout { ui, is_terminal: false } => ui.data(text.as_bytes()),
            Sink::File(file) => file.draft.write_all(text.as_bytes()),
        };
        match (written, self) {
            (Ok(()), _) => Ok(Flow::More),
            (Err(e), Sink::Stdout { .. }) if e.kind() == io::ErrorKind::BrokenPipe => {
                Ok(Flow::Enough)
            }
            (Err(e), Sink::Stdout { .. }) => {
                Err(Failure::new(ExitKind::CannotCreate, format!("standard output: {e}")))
            }
            (Err(e), Sink::File(file)) => Err(cannot_write(&file.target, &e)),
        }
    }

    /// Puts the file under its name, durably. Gives its path.
    pub(super) fn finish(self) -> Result<Option<PathBuf>, Failure> {
        let Sink::File(NewFile { draft, target, force }) = self else { return Ok(None) };
        draft.as_file().sync_all().map_err(|e| cannot_write(&target, &e))?;
        let kept = if force { draft.persist(&target) } else { draft.persist_noclobber(&target) };
        kept.map_err(|e| match e.error.kind() {
            io::ErrorKind::AlreadyExists => is_there(&target),
            _ => cannot_write(&target, &e.error),
        })?;
        // Some file systems can't sync a folder; the file itself is safe by then.
        let _ = File::open(folder(&target)).and_then(|folder| folder.sync_all());
        Ok(Some(target))
    }
}

impl NewFile {
    fn open(target: PathBuf, force: bool) -> Result<NewFile, Failure> {
        if target.is_dir() {
            let message = format!("{} is a folder", here::shown(&target));
            return Err(Failure::new(ExitKind::CannotCreate, message).hint("name a file in it"));
        }
        if !force && fs::symlink_metadata(&target).is_ok() {
            return Err(is_there(&target));
        }
        if !folder(&target).is_dir() {
            let message = format!("the folder {} is not there", here::shown(folder(&target)));
            return Err(Failure::new(ExitKind::CannotCreate, message)
                .hint("make it first, or name another file"));
        }
        // Made with 0600, in the same folder, so that it can be renamed.
        let draft = tempfile::Builder::new()
            .prefix(".omni-run-")
            .suffix(".part")
            .tempfile_in(folder(&target))
            .map_err(|e| cannot_write(&target, &e))?;
        Ok(NewFile { draft, target, force })
    }
}

fn folder(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("/"))
}

fn is_there(target: &Path) -> Failure {
    let message = format!("{} is there already", here::shown(target));
    Failure::new(ExitKind::CannotCreate, message)
        .hint("name another file with `-o FILE`, or replace this one with `--force`")
}

fn cannot_write(target: &Path, error: &io::Error) -> Failure {
    let message = format!("{} cannot be written: {error}", here::shown(target));
    Failure::new(ExitKind::CannotCreate, message)
}
