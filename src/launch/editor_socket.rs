//! The external editor's way to the gate. The engine runs our helper as its editor; the helper sends
//! the composer's text over a socket in the 0700 run folder and does what it is answered. Without an
//! answer, for whatever reason, the user's own editor runs: he may have asked for it.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::PollFlags;

use super::gate::EditorReply;

/// The hidden subcommand of the helper.
pub const EDITOR_SUBCOMMAND: &str = "__editor";
/// Names the socket.
pub const SOCKET_VARIABLE: &str = "OMNI_RUN_EDITOR_SOCKET";
/// The user's own editor, as `VISUAL` or `EDITOR` had it.
pub const USER_EDITOR_VARIABLE: &str = "OMNI_RUN_USER_EDITOR";
/// The gate answers at once; if it does not within this time, something is wrong and the user's
/// editor must not be held up longer.
const ANSWER_TIME: Duration = Duration::from_secs(5);
/// A composer's text is at most some hundred KB; in bytes.
const MOST: u32 = 64 << 20;

/// How the helper is called and where it finds its socket.
#[derive(Debug, Clone)]
pub struct EditorPlan {
    /// The run folder.
    pub run_dir: PathBuf,
    /// omni-run itself.
    pub program: PathBuf,
    /// The user's own `VISUAL`, else `EDITOR`.
    pub user_editor: Option<OsString>,
}

impl EditorPlan {
    fn socket(&self) -> PathBuf {
        self.run_dir.join("editor.sock")
    }

    /// The variables that the engine gets. Engines cut the value at spaces in ways of their own, so a
    /// path with anything odd in it is reached by a link.
    pub(super) fn env(&self) -> io::Result<Vec<(String, OsString)>> {
        let plain = |path: &Path| {
            path.as_os_str()
                .as_bytes()
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || b"/._-+".contains(b))
        };
        let program = if plain(&self.program) {
            self.program.clone()
        } else {
            let link = self.run_dir.join("omni-run");
            std::os::unix::fs::symlink(&self.program, &link)?;
            link
        };
        let mut command = program.into_os_string();
        command.push(" ");
        command.push(EDITOR_SUBCOMMAND);
        let mut env = vec![
            ("VISUAL".to_owned(), command.clone()),
            ("EDITOR".to_owned(), command),
            (SOCKET_VARIABLE.to_owned(), self.socket().into_os_string()),
        ];
        env.extend(self.user_editor.clone().map(|e| (USER_EDITOR_VARIABLE.to_owned(), e)));
        Ok(env)
    }
}

/// What the socket tells the loop.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EditorEvent {
    /// A helper waits for an answer to this text.
    Called(String),
    /// It (or the user's editor in its place) has ended.
    Returned,
    /// Nothing to pass on.
    Nothing,
}

/// The listening end: one call at a time.
pub(super) struct EditorSocket {
    listener: UnixListener,
    call: Option<Call>,
}

struct Call {
    stream: UnixStream,
    text: Vec<u8>,
    asked: bool,
    reply: Vec<u8>,
}

impl EditorSocket {
    /// Starts to listen.
    ///
    /// # Errors
    /// When the run folder takes no socket.
    pub(super) fn listen(plan: &EditorPlan) -> io::Result<EditorSocket> {
        let listener = UnixListener::bind(plan.socket())?;
        listener.set_nonblocking(true)?;
        Ok(EditorSocket { listener, call: None })
    }

    /// What to wait for before [`EditorSocket::next`] is called.
    pub(super) fn waits(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        let call = self.call.as_ref().map(|call| {
            let mut flags = PollFlags::POLLIN;
            flags.set(PollFlags::POLLOUT, !call.reply.is_empty());
            (call.stream.as_fd(), flags)
        });
        [(self.listener.as_fd(), PollFlags::POLLIN)].into_iter().chain(call)
    }

    /// What has happened; waits for nothing.
    pub(super) fn next(&mut self) -> EditorEvent {
        if let Some(call) = &mut self.call {
            call.write();
            let event = call.read();
            if event == EditorEvent::Returned {
                self.call = None;
            }
            if event != EditorEvent::Nothing {
                return event;
            }
        }
        let Ok((mut stream, _)) = self.listener.accept() else { return EditorEvent::Nothing };
        if stream.set_nonblocking(true).is_err() {
            return EditorEvent::Nothing;
        }
        if self.call.is_some() {
            // A second one while the first lasts: an editor inside the editor. Never the gate's.
            let _ = stream.write(&frame(&EditorReply::RunUsersEditor));
        } else {
            self.call = Some(Call { stream, text: Vec::new(), asked: false, reply: Vec::new() });
        }
        EditorEvent::Nothing
    }

