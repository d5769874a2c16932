//! Attacks on the door: a rebound name, another site's page, a form, a preflight (H01, H02). With the
//! token in hand, which such an attacker has not: the door does not rely on it.

use serde_json::json;

use crate::control_api::home_with;
use crate::support::TestHome;
use crate::support::serve::{Reply, Serve};

/// Whatever the answer: no page may read it, frame it or keep it.
#[track_caller]
fn assert_closed_to_pages(reply: &Reply) {
    assert!(
        reply.headers.iter().all(|(name, _)| !name.starts_with("access-control-")),
        "{reply:?}"
    );
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(reply.header(name), Some(value), "{reply:?}");
    }
}

#[test]
fn h01_a_rebound_name_gets_nowhere_with_or_without_the_token() {
    let home = TestHome::new();
    let serve = Serve::start(&home);
    let port = serve.port;
    let bearer = format!("Authorization: Bearer {}", serve.token);
    let bad = [
        format!("Host: evil.example:{port}"),
        format!("Host: 127.0.0.1.evil.example:{port}"),
        format!("Host: localhost.evil.example:{port}"),
        format!("Host: localhost.:{port}"),
        format!("Host: 0.0.0.0:{port}"),
        format!("Host: [::]:{port}"),
        format!("Host: 127.0.0.2:{port}"),
        format!("Host: 127.0.0.1:{}", port ^ 1),
        "Host: 127.0.0.1".to_owned(),
        "Host: localhost".to_owned(),
        format!("Host: user@127.0.0.1:{port}"),
        format!("Host: 127.0.0.1:{port}\r\nHost: 127.0.0.1:{port}"),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.example"),
        "Host:".to_owned(),
        "X-Forwarded-Host: 127.0.0.1".to_owned() + "\r\nHost: evil.example",
    ];
    for host in &bad {
        for path in ["/healthz", "/projects", "/nowhere", "/inbox/"] {
            for headers in [&[host.as_str()][..], &[host, &bearer]] {
                let reply = serve.send_as("GET", path, headers, b"");
                assert_eq!(
                    (reply.status, reply.code().as_str()),
                    (421, "host_not_allowed"),
                    "{host}"
                );
                assert_closed_to_pages(&reply);
            }
        }
    }
    for text in [
        format!("GET /healthz HTTP/1.1\r\n{bearer}\r\nConnection: close\r\n\r\n"),
        format!("GET /healthz HTTP/1.0\r\n{bearer}\r\n\r\n"),
        format!(
            "GET http://evil.example:{port}/healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{bearer}\r\n\
             Connection: close\r\n\r\n"
        ),
    ] {
        assert_eq!(serve.raw(text.as_bytes()).status, 421, "{text}");
    }
    for good in [
        format!("Host: 127.0.0.1:{port}"),
        format!("Host: localhost:{port}"),
        format!("Host: LOCALHOST:{port}"),
        format!("Host: [::1]:{port}"),
    ] {
        let reply = serve.send("GET", "/healthz", &[&good], b"");
        assert_eq!(reply.status, 200, "{good}");
        assert_closed_to_pages(&reply);
    }
}

#[test]
fn h02_what_a_page_can_post_without_asking_is_no_json() {
    let home = home_with(&[]);
    let serve = Serve::start(&home);
    let body = json!({ "engine": "echo", "prompt": "hi" }).to_string();
    for kind in [
        &["Content-Type: text/plain"][..],
        &["Content-Type: text/plain;charset=UTF-8"],
        &["Content-Type: application/x-www-form-urlencoded"],
        &["Content-Type: multipart/form-data; boundary=x"],
        &["Content-Type: application/json", "Content-Type: text/plain"],
        &["Content-Type: application/json", "Content-Encoding: gzip"],
        &[],
    ] {
        let reply = serve.send("POST", "/project/p1/new", kind, body.as_bytes());
        assert_eq!((reply.status, reply.code().as_str()), (415, "unsupported_type"), "{kind:?}");
        assert_closed_to_pages(&reply);
    }
    assert_eq!(serve.get("/actions").json()["actions"], json!([]));
}

