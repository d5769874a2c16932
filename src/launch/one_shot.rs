//! One-shot: the engine on pipes. One loop over a closed set of events: output, input, signals, the
//! end of the process, the clock. Bytes for the user pass unchanged and unheld.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg, raise};
use nix::unistd::Pid;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use super::answer_writer::{AnswerWriter, Step};
use super::engine_pipe;
use super::notice::Notice;
use super::plan::{LaunchPlan, StdinPlan};
use super::strays::Strays;
use super::watcher::Watcher;
use crate::engines::{Action, Dialogue, EngineEnd, Verdict};

/// From the first polite signal to SIGKILL. The slowest engine needs about 3 s to end well.
const ESCALATION: Duration = Duration::from_secs(5);
/// How long output may keep coming after the engine's end, from a grandchild that holds the pipes.
const DRAIN: Duration = Duration::from_millis(500);
/// How long an engine may linger after its turn is over (seen: builds that hang after the result).
const LINGER: Duration = Duration::from_secs(10);
/// Bytes read at once.
const CHUNK: usize = 64 << 10;
/// Bytes of the end of stderr that are kept: some lines.
const STDERR_KEPT: usize = 4 << 10;
/// The most bytes that wait for a slow reader of our stdout before the engine's is left unread.
const BACKLOG: usize = 1 << 20;

/// How a run is watched.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Ends the whole process group after this time.
    pub timeout: Option<Duration>,
    /// What becomes of the answer on the user's stdout.
    pub answer: AnswerWay,
    /// The end of what the engine says on stderr is kept for [`Outcome::stderr_end`].
    pub keeps_stderr: bool,
}

/// The answer's way to the user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AnswerWay {
    /// As it is.
    #[default]
    Plain,
    /// Kept back: `--output json` prints it at the end.
    Held,
    /// One JSON object a piece: `--output stream-json`.
    Events,
}

/// What came of it.
#[derive(Debug)]
pub struct Outcome {
    /// How the process ended.
    pub end: EngineEnd,
    /// The dialogue's view.
    pub verdict: Verdict,
    /// The engine's own session id, if it told it.
    pub engine_session: Option<String>,
    /// The time-out struck.
    pub timed_out: bool,
    /// The first signal that was passed on to the engine.
    pub forwarded: Option<i32>,
    /// What the engine complained of in its events.
    pub complaints: Vec<String>,
    /// How much of an answer it gave, in bytes; 0: it ended before it answered.
    pub answered: u64,
    /// The verdict's reply is only the beginning of the answer.
    pub reply_cut: bool,
    /// The end of its stderr, where that is kept.
    pub stderr_end: Vec<u8>,
}

/// What runs an engine on pipes, once or several times in a row. It listens to signals from its
/// beginning to its end, so that none is lost between two tries.
pub struct OneShot {
    runtime: tokio::runtime::Runtime,
    signals: Signals,
    /// What left a group in any of the tries.
    strays: Option<Strays>,
}

impl OneShot {
    /// Listens to signals from here on. It starts a thread only when an engine is started.
    ///
    /// # Errors
    /// When the system has no descriptor left.
    pub fn new() -> io::Result<OneShot> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let signals = {
            let _inside = runtime.enter();
            Signals::listen()?
        };
        Ok(OneShot { runtime, signals, strays: None })
    }

    /// Starts the engine and stays with it to its end. `notice` is called as things come to be known.
    ///
    /// # Errors
    /// When the process cannot be started.
    pub fn run(
        &mut self,
        plan: &LaunchPlan,
        dialogue: &mut dyn Dialogue,
        limits: Limits,
        watcher: Option<&mut Watcher>,
        notice: &mut dyn FnMut(Notice),
    ) -> io::Result<Outcome> {
        self.strays.get_or_insert_with(Strays::watch);
        let (signals, strays) = (&mut self.signals, self.strays.as_ref());
        let watch = Watch { signals, strays, watcher, notice };
        self.runtime.block_on(drive(watch, plan, dialogue, limits))
    }

    /// Waits between two tries; the number of the signal that ended the wait before its time.
    pub fn pause(&mut self, time: Duration) -> Option<i32> {
        let signals = &mut self.signals;
        self.runtime.block_on(async {
            let until = Instant::now() + time;
            loop {
                tokio::select! {
                    biased;
                    received = signals.next() => match received {
                        Received::Forward(signal) => return Some(signal as i32),
                        Received::Stop => drop(raise(Signal::SIGSTOP)),
                        Received::Child => {}
                    },
                    () = sleep_until(until) => return None,
                }
            }
        })
    }

    /// The end. A blocked write to a stopped reader must not hold the exit.
    pub fn shutdown(self) {
        self.runtime.shutdown_background();
    }
}