    /// Answers the waiting helper; without one, nothing happens.
    pub(super) fn reply(&mut self, reply: &EditorReply) {
        if let Some(call) = &mut self.call {
            call.reply.extend(frame(reply));
        }
    }
}

impl Call {
    /// Sends as much of the answer as the helper takes now.
    fn write(&mut self) {
        if !self.reply.is_empty()
            && let Ok(n) = self.stream.write(&self.reply)
        {
            self.reply.drain(..n);
        }
    }

    fn read(&mut self) -> EditorEvent {
        let mut buf = [0; 16 << 10];
        match self.stream.read(&mut buf) {
            Err(e) if is_for_later(&e) => return EditorEvent::Nothing,
            Ok(n) if n > 0 => self.text.extend_from_slice(&buf[..n]),
            _ => return EditorEvent::Returned,
        }
        let Some((len, text)) = self.text.split_first_chunk::<4>() else {
            return EditorEvent::Nothing;
        };
        let len = u32::from_le_bytes(*len);
        if self.asked || len > MOST || text.len() < len as usize {
            return EditorEvent::Nothing;
        }
        self.asked = true;
        match std::str::from_utf8(text) {
            Ok(text) => EditorEvent::Called(text.to_owned()),
            // No composer holds this.
            Err(_) => {
                self.reply = frame(&EditorReply::RunUsersEditor);
                EditorEvent::Nothing
            }
        }
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn frame(reply: &EditorReply) -> Vec<u8> {
    let (tag, text) = match reply {
        EditorReply::RunUsersEditor => (b'R', ""),
        EditorReply::Write(text) => (b'W', text.as_str()),
        EditorReply::Leave => (b'L', ""),
    };
    let len = u32::try_from(text.len()).unwrap_or(0).to_le_bytes();
    [&[tag], len.as_slice(), text.as_bytes()].concat()
}

/// The helper: `omni-run __editor FILE`. Prints nothing.
pub fn helper_main(args: &[OsString]) -> ExitCode {
    // Some engines pass options such as `+LINE` before the file.
    let Some(file) = args.last() else { return ExitCode::from(2) };
    let mut held = None;
    match ask(Path::new(file), &mut held) {
        Ok(EditorReply::Leave) => ExitCode::SUCCESS,
        // In place: the engine may watch the file or know it by its inode.
        Ok(EditorReply::Write(text)) => match std::fs::write(file, text) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Ok(EditorReply::RunUsersEditor) | Err(_) => {
            if let Some(stream) = &held {
                // Open across exec: its end tells that the user's editor has ended.
                let _ = fcntl(stream.as_fd(), FcntlArg::F_SETFD(FdFlag::empty()));
            }
            let _ = users_editor(args).exec();
            ExitCode::from(127)
        }
    }
}

fn ask(file: &Path, held: &mut Option<UnixStream>) -> io::Result<EditorReply> {
    let socket = std::env::var_os(SOCKET_VARIABLE).ok_or(io::ErrorKind::NotFound)?;
    let text = std::fs::read(file).or_else(|e| match e.kind() {
        io::ErrorKind::NotFound => Ok(Vec::new()),
        _ => Err(e),
    })?;
    let stream = held.insert(UnixStream::connect(socket)?);
    stream.set_read_timeout(Some(ANSWER_TIME))?;
    stream.set_write_timeout(Some(ANSWER_TIME))?;
    stream.write_all(&u32::try_from(text.len()).map_err(io::Error::other)?.to_le_bytes())?;
    stream.write_all(&text)?;
    let mut head = [0; 5];
    stream.read_exact(&mut head)?;
    let len = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
    if len > MOST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut text = vec![0; len as usize];
    stream.read_exact(&mut text)?;
    Ok(match head[0] {
        b'W' => EditorReply::Write(String::from_utf8(text).map_err(io::Error::other)?),
        b'L' => EditorReply::Leave,
        _ => EditorReply::RunUsersEditor,
    })
}

/// As git runs an editor: the value is a shell's command, the file its argument. The user's own text,
/// never ours or the engine's.
fn users_editor(args: &[OsString]) -> Command {
    let editor = std::env::var_os(USER_EDITOR_VARIABLE).filter(|e| !e.is_empty());
    let editor = editor.unwrap_or_else(|| OsStr::new("vi").to_owned());
    let mut script = editor.clone();
    script.push(" \"$@\"");
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script).arg(&editor).args(args);
    // What the user's editor starts is not to come back to us.
    command.env("VISUAL", &editor).env("EDITOR", &editor);
    command.env_remove(SOCKET_VARIABLE).env_remove(USER_EDITOR_VARIABLE);
    command
}
