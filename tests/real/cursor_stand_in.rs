//! The stand-in for Cursor's CLI keeps to the rules that the adapter is built on. This says
//! nothing about the real Cursor, which could not be run.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Finished, TestHome, run};

fn cursor(home: &TestHome) -> Command {
    home.set_env("FAKE_CURSOR_LOG", home.root().join("log"));
    home.command(env!("CARGO_BIN_EXE_fake-cursor-agent"))
}

fn log(home: &TestHome) -> Vec<Value> {
    let text = std::fs::read_to_string(home.root().join("log")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("log line")).collect()
}

fn print(home: &TestHome, args: &[&str], stdin: &str) -> Finished {
    run(cursor(home).args(args), stdin)
}

#[test]
fn stdin_is_the_prompt_only_without_a_positional() {
    let home = TestHome::new();
    let long = format!("- {}\n", "docs 世界.".repeat(50_000));
    let args = ["-p", "--output-format", "stream-json", "--trust"];
    let finished = print(&home, &args, &long).expect_success();
    let events: Vec<Value> =
        finished.stdout.lines().map(|line| serde_json::from_str(line).expect("event")).collect();
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["system", "user", "thinking", "thinking", "assistant", "result"]);
    let echo = &events[1]["message"]["content"][0]["text"];
    assert!(echo == long.trim_end(), "the echo is another text");

    let finished = print(&home, &["-p", "--", "from", "argv"], "ignored").expect_success();
    assert_eq!(finished.stdout, "MOCK-REPLY-OK\n");
    let log = log(&home);
    assert!(log[0]["prompt"] == long.trim_end(), "the log has another text");
    assert_eq!(
        (&log[0]["prompt_source"], &log[0]["stdin_bytes"]),
        (&json!("stdin"), &json!(long.len()))
    );
    assert_eq!(
        (&log[1]["prompt"], &log[1]["prompt_source"]),
        (&json!("from argv"), &json!("argv"))
    );
}

#[test]
fn refusals() {
    let home = TestHome::new();
    let finished = print(&home, &["-p", "--append-system-prompt", "x"], "hi");
    assert_eq!(finished.code(), 1);
    assert_eq!(finished.stderr, "error: unknown option '--append-system-prompt'\n");
    let finished = print(&home, &["-p", "--model", "gpt-0"], "hi");
    assert!(finished.stdout.starts_with("Cannot use this model: gpt-0."), "{finished:?}");
    assert_eq!(print(&home, &["-p"], "").code(), 1);

    home.set_env("FAKE_CURSOR_TRUSTED", "0");
    let finished = print(&home, &["-p"], "hi");
    assert_eq!((finished.code(), finished.stdout.as_str()), (1, ""));
    assert!(finished.stderr.starts_with("⚠ Workspace Trust Required"));
    print(&home, &["-p", "--trust"], "hi").expect_success();
    home.set_env("FAKE_CURSOR_AUTH", "0");
    assert!(print(&home, &["-p"], "hi").stderr.starts_with("Authentication required"));
    let prompts: Vec<_> = log(&home).into_iter().filter(|line| !line["prompt"].is_null()).collect();
    assert_eq!(prompts.len(), 1, "only the trusted run got its prompt");
}

#[test]
fn acp_takes_images() {
    let home = TestHome::new();
    let call = |id: u32, method: &str, params: Value| {
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    };
    let prompt = json!({"sessionId": "s", "prompt": [
        {"type": "text", "text": "look"},
        {"type": "image", "mimeType": "image/png", "data": "AAECAw=="},
    ]});
    let input = [
        call(1, "initialize", json!({"protocolVersion": 1})),
        call(2, "session/new", json!({"cwd": "/", "mcpServers": []})),
        call(3, "session/prompt", prompt),
        call(4, "no/such", json!({})),
    ];
    let finished = print(&home, &["--model", "auto", "acp"], &input.concat()).expect_success();
    let answers: Vec<Value> =
        finished.stdout.lines().map(|line| serde_json::from_str(line).expect("message")).collect();
    assert_eq!(answers[0]["result"]["agentCapabilities"]["promptCapabilities"]["image"], true);
    assert!(answers[1]["result"]["sessionId"].is_string());
    assert_eq!(answers[2]["params"]["update"]["content"]["text"], "MOCK-REPLY-OK");
    assert_eq!(answers[3]["result"]["stopReason"], "end_turn");
    assert_eq!(answers[4]["error"]["code"], -32601);
    assert_eq!(log(&home)[0]["images"][0]["bytes"], 4);
}

/// The stand-in in a terminal of its own.
struct Terminal {
    child: Child,
    keyboard: File,
    output: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    fn start(command: &mut Command) -> Self {
        let pty = nix::pty::openpty(None, None).expect("pty");
        let end = |fd: &OwnedFd| Stdio::from(fd.try_clone().expect("clone"));
        let child = command
            .stdin(end(&pty.slave))
            .stdout(end(&pty.slave))
            .stderr(end(&pty.slave))
            .spawn()
            .expect("start in the pty");
        // The command still holds its ends of the terminal; so does `pty.slave`, dropped here.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut screen = File::from(pty.master.try_clone().expect("clone"));
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = screen.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { child, keyboard: File::from(pty.master), output, seen: String::new() }
    }

    fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("type");
    }

    /// Waits until the text is drawn; later calls look at what is drawn after it.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            match self.output.recv_timeout(Duration::from_secs(120)) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(end) => panic!("{end}: no {text:?} in {:?}", self.seen),
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_terminal_ui_takes_a_paste_and_an_enter() {
    let home = TestHome::new();
    home.set_env("FAKE_CURSOR_TRUSTED", "0");
    let mut terminal = Terminal::start(&mut cursor(&home));
    terminal.wait_for("Workspace Trust Required");
    terminal.type_keys("xa");
    terminal.wait_for("Plan, search, build anything");
    terminal.type_keys("/help\r");
    terminal.wait_for("[command] /help");
    terminal.type_keys("\x1b[200~docs\rmore\x1b[201~");
    terminal.wait_for("[Pasted text #1]");
    // The one wait by the clock: an Enter within 150 ms of the paste would be a newline.
    std::thread::sleep(Duration::from_millis(300));
    terminal.type_keys("\r");
    terminal.wait_for("MOCK-REPLY-OK");
    terminal.wait_for("Add a follow-up");
    terminal.type_keys("\x04");
    terminal.wait_for("\x1b[?2004l");
    assert!(terminal.child.wait().expect("end").success());
    let log = log(&home);
    assert_eq!(
        (&log[0]["prompt"], &log[0]["prompt_source"]),
        (&json!("docs\nmore"), &json!("tui"))
    );
    assert_eq!(log.len(), 1);
}

#[test]
fn a_prompt_in_argv_is_sent_or_only_filled_in() {
    let home = TestHome::new();
    let mut terminal = Terminal::start(cursor(&home).args(["do", "it"]));
    terminal.wait_for("MOCK-REPLY-OK");
    home.set_env("FAKE_CURSOR_POPULATE", "1");
    let mut terminal = Terminal::start(cursor(&home).args(["do", "it"]));
    terminal.wait_for("→ do it");
    assert_eq!(log(&home).len(), 1);
    terminal.type_keys("\r");
    terminal.wait_for("MOCK-REPLY-OK");
    assert_eq!(log(&home).len(), 2);
}
