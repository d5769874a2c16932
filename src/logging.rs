//! `--log-file`: diagnostics of omni-run itself, never the text of docs or prompts.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;

use crate::error::{ExitKind, Failure};

/// Sends diagnostics to `file` (0600, appended), at the level of `OMNI_RUN_LOG_LEVEL`; nowhere
/// without one.
///
/// # Errors
/// [`ExitKind::CannotCreate`] when the file cannot be opened.
pub fn start(file: Option<&Path>) -> Result<(), Failure> {
    let Some(path) = file else { return Ok(()) };
    let file =
        OpenOptions::new().create(true).append(true).mode(0o600).open(path).map_err(|e| {
            Failure::new(ExitKind::CannotCreate, format!("log file {}: {e}", path.display()))
        })?;
    let filter = EnvFilter::try_from_env("OMNI_RUN_LOG_LEVEL")
        .unwrap_or_else(|_| EnvFilter::new("omni_run=info"));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(Mutex::new(file))
        .finish();
    // A second start is a test's; the first stays.
    let _ = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}
