//! Two sessions of a person with each engine. The first: a command, a shell line, the message, one more
//! while the engine still works, and the engine's own way out. The second, with other docs, of
//! 400 KB: a message called up from the history, and the engine is killed.

use crate::pty_driver::{Key, Kind, PtyDriver};
use crate::support::home::write;
use crate::tui_bed::{Bed, Shell, a_moment, long_doc, shown, shown_now};

const MESSAGE: &str = "the message after them";
const WHILE_BUSY: &str = "and one while it works";
/// Its result is not what was typed.
const SHELL_LINE: &str = "echo out-$((40+2))";

/// What the second session's first message is.
enum Second {
    /// What the first one's was, from the history that the engine keeps.
    Recalled,
    /// Of a session without omni-run: this engine is told to keep none of ours.
    RecalledPlain,
    /// The engine keeps none: it is typed. The shell line of the same session is called up instead
    /// and made a message of.
    Typed,
}

fn life(id: &str, second: Second) {
    let Some(bed) = Bed::new(id, "Short words.\n") else { return };
    let _turn = bed.engine.turn();
    bed.widen();
    let mut expected = vec![first_session(&bed, &second)];
    bed.set_doc(&long_doc(400_000));
    let bed = bed.at(Kind::Kitty);
    expected.insert(0, second_session(&bed, &second, &expected[0]));
    assert_eq!(bed.stored(), expected);
}

/// Gives the first message, which is stored.
fn first_session(bed: &Bed, second: &Second) -> String {
    let block = bed.block();
    let mut term = bed.open();
    command(bed, &mut term);
    let told = shell_line(bed, &mut term, &block);
    let message = match (bed.ways.shell, second) {
        // That was the message.
        (Shell::IsMessage, _) => {
            bed.model.hold();
            term.press([Key::Enter]);
            format!("!{SHELL_LINE}")
        }
        (_, Second::Typed) => {
            bed.model.hold();
            recalled_shell_line(&mut term);
            SHELL_LINE.to_owned()
        }
        // The engine works, on the shell line that it has told the model of.
        _ if told > 0 => {
            submit_while_busy(&mut term, MESSAGE);
            bed.model.release();
            MESSAGE.to_owned()
        }
        (_, Second::Recalled | Second::RecalledPlain) => {
            bed.model.hold();
            bed.submit(&mut term, MESSAGE);
            MESSAGE.to_owned()
        }
    };
    bed.request(&term, told + 1).assert_block_once(&block, &message);
    submit_while_busy(&mut term, WHILE_BUSY);
    bed.model.release();
    let wire = bed.request_with(&term, WHILE_BUSY);
    wire.assert_display_once(WHILE_BUSY);
    wire.assert_block_once(&block, &message);
    bed.answered(&term);
    bed.quit(&mut term);
    assert_eq!(bed.stored(), [message.as_str()]);
    message
}

/// Types and sends while the engine works and does not rest.
fn submit_while_busy(term: &mut PtyDriver, text: &str) {
    term.type_text(text);
    shown_now(term, text);
    a_moment();
    term.press([Key::Enter]);
}

/// A command runs as a command.
fn command(bed: &Bed, term: &mut PtyDriver) {
    let (command, shows) = bed.ways.command;
    bed.submit(term, command);
    shown(term, shows);
    if bed.ways.command_opens {
        term.press([Key::Escape]);
        term.wait_until("end of what it opened", |screen, _| !screen.contains(shows));
        term.wait_for_quiet();
    }
}

/// `!echo …` runs as a shell line with nothing before it, where the engine knows such lines; else it
/// stands typed. Gives how many requests it made.
fn shell_line(bed: &Bed, term: &mut PtyDriver, block: &str) -> usize {
    // The key that changes the mode, then the line.
    term.press([Key::Char('!')]);
    term.wait_for_quiet();
    bed.type_line(term, SHELL_LINE);
    if bed.ways.shell == Shell::IsMessage {
        return 0;
    }
    let told = usize::from(bed.ways.shell == Shell::RunsAndTells);
    if told > 0 {
        bed.model.hold();
    }
    term.press([Key::Enter]);
    if bed.ways.shell == Shell::RunsWhenAllowed {
        shown(term, "Allow local shell commands");
        term.press([Key::Down]);
        shown(term, "→ Yes");
        term.press([Key::Enter]);
    }
    shown_now(term, "out-42");
    if told > 0 {
        bed.request(term, told);
    } else {
        term.wait_for_quiet();
    }
    let requests = bed.model.main_requests();
    assert_eq!(requests.len(), told, "requests for the shell line");
    for request in requests {
        let text = request.wire().user_text();
        assert!(text.contains(&format!("<bash-input>{SHELL_LINE}</bash-input>")), "{text}");
        request.wire().assert_absent(block);
    }
    if bed.engine.id == "gemini" {
        // Its shell mode stays on.
        term.press([Key::Escape]);
        bed.ready(term);
    }
    told
}

