//! The record that tests read: which prompt arrived, and how it came.

use std::fs::OpenOptions;
use std::io::Write;

use serde_json::{Value, json};

use crate::options::Options;

/// What arrived in one turn.
#[derive(Default)]
pub(crate) struct Entry<'a> {
    /// `None`: the run was refused before a prompt was taken.
    pub(crate) prompt: Option<&'a str>,
    /// `argv`, `stdin`, `tui` or `acp`
    pub(crate) source: &'a str,
    /// Bytes read from stdin in print mode.
    pub(crate) stdin_bytes: usize,
    /// `{mimeType, bytes, data}` each
    pub(crate) images: Vec<Value>,
}

/// Appends the entry to the file named by `FAKE_CURSOR_LOG`.
pub(crate) fn write(options: &Options, entry: Entry<'_>) {
    let Some(path) = std::env::var_os("FAKE_CURSOR_LOG") else { return };
    let line = json!({
        "argv": options.argv,
        "cwd": std::env::current_dir().unwrap_or_default(),
        "workspace": options.workspace,
        "prompt": entry.prompt,
        "prompt_source": entry.source,
        "stdin_bytes": entry.stdin_bytes,
        "images": entry.images,
    });
    // One write call: runs of several processes do not mix within a line.
    let written = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    if let Err(error) = written {
        crate::say_error(&format!("fake-cursor-agent: FAKE_CURSOR_LOG: {error}"));
    }
}
