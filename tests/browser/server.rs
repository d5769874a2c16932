//! A real `omni-run serve` with a project, what asks it as a program does, and a person's terminal.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::pty_driver::Run;
use crate::support::TestHome;

/// The server of one test.
pub struct Server {
    pub home: TestHome,
    pub port: u16,
    token: String,
    child: Child,
}

/// An answer: status, head, body.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Server {
    /// Starts one with the project `shop`, which has these docs.
    pub fn start(docs: &[(&str, &[u8])]) -> Server {
        let home = TestHome::new();
        home.project_with_docs("shop", docs);
        let project = home.projects().join("shop");
        let added = home.omni().args(["project", "add", "--id", "shop"]).arg(&project).output();
        assert!(added.expect("omni-run").status.success());
        let mut child = home
            .omni()
            .args(["serve", "--port", "0"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("serve");
        let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines();
        // The port file is written before the last of these lines.
        let told = lines.by_ref().map_while(Result::ok).any(|line| line.contains("serve-port"));
        assert!(told, "the server did not start");
        std::thread::spawn(move || lines.for_each(drop));
        let data = home.data().join("omni-run");
        let read = |name: &str| std::fs::read_to_string(data.join(name)).expect("file");
        let port = read("serve-port").trim().parse().expect("port");
        let token = read("api-token").trim().to_owned();
        Server { home, port, token, child }
    }

    pub fn project(&self) -> PathBuf {
        self.home.projects().join("shop")
    }

    pub fn doc(&self, name: &str) -> PathBuf {
        self.project().join(".claude/docs").join(name)
    }

    /// One request with these header lines.
    pub fn request(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connect");
        let mut text = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Length: {}\r\n",
            self.port,
            body.len()
        );
        for header in headers {
            text.push_str(header);
            text.push_str("\r\n");
        }
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).expect("send");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("answer");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").expect("head and body");
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("status");
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// Asks for something as a program with the token does. Gives the action's id.
    pub fn ask(&self, method: &str, path: &str, body: &Value) -> String {
        let token = format!("Authorization: Bearer {}", self.token);
        let headers = [token.as_str(), "Content-Type: application/json", "User-Agent: a-bot/1.0"];
        let answer = self.request(method, path, &headers, &body.to_string());
        assert_eq!(answer.status, 202, "{}", answer.body);
        let body: Value = serde_json::from_str(&answer.body).expect("JSON");
        body["actionId"].as_str().expect("id").to_owned()
    }

    /// The API's token.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The one-time link, as a person's terminal shows it.
    pub fn link(&self) -> String {
        let run = Run::new(env!("CARGO_BIN_EXE_omni-run")).args(["inbox", "open"]);
        let mut term = run.only_env(self.home.env()).size(24, 200).start();
        term.wait_until("the link", |screen, _| screen.contains("/inbox/open#"));
        assert_eq!(term.wait_for_end().code, Some(0));
        let screen = term.screen();
        let link = screen.split_whitespace().find(|word| word.contains("/inbox/open#"));
        link.expect("link").to_owned()
    }

    /// What `omni-run` prints as JSON.
    pub fn json(&self, args: &[&str]) -> Value {
        let out = self.home.omni().args(args).output().expect("omni-run");
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice(&out.stdout).expect("JSON")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
