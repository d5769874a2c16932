//! A model API on loopback that speaks Anthropic Messages, OpenAI Responses, Chat Completions and
//! Gemini, streamed and whole, and keeps every request that it was sent.
//!
//! Each test starts its own on a free port, so tests share nothing. It runs on a thread of its
//! own, so that plain and async tests use it alike. It always answers with one text: it calls no
//! tools, checks no key and counts no tokens. An SSE answer goes out in one piece.

mod anthropic;
mod chat;
mod gemini;
mod recorded;
mod responses;
mod wire;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Response, StatusCode, header};
use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};

pub use recorded::{Format, Recorded};
pub use wire::Wire;

/// What the model says unless a test sets another text.
pub const REPLY: &str = "MOCK-REPLY-OK";

/// How long [`FakeModel::wait_for`] waits: as long as the slowest engine may need for its start
/// on busy cores, see `process::LIMIT`.
const PATIENCE: Duration = Duration::from_secs(180);

/// A running fake model; dropping it closes the port.
pub struct FakeModel {
    shared: Arc<Shared>,
    address: SocketAddr,
    held: watch::Sender<bool>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    requests: Mutex<Vec<Recorded>>,
    arrived: Condvar,
    behaviour: Mutex<Behaviour>,
    held: watch::Receiver<bool>,
}

#[derive(Clone)]
struct Behaviour {
    reply: String,
    /// `None` answers; a status makes every model call fail with it.
    failure: Option<u16>,
}

impl FakeModel {
    /// Starts one on a free loopback port; it takes requests when this returns.
    pub fn start() -> Self {
        let (held, held_receiver) = watch::channel(false);
        let shared = Arc::new(Shared {
            requests: Mutex::default(),
            arrived: Condvar::new(),
            behaviour: Mutex::new(Behaviour { reply: REPLY.to_owned(), failure: None }),
            held: held_receiver,
        });
        // Bound here and not on the thread: connections queue up from now on.
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("free port");
        listener.set_nonblocking(true).expect("non-blocking listener");
        let address = listener.local_addr().expect("address of the listener");
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn({
            let shared = Arc::clone(&shared);
            move || serve(listener, shared, stopped)
        });
        Self { shared, address, held, stop: Some(stop), thread: Some(thread) }
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the text of all answers from now on.
    pub fn reply_with(&self, text: &str) {
        lock(&self.shared.behaviour).reply = text.to_owned();
    }

    /// Lets every model call from now on fail with this HTTP status (400, 401, 500 …).
    pub fn fail_with(&self, status: u16) {
        lock(&self.shared.behaviour).failure = Some(status);
    }

    /// Takes [`FakeModel::fail_with`] back.
    pub fn recover(&self) {
        lock(&self.shared.behaviour).failure = None;
    }

    /// Holds all answers back until [`FakeModel::release`]. Requests are recorded all the same.
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    /// Sends the answers that were held back, and holds no more.
    pub fn release(&self) {
        self.held.send_replace(false);
    }

    /// Every request so far, probes and side requests included, in the order of arrival.
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared.requests).clone()
    }

    /// The model calls that carry a turn of the conversation, see [`Recorded::is_main`].
    pub fn main_requests(&self) -> Vec<Recorded> {
        self.requests().into_iter().filter(Recorded::is_main).collect()
    }

    /// The only main request; fails when there were none or several.
    pub fn only_request(&self) -> Recorded {
        let mut main = self.main_requests();
        assert_eq!(main.len(), 1, "main requests, of these:\n{}", self.overview());
        main.remove(0)
    }

    /// Waits until `count` main requests have arrived and gives all main requests.
    pub fn wait_for(&self, count: usize) -> Vec<Recorded> {
        let deadline = Instant::now() + PATIENCE;
        let mut requests = lock(&self.shared.requests);
        loop {
            let main: Vec<_> = requests.iter().filter(|r| r.is_main()).cloned().collect();
            if count <= main.len() {
                return main;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                drop(requests);
                panic!("waited {PATIENCE:?} for {count} main requests:\n{}", self.overview());
            }
            requests = self
                .shared
                .arrived
                .wait_timeout(requests, left)
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .0;
        }
    }

    /// One line per request, for the message of a failed assertion.
    pub fn overview(&self) -> String {
        let lines: Vec<_> = self.requests().iter().map(Recorded::summary).collect();
        if lines.is_empty() { "(no request at all)".to_owned() } else { lines.join("\n") }
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A test that failed while it held the lock must not hide its reason behind a poisoned lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn serve(listener: std::net::TcpListener, shared: Arc<Shared>, stopped: oneshot::Receiver<()>) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime");
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).expect("tokio listener");
        let router = axum::Router::new().fallback(answer).with_state(shared);
        tokio::select! {
            served = axum::serve(listener, router) => served.expect("serve"),
            _ = stopped => {}
        }
    });
    // Connections that an engine keeps open must not keep the test.
    runtime.shutdown_background();
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    let arrived = Instant::now();
    let (parts, body) = request.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
        return plain(StatusCode::BAD_REQUEST, json!({"error": "the body broke off"}));
    };
    let recorded = Recorded::new(&parts, &bytes, arrived);
    lock(&shared.requests).push(recorded.clone());
    shared.arrived.notify_all();

    let Some(format) = recorded.format else {
        return probe(&recorded);
    };
    // The sender lives as long as the model; its end means that the test is over.
    let _ = shared.held.clone().wait_for(|held| !held).await;
    let behaviour = lock(&shared.behaviour).clone();
    if let Some(status) = behaviour.failure {
        let status = StatusCode::from_u16(status).expect("HTTP status");
        return plain(status, failure(format, status));
    }
    let reply = recorded.canned_reply().unwrap_or(&behaviour.reply);
    let (model, streamed) = (recorded.model(), recorded.is_streamed());
    let reply = match format {
        Format::Anthropic => anthropic::reply(&model, reply, streamed),
        Format::Responses => responses::reply(&model, reply, streamed),
        Format::Chat => chat::reply(&model, reply, streamed),
        Format::Gemini => gemini::reply(&model, reply, streamed),
    };
    match reply {
        Reply::Whole(value) => plain(StatusCode::OK, value),
        Reply::Events(text) => Response::builder()
            .header(header::CONTENT_TYPE, "text/event-stream")
            .header(header::CACHE_CONTROL, "no-cache")
            .body(Body::from(text))
            .expect("SSE response"),
    }
}

