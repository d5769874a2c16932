//! The inbox page: where a person decides in a browser. Its way in is a one-time key that only the
//! person's terminal shows (`keys`), traded for a session (`sessions`); the API's token opens nothing
//! here. The door (Host, Origin) and the limits of the server hold here too. What the browser gets is
//! in `assets/`: no script but ours, no markup from data, nothing from elsewhere.

pub mod keys;
mod panel;
mod queue;
mod sessions;
mod view;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{FromRequestParts, RawPathParams, Request};
use axum::http::header::{CONTENT_SECURITY_POLICY, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use serde::de::DeserializeOwned;

use self::sessions::Sessions;
use super::api::Api;
use super::auth::Failures;
use super::error::{ApiError, ErrorCode};
use super::events::{Hub, Who};
use super::{answer, body, call, limits};
use crate::session::UnixMs;

/// Only our own files, and pictures that a script of ours has fetched.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// What stands for itself: path, type, bytes.
const ASSETS: [(&str, &str, &str); 8] = [
    ("/inbox.css", "text/css; charset=utf-8", include_str!("assets/inbox.css")),
    ("/inbox.js", SCRIPT, include_str!("assets/inbox.js")),
    ("/open.js", SCRIPT, include_str!("assets/open.js")),
    ("/api.js", SCRIPT, include_str!("assets/api.js")),
    ("/kept.js", SCRIPT, include_str!("assets/kept.js")),
    ("/dom.js", SCRIPT, include_str!("assets/dom.js")),
    ("/cards.js", SCRIPT, include_str!("assets/cards.js")),
    ("/panel.js", SCRIPT, include_str!("assets/panel.js")),
];

/// The page of one server.
struct Page {
    api: Arc<Api>,
    sessions: Mutex<Sessions>,
    failures: Mutex<Failures>,
}

/// A request of the page, let in.
struct PageCall {
    path: Vec<String>,
    query: Vec<(String, String)>,
    body: Bytes,
}

/// Work that may wait for the disk.
type Work = fn(&Api, &PageCall) -> Result<Response, ApiError>;

impl PageCall {
    fn segment(&self, at: usize) -> &str {
        self.path.get(at).map_or("", String::as_str)
    }

    fn query(&self, name: &str) -> Option<String> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn json<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        call::object(&self.body)
    }
}

/// The routes below `/inbox`.
pub(super) fn router(api: &Arc<Api>) -> Router {
    let page =
        Arc::new(Page { api: api.clone(), sessions: Mutex::default(), failures: Mutex::default() });
    let mut router = Router::new();
    for (path, kind, text) in ASSETS {
        router = router.route(path, get(async move || asset(StatusCode::OK, kind, text)));
    }
    let (front, session, events) = (page.clone(), page.clone(), page.clone());
    router
        .route("/", get(async move |headers: HeaderMap| front.front(&headers)))
        .route("/open", get(async || asset(StatusCode::OK, HTML, include_str!("assets/open.html"))))
        .route(
            "/session",
            post(async move |request: Request| answered(session.open(request).await)),
        )
        .route(
            "/api/events",
            get(async move |headers: HeaderMap| answered(events.events(&headers))),
        )
        .route("/api/state", reads(&page, queue::state))
        .route("/api/actions/{id}", reads(&page, queue::show))
        .route("/api/actions/{id}/image", reads(&page, queue::image))
        .route("/api/actions/{id}/approve", writes(&page, queue::approve))
        .route("/api/actions/{id}/reject", writes(&page, queue::reject))
        .route("/api/projects/{id}/docs", reads(&page, panel::show))
        .route("/api/projects/{id}/order", writes(&page, panel::order))
        .route("/api/projects/{id}/instruction", writes(&page, panel::instruction))
        .route("/api/projects/{id}/move", writes(&page, panel::move_doc))
        .fallback(async || ApiError::new(ErrorCode::NotFound, "there is no such page"))
        .method_not_allowed_fallback(async || {
            ApiError::new(ErrorCode::MethodNotAllowed, "the page has no such method")
        })
}

fn answered(result: Result<Response, ApiError>) -> Response {
    result.unwrap_or_else(IntoResponse::into_response)
}

fn reads(page: &Arc<Page>, work: Work) -> MethodRouter {
    let page = page.clone();
    get(async move |request: Request| answered(page.run(request, work, false).await))
}