fn command(
    plan: &LaunchPlan,
    stdout: Stdio,
    piped_stderr: bool,
) -> io::Result<std::process::Command> {
    let mut command = std::process::Command::new(&plan.program);
    command.args(&plan.args).current_dir(&plan.cwd);
    for name in &plan.env_remove {
        command.env_remove(name);
    }
    command.envs(plan.env.iter().map(|(k, v)| (k, v)));
    command.stdin(match &plan.stdin {
        StdinPlan::Null => Stdio::null(),
        StdinPlan::File(path) => std::fs::File::open(path)?.into(),
        StdinPlan::Dialogue => Stdio::piped(),
    });
    command.stdout(stdout);
    command.stderr(if piped_stderr { Stdio::piped() } else { Stdio::inherit() });
    // A group of its own: a signal reaches the engine with all its children, and only by us.
    command.process_group(0);
    Ok(command)
}

/// The pipes and what waits on them.
struct Pipes {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// For the engine's stdin.
    to_engine: Vec<u8>,
    close_stdin: bool,
    /// For our stdout.
    to_user: Vec<u8>,
    /// The head of a character whose rest has not come, for [`AnswerWay::Events`].
    cut: Vec<u8>,
    /// Our stdout is closed: the rest is let go.
    user_gone: bool,
}

/// What a run listens to, and whom it tells.
struct Watch<'a> {
    signals: &'a mut Signals,
    strays: Option<&'a Strays>,
    watcher: Option<&'a mut Watcher>,
    notice: &'a mut dyn FnMut(Notice),
}

