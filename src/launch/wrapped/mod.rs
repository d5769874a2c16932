//! The wrapped session: the engine's own interface in a pseudo-terminal, as if omni-run were not
//! there. One loop on one thread over one closed set of events; the gate decides about the first
//! message, and after it a plain copy loop is left.
//!
//! It prints nothing: what is to be said is in the outcome, for after the engine's end.

mod clock;
mod outbox;
mod session;
mod signals;
mod view;
mod wait;

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::editor_socket::EditorPlan;
use super::gate::Gatekeeper;
use super::keeper::{Keeper, Report, Start};
use super::notice::Notice;
use super::pty::Pty;
use super::terminal::Terminal;
use crate::context::first_message::DisplayText;
use crate::engines::EngineEnd;

/// What is started, and what it is given.
#[derive(Debug, Clone)]
pub struct WrappedPlan {
    /// Absolute path of the program.
    pub program: PathBuf,
    /// Its arguments; never text of docs.
    pub args: Vec<OsString>,
    /// Variables set on top of the inherited environment.
    pub env: Vec<(String, OsString)>,
    /// Variables taken out of it.
    pub env_remove: Vec<String>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// A file as standard input, for an engine that takes its first message so and its keys from the
    /// terminal itself.
    pub stdin: Option<PathBuf>,
    /// The editor helper, where the recipe needs one.
    pub editor: Option<EditorPlan>,
    /// The file in which a request plugin reports.
    pub plugin_receipt: Option<PathBuf>,
}

impl WrappedPlan {
    /// A program in a folder and nothing else.
    pub fn bare(program: &Path, cwd: &Path) -> WrappedPlan {
        WrappedPlan {
            program: program.to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            env_remove: Vec::new(),
            cwd: cwd.to_owned(),
            stdin: None,
            editor: None,
            plugin_receipt: None,
        }
    }
}

/// What the loop calls back for.
pub struct Hooks<'a> {
    /// Stores the operator row. Returns when it is durable.
    pub record: &'a mut dyn FnMut(&DisplayText),
    /// Takes what comes to be known of the session.
    pub notice: &'a mut dyn FnMut(Notice),
}

/// What came of it.
#[derive(Debug)]
pub struct WrappedOutcome {
    /// How the engine ended.
    pub end: EngineEnd,
    /// The first signal that was passed on to the engine.
    pub forwarded: Option<i32>,
    /// Lines for stderr.
    pub notes: Vec<String>,
    /// What had to be undone of the terminal's modes; empty: the engine had cleaned up.
    pub undone: Vec<u8>,
    /// The gate had nothing left to decide.
    pub gate_done: bool,
}

impl WrappedOutcome {
    /// The code that the shell sees: the engine's, or 128 and the signal.
    pub fn exit_code(&self) -> u8 {
        let code = match (self.end.code, self.end.signal) {
            (Some(code), _) => code,
            (None, Some(signal)) => 128 + signal,
            (None, None) => 1,
        };
        u8::try_from(code & 0xff).unwrap_or(1)
    }
}

/// Runs the engine in the user's terminal to its end. Forks: call it with as few threads as can be.
///
/// # Errors
/// When stdin or stdout is no terminal, or the engine cannot be started; the terminal is as before.
pub fn run(
    plan: &WrappedPlan,
    gate: Box<dyn Gatekeeper>,
    hooks: Hooks<'_>,
) -> io::Result<WrappedOutcome> {
    let mut terminal = Terminal::open()?;
    let mut pty = Pty::open(terminal.size().or_fallback(), Some(terminal.saved()))?;
    let start = start(plan, pty.path())?;
    // Before the engine runs: what is typed ahead is passed on as it is, whatever its length.
    terminal.raw()?;
    (hooks.notice)(Notice::Starting);
    let mut keeper = Keeper::start(&start, Some((terminal.output(), terminal.saved())))?;
    let group = match keeper.first_report()? {
        Report::Started(pid) => {
            tracing::info!(pid = pid.as_raw(), "the engine runs");
            pid
        }
        Report::Failed(errno) => {
            let message = format!("{}: {}", plan.program.display(), errno.desc());
            return Err(io::Error::new(io::Error::from(errno).kind(), message));
        }
        Report::Stopped | Report::Ended(_) => return Err(io::ErrorKind::InvalidData.into()),
    };
    pty.close_slave();
    (hooks.notice)(Notice::Started(group));
    session::run(plan, terminal, pty, keeper, group, gate, hooks)
}

fn start(plan: &WrappedPlan, tty: &Path) -> io::Result<Start> {
    let mut env: std::collections::BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    for name in &plan.env_remove {
        env.remove(OsStr::new(name));
    }
    env.extend(plan.env.iter().map(|(k, v)| (k.into(), v.clone())));
    if let Some(editor) = &plan.editor {
        env.extend(editor.env()?.into_iter().map(|(k, v)| (k.into(), v)));
    }
    let mut pairs = Vec::with_capacity(env.len());
    for (mut name, value) in env {
        name.push("=");
        name.push(value);
        pairs.push(c_string(&name)?);
    }
    let args = std::iter::once(plan.program.as_os_str()).chain(plan.args.iter().map(|a| &**a));
    Ok(Start {
        program: c_string(plan.program.as_os_str())?,
        args: args.map(c_string).collect::<io::Result<_>>()?,
        env: pairs,
        cwd: c_string(plan.cwd.as_os_str())?,
        stdin: plan.stdin.as_ref().map(|path| c_string(path.as_os_str())).transpose()?,
        tty: c_string(tty.as_os_str())?,
    })
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| {
        io::Error::new(io::ErrorKind::InvalidInput, "a NUL byte in an argument or a variable")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_the_engines_or_128_and_the_signal() {
        let code = |code, signal| {
            let end = EngineEnd { code, signal };
            let (notes, undone) = (Vec::new(), Vec::new());
            WrappedOutcome { end, forwarded: None, notes, undone, gate_done: true }.exit_code()
        };
        assert_eq!(code(Some(0), None), 0);
        assert_eq!(code(Some(42), None), 42);
        assert_eq!(code(None, Some(9)), 137);
    }
}
