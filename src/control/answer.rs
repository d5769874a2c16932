//! How answers leave: JSON, and the headers that every one of them bears. There is no CORS header
//! here, on purpose: no web page may read an answer.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use serde::Serialize;

/// A value as the body of an answer.
pub(super) fn json(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(mut bytes) => {
            // For people with curl: the next prompt stands on a line of its own.
            bytes.push(b'\n');
            with_type(status, "application/json", bytes)
        }
        // Types of ours with text keys can always be written; this is for the compiler.
        Err(_) => with_type(StatusCode::INTERNAL_SERVER_ERROR, "application/json", "{}".into()),
    }
}

/// Bytes with their type.
pub(super) fn with_type(status: StatusCode, kind: &'static str, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// For a browser that gets here all the same: nothing of an answer is guessed at, framed, kept,
/// executed or told on. The inbox page sets its own policy, which stays.
pub(super) fn harden(response: &mut Response) {
    const SAME_ORIGIN_RESOURCE: HeaderName =
        HeaderName::from_static("cross-origin-resource-policy");
    const SAME_ORIGIN_OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
    let headers = response.headers_mut();
    for (name, value) in [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (SAME_ORIGIN_RESOURCE, "same-origin"),
        (SAME_ORIGIN_OPENER, "same-origin"),
    ] {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}