async fn drive(
    watch: Watch<'_>,
    plan: &LaunchPlan,
    dialogue: &mut dyn Dialogue,
    limits: Limits,
) -> io::Result<Outcome> {
    let Watch { signals, strays, watcher, notice } = watch;
    notice(Notice::Starting);
    let piped_stderr = dialogue.wants_stderr() || limits.keeps_stderr;
    let (stdout, engines_end) = engine_pipe::wide()?;
    let command = command(plan, engines_end, piped_stderr)?;
    let mut child: Child = tokio::process::Command::from(command).spawn()?;
    let group = Pid::from_raw(child.id().map_or(0, u32::cast_signed));
    tracing::info!(pid = group.as_raw(), "the engine runs");
    if let Some(watcher) = watcher {
        watcher.guard(group);
    }
    notice(Notice::Started(group));
    let mut pipes = Pipes {
        stdin: child.stdin.take(),
        stdout: Some(ChildStdout::from_std(stdout)?),
        stderr: child.stderr.take(),
        to_engine: Vec::new(),
        close_stdin: false,
        to_user: Vec::new(),
        cut: Vec::new(),
        user_gone: false,
    };
    let mut outcome = Outcome {
        end: EngineEnd { code: None, signal: None },
        verdict: Verdict::default(),
        engine_session: plan.engine_session.clone(),
        timed_out: false,
        forwarded: None,
        complaints: Vec::new(),
        answered: 0,
        reply_cut: false,
        stderr_end: Vec::new(),
    };
    let far = Instant::now() + Duration::from_secs(365 * 24 * 3600);
    let mut timeout_at = limits.timeout.map_or(far, |t| Instant::now() + t);
    let (mut kill_at, mut drain_until, mut linger_until) = (far, far, far);
    let mut exited = false;
    let (mut out_buf, mut err_buf) = (vec![0; CHUNK], vec![0; 4096]);
    let (mut writer, mut user_err) = (AnswerWriter::start(), tokio::io::stderr());
    let mut written = false;

    let mut apply = |actions, pipes: &mut Pipes, outcome: &mut Outcome, linger: &mut Instant| {
        apply(actions, pipes, outcome, limits, linger, notice);
    };
    apply(dialogue.start(), &mut pipes, &mut outcome, &mut linger_until);
    loop {
        let silent = pipes.stdout.is_none() && pipes.stderr.is_none();
        let closed = exited && silent && pipes.to_user.is_empty();
        if closed {
            writer.close();
            // Ended by a signal of the user: a reader that has stopped is not waited for.
            if written || outcome.forwarded.is_some() {
                break;
            }
        }
        if pipes.close_stdin && pipes.to_engine.is_empty() {
            pipes.stdin = None;
        }
        tokio::select! {
            biased;
            number = signals.next() => match number {
                Received::Stop => stop_with(group),
                Received::Child => {
                    if let Some(strays) = strays {
                        strays.reap(group);
                    }
                }
                Received::Forward(signal) => {
                    outcome.forwarded.get_or_insert(signal as i32);
                    let _ = killpg(group, signal);
                    if let Some(strays) = strays {
                        strays.signal(group, signal);
                    }
                    // A second Ctrl-C does not put the end off.
                    kill_at = kill_at.min(Instant::now() + ESCALATION);
                }
            },
            status = child.wait(), if !exited => {
                use std::os::unix::process::ExitStatusExt;
                let status = status?;
                outcome.end = EngineEnd { code: status.code(), signal: status.signal() };
                exited = true;
                pipes.stdin = None;
                (timeout_at, linger_until) = (far, far);
                drain_until = Instant::now() + DRAIN;
            },
            n = read(&mut pipes.stdout, &mut out_buf), if pipes.stdout.is_some() && pipes.to_user.len() < BACKLOG => {
                let actions = match n {
                    Ok(0) | Err(_) => {
                        pipes.stdout = None;
                        dialogue.stdout_end()
                    }
                    Ok(n) => dialogue.stdout(&out_buf[..n]),
                };
                apply(actions, &mut pipes, &mut outcome, &mut linger_until);
                if exited {
                    drain_until = Instant::now() + DRAIN;
                }
            },
            n = read(&mut pipes.stderr, &mut err_buf), if pipes.stderr.is_some() => match n {
                Ok(0) | Err(_) => pipes.stderr = None,
                Ok(n) => {
                    let _ = user_err.write_all(&err_buf[..n]).await;
                    let _ = user_err.flush().await;
                    if limits.keeps_stderr {
                        keep_end(&mut outcome.stderr_end, &err_buf[..n]);
                    }
                    let actions = dialogue.stderr(&err_buf[..n]);
                    apply(actions, &mut pipes, &mut outcome, &mut linger_until);
                }
            },
            step = writer.step(&mut pipes.to_user), if !pipes.to_user.is_empty() || closed => match step {
                Step::Taken => {}
                Step::AllWritten => written = true,
                Step::ReaderGone => {
                    // `| head -1`: a quiet end. The engine learns it by its own closed pipe.
                    pipes.user_gone = true;
                    pipes.to_user.clear();
                    if !dialogue_needs_output(plan) {
                        pipes.stdout = None;
                    }
                }
            },
            sent = write_engine(&mut pipes.stdin, &pipes.to_engine), if pipes.stdin.is_some() && !pipes.to_engine.is_empty() => match sent {
                Ok(n) => drop(pipes.to_engine.drain(..n)),
                Err(_) => {
                    pipes.to_engine.clear();
                    pipes.stdin = None;
                }
            },
            () = sleep_until(timeout_at), if timeout_at != far => {
                outcome.timed_out = true;
                let _ = killpg(group, Signal::SIGTERM);
                if let Some(strays) = strays {
                    strays.signal(group, Signal::SIGTERM);
                }
                timeout_at = far;
                kill_at = kill_at.min(Instant::now() + ESCALATION);
            },
            () = sleep_until(linger_until), if linger_until != far => {
                let _ = killpg(group, Signal::SIGTERM);
                linger_until = far;
                kill_at = kill_at.min(Instant::now() + ESCALATION);
            },
            () = sleep_until(kill_at), if kill_at != far => {
                let _ = killpg(group, Signal::SIGKILL);
                kill_at = far;
            },
            // Only while output is read at all: behind a slow reader its tail still waits.
            () = sleep_until(drain_until), if drain_until != far && pipes.to_user.len() < BACKLOG => {
                (pipes.stdout, pipes.stderr) = (None, None);
                apply(dialogue.stdout_end(), &mut pipes, &mut outcome, &mut linger_until);
                drain_until = far;
            },
        }
    }
    if outcome.timed_out || outcome.forwarded.is_some() {
        // Children that ignored the polite signal do not outlive the run.
        let _ = killpg(group, Signal::SIGKILL);
        if let Some(strays) = strays {
            strays.end(group);
        }
    }
    outcome.reply_cut = dialogue.is_reply_cut();
    outcome.verdict = dialogue.verdict(outcome.end);
    Ok(outcome)
}

fn keep_end(kept: &mut Vec<u8>, more: &[u8]) {
    kept.extend_from_slice(more);
    let over = kept.len().saturating_sub(STDERR_KEPT);
    kept.drain(..over);
}

fn dialogue_needs_output(plan: &LaunchPlan) -> bool {
    plan.stdin == StdinPlan::Dialogue
}

