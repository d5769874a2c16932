//! What a person does in a real engine's interface besides typing a message: a shell line or the
//! trust dialog first, docs of 400 KB, recall from the history, leaving; and an engine that is
//! killed. Asserted on the recorded request, the stored display text and the terminal.

use std::fs;

use crate::pty_driver::{Ended, PtyDriver};
use crate::support::home::write;
use crate::support::run;
use crate::tui::{Bed, end};

const DOC: &str = "Short words.\n";

/// The first message of a session that is open: on the wire with the block, stored without.
fn first_message(bed: &Bed, term: &mut PtyDriver, block: &str, text: &str) {
    bed.submit(term, text);
    bed.requests(term, 1);
    bed.model.main_requests()[0].wire().assert_block_once(block, text);
    term.wait_for_quiet();
    end(term);
    assert_eq!(bed.stored(), [text]);
}

/// `!echo x` runs as a shell line, with nothing before it, and does not use the message up.
fn shell_line_first(id: &str) {
    let Some(bed) = Bed::new(id, DOC) else { return };
    let block = bed.block();
    let mut term = bed.start(&[]);
    bed.ready(&term);
    // The key that changes the mode, then the line, then Enter. The sum is not what was typed.
    term.send("!");
    term.wait_for_quiet();
    term.send("echo out-$((40+2))");
    term.wait_for_quiet();
    term.send("\r");
    term.wait_for("out-42");
    term.wait_for_quiet();
    assert!(!term.screen().contains(DOC.trim()), "the docs in a shell line:\n{}", term.screen());
    // Claude Code tells the model of the shell line at once: that is no message of the person's.
    let told = usize::from(id == "claude");
    bed.requests(&term, told);
    term.wait_for_quiet();
    let requests = bed.model.main_requests();
    assert_eq!(requests.len(), told, "requests for the shell line");
    for request in requests {
        let text = request.wire().user_text();
        assert!(text.contains("<bash-input>echo out-$((40+2))</bash-input>"), "{text}");
        request.wire().assert_absent(&block);
    }
    let text = "the message after it";
    bed.submit(&mut term, text);
    bed.requests(&term, told + 1);
    bed.model.main_requests()[told].wire().assert_block_once(&block, text);
    term.wait_for_quiet();
    end(&mut term);
    assert_eq!(bed.stored(), [text]);
}

/// The person answers the trust dialog with `keys`.
fn trust_dialog_first(id: &str, dialog: &str, keys: &[&str]) {
    let Some(bed) = Bed::new(id, DOC) else { return };
    distrust(&bed);
    let block = bed.block();
    let mut term = bed.start(&[]);
    term.wait_for(dialog);
    term.wait_for_quiet();
    for key in keys {
        term.send(key);
        term.wait_for_quiet();
    }
    term.wait_until("end of the dialog", |screen, _| !screen.contains(dialog));
    bed.ready(&term);
    first_message(&bed, &mut term, &block, "the message after the dialog");
}