/// The shell line comes back, loses its `!`, and is sent.
fn recalled_shell_line(term: &mut PtyDriver) {
    term.press([Key::Up]);
    shown(term, &format!("!{SHELL_LINE}"));
    term.press([Key::Ctrl('a'), Key::Delete]);
    term.wait_for_quiet();
    term.press([Key::Enter]);
}

/// Gives the first message.
fn second_session(bed: &Bed, second: &Second, earlier: &str) -> String {
    let block = bed.block();
    assert!(block.len() > 390_000, "the doc is not skipped: {} bytes", block.len());
    let before = bed.model.main_requests().len();
    let plain = "from a session without omni-run";
    if matches!(second, Second::RecalledPlain) {
        let line = serde_json::json!({"session_id": "0", "ts": 1_764_000_000, "text": plain});
        write(bed.home.home().join(".codex/history.jsonl"), format!("{line}\n"));
    }
    let mut term = bed.open();
    let message = match second {
        Second::Recalled => recall(&mut term, earlier),
        Second::RecalledPlain => recall(&mut term, plain),
        Second::Typed => {
            bed.type_line(&mut term, "how long is it?");
            "how long is it?"
        }
    };
    term.press([Key::Enter]);
    bed.request(&term, before + 1).assert_block_once(&block, message);
    bed.answered(&term);
    // Which processes are the engine's is known on Linux only.
    #[cfg(target_os = "linux")]
    kill::the_engine(&bed.home, &mut term);
    #[cfg(not(target_os = "linux"))]
    crate::tui_bed::end(&mut term);
    message.to_owned()
}

/// Calls a text up that was sent some messages ago. A busy machine shows a key late: one more Up before
/// that would go past the text.
fn recall<'t>(term: &mut PtyDriver, text: &'t str) -> &'t str {
    for _ in 0..8 {
        let before = term.screen();
        term.press([Key::Up]);
        term.wait_until("what Up calls up", |screen, _| screen != before);
        term.wait_for_quiet();
        if term.screen().contains(text) {
            return text;
        }
    }
    panic!("{text:?} is not in the history; the screen:\n{}", term.screen());
}

macro_rules! lives {
    ($($name:ident: $id:literal, $second:expr;)+) => {
        $(#[test]
        fn $name() {
            life($id, $second);
        })+
    };
}

lives! {
    claude: "claude", Second::Recalled;
    claude_2_1_197: "claude-2.1.197", Second::Recalled;
    codex: "codex", Second::RecalledPlain;
    gemini: "gemini", Second::Recalled;
    pi: "pi", Second::Typed;
    openclaw: "openclaw", Second::Typed;
    opencode: "opencode", Second::Recalled;
    hermes: "hermes", Second::Recalled;
}

/// Finds processes by `/proc`.
#[cfg(target_os = "linux")]
pub(crate) mod kill {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    use crate::pty_driver::{Ended, PtyDriver};
    use crate::support::TestHome;
    use crate::tui_bed::wait_until;

    /// The processes of a test's engine: they have its home, and are not omni-run.
    pub(crate) fn processes(home: &TestHome) -> Vec<i32> {
        let home = [b"HOME=", home.home().as_os_str().as_bytes()].concat();
        let is_engine = |pid: &i32| {
            let env = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let Ok(exe) = fs::read_link(format!("/proc/{pid}/exe")) else { return false };
            env.split(|b| *b == 0).any(|v| v == home) && !exe.ends_with("omni-run")
        };
        let names = fs::read_dir("/proc").expect("/proc");
        names
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(is_engine)
            .collect()
    }

    fn parent(pid: i32) -> Option<i32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    }

    /// The one that omni-run started dies by SIGKILL, with all its modes on. Its children, which nobody
    /// kills, do not outlive it.
    #[track_caller]
    pub(crate) fn the_engine(home: &TestHome, term: &mut PtyDriver) {
        assert!(!term.is_cooked(), "the engine has the terminal in raw mode");
        let pids = processes(home);
        let is_first = |pid: &&i32| parent(**pid).is_some_and(|parent| !pids.contains(&parent));
        let first: Vec<_> = pids.iter().filter(is_first).collect();
        assert_eq!(first.len(), 1, "one process has no engine's process as its parent: {pids:?}");
        kill(Pid::from_raw(*first[0]), Signal::SIGKILL).expect("kill");
        assert_eq!(term.wait_for_end(), Ended { code: Some(137), signal: None });
        term.wait_until_as_before();
        none_is_left(home);
    }

    /// Waits for the end of the engine's processes.
    #[track_caller]
    pub(crate) fn none_is_left(home: &TestHome) {
        wait_until("the end of the engine's processes", || processes(home).is_empty());
    }
}
