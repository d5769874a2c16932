//! `omni-run serve` as a process: where it is found, that there is one, how it ends, its token and
//! its unit.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

use nix::sys::signal::Signal;

use crate::support::serve::{Reply, Serve, data, token};
use crate::support::{TestHome, run};

fn mode(path: impl AsRef<std::path::Path>) -> u32 {
    std::fs::symlink_metadata(path).expect("there").permissions().mode() & 0o777
}

#[test]
fn found_by_its_files_and_gone_without_a_trace() {
    let home = TestHome::new();
    let socket = home.runtime().join("s.sock");
    let options = ["--socket", socket.to_str().expect("UTF-8")];
    let mut serve = Serve::start_with(&home, &mut home.omni(), &options);
    let files = ["api-token", "serve-port"].map(|name| data(&home).join(name));
    assert_eq!([mode(&files[0]), mode(&files[1]), mode(&socket)], [0o600; 3]);
    assert_eq!(serve.get("/healthz").status, 200);
    for name in ["localhost", "[::1]"] {
        let host = format!("Host: {name}:{}", serve.port);
        assert_eq!(serve.send("GET", "/healthz", &[&host], b"").status, 200, "{name}");
    }
    let mut stream = UnixStream::connect(&socket).expect("socket");
    let bearer = format!("Authorization: Bearer {}", serve.token);
    write!(
        stream,
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\n{bearer}\r\nConnection: close\r\n\r\n"
    )
    .expect("sent");
    assert_eq!(Reply::read(&mut stream).json()["status"], "ok");

    let second = run(home.omni().args(["serve", "--port", "0"]), "");
    assert_eq!(second.code(), 75, "{second:?}");
    let (pid, port) = (format!("pid {}", serve.pid()), format!(":{}", serve.port));
    assert!(second.stderr.contains(&pid) && second.stderr.contains(&port), "{second:?}");

    assert_eq!(serve.end(Signal::SIGTERM), Some(0));
    assert!(files[0].exists() && !files[1].exists() && !socket.exists());
}

#[test]
fn a_killed_server_is_in_nobodys_way() {
    let home = TestHome::new();
    let socket = home.runtime().join("s.sock");
    let options = ["--socket", socket.to_str().expect("UTF-8")];
    let mut first = Serve::start_with(&home, &mut home.omni(), &options);
    let token = first.token.clone();
    assert_eq!(first.end(Signal::SIGKILL), None);
    assert!(data(&home).join("serve-port").exists() && socket.exists());
    let second = Serve::start_with(&home, &mut home.omni(), &options);
    assert_eq!(second.token, token, "the token stays");
    assert_eq!(second.get("/healthz").status, 200);
    UnixStream::connect(&socket).expect("the socket is new");
}

#[test]
fn a_taken_port_is_told_with_a_way_out() {
    let home = TestHome::new();
    let other = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = other.local_addr().expect("address").port().to_string();
    let refused = run(home.omni().args(["serve", "--port", &port]), "");
    assert_eq!(refused.code(), 73);
    assert!(refused.stderr.contains(&port) && refused.stderr.contains("--port 0"), "{refused:?}");
    // On one of the two addresses is enough: `localhost` could be the other program.
    let Ok(six) = std::net::TcpListener::bind("[::1]:0") else { return };
    let port = six.local_addr().expect("address").port().to_string();
    assert_eq!(run(home.omni().args(["serve", "--port", &port]), "").code(), 73);
}

#[test]
fn what_is_under_way_ends_well_and_streams_end() {
    let home = TestHome::new();
    let mut serve = Serve::start(&home);
    let mut stream = serve.connect();
    let head = format!(
        "GET /events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\r\n",
        serve.port, serve.token
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("head");
    assert_eq!(&answer, b"HTTP/1.1 200");
    // A request whose body is still on its way.
    let mut slow = serve.connect();
    let head = format!(
        "PATCH /settings HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 14\r\nExpect: 100-continue\r\n\r\n",
        serve.port, serve.token
    );
    slow.write_all(head.as_bytes()).expect("sent");
    // "Continue": it is being read.
    let mut go_on = [0; 25];
    slow.read_exact(&mut go_on).expect("continue");
    assert!(go_on.starts_with(b"HTTP/1.1 100"), "{go_on:?}");
    // Not SIGINT: where the tests run in a script's background it is ignored, and stays so.
    nix::sys::signal::kill(serve.pid(), Signal::SIGTERM).expect("signal");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("the stream ends");
    slow.write_all(br#"{"chip":false}"#).expect("sent");
    assert_eq!(Reply::read(slow).status, 202);
    assert_eq!(serve.end(Signal::SIGTERM), Some(0));
}

#[test]
fn h07_rotation_counts_at_once_and_needs_no_restart() {
    let home = TestHome::new();
    let serve = Serve::start(&home);
    let old = serve.token.clone();
    let said = run(home.omni().args(["serve", "--rotate-token"]), "").expect_success();
    let new = token(&home);
    assert_ne!(old, new);
    assert!(!format!("{}{}", said.stdout, said.stderr).contains(&new), "{said:?}");
    assert_eq!(serve.get("/healthz").status, 401);
    let bearer = format!("Authorization: Bearer {new}");
    assert_eq!(serve.send_as("GET", "/healthz", &[&bearer], b"").status, 200);
}

#[test]
fn h07_a_token_file_that_others_can_read_is_refused() {
    let home = TestHome::new();
    drop(Serve::start(&home));
    let file = data(&home).join("api-token");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("chmod");
    let refused = run(home.omni().args(["serve", "--port", "0"]), "");
    assert_eq!(refused.code(), 77);
    assert!(refused.stderr.contains("0644") && refused.stderr.contains("--rotate-token"));
    run(home.omni().args(["serve", "--rotate-token"]), "").expect_success();
    assert_eq!(mode(&file), 0o600);
    Serve::start(&home);
}

#[test]
fn h07_no_token_by_argument() {
    let home = TestHome::new();
    let refused = run(home.omni().args(["serve", "--token", "secret"]), "");
    assert_eq!(refused.code(), 2);
    assert!(!data(&home).join("serve-port").exists());
}

#[test]
fn a_config_that_is_wrong_is_told_at_the_start() {
    let home = TestHome::new();
    crate::support::home::write(home.config().join("omni-run/config.toml"), "chp = true\n");
    let refused = run(home.omni().args(["serve", "--port", "0"]), "");
    assert_eq!(refused.code(), 78);
}

#[test]
fn the_unit_starts_this_program_with_these_options() {
    let home = TestHome::new();
    let options = ["serve", "--print-unit", "--port", "7001", "--socket", "s p.sock"];
    let unit = run(home.omni().args(options), "").expect_success().stdout;
    let socket = home.home().join("s p.sock");
    let line = format!(
        "ExecStart={} serve --port=7001 \"--socket={}\"\n",
        env!("CARGO_BIN_EXE_omni-run"),
        socket.display()
    );
    assert!(unit.contains(&line), "{unit}");
    assert!(!data(&home).exists(), "nothing is made");
}
