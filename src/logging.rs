//! `--log-file`: what omni-run did, a line each, for every command. For the person whose cron job did
//! not do what it should.
//!
//! A line holds names, figures and omni-run's own words; never text of a prompt, a doc or a recipe,
//! the value of a variable, an argument of the engine's, or what the engine itself said. The file is
//! 0600 and only ever appended to, whole lines at a time, so that several runs can share it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, fmt};

use crate::config::LogLevel;
use crate::error::{ExitKind, Failure};
use crate::ui::one_line;

/// Sends diagnostics to `file`, which is made with 0600; nowhere without one. `level` is asked only
/// then.
///
/// # Errors
/// [`ExitKind::CannotCreate`] when the file cannot be opened.
pub fn start(file: Option<&Path>, level: impl FnOnce() -> LogLevel) -> Result<(), Failure> {
    let Some(path) = file else { return Ok(()) };
    let file = open(path).map_err(|e| {
        Failure::new(ExitKind::CannotCreate, format!("log file {}: {e}", path.display()))
    })?;
    let layer = fmt::layer()
        .with_ansi(false)
        .with_timer(Stamp)
        .with_writer(Mutex::new(Lines { file }))
        // Other crates log what they like, headers of requests for instance.
        .with_filter(Targets::new().with_target("omni_run", filter(level())));
    // A second start is a test's; the first stays.
    let _ = tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer));
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    // A pipe without a reader is an error, not a wait for ever.
    let options = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY;
    OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(options).open(path)
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}

/// Time and process: runs of several jobs stand in one file.
struct Stamp;

impl FormatTime for Stamp {
    fn format_time(&self, to: &mut Writer<'_>) -> std::fmt::Result {
        SystemTime.format_time(to)?;
        write!(to, " [{}]", std::process::id())
    }
}

/// Writes each event as one line, whatever is in the names it holds.
struct Lines {
    file: File,
}

impl Write for Lines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let line = one_line(text.trim_end_matches('\n'));
        self.file.write_all(format!("{line}\n").as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_and_the_file_is_private_and_appended_to() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("log");
        for event in ["a\n", "b\nforged \u{1b}[2J\n"] {
            Lines { file: open(&path).expect("open") }.write_all(event.as_bytes()).expect("write");
        }
        let text = std::fs::read_to_string(&path).expect("read");
        assert_eq!(text, "a\nb\\nforged \\u{1b}[2J\n");
        let mode = std::fs::metadata(&path).expect("meta").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_pipe_without_a_reader_is_not_waited_for() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("pipe");
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).expect("fifo");
        assert!(open(&path).is_err());
    }
}
