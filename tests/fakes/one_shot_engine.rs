//! `fake-one-shot-engine`: each engine's way of taking one message and answering it, by the name that
//! it is started under. It is the worst of engines for what is kept: wherever the real one repeats
//! something of its input (events, envelopes, complaints, stderr), this one repeats all of it.
//!
//! | variable | effect |
//! |---|---|
//! | `FAKE_RECEIVED` | a file that gets all that it received: arguments, stdin, the files of its run |
//! | `FAKE_REPLY` | its answer |
//! | `FAKE_GO` | a FIFO that is read between the two halves of an answer that streams |
//! | `FAKE_HURRY` | it writes as Node does before an exit: what the pipe has no room for is lost |
//! | `FAKE_END` | `crash`: kills itself behind the answer; `hang`: waits to be killed; `fail`: an error |
//!
//! Says nothing about the real engines; those are in `tests/real`.

use std::io::{BufRead, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

fn main() -> ExitCode {
    let args: Vec<String> =
        std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let name = Path::new(&args[0]).file_name().unwrap_or_default().to_string_lossy().into_owned();
    if args.iter().any(|arg| arg == "--version") {
        say(match name.as_str() {
            "claude" => "2.1.332 (Claude Code)",
            "codex" => "codex-cli 0.171.0",
            "gemini" => "0.61.0",
            "pi" => "0.73.1",
            "openclaw" => "OpenClaw 2026.9.6",
            "opencode" => "1.18.33",
            "hermes" => "Hermes Agent v0.19.0",
            _ => "fake 1.0.0",
        });
        return ExitCode::SUCCESS;
    }
    let engine = Engine { args: args[1..].to_vec(), received: String::new() };
    match name.as_str() {
        "claude" => engine.claude(),
        "codex" => engine.codex(),
        "gemini" => engine.gemini(),
        "openclaw" => engine.openclaw(),
        "opencode" => engine.opencode(),
        "pi" => engine.pi(),
        "hermes" => engine.hermes(),
        _ => engine.plain(""),
    }
}

fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn say(line: &str) {
    put(&format!("{line}\n"));
}

fn put(text: &str) {
    if var("FAKE_HURRY").is_some() {
        return put_in_a_hurry(text.as_bytes());
    }
    let mut out = std::io::stdout().lock();
    // A reader that has left is for omni-run to notice.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// One write that does not block; once one was cut short, nothing that comes later is written.
fn put_in_a_hurry(bytes: &[u8]) {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    static CUT: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    if CUT.load(std::sync::atomic::Ordering::Relaxed) {
        return;
    }
    let out = std::io::stdout();
    fcntl(&out, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).expect("non-blocking stdout");
    if nix::unistd::write(&out, bytes) != Ok(bytes.len()) {
        CUT.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

fn reply() -> String {
    var("FAKE_REPLY").unwrap_or_else(|| "the final answer, 世界".to_owned())
}

struct Engine {
    args: Vec<String>,
    received: String,
}

impl Engine {
    /// Takes everything in: `stdin` was read by the caller where its protocol has lines.
    fn take_in(&mut self, stdin: Option<String>) {
        let stdin = stdin.unwrap_or_else(|| {
            let mut text = String::new();
            let _ = std::io::stdin().lock().read_to_string(&mut text);
            text
        });
        self.received = format!("{}\n{stdin}\n", self.args.join("\n"));
        if let Some(runs) = var("XDG_RUNTIME_DIR") {
            read_all(&Path::new(&runs).join("omni-run"), &mut self.received);
        }
        for name in ["OPENCODE_CONFIG_CONTENT", "HERMES_EPHEMERAL_SYSTEM_PROMPT"] {
            self.received.push_str(&var(name).unwrap_or_default());
        }
        if let Some(file) = var("FAKE_RECEIVED") {
            std::fs::write(file, &self.received).expect("FAKE_RECEIVED");
        }
        // Its log.
        let _ = writeln!(std::io::stderr(), "received: {}", self.received);
        self.report_as_plugin();
    }

    /// What the request plugin would report, and an error of it that quotes.
    fn report_as_plugin(&self) {
        let Some(orders) = var("OMNI_RUN_PLUGIN") else { return };
        let orders = std::fs::read_to_string(orders).expect("orders of the plugin");
        let orders: Value = serde_json::from_str(&orders).expect("JSON");
        let file = orders["receipt_file"].as_str().expect("receipt file");
        let lines = [
            json!({"event": "raw", "text": "typed", "session": "plugin-session", "message": "m1"}),
            json!({"event": "acted", "bytes": 12}),
            json!({"event": "error", "message": format!("could not: {}", self.received)}),
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(file, text).expect("receipt of the plugin");
    }

    fn has(&self, option: &str) -> bool {
        self.args.iter().any(|arg| arg == option)
    }

    fn value(&self, option: &str) -> Option<&str> {
        let inline = |arg: &'_ String| arg.strip_prefix(option)?.strip_prefix('=').map(str::len);
        let at = self.args.iter().rposition(|arg| arg == option || inline(arg).is_some())?;
        match inline(&self.args[at]) {
            Some(length) => Some(&self.args[at][self.args[at].len() - length..]),
            None => self.args.get(at + 1).map(String::as_str),
        }
    }

    /// The two halves of the answer, with the wait between them.
    fn halves(&self, mut each: impl FnMut(&str)) {
        let reply = reply();
        let middle = reply.char_indices().nth(reply.chars().count() / 2).map_or(0, |(at, _)| at);
        each(&reply[..middle]);
        if let Some(go) = var("FAKE_GO") {
            let _ = std::fs::read(go);
        }
        each(&reply[middle..]);
    }

    fn end(&self) -> ExitCode {
        match var("FAKE_END").as_deref() {
            Some("crash") => {
                let _ = nix::sys::signal::raise(nix::sys::signal::Signal::SIGKILL);
                ExitCode::FAILURE
            }
            Some("hang") => {
                nix::unistd::pause();
                ExitCode::FAILURE
            }
            Some("fail") => ExitCode::FAILURE,
            _ => ExitCode::SUCCESS,
        }
    }

    fn fails(&self) -> bool {
        var("FAKE_END").as_deref() == Some("fail")
    }

    fn plain(mut self, before: &str) -> ExitCode {
        self.take_in(None);
        put(before);
        self.halves(put);
        put("\n");
        self.end()
    }

    fn claude(mut self) -> ExitCode {
        let by_blocks = self.has("--input-format");
        if by_blocks {
            let mut line = String::new();
            let _ = std::io::stdin().lock().read_line(&mut line);
            self.take_in(Some(line));
        } else if self.value("--output-format").is_none() {
            return self.plain("");
        } else {
            self.take_in(None);
        }
        let result = json!({
            "type": "result", "is_error": self.fails(), "result": reply(), "session_id": "s-1",
        });
        if self.value("--output-format") == Some("stream-json") {
            say(&json!({"type": "system", "subtype": "init", "session_id": "s-1"}).to_string());
            // With --replay-user-messages.
            say(&json!({"type": "user", "message": {"content": self.received}}).to_string());
        }
        say(&result.to_string());
        if by_blocks {
            let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        }
        self.end()
    }

    fn codex(mut self) -> ExitCode {
        if self.args.iter().filter(|arg| *arg == "--json").count() > 1 {
            let _ = writeln!(std::io::stderr(), "--json cannot be used multiple times");
            return ExitCode::from(2);
        }
        self.take_in(None);
        say(&json!({"type": "thread.started", "thread_id": "t-1"}).to_string());
        let quote = format!("stream error, retrying: {}", self.received);
        say(&json!({"type": "error", "message": quote}).to_string());
        if self.fails() {
            say(&json!({"type": "turn.failed", "error": {"message": quote}}).to_string());
            return self.end();
        }
        for text in ["a first remark", &reply()] {
            let item = json!({"type": "agent_message", "text": text});
            say(&json!({"type": "item.completed", "item": item}).to_string());
        }
        say(&json!({"type": "turn.completed"}).to_string());
        self.end()
    }

    fn gemini(mut self) -> ExitCode {
        if self.has("--acp") {
            return self.acp();
        }
        self.take_in(None);
        match self.value("-o") {
            Some("stream-json") => {
                say(&json!({"type": "init", "session_id": "s-1"}).to_string());
                let user = json!({"type": "message", "role": "user", "content": self.received});
                say(&user.to_string());
                let quote = format!("retrying: {}", self.received);
                say(&json!({"type": "error", "message": quote}).to_string());
                self.halves(|text| {
                    say(&json!({"type": "message", "role": "assistant", "content": text})
                        .to_string());
                });
                let status = if self.fails() { "error" } else { "success" };
                say(&json!({"type": "result", "status": status}).to_string());
            }
            Some("json") => {
                let whole =
                    json!({"session_id": "s-1", "request": self.received, "response": reply()});
                say(&format!("{whole:#}"));
            }
            _ => say(&reply()),
        }
        self.end()
    }

    fn acp(mut self) -> ExitCode {
        for line in std::io::stdin().lock().lines() {
            let Ok(message) = serde_json::from_str::<Value>(&line.unwrap_or_default()) else {
                break;
            };
            let id = &message["id"];
            let answer = |result: Value| {
                say(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
            };
            match message["method"].as_str() {
                Some("session/new" | "session/load") => answer(json!({"sessionId": "s-1"})),
                Some("session/prompt") => {
                    self.take_in(Some(message.to_string()));
                    let update = |kind: &str, text: &str| {
                        let update = json!({
                            "sessionUpdate": kind, "content": {"type": "text", "text": text},
                        });
                        let params = json!({"sessionId": "s-1", "update": update});
                        say(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params})
                            .to_string());
                    };
                    update("user_message_chunk", &self.received);
                    self.halves(|text| update("agent_message_chunk", text));
                    answer(json!({"stopReason": "end_turn", "prompt": self.received}));
                }
                _ => answer(json!({})),
            }
        }
        self.end()
    }

    fn openclaw(mut self) -> ExitCode {
        self.take_in(None);
        let mut envelope = json!({
            "payloads": [{"text": reply()}], "meta": {"prompt": self.received},
        });
        if self.fails() {
            envelope["error"] = json!({"message": self.received});
        }
        say(&envelope.to_string());
        self.end()
    }

    fn opencode(mut self) -> ExitCode {
        if self.value("--format") != Some("json") {
            return self.plain("");
        }
        self.take_in(None);
        say(&json!({"type": "step_start", "sessionID": "s-1", "input": self.received}).to_string());
        self.halves(|text| {
            let part = json!({"type": "text", "text": text});
            say(&json!({"type": "text", "sessionID": "s-1", "part": part}).to_string());
        });
        self.end()
    }

    fn pi(mut self) -> ExitCode {
        if self.value("--mode") != Some("json") {
            return self.plain("");
        }
        self.take_in(None);
        say(&json!({"type": "session", "id": "s-1"}).to_string());
        for (role, text) in [("user", self.received.clone()), ("assistant", reply())] {
            let content = json!([{"type": "text", "text": text}]);
            let message = json!({"role": role, "content": content});
            say(&json!({"type": "message_end", "message": message}).to_string());
        }
        self.end()
    }

    fn hermes(self) -> ExitCode {
        let _ = writeln!(std::io::stderr(), "session_id: s-1");
        self.plain("⚠ tirith security scanner is not there\n")
    }
}

fn read_all(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            read_all(&path, text);
        } else if let Ok(bytes) = std::fs::read(&path) {
            text.push_str(&String::from_utf8_lossy(&bytes));
            text.push('\n');
        }
    }
}
