//! A running `omni-run serve` of a test home, and requests to it, byte for byte where a test wants
//! that. Knows nothing of what the answers ought to be.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::TestHome;

/// For anything that a server does; a loaded machine is slow.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A server, ended with its test.
pub struct Serve {
    child: Child,
    /// Its port on loopback.
    pub port: u16,
    /// The API's token.
    pub token: String,
}

impl Serve {
    /// Starts a server on a free port.
    pub fn start(home: &TestHome) -> Serve {
        Serve::start_with(home, &mut home.omni(), &[])
    }

    /// Starts a server by this command, with more arguments, and waits until it listens.
    pub fn start_with(home: &TestHome, command: &mut Command, more: &[&str]) -> Serve {
        let mut child = command
            .args(["serve", "--port", "0"])
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("serve starts");
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        let (tell, said) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        let mut heard = Vec::new();
        loop {
            let line = said.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("ended: {heard:?}"));
            let last = line.starts_with("port: ");
            heard.push(line);
            if last {
                break;
            }
        }
        let port = std::fs::read_to_string(data(home).join("serve-port")).expect("port file");
        let port = port.trim().parse().expect("port");
        Serve { child, port, token: token(home) }
    }

    /// Its process.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Sends a signal and waits for the end; the exit code.
    pub fn end(&mut self, signal: Signal) -> Option<i32> {
        kill(self.pid(), signal).expect("signal");
        self.child.wait().expect("wait").code()
    }

    /// A connection of its own.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connects");
        stream.set_read_timeout(Some(PATIENCE)).expect("time-out");
        stream
    }

    /// Sends these bytes and reads all that comes back.
    pub fn raw(&self, bytes: &[u8]) -> Reply {
        let mut stream = self.connect();
        // A server may answer and close before it has read everything.
        let _ = stream.write_all(bytes);
        Reply::read(stream)
    }

    /// A request with Host, token and `Connection: close`, and these headers and this body.
    pub fn send(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Reply {
        let token = format!("Authorization: Bearer {}", self.token);
        let all: Vec<&str> = [token.as_str()].into_iter().chain(headers.iter().copied()).collect();
        self.send_as(method, path, &all, body)
    }

    /// The same without the token.
    pub fn send_as(&self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Reply {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|header| header.to_lowercase().starts_with("host:")) {
            text.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        for header in headers {
            text.push_str(&format!("{header}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        let mut stream = self.connect();
        let _ = stream.write_all(&[text.as_bytes(), b"\r\n", body].concat());
        Reply::read(stream)
    }

    /// GET with the token.
    pub fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], b"")
    }

    /// POST or PATCH of JSON with the token.
    pub fn write(&self, method: &str, path: &str, body: &Value) -> Reply {
        self.send(method, path, &["Content-Type: application/json"], body.to_string().as_bytes())
    }

    /// [`Serve::write`] with an idempotency key.
    pub fn write_with_key(&self, method: &str, path: &str, key: &str, body: &str) -> Reply {
        let key = format!("Idempotency-Key: {key}");
        self.send(method, path, &["Content-Type: application/json", &key], body.as_bytes())
    }

    /// Asks for an action; its id.
    #[track_caller]
    pub fn ask(&self, method: &str, path: &str, body: &Value) -> String {
        let reply = match method {
            "DELETE" => self.send(method, path, &[], b""),
            _ => self.write(method, path, body),
        };
        assert_eq!(reply.status, 202, "{reply:?}");
        reply.json()["actionId"].as_str().expect("id").to_owned()
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The data folder of omni-run.
pub fn data(home: &TestHome) -> PathBuf {
    home.data().join("omni-run")
}

/// The API's token.
pub fn token(home: &TestHome) -> String {
    let text = std::fs::read_to_string(data(home).join("api-token")).expect("token file");
    text.trim().to_owned()
}

/// A person's yes, in the place of the inbox: what came of the action.
#[track_caller]
pub fn approve(home: &TestHome, id: &str) -> Value {
    approve_by(&mut approver(home, id))
}

/// The process that says yes.
pub fn approver(home: &TestHome, id: &str) -> Command {
    let mut probe = home.command(env!("CARGO_BIN_EXE_control-probe"));
    probe.args(["approve", id]);
    probe
}

/// See [`approve`].
#[track_caller]
pub fn approve_by(approver: &mut Command) -> Value {
    let said = super::run(approver, "").expect_success().stdout;
    serde_json::from_str(&said).expect("JSON")
}

/// An answer. `status` 0: the connection ended without one.
#[derive(Debug, Default)]
pub struct Reply {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Reply {
    /// Reads to the end of the connection.
    pub fn read(mut stream: impl Read) -> Reply {
        let mut bytes = Vec::new();
        // A reset after the answer is an end too.
        let _ = stream.read_to_end(&mut bytes);
        Reply::parse(&bytes)
    }

    fn parse(bytes: &[u8]) -> Reply {
        let text = String::from_utf8_lossy(bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { return Reply::default() };
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        Reply { status: status.unwrap_or(0), headers, body: body.to_owned() }
    }

    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The error's code; empty where there is none.
    pub fn code(&self) -> String {
        let value: Value = serde_json::from_str(&self.body).unwrap_or_default();
        value["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}
