//! Who is at the page. A session has two secrets: a cookie that no script can read, and a token that
//! the page keeps in its own storage and sends with each request. A browser sends the cookie of
//! 127.0.0.1 to every port of it; the token stays with this one. One without the other opens nothing
//! that can be read or changed. Sessions live in memory: they end with the server.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use axum::http::header::{COOKIE, HOST};
use sha2::{Digest, Sha256};

use crate::session::hex;

/// How long a page that nobody uses stays open: a working day.
const IDLE: Duration = Duration::from_secs(12 * 3600);

/// Pages open at once; one more ends the one that was used longest ago.
const MOST: usize = 8;

/// The header that carries the page's token.
pub(super) const TOKEN: &str = "x-csrf-token";

/// The open sessions, the one that was used last at the end.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: VecDeque<Session>,
}

struct Session {
    cookie: [u8; 32],
    token: [u8; 32],
    used: Instant,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session(…)")
    }
}

/// The secrets of a new session. Only their hashes are kept.
pub(super) struct Secrets {
    /// The value of the cookie.
    pub(super) cookie: String,
    /// For the page.
    pub(super) token: String,
}

impl Sessions {
    /// Opens one.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub(super) fn begin(&mut self, now: Instant) -> Result<Secrets, getrandom::Error> {
        let secrets = Secrets { cookie: random()?, token: random()? };
        while self.open.len() >= MOST {
            self.open.pop_front();
        }
        self.open.push_back(Session {
            cookie: hash(&secrets.cookie),
            token: hash(&secrets.token),
            used: now,
        });
        Ok(secrets)
    }

    /// Whether the cookie is that of an open session; with `token`, whether the token is too.
    pub(super) fn is_open(&mut self, cookie: &str, token: Option<&str>, now: Instant) -> bool {
        self.open.retain(|session| now.duration_since(session.used) < IDLE);
        let (cookie, token) = (hash(cookie), token.map(hash));
        // Hashes are compared: how long that takes tells nothing about a secret.
        let is_it = |session: &Session| {
            session.cookie == cookie && token.is_none_or(|token| session.token == token)
        };
        let Some(at) = self.open.iter().position(is_it) else { return false };
        if let Some(mut session) = self.open.remove(at) {
            session.used = now;
            self.open.push_back(session);
        }
        true
    }
}

fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

/// The cookie's name: two servers on one machine do not take each other's away.
fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').map_or("", |(_, port)| port);
    let digits: String = port.chars().filter(char::is_ascii_digit).collect();
    format!("omni_run_inbox_{digits}")
}

/// The header that sets the cookie. No `Secure`: there is no TLS on loopback.
pub(super) fn set_cookie(headers: &HeaderMap, value: &str) -> String {
    let name = cookie_name(headers);
    format!("{name}={value}; Path=/inbox; HttpOnly; SameSite=Strict")
}

/// The value of our cookie, where it is sent once.
pub(super) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let name = cookie_name(headers);
    let pairs = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut values = pairs
        .flat_map(|text| text.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(|(known, _)| *known == name)
        .map(|(_, value)| value);
    match (values.next(), values.next()) {
        (Some(value), None) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn both_secrets_of_one_session_open_it() {
        let start = Instant::now();
        let mut sessions = Sessions::default();
        let (a, b) = (sessions.begin(start).expect("a"), sessions.begin(start).expect("b"));
        assert!(sessions.is_open(&a.cookie, Some(&a.token), start));
        assert!(sessions.is_open(&b.cookie, None, start));
        assert!(!sessions.is_open(&a.cookie, Some(&b.token), start));
        assert!(!sessions.is_open(&a.token, Some(&a.cookie), start));
        assert!(!sessions.is_open("", Some(""), start));
        assert!(!sessions.is_open(&a.cookie, Some(""), start));
    }

    #[test]
    fn sessions_end_when_nobody_uses_them_or_too_many_are_open() {
        let start = Instant::now();
        let mut sessions = Sessions::default();
        let first = sessions.begin(start).expect("first");
        let later = start + IDLE / 2;
        assert!(sessions.is_open(&first.cookie, None, later));
        assert!(sessions.is_open(&first.cookie, None, start + IDLE), "its use prolongs it");
        assert!(!sessions.is_open(&first.cookie, None, start + IDLE * 2));
        let first = sessions.begin(start).expect("first");
        let second = sessions.begin(start).expect("second");
        assert!(sessions.is_open(&first.cookie, None, start));
        for _ in 2..=MOST {
            sessions.begin(start).expect("more");
        }
        assert!(sessions.is_open(&first.cookie, None, start), "used last");
        assert!(!sessions.is_open(&second.cookie, None, start));
    }

    #[test]
    fn the_cookie_is_found_by_its_whole_name_and_once() {
        let headers = |cookies: &[&'static str]| {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static("127.0.0.1:6287"));
            for cookie in cookies {
                headers.append(COOKIE, HeaderValue::from_static(cookie));
            }
            headers
        };
        let found = |cookies: &[&'static str]| cookie(&headers(cookies)).map(str::to_owned);
        assert_eq!(found(&["a=1; omni_run_inbox_6287=x"]).as_deref(), Some("x"));
        assert_eq!(found(&["omni_run_inbox_6288=x", "xomni_run_inbox_6287=y"]), None);
        assert_eq!(found(&["omni_run_inbox_6287=x", "omni_run_inbox_6287=y"]), None);
        assert_eq!(found(&[]), None);
        assert!(set_cookie(&headers(&[]), "v").starts_with("omni_run_inbox_6287=v; "));
    }
}
