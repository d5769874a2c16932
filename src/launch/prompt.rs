//! Where the prompt comes from: an argument, a file, standard input, or an argument with piped text
//! behind it. It refuses what cannot be sent, and keeps what it refuses.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::context::DisplayText;
use crate::error::{ExitKind, Failure};
use crate::ui::Ui;

/// How long an inherited pipe may stay silent beside a prompt argument before it is left alone, in
/// ms: enough for a producer to start, short for a cron job whose pipe never closes.
const SILENT_STDIN_MS: u16 = 1_000;

/// Largest prompt, in bytes: four times what the widest window of any engine (a million tokens) takes.
/// A larger one would be refused by every model, after it had filled this machine's memory.
const LARGEST: u64 = 16_000_000;

/// The sources that the command line names.
#[derive(Debug, Clone, Default)]
pub struct PromptSources {
    /// The argument.
    pub argument: Option<OsString>,
    /// A lone `-` as the argument stands for standard input.
    pub dash_is_stdin: bool,
    /// `--prompt-file`.
    pub file: Option<PathBuf>,
    /// `--stdin`: wait for standard input to its end, whatever it is.
    pub wait_for_stdin: bool,
}

/// Reads the prompt. `keep`: the folder for a refused prompt.
///
/// # Errors
/// [`ExitKind::BadPrompt`] for an empty prompt or one that is not UTF-8, [`ExitKind::NotFound`] for
/// a file that cannot be read.
pub fn read(sources: &PromptSources, keep: &Path, ui: Ui) -> Result<DisplayText, Failure> {
    let dash = sources.dash_is_stdin && sources.argument.as_deref() == Some(OsStr::new("-"));
    let argument = sources.argument.as_deref().filter(|_| !dash);
    let mut bytes = match (&sources.file, argument) {
        (Some(file), _) => read_file(file)?,
        (None, Some(text)) => text.as_bytes().to_vec(),
        (None, None) => Vec::new(),
    };
    let given = sources.file.is_some() || argument.is_some();
    let piped = if dash || sources.wait_for_stdin || !given {
        read_all_stdin(ui)?
    } else {
        read_ready_stdin(ui)?
    };
    if given && !piped.is_empty() {
        bytes.extend_from_slice(b"\n\n");
    }
    bytes.extend_from_slice(&piped);
    check(bytes, keep, ui)
}

fn check(bytes: Vec<u8>, keep: &Path, ui: Ui) -> Result<DisplayText, Failure> {
    if bytes.len() as u64 > LARGEST {
        return Err(too_large());
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        refused(
            &format!("the prompt is not UTF-8: bad byte at offset {offset}"),
            error.as_bytes(),
            keep,
        )
        .hint("convert it, for example: iconv -f latin1 -t utf-8 notes.txt | omni-run …")
    })?;
    if text.trim().is_empty() {
        return Err(Failure::new(ExitKind::BadPrompt, "the prompt is empty")
            .hint("give it as an argument, with --prompt-file FILE, or on standard input"));
    }
    let nuls = text.matches('\0').count();
    if nuls > 0 {
        // No channel of any engine carries a NUL; its visible sign does.
        text = text.replace('\0', "\u{2400}");
        ui.warning(&format!("the prompt holds {nuls} NUL byte(s); sent as \u{2400}"));
    }
    Ok(DisplayText::new(text))
}

/// Nothing is kept of it: it is somewhere else already, or has no end.
fn too_large() -> Failure {
    let size = crate::context::figures::bytes(LARGEST);
    Failure::new(ExitKind::BadPrompt, format!("the prompt is larger than {size}"))
        .hint("put the text into a file and name that file in the prompt")
}

/// Reads to the end, or to where it is too much.
fn read_bounded(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A refusal that loses nothing: the bytes are kept in a file that the message names.
fn refused(message: &str, bytes: &[u8], keep: &Path) -> Failure {
    let failure = Failure::new(ExitKind::BadPrompt, message);
    match keep_bytes(bytes, keep) {
        Ok(path) => failure.hint(format!("the prompt as it came is kept in {}", path.display())),
        Err(error) => failure.hint(format!("the prompt could not be kept: {error}")),
    }
}

/// Writes refused bytes to a new 0600 file in `dir`.
pub fn keep_bytes(bytes: &[u8], dir: &Path) -> io::Result<PathBuf> {
    crate::paths::create_private_dir(dir)?;
    let path = dir.join(format!("prompt-{}.txt", uuid::Uuid::now_v7()));
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(&path)?;
    file.write_all(bytes)?;
    Ok(path)
}

fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |what: String| {
        Failure::new(ExitKind::NotFound, format!("prompt file {}: {what}", path.display()))
    };
    let meta = std::fs::metadata(path).map_err(|e| failed(e.to_string()))?;
    // `--prompt-file <(command)` is a pipe and meant; a device or socket is not.
    if !meta.is_file() && !meta.file_type().is_fifo() {
        return Err(failed("is not a file".into()));
    }
    let file = File::open(path).map_err(|e| failed(e.to_string()))?;
    read_bounded(file).map_err(|e| failed(e.to_string()))
}

fn read_all_stdin(ui: Ui) -> Result<Vec<u8>, Failure> {
    let mut stdin = io::stdin().lock();
    if stdin.is_terminal() {
        ui.status("reading the prompt from the terminal; end it with Ctrl-D");
    }
    read_bounded(&mut stdin).map_err(|e| {
        Failure::new(ExitKind::BadPrompt, format!("standard input cannot be read: {e}"))
    })
}

/// Piped text beside a prompt: read when it is there. A pipe that stays silent is not ours to wait
/// for: under cron, ssh or another agent it may never close.
fn read_ready_stdin(ui: Ui) -> Result<Vec<u8>, Failure> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(Vec::new());
    }
    let handle = stdin.as_fd();
    let mut fds = [PollFd::new(handle, PollFlags::POLLIN)];
    match poll(&mut fds, PollTimeout::from(SILENT_STDIN_MS)) {
        Ok(0) => {
            ui.warning(&format!(
                "standard input stayed silent for {SILENT_STDIN_MS} ms and was not read; --stdin waits for it"
            ));
            Ok(Vec::new())
        }
        Ok(_) => read_all_stdin(ui),
        Err(error) => Err(Failure::new(
            ExitKind::BadPrompt,
            format!("standard input cannot be read: {error}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_prompt_is_refused_and_kept() {
        let dir = tempfile::tempdir().expect("dir");
        let failure = check(b"caf\xe9".to_vec(), dir.path(), Ui::default()).expect_err("latin1");
        assert_eq!(failure.kind, ExitKind::BadPrompt);
        assert!(failure.message.contains("offset 3"));
        let kept = std::fs::read_dir(dir.path()).expect("dir").next().expect("one").expect("entry");
        assert_eq!(std::fs::read(kept.path()).expect("read"), b"caf\xe9");
        assert!(check(b" \n".to_vec(), dir.path(), Ui::default()).is_err());
    }

    #[test]
    fn a05_a_nul_is_made_visible() {
        let dir = tempfile::tempdir().expect("dir");
        let text = check(b"a\0b".to_vec(), dir.path(), Ui::default()).expect("text");
        assert_eq!(text.as_str(), "a\u{2400}b");
    }
}