fn writes(page: &Arc<Page>, work: Work) -> MethodRouter {
    let page = page.clone();
    post(async move |request: Request| answered(page.run(request, work, true).await))
}

fn asset(status: StatusCode, kind: &'static str, text: &str) -> Response {
    let mut response = answer::with_type(status, kind, text.into());
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

impl Page {
    /// The page for who has a session; for others the one that says how to get it.
    fn front(&self, headers: &HeaderMap) -> Response {
        match self.check(headers, None) {
            Ok(()) => asset(StatusCode::OK, HTML, include_str!("assets/inbox.html")),
            Err(_) => asset(StatusCode::UNAUTHORIZED, HTML, include_str!("assets/open.html")),
        }
    }

    /// Trades a key for a session.
    async fn open(&self, request: Request) -> Result<Response, ApiError> {
        let (head, body) = request.into_parts();
        body::expect_json(&head.headers)?;
        let view::KeyBody { key } = call::object(&body::read(&head.headers, body).await?)?;
        // A file is removed; that takes no time worth another thread.
        if !keys::redeem(&self.api.paths, &key, now_ms()) {
            let mut failures = lock(&self.failures);
            if failures.count(Instant::now()) {
                let text = "too many links that are none";
                return Err(ApiError::new(ErrorCode::TooManyFailures, text).closing());
            }
            return Err(no_session("the link has been used, or is too old"));
        }
        let secrets = lock(&self.sessions).begin(Instant::now()).map_err(|error| {
            ApiError::new(ErrorCode::Internal, format!("no random bytes: {error}"))
        })?;
        let mut response = answer::json(StatusCode::OK, &view::Opened { token: secrets.token });
        let cookie = sessions::set_cookie(&head.headers, &secrets.cookie);
        if let Ok(cookie) = HeaderValue::from_str(&cookie) {
            response.headers_mut().insert(SET_COOKIE, cookie);
        }
        Ok(response)
    }

    /// What changes. A stream can't send a header of its own: the cookie is enough for it, and it
    /// tells ids and statuses only.
    fn events(&self, headers: &HeaderMap) -> Result<Response, ApiError> {
        self.check(headers, None)?;
        Hub::subscribe(&self.api.events, Who::Page)
    }

    async fn run(&self, request: Request, work: Work, write: bool) -> Result<Response, ApiError> {
        let (mut head, body) = request.into_parts();
        let token = head.headers.get(sessions::TOKEN).and_then(|value| value.to_str().ok());
        self.check(&head.headers, Some(token.unwrap_or_default()))?;
        let body = if write {
            body::expect_json(&head.headers)?;
            body::read(&head.headers, body).await?
        } else {
            Bytes::new()
        };
        let call = read(&mut head, body).await?;
        let api = self.api.clone();
        let job = tokio::task::spawn_blocking(move || work(&api, &call));
        match tokio::time::timeout(limits::REQUEST_TIME, job).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(panic)) => {
                tracing::error!(%panic, "a request of the page failed");
                Err(ApiError::new(ErrorCode::Internal, "the request failed"))
            }
            Err(_) => Err(ApiError::new(ErrorCode::Busy, "the request took too long")),
        }
    }

    fn check(&self, headers: &HeaderMap, token: Option<&str>) -> Result<(), ApiError> {
        let cookie = sessions::cookie(headers);
        let mut sessions = lock(&self.sessions);
        match cookie.is_some_and(|cookie| sessions.is_open(cookie, token, Instant::now())) {
            true => Ok(()),
            false => Err(no_session("this page has no session")),
        }
    }
}

async fn read(head: &mut Parts, body: Bytes) -> Result<PageCall, ApiError> {
    let query = super::call::query(head.uri.query().unwrap_or_default(), &["engine"])?;
    let parameters = RawPathParams::from_request_parts(head, &()).await.map_err(|_| {
        ApiError::new(ErrorCode::InvalidRequest, "the path is not percent-encoded UTF-8")
    })?;
    let path = parameters.iter().map(|(_, value)| value.to_owned()).collect();
    Ok(PageCall { path, query, body })
}

fn no_session(text: &str) -> ApiError {
    ApiError::new(ErrorCode::NoPageSession, text)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A thread that died with the lock left nothing half done.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn now_ms() -> UnixMs {
    jiff::Timestamp::now().as_millisecond()
}