/// An answer of a model in one of the four formats.
enum Reply {
    Whole(Value),
    Events(String),
}

/// Cuts a text in two, so that readers have to join deltas.
fn deltas(text: &str) -> Vec<&str> {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    let (head, tail) = text.split_at(middle);
    [head, tail].into_iter().filter(|part| !part.is_empty()).collect()
}

/// One server-sent event; OpenAI's chat format and Gemini leave the name out.
fn event(name: Option<&str>, data: &Value) -> String {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}

fn plain(status: StatusCode, value: Value) -> Response<Body> {
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(value.to_string()))
        .expect("JSON response")
}

/// Answers what engines ask beside the model calls: model lists, token counts, a HEAD of `/`.
fn probe(request: &Recorded) -> Response<Body> {
    let path = request.path.split('?').next().unwrap_or_default();
    let model = |id: &str| json!({"id": id, "object": "model", "owned_by": "mock", "type": "model", "display_name": id});
    if path.ends_with("/count_tokens") {
        plain(StatusCode::OK, json!({"input_tokens": 10}))
    } else if path.ends_with(":countTokens") {
        plain(StatusCode::OK, json!({"totalTokens": 10}))
    } else if path.ends_with("/models") {
        plain(StatusCode::OK, json!({"object": "list", "data": [model("mock-model")]}))
    } else if let Some((_, id)) = path.split_once("/models/") {
        plain(StatusCode::OK, model(id))
    } else if path == "/" {
        plain(StatusCode::OK, json!({}))
    } else {
        plain(
            StatusCode::NOT_FOUND,
            json!({"error": {"message": "no such route in the fake model"}}),
        )
    }
}

fn failure(format: Format, status: StatusCode) -> Value {
    let message = format!("the fake model was told to answer {}", status.as_u16());
    let kind = match status.as_u16() {
        401 => "authentication_error",
        400 => "invalid_request_error",
        _ => "api_error",
    };
    match format {
        Format::Anthropic => {
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        Format::Responses | Format::Chat => {
            json!({"error": {"type": kind, "code": kind, "message": message, "param": null}})
        }
        Format::Gemini => {
            json!({"error": {"code": status.as_u16(), "status": kind.to_uppercase(), "message": message}})
        }
    }
}
