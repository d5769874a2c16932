//! Who may use the API: whoever has the token, sent as `Authorization: Bearer`. Nothing else counts:
//! no query, no cookie. The inbox page has its own way in and is not opened by this token.

use std::sync::Mutex;
use std::time::Instant;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;

use super::error::{ApiError, ErrorCode};
use super::limits;
use super::token::TokenFile;

/// The token and the count of those who guessed.
#[derive(Debug)]
pub struct Auth {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    token: TokenFile,
    failures: Failures,
}

/// Wrong tokens, or wrong links to the page, in the running minute.
#[derive(Debug, Default)]
pub(super) struct Failures {
    since: Option<Instant>,
    count: u32,
}

impl Failures {
    /// Counts one; `true`: it is one too many.
    pub(super) fn count(&mut self, now: Instant) -> bool {
        match self.since {
            Some(since) if now.duration_since(since) < limits::FAILURE_TIME => self.count += 1,
            _ => (self.since, self.count) = (Some(now), 1),
        }
        self.count > limits::FAILURES
    }
}

impl Auth {
    /// With this token.
    pub fn new(token: TokenFile) -> Auth {
        Auth { inner: Mutex::new(Inner { token, failures: Failures::default() }) }
    }

    /// Lets a request with the token pass. A right token passes whatever others have tried.
    ///
    /// # Errors
    /// [`ErrorCode::Unauthorized`], and [`ErrorCode::TooManyFailures`] for who keeps guessing.
    pub fn check(&self, headers: &HeaderMap, now: Instant) -> Result<(), ApiError> {
        let given = bearer(headers);
        // A thread that died with the lock left nothing half done.
        let mut inner = self.inner.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let inner = &mut *inner;
        let right = match (given, inner.token.current()) {
            (Some(given), Some(token)) => token.is(given),
            _ => false,
        };
        if right {
            return Ok(());
        }
        if inner.failures.count(now) {
            let text = "too many requests without the right token";
            return Err(ApiError::new(ErrorCode::TooManyFailures, text).closing());
        }
        let text =
            if given.is_some() { "the token is not the right one" } else { "no bearer token" };
        Err(ApiError::new(ErrorCode::Unauthorized, text))
    }
}

/// What follows `Bearer` in the one Authorization header.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.as_bytes().split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::Paths;
    use axum::http::HeaderValue;

    #[test]
    fn h07_guessing_is_slowed_and_the_right_token_still_passes() {
        let dir = tempfile::tempdir().expect("dir");
        let data = dir.path().to_owned();
        let paths = Paths { config: data.clone(), runs: data.clone(), data, home: None };
        let auth = Auth::new(TokenFile::open(&paths).expect("token"));
        let token = std::fs::read_to_string(super::super::token::file(&paths)).expect("token");
        let header = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_str(value).expect("header"));
            headers
        };
        let right = header(&format!("bearer {}", token.trim()));
        let start = Instant::now();
        let code = |headers: &HeaderMap, at| auth.check(headers, at).err().map(|e| e.code.status());
        assert_eq!(code(&right, start), None);
        assert_eq!(code(&HeaderMap::new(), start), Some(401));
        for scheme in ["Basic", "Token", "Bearer\t"] {
            assert_eq!(code(&header(&format!("{scheme} {}", token.trim())), start), Some(401));
        }
        for _ in 4..limits::FAILURES {
            assert_eq!(code(&header("Bearer guess"), start), Some(401));
        }
        assert_eq!(code(&header("Bearer guess"), start), Some(429));
        assert_eq!(code(&right, start), None);
        assert_eq!(code(&header("Bearer guess"), start + limits::FAILURE_TIME), Some(401));
        let mut twice = right.clone();
        twice.append(AUTHORIZATION, HeaderValue::from_static("Bearer other"));
        assert_eq!(code(&twice, start + limits::FAILURE_TIME), Some(401));
    }
}