/// Takes the trust back that the test bed gives.
fn distrust(bed: &Bed) {
    let home = bed.home.home();
    if bed.engine.omni_id() == "claude" {
        write(home.join(".claude-config/.claude.json"), r#"{"hasCompletedOnboarding":true}"#);
    } else {
        // It asks in repositories only.
        let mut git = bed.home.command("git");
        run(git.args(["init", "-q"]).current_dir(&bed.project), "").expect_success();
        let path = home.join(".codex/config.toml");
        let config = fs::read_to_string(&path).expect("config.toml");
        let (config, _trusted) = config.split_once("\n[projects.").expect("trusted projects");
        write(&path, config);
    }
}

fn large(id: &str) {
    let line = "words of a large doc, 世界, 0123456789\n";
    let doc = format!("HEAD-MARK\n{}TAIL-MARK\n", line.repeat(400_000 / line.len()));
    let Some(bed) = Bed::new(id, &doc) else { return };
    let window = format!("[{}]\ndefault-window = 2000000\nwindows = []\n", bed.engine.omni_id());
    write(bed.home.config().join("omni-run/engines.toml"), window);
    let block = bed.block();
    assert!(block.len() > 390_000, "the doc is not skipped: {} bytes", block.len());
    let mut term = bed.start(&[]);
    bed.ready(&term);
    first_message(&bed, &mut term, &block, "how long is it?");
}

/// The person leaves by the engine's own keys, after a message or without one.
fn quit(id: &str, keys: &[&str]) {
    let Some(bed) = Bed::new(id, DOC) else { return };
    let block = bed.block();
    for with_message in [false, true] {
        let mut term = bed.start(&[]);
        bed.ready(&term);
        if with_message {
            bed.submit(&mut term, "hello there");
            bed.requests(&term, 1);
            bed.model.main_requests()[0].wire().assert_block_once(&block, "hello there");
            term.wait_for_quiet();
        }
        for key in keys {
            term.send(key);
            // Two Ctrl-C belong together; a line and its Enter do not.
            if *key != "\x03" {
                term.wait_for_quiet();
            }
        }
        assert_eq!(term.wait_for_end(), Ended { code: Some(0), signal: None });
        term.wait_for_silence();
        assert_eq!(term.modes_left_on(), Vec::<String>::new());
        assert!(term.is_cooked());
    }
    assert_eq!(bed.stored(), ["hello there"]);
}

/// The first message of a new session is called up from the history of the one before.
fn recalled(id: &str) {
    let Some(bed) = Bed::new(id, DOC) else { return };
    let block = bed.block();
    for round in 1..=2 {
        let mut term = bed.start(&[]);
        bed.ready(&term);
        if round == 1 {
            bed.submit(&mut term, "say it again");
        } else {
            term.send("\x1b[A");
            term.wait_for("say it again");
            term.wait_for_quiet();
            term.send("\r");
        }
        bed.requests(&term, round);
        let wire = bed.model.main_requests()[round - 1].wire();
        wire.assert_block_once(&block, "say it again");
        term.wait_for_quiet();
        end(&mut term);
    }
    assert_eq!(bed.stored(), ["say it again", "say it again"]);
}

macro_rules! cases {
    ($($name:ident: $case:expr;)+) => {
        $(#[test]
        fn $name() {
            $case;
        })+
    };
}

cases! {
    shell_line_first_claude: shell_line_first("claude");
    shell_line_first_codex: shell_line_first("codex");
    trust_dialog_first_claude: trust_dialog_first("claude", "Quick safety check", &["\x1b[A", "\r"]);
    trust_dialog_first_claude_2_1_197:
        trust_dialog_first("claude-2.1.197", "Quick safety check", &["\r"]);
    trust_dialog_first_codex: trust_dialog_first("codex", "Trust this folder?", &["\r"]);
    large_docs_claude: large("claude");
    large_docs_codex: large("codex");
    large_docs_pi: large("pi");
    quit_by_command_claude: quit("claude", &["/exit", "\r"]);
    quit_by_command_codex: quit("codex", &["/quit", "\r"]);
    quit_by_command_pi: quit("pi", &["/quit", "\r"]);
    quit_by_ctrl_c_claude: quit("claude", &["\x03", "\x03"]);
    quit_by_ctrl_c_pi: quit("pi", &["\x03", "\x03"]);
    quit_by_ctrl_d_codex: quit("codex", &["\x04"]);
    recalled_from_history_claude: recalled("claude");
}

/// Finds processes by `/proc`.
#[cfg(target_os = "linux")]
mod killed {
    use std::os::unix::ffi::OsStrExt;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    use super::*;

    /// The processes of this test's engine: they have its home, and are not omni-run. Parents first.
    fn engine_processes(bed: &Bed) -> Vec<i32> {
        let home = [b"HOME=", bed.home.home().as_os_str().as_bytes()].concat();
        let is_engine = |pid: &i32| {
            let env = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let Ok(exe) = fs::read_link(format!("/proc/{pid}/exe")) else { return false };
            env.split(|b| *b == 0).any(|v| v == home) && !exe.ends_with("omni-run")
        };
        let names = fs::read_dir("/proc")
            .expect("/proc")
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let mut pids: Vec<i32> = names.filter(is_engine).collect();
        pids.sort_unstable();
        pids
    }

    /// The engine dies by SIGKILL, with all its modes on.
    fn killed(id: &str) {
        let Some(bed) = Bed::new(id, DOC) else { return };
        let _turn = bed.engine.turn();
        let mut term = bed.start(&[]);
        bed.ready(&term);
        assert!(!term.is_cooked(), "the engine has the terminal in raw mode");
        let pids = engine_processes(&bed);
        assert!(!pids.is_empty(), "no engine process");
        for pid in pids {
            // One may have gone with its parent.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        assert_eq!(term.wait_for_end(), Ended { code: Some(137), signal: None });
        term.wait_for_silence();
        assert_eq!(term.modes_left_on(), Vec::<String>::new());
        assert!(term.is_cooked());
    }

    cases! {
        claude: killed("claude");
        codex: killed("codex");
        gemini: killed("gemini");
    }
}
