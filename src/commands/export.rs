//! `omni-run export`: sessions as lines of JSON, Markdown or HTML, whole and unmasked.

use std::process::ExitCode;

use super::sessions::by_prefix;
use super::sink::{Flow, Sink};
use super::{here, now_ms, own_paths, when};
use crate::cli::{ExportArgs, ExportFormat};
use crate::context::figures::counted;
use crate::error::{ExitKind, Failure};
use crate::paths::Paths;
use crate::session::export::{Format, Selection};
use crate::session::{SessionRow, Store, StoreError, backup};
use crate::ui::Ui;

/// Carries the command out.
pub(super) fn export(args: &ExportArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let paths = own_paths();
    let store = Store::open_if_there(&paths)?;
    let waiting = backup::waiting(&paths);
    if waiting > 0 {
        let files = counted(waiting, "row waits", "rows wait");
        ui.warning(&format!(
            "{files} in the spool and may be missing here; `omni-run store check` takes them in"
        ));
    }
    let heads = match &store {
        Some(store) => select(args, &paths, store, ui)?,
        None => match args.sessions.first() {
            Some(prefix) => {
                return Err(StoreError::UnknownSession { prefix: prefix.clone() }.into());
            }
            None => Vec::new(),
        },
    };
    let mut sink = Sink::open(args.output.as_deref(), args.force, ui)?;
    let format = match args.format {
        ExportFormat::Jsonl => Format::Jsonl,
        ExportFormat::Md => Format::Markdown,
        ExportFormat::Html => Format::Html,
    };
    let mut sheet = format.sheet();
    let mut flow = sink.write(&sheet.begin(&heads))?;
    for head in &heads {
        if flow == Flow::Enough {
            return Ok(ExitCode::SUCCESS);
        }
        // One at a time: a reader that has stopped must not hold a lock on the store.
        let transcript = store.as_ref().map(|store| store.transcript(head.id)).transpose()?;
        let Some(transcript) = transcript.flatten() else {
            let message = format!("session {} was removed while it was exported", head.id);
            return Err(Failure::new(ExitKind::Busy, message).hint("export again"));
        };
        flow = sink.write(&sheet.session(&transcript))?;
    }
    sink.write(&sheet.end())?;
    if let Some(file) = sink.finish()? {
        let sessions = counted(heads.len(), "session is", "sessions are");
        ui.status(&format!("{sessions} exported to {}", here::shown(&file)));
    }
    if format != Format::Jsonl {
        ui.status("nothing is masked; `omni-run share` masks secrets");
    }
    Ok(ExitCode::SUCCESS)
}

/// The sessions that are asked for, oldest first.
fn select(
    args: &ExportArgs,
    paths: &Paths,
    store: &Store,
    ui: Ui,
) -> Result<Vec<SessionRow>, Failure> {
    if !args.all {
        let mut heads = Vec::new();
        for prefix in &args.sessions {
            heads.push(by_prefix(store, prefix)?);
        }
        heads.sort_by_key(|row| (row.started_at, row.id));
        heads.dedup_by_key(|row| row.id);
        return Ok(heads);
    }
    let since = args.since.as_deref().map(|text| when::since(text, now_ms())).transpose()?;
    // A project that was removed still has sessions.
    let named = here::Named::of(paths, args.project.as_deref(), ui);
    let selection = Selection {
        project: named.id.clone(),
        project_root: named.folder.clone(),
        engine: args.engine.clone(),
        since,
    };
    let heads = store.selected(&selection)?;
    if heads.is_empty() {
        here::warn_of_engine(paths, args.engine.as_deref(), ui);
        named.require()?;
    }
    Ok(heads)
}
