//! `omni-run sessions rm` and `prune`: removing sessions for good, after a question.

use std::io::IsTerminal;
use std::process::ExitCode;

use jiff::tz::TimeZone;

use super::sessions::{by_prefix, ls_rows};
use super::{Workplace, here, now_ms, when};
use crate::cli::{SessionsPruneArgs, SessionsRmArgs};
use crate::context::figures::{bytes, counted};
use crate::error::{ExitKind, Failure};
use crate::paths::Paths;
use crate::session::{Outcome, Removed, SessionFilter, SessionId, SessionRow, Store, StoreError};
use crate::ui::Ui;

/// How many sessions the question shows.
const SHOWN: usize = 10;
/// The file is made smaller when at least so many bytes of it are free, and half of it.
const WORTH_IT: u64 = 16 << 20;

/// `rm`: nothing is removed unless all that are named are there.
pub(super) fn rm(paths: &Paths, args: &SessionsRmArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let Some(store) = open(paths, ui)? else {
        let prefix = args.sessions.first().cloned().unwrap_or_default();
        return Err(StoreError::UnknownSession { prefix }.into());
    };
    let mut rows: Vec<SessionRow> = Vec::new();
    for prefix in &args.sessions {
        let row = by_prefix(&store, prefix)?;
        if row.outcome == Outcome::Running && !args.force {
            let message = format!("session `{}` still runs", row.id);
            return Err(Failure::new(ExitKind::Refused, message)
                .hint("end it first; --force removes it all the same"));
        }
        if rows.iter().all(|known| known.id != row.id) {
            rows.push(row);
        }
    }
    ask(&rows, &store, args.yes, ui)?;
    let ids: Vec<SessionId> = rows.iter().map(|row| row.id).collect();
    let removed = store.remove(paths, &ids, args.force)?;
    report(&removed, ui);
    Ok(ExitCode::SUCCESS)
}

/// `prune`.
pub(super) fn prune(args: &SessionsPruneArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let Workplace { paths, config, .. } = Workplace::open()?;
    let now = now_ms();
    let cutoff = match (&args.older_than, config.retention_days.value) {
        (Some(text), _) => when::parse("--older-than", text, now, &TimeZone::system())?.from,
        (None, 0) => {
            return Err(Failure::new(ExitKind::Usage, "nothing says how old a session has to be")
                .hint("give --older-than 90d, or set `retention-days` in config.toml"));
        }
        (None, days) => {
            when::parse("retention-days", &format!("{days}d"), now, &TimeZone::UTC)?.from
        }
    };
    let named = here::Named::of(&paths, args.project.as_deref(), ui);
    let filter = SessionFilter {
        project: named.id.clone(),
        folder: named.folder.clone(),
        engine: args.engine.clone(),
        until: Some(cutoff),
        ..SessionFilter::default()
    };
    let store = if args.dry_run { Store::open_if_there(&paths)? } else { open(&paths, ui)? };
    let mut rows = match &store {
        None => Vec::new(),
        Some(store) => store.sessions(&filter)?,
    };
    if rows.is_empty() {
        named.require()?;
    }
    let all = rows.len();
    rows.retain(|row| row.outcome != Outcome::Running);
    let running = all - rows.len();
    rows.retain(|row| row.ended_at.is_none_or(|ended| ended < cutoff));
    if running > 0 {
        let running =
            counted(running, "session that still runs stays", "sessions that still run stay");
        ui.status(&running);
    }
    let (Some(store), false) = (store, rows.is_empty()) else {
        ui.status(&format!("no session ended before {}", when::local_minute(cutoff)));
        return Ok(ExitCode::SUCCESS);
    };
    if args.dry_run {
        let count = counted(rows.len(), "session", "sessions");
        ls_rows(&store, &rows, false, ui)?;
        ui.status(&format!("{count} would be removed"));
        return Ok(ExitCode::SUCCESS);
    }
    ask(&rows, &store, args.yes, ui)?;
    let ids: Vec<SessionId> = rows.iter().map(|row| row.id).collect();
    let removed = store.remove(&paths, &ids, false)?;
    report(&removed, ui);
    make_smaller(&store, &removed, ui)?;
    Ok(ExitCode::SUCCESS)
}

/// `None`: there is no store, and none is made.
fn open(paths: &Paths, ui: Ui) -> Result<Option<Store>, Failure> {
    if !paths.database().exists() {
        return Ok(None);
    }
    let store = Store::open(paths)?;
    for note in store.notes() {
        ui.warning(note);
    }
    Ok(Some(store))
}

fn ask(rows: &[SessionRow], store: &Store, yes: bool, ui: Ui) -> Result<(), Failure> {
    if yes {
        return Ok(());
    }
    let what = counted(rows.len(), "session", "sessions");
    if !std::io::stdin().is_terminal() {
        let message = format!("nobody can be asked whether to remove {what} for good");
        return Err(Failure::new(ExitKind::Refused, message).hint("--yes removes without asking"));
    }
    let shown = rows.len().min(SHOWN);
    let digits = here::digits(store, rows[..shown].iter().map(|row| row.id))?;
    let mut text = super::sessions::list(&rows[..shown], digits);
    if rows.len() > shown {
        text.push_str(&format!("… and {} more\n", rows.len() - shown));
    }
    if ui.said_yes(text.trim_end(), &format!("Remove {what} for good? [y/N] ")) {
        return Ok(());
    }
    Err(Failure::new(ExitKind::Refused, "nothing was removed").hint("only the answer `y` removes"))
}

fn report(removed: &Removed, ui: Ui) {
    ui.status(&format!("{} removed", counted(removed.sessions, "session", "sessions")));
    for (file, reason) in &removed.left {
        ui.warning(&format!("`{}` could not be removed: {reason}", file.display()));
    }
    if removed.log_left {
        ui.warning(
            "another process reads the database: removed text stays in its log until that ends; \
             then `omni-run store check` empties it",
        );
    }
}

/// Where at least half of a large file is free. Not where others are at work: it can be done later.
fn make_smaller(store: &Store, removed: &Removed, ui: Ui) -> Result<(), Failure> {
    let size = std::fs::metadata(store.file()).map_or(0, |about| about.len());
    if removed.free_bytes < WORTH_IT || removed.free_bytes < size / 2 {
        return Ok(());
    }
    match store.compact() {
        Ok(()) => {
            let free = bytes(removed.free_bytes);
            ui.status(&format!("the database is {free} smaller"));
        }
        Err(StoreError::Locked { .. } | StoreError::Full { .. }) => {
            ui.status("the database keeps its size for now: it is in use, or the disk is full");
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
