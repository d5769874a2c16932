//! Attacks by size, slowness and number: the server answers 408, 413, 429, 431 or 503, or hangs up, and
//! goes on for the others (S86).

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use crate::control_api::{Events, home_with};
use crate::support::TestHome;
use crate::support::serve::{PATIENCE, Reply, Serve, approve, data};

/// A request's head with the token; the body is the caller's.
fn head(serve: &Serve, line: &str, more: &str) -> String {
    format!(
        "{line} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n{more}\r\n",
        serve.port, serve.token
    )
}

#[track_caller]
fn assert_well(serve: &Serve) {
    assert_eq!(serve.get("/healthz").status, 200);
}

#[test]
fn s86_bodies_over_the_limit() {
    let home = home_with(&[]);
    let serve = Serve::start(&home);
    let json = "Content-Type: application/json\r\n";
    // Announced, and hardly begun: it is not waited for.
    for length in ["65537", "1000000000", "9223372036854775807"] {
        let more = format!("{json}Content-Length: {length}\r\n");
        let reply = serve.raw(head(&serve, "POST /project/p1/new", &more).as_bytes());
        assert_eq!((reply.status, reply.code().as_str()), (413, "body_too_large"), "{length}");
    }
    // Not announced.
    let mut stream = serve.connect();
    let more = format!("{json}Transfer-Encoding: chunked\r\n");
    let _ = stream.write_all(head(&serve, "POST /project/p1/new", &more).as_bytes());
    let chunk = format!("4000\r\n{}\r\n", "x".repeat(0x4000));
    for _ in 0..5 {
        // The server may have closed by now.
        let _ = stream.write_all(chunk.as_bytes());
    }
    assert_eq!(Reply::read(stream).status, 413);
    // The largest that is taken, and what is wrong with lengths.
    let prompt = "x".repeat(65_536 - r#"{"engine":"echo","prompt":""}"#.len());
    let body = json!({ "engine": "echo", "prompt": prompt });
    assert_eq!(body.to_string().len(), 65_536);
    assert_eq!(serve.write("POST", "/project/p1/new", &body).status, 202);
    for more in [
        "Content-Length: -1\r\n",
        "Content-Length: 1\r\nContent-Length: 2\r\n",
        "Content-Length: 0x10\r\n",
        "Transfer-Encoding: gzip\r\n",
        "Transfer-Encoding: chunked, gzip\r\n",
    ] {
        let more = format!("{json}{more}Connection: close\r\n");
        let reply = serve.raw(head(&serve, "POST /project/p1/new", &more).as_bytes());
        assert!([0, 400].contains(&reply.status), "{more}: {reply:?}");
    }
    // One request in another.
    let smuggled = format!(
        "{json}Content-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n\
         PATCH /settings HTTP/1.1\r\n"
    );
    let reply = serve.raw(head(&serve, "POST /project/p1/new", &smuggled).as_bytes());
    assert!([0, 400].contains(&reply.status), "{reply:?}");
    let deep =
        format!(r#"{{"engine":"echo","prompt":{}{}}}"#, "[".repeat(30_000), "]".repeat(30_000));
    let reply = serve.send("POST", "/project/p1/new", &[json.trim()], deep.as_bytes());
    assert_eq!(reply.status, 400);
    assert_well(&serve);
}

#[test]
fn s86_heads_over_the_limit() {
    let home = TestHome::new();
    let serve = Serve::start(&home);
    let long = format!("X-Long: {}\r\nConnection: close\r\n", "x".repeat(20_000));
    let many: String = (0..100).map(|n| format!("X-{n}: y\r\n")).collect();
    for more in [long, format!("{many}Connection: close\r\n")] {
        let reply = serve.raw(head(&serve, "GET /healthz", &more).as_bytes());
        assert_eq!(reply.status, 431, "{reply:?}");
    }
    let long = format!("GET /{}", "x".repeat(20_000));
    let reply = serve.raw(head(&serve, &long, "Connection: close\r\n").as_bytes());
    assert!([414, 431].contains(&reply.status), "{reply:?}");
    for rubbish in
        [&b"\0\0\0\0\r\n\r\n"[..], b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\0\x01\r\n\r\n"]
    {
        let reply = serve.raw(rubbish);
        assert!([0, 400].contains(&reply.status), "{reply:?}");
    }
    assert_well(&serve);
}

#[test]
fn s86_who_is_slow_is_not_waited_for() {
    let home = home_with(&[]);
    let serve = Serve::start(&home);
    let mut body = serve.connect();
    let more = "Content-Type: application/json\r\nContent-Length: 100\r\n";
    body.write_all(head(&serve, "PATCH /settings", more).as_bytes()).expect("sent");
    body.write_all(b"{").expect("sent");
    let mut half = serve.connect();
    half.write_all(b"GET /healthz HTTP/1.1\r\nHost: 127.").expect("sent");
    let silent = serve.connect();
    let idle = serve.connect();
    (&idle).write_all(head(&serve, "GET /healthz", "").as_bytes()).expect("sent");
    // Each comes to its end by the server's clock.
    let reply = Reply::read(body);
    assert_eq!((reply.status, reply.code().as_str()), (408, "body_timeout"));
    assert_eq!(Reply::read(half).status, 0);
    assert_eq!(Reply::read(silent).status, 0);
    assert_eq!(Reply::read(idle).status, 200);
    assert_well(&serve);
}

/// Sends a request on an open connection and reads its answer of known length.
fn again(serve: &Serve, stream: &mut TcpStream) -> bool {
    if stream.write_all(head(serve, "GET /healthz", "").as_bytes()).is_err() {
        return false;
    }
    let mut seen = Vec::new();
    let mut byte = [0; 256];
    while !seen.ends_with(b"}\n") {
        match stream.read(&mut byte) {
            Ok(0) | Err(_) => return false,
            Ok(count) => seen.extend_from_slice(&byte[..count]),
        }
    }
    seen.starts_with(b"HTTP/1.1 200")
}

#[test]
fn s86_ten_thousand_connections() {
    let home = TestHome::new();
    // With few descriptors, as where a shell sets the limit low.
    let mut command = home.command("/bin/sh");
    command.args(["-c", "ulimit -n 256; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_omni-run")]);
    let serve = Serve::start_with(&home, &mut command, &[]);
    let mut held = serve.connect();
    let (mut refused, mut dropped) = (0, 0);
    for _ in 0..50 {
        assert!(again(&serve, &mut held), "who is in stays in");
        let wave: Vec<TcpStream> = (0..200)
            .filter_map(|_| {
                let stream = TcpStream::connect(("127.0.0.1", serve.port)).ok()?;
                stream.set_read_timeout(Some(PATIENCE)).ok()?;
                Some(stream)
            })
            .collect();
        for mut stream in wave {
            let _ =
                stream.write_all(head(&serve, "GET /healthz", "Connection: close\r\n").as_bytes());
            match Reply::read(stream).status {
                503 => refused += 1,
                0 => dropped += 1,
                status => assert_eq!(status, 200),
            }
        }
    }
    assert!(refused > 0, "the limit was reached, and said so; dropped without a word: {dropped}");
    assert!(again(&serve, &mut held));
    assert_well(&serve);
    if let Ok(status) = std::fs::read_to_string(format!("/proc/{}/status", serve.pid())) {
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak: u64 = peak.and_then(|p| p.split_whitespace().next()?.parse().ok()).expect("peak");
        assert!(peak < 60_000, "{peak} KB");
    }
}

#[test]
fn s86_a_refused_connection_is_told_so() {
    let home = TestHome::new();
    let serve = Serve::start(&home);
    let mut held: Vec<TcpStream> = (0..64).map(|_| serve.connect()).collect();
    for stream in &mut held {
        assert!(again(&serve, stream), "64 are let in");
    }
    let reply = Reply::read(serve.connect());
    assert_eq!((reply.status, reply.code().as_str()), (503, "busy"));
    assert!(reply.header("retry-after").is_some());
    drop(held.pop());
    // Its place is free as soon as the server has seen the end.
    while Reply::read({
        let mut stream = serve.connect();
        let text = head(&serve, "GET /healthz", "Connection: close\r\n");
        let _ = stream.write_all(text.as_bytes());
        stream
    })
    .status
        != 200
    {
        std::thread::yield_now();
    }
}

#[test]
fn s86_a_flood_of_events_and_listeners_that_do_not_read() {
    let home = home_with(&[]);
    let serve = Serve::start(&home);
    let mut all: Vec<Events> = (0..8).map(|_| Events::open(&serve)).collect();
    for events in &mut all {
        assert_eq!(events.next().0, "ready");
    }
    let reply = serve.get("/events");
    assert_eq!((reply.status, reply.code().as_str()), (429, "too_many_streams"));
    let mut reader = all.pop().expect("one");
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // Ends with the stream, at the latest with the server.
        while let Some((name, data)) = reader.try_next() {
            if name == "action" {
                let _ = tell.send(data);
            }
        }
    });
    // One that does not read gets more than its socket and its queue hold.
    for round in 0..40 {
        fill(&home, round, 1500);
    }
    let id = serve.ask("PATCH", "/settings", &json!({ "chip": false }));
    assert_eq!(approve(&home, &id)["status"], "applied");
    loop {
        let action = told.recv_timeout(PATIENCE).expect("who reads is told");
        if action["id"] == id.as_str() && action["status"] == "applied" {
            break;
        }
    }
    assert_well(&serve);
    drop((all, told));
    // The places of the others are free again, as soon as the server has seen their ends.
    while serve_streams(&serve) < 7 {
        std::thread::yield_now();
    }
}

/// How many streams can be opened at once.
fn serve_streams(serve: &Serve) -> usize {
    let mut open = Vec::new();
    for _ in 0..7 {
        let mut stream = serve.connect();
        stream.write_all(head(serve, "GET /events", "").as_bytes()).expect("sent");
        let mut start = [0; 12];
        stream.read_exact(&mut start).expect("answer");
        if &start == b"HTTP/1.1 200" {
            open.push(stream);
        }
    }
    open.len()
}

/// Sessions that begin and end, in one change of the store.
fn fill(home: &TestHome, round: i64, count: i64) {
    let mut store = rusqlite::Connection::open(data(home).join("omni-run.db")).expect("store");
    let change = store.transaction().expect("begins");
    let sql = "INSERT INTO sessions (id, engine, cwd, mode, argv_json, started_at)
               VALUES (?1, 'echo', '/', 'one_shot', '[]', ?2)";
    for number in 0..count {
        let id = uuid::Uuid::now_v7().hyphenated().to_string();
        change.execute(sql, rusqlite::params![id, round * count + number]).expect("row");
    }
    change.commit().expect("commit");
}