fn apply(
    actions: Vec<Action>,
    pipes: &mut Pipes,
    outcome: &mut Outcome,
    limits: Limits,
    linger_until: &mut Instant,
    notice: &mut dyn FnMut(Notice),
) {
    for action in actions {
        match action {
            Action::Answer(bytes) => {
                outcome.answered += bytes.len() as u64;
                if !bytes.is_empty() {
                    notice(Notice::Accepted("the engine began to answer"));
                }
                if pipes.user_gone {
                    continue;
                }
                match limits.answer {
                    AnswerWay::Plain => pipes.to_user.extend_from_slice(&bytes),
                    AnswerWay::Held => {}
                    AnswerWay::Events => {
                        let event = text_event(&mut pipes.cut, bytes);
                        pipes.to_user.extend_from_slice(&event);
                    }
                }
            }
            Action::Send(bytes) => pipes.to_engine.extend_from_slice(&bytes),
            Action::CloseStdin => pipes.close_stdin = true,
            Action::Session(id) => {
                notice(Notice::Session(id.clone()));
                outcome.engine_session = Some(id);
            }
            Action::Complaint(text) => outcome.complaints.push(text),
            Action::Done => *linger_until = Instant::now() + LINGER,
        }
    }
}

/// A piece of the answer as one line. A character cut in two waits for its rest.
fn text_event(cut: &mut Vec<u8>, bytes: Vec<u8>) -> Vec<u8> {
    cut.extend(bytes);
    let whole = match std::str::from_utf8(cut) {
        Ok(_) => cut.len(),
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => cut.len(),
    };
    let piece: Vec<u8> = cut.drain(..whole).collect();
    if piece.is_empty() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(&piece);
    format!("{}\n", serde_json::json!({"type": "text", "text": text})).into_bytes()
}

async fn read<R: AsyncReadExt + Unpin>(from: &mut Option<R>, buf: &mut [u8]) -> io::Result<usize> {
    match from {
        Some(from) => from.read(buf).await,
        None => std::future::pending().await,
    }
}

async fn write_engine(to: &mut Option<ChildStdin>, bytes: &[u8]) -> io::Result<usize> {
    match to {
        Some(to) => to.write(bytes).await,
        None => std::future::pending().await,
    }
}

/// Ctrl-Z: the engine's group stops, then this process; `fg` or `bg` continues both.
fn stop_with(group: Pid) {
    let _ = killpg(group, Signal::SIGSTOP);
    let _ = raise(Signal::SIGSTOP);
    let _ = killpg(group, Signal::SIGCONT);
}

enum Received {
    Forward(Signal),
    Stop,
    /// A child has ended: the engine or, with a time-out, an orphan of its.
    Child,
}

/// The signals that are passed on. One that was ignored when omni-run started (`nohup`, a job in the
/// background of a script) stays ignored, here and in the engine.
struct Signals {
    hangup: Option<tokio::signal::unix::Signal>,
    interrupt: Option<tokio::signal::unix::Signal>,
    terminate: Option<tokio::signal::unix::Signal>,
    quit: Option<tokio::signal::unix::Signal>,
    stop: Option<tokio::signal::unix::Signal>,
    child: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    fn listen() -> io::Result<Signals> {
        Ok(Signals {
            hangup: unless_ignored(Signal::SIGHUP)?,
            interrupt: unless_ignored(Signal::SIGINT)?,
            terminate: unless_ignored(Signal::SIGTERM)?,
            quit: unless_ignored(Signal::SIGQUIT)?,
            stop: unless_ignored(Signal::SIGTSTP)?,
            child: unless_ignored(Signal::SIGCHLD)?,
        })
    }

    async fn next(&mut self) -> Received {
        tokio::select! {
            () = received(&mut self.hangup) => Received::Forward(Signal::SIGHUP),
            () = received(&mut self.interrupt) => Received::Forward(Signal::SIGINT),
            () = received(&mut self.terminate) => Received::Forward(Signal::SIGTERM),
            () = received(&mut self.quit) => Received::Forward(Signal::SIGQUIT),
            () = received(&mut self.stop) => Received::Stop,
            () = received(&mut self.child) => Received::Child,
        }
    }
}

/// The signal, unless it was ignored when omni-run started (`nohup`).
pub(crate) fn unless_ignored(number: Signal) -> io::Result<Option<tokio::signal::unix::Signal>> {
    if is_ignored(number) {
        return Ok(None);
    }
    signal(SignalKind::from_raw(number as i32)).map(Some)
}

fn is_ignored(number: Signal) -> bool {
    let mut old = std::mem::MaybeUninit::<nix::libc::sigaction>::zeroed();
    // SAFETY: asks for the disposition only; `old` is written when the call succeeds.
    #[expect(unsafe_code)]
    unsafe {
        nix::libc::sigaction(number as i32, std::ptr::null(), old.as_mut_ptr()) == 0
            && old.assume_init().sa_sigaction == nix::libc::SIG_IGN
    }
}

pub(crate) async fn received(signal: &mut Option<tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