#[test]
fn h02_another_site_is_refused_even_with_the_token() {
    let home = home_with(&[]);
    let serve = Serve::start(&home);
    let port = serve.port;
    let json = "Content-Type: application/json";
    let body = json!({ "engine": "echo", "prompt": "hi" }).to_string();
    for foreign in [
        "Origin: null".to_owned(),
        "Origin: http://evil.example".to_owned(),
        "Origin: http://localhost:3000".to_owned(),
        format!("Origin: https://localhost:{port}"),
        format!("Origin: http://127.0.0.1.evil.example:{port}"),
        format!("Origin: http://localhost:{port}\r\nOrigin: http://evil.example"),
        "Sec-Fetch-Site: cross-site".to_owned(),
        "Sec-Fetch-Site: same-site".to_owned(),
        format!("Origin: http://localhost:{port}\r\nSec-Fetch-Site: cross-site"),
    ] {
        let reply = serve.send("POST", "/project/p1/new", &[json, &foreign], body.as_bytes());
        let expected = (403, "origin_not_allowed");
        assert_eq!((reply.status, reply.code().as_str()), expected, "{foreign}");
        assert_closed_to_pages(&reply);
        for path in ["/sessions", "/inbox/", "/events", "/nowhere"] {
            assert_eq!(serve.send("GET", path, &[&foreign], b"").status, 403, "{foreign} {path}");
        }
    }
    assert_eq!(serve.get("/actions").json()["actions"], json!([]));
    let own = format!("Origin: http://localhost:{port}");
    let reply = serve.send("POST", "/project/p1/new", &[json, &own], body.as_bytes());
    assert_eq!(reply.status, 202);
    assert_closed_to_pages(&reply);
}

#[test]
fn h02_a_preflight_learns_nothing() {
    let home = TestHome::new();
    let serve = Serve::start(&home);
    let own = format!("Origin: http://localhost:{}", serve.port);
    let asks =
        ["Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization"];
    for path in ["/settings", "/healthz", "/nowhere", "/project/p1/new"] {
        let foreign = ["Origin: http://evil.example", asks[0], asks[1]];
        assert_eq!(serve.send_as("OPTIONS", path, &foreign, b"").status, 403);
        let reply = serve.send_as("OPTIONS", path, &[&own, asks[0], asks[1]], b"");
        assert_eq!(reply.status, 401);
        assert_closed_to_pages(&reply);
        let reply = serve.send("OPTIONS", path, &[&own, asks[0], asks[1]], b"");
        assert!([404, 405].contains(&reply.status), "{reply:?}");
        assert_eq!(reply.header("allow"), None);
        assert_closed_to_pages(&reply);
    }
}

#[test]
fn h02_the_token_counts_in_its_header_only() {
    let home = TestHome::new();
    let serve = Serve::start(&home);
    let token = serve.token.clone();
    for path in [
        format!("/healthz?token={token}"),
        format!("/healthz?access_token={token}"),
        format!("/healthz?authorization=Bearer%20{token}"),
        format!("/{token}/healthz"),
    ] {
        assert_eq!(serve.send_as("GET", &path, &[], b"").status, 401, "{path}");
    }
    for header in [
        format!("Cookie: token={token}"),
        format!("X-Api-Key: {token}"),
        format!("Authorization: {token}"),
        format!("Authorization: Basic {token}"),
        format!("Authorization: Token {token}"),
        format!("Proxy-Authorization: Bearer {token}"),
        format!("Authorization: Bearer {token}\r\nAuthorization: Bearer {token}"),
    ] {
        assert_eq!(serve.send_as("GET", "/healthz", &[&header], b"").status, 401, "{header}");
    }
    // Also where it is right, the query is no place for it.
    assert_eq!(serve.get(&format!("/healthz?token={token}")).code(), "invalid_request");
}

#[test]
fn h02_reading_has_no_effect_whatever_the_query_says() {
    let home = home_with(&[("a.md", b"a")]);
    let serve = Serve::start(&home);
    for path in [
        "/project/p1/docs/a.md",
        "/project/p1/docs?method=DELETE",
        "/project/p1/new?engine=echo&prompt=hi",
        "/settings?chip=false",
        "/actions?approve=1",
    ] {
        let reply = serve.send("GET", path, &["X-HTTP-Method-Override: DELETE"], b"");
        assert!([400, 404, 405].contains(&reply.status), "{path}: {reply:?}");
    }
    assert_eq!(serve.get("/actions?decided=true").json()["actions"], json!([]));
}
