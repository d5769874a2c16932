//! `GET /events`: what changes in the store, whoever changes it: an approval may come from the
//! terminal, an end from an engine's own process. While somebody listens, one thread asks SQLite
//! every 200 ms whether the database has changed (`PRAGMA data_version`, a look at shared memory) and
//! only then reads it; now and then it looks for sessions whose omni-run was killed, which nobody else
//! would write down. Nobody listens: no thread, no timer.
//!
//! Events say that something changed and its new status, no text of a session. `ready` comes first;
//! who reads the lists after it misses nothing. A listener that falls behind loses its stream and,
//! by connecting again, gets a new `ready`.

use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header::CONTENT_TYPE};
use axum::response::Response;
use hyper::body::Frame;
use tokio::sync::mpsc;

use super::changes::Source;
use super::error::{ApiError, ErrorCode};
use super::limits;
use crate::paths::Paths;
use crate::session::{Look, settle_if_can};

/// All who listen.
#[derive(Debug)]
pub struct Hub {
    paths: Paths,
    listeners: Mutex<Listeners>,
    /// Somebody came, or the server ends.
    woken: Condvar,
}

#[derive(Debug, Default)]
struct Listeners {
    all: Vec<Listener>,
    /// The thread is there.
    watched: bool,
    closed: bool,
}

#[derive(Debug)]
struct Listener {
    events: mpsc::Sender<Bytes>,
    who: Who,
    /// Has got its `ready`.
    greeted: bool,
}

/// Who listens: programs take no place from the person's page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Program,
    Page,
}

impl Hub {
    /// Nobody listens yet.
    pub fn new(paths: Paths) -> Arc<Hub> {
        Arc::new(Hub { paths, listeners: Mutex::default(), woken: Condvar::new() })
    }

    /// A stream for one more listener.
    pub(super) fn subscribe(hub: &Arc<Hub>, who: Who) -> Result<Response, ApiError> {
        let (events, stream) = mpsc::channel(limits::EVENT_BACKLOG);
        let mut listeners = hub.lock();
        listeners.all.retain(|listener| !listener.events.is_closed());
        let same = listeners.all.iter().filter(|listener| listener.who == who).count();
        if same >= limits::STREAMS || listeners.closed {
            let text = "as many streams as there may be are open";
            return Err(ApiError::new(ErrorCode::TooManyStreams, text));
        }
        listeners.all.push(Listener { events, who, greeted: false });
        if !listeners.watched {
            let hub = hub.clone();
            let watch = std::thread::Builder::new().name("events".to_owned());
            watch.spawn(move || hub.watch()).map_err(|error| {
                tracing::error!(%error, "no thread for events");
                ApiError::new(ErrorCode::Busy, "the system has no thread left for events")
            })?;
            listeners.watched = true;
        }
        drop(listeners);
        hub.woken.notify_all();
        let mut response = Response::new(Body::new(Stream(stream)));
        let kind = HeaderValue::from_static("text/event-stream");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        Ok(response)
    }

    /// Ends all streams, and takes no more.
    pub fn close(&self) {
        let mut listeners = self.lock();
        listeners.closed = true;
        listeners.all.clear();
        drop(listeners);
        self.woken.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Listeners> {
        // A thread that died with the lock left a list of senders, which is always whole.
        self.listeners.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The thread's life: as long as somebody listens.
    fn watch(&self) {
        let mut source = Source::new(&self.paths);
        let mut looked: Option<Instant> = None;
        loop {
            if looked.is_none_or(|at| at.elapsed() >= limits::DEAD_LOOK) {
                settle_if_can(&self.paths, Look::Marks);
                looked = Some(Instant::now());
            }
            let news = source.changes();
            let mut listeners = self.lock();
            for listener in &mut listeners.all {
                // Before its greeting a listener knows no state that could have changed.
                let old = std::mem::replace(&mut listener.greeted, true);
                let event = if old { news.clone() } else { Some(source.ready()) };
                if event.is_some_and(|event| listener.events.try_send(event).is_err()) {
                    // Gone, or behind: its stream ends.
                    listener.greeted = false;
                }
            }
            listeners.all.retain(|listener| listener.greeted && !listener.events.is_closed());
            if listeners.all.is_empty() {
                listeners.watched = false;
                return;
            }
            let greeted = |l: &mut Listeners| !l.closed && l.all.iter().all(|l| l.greeted);
            let wait = self.woken.wait_timeout_while(listeners, limits::EVENT_LOOK, greeted);
            drop(wait);
        }
    }
}

/// The events of one listener, as a body.
struct Stream(mpsc::Receiver<Bytes>);

impl hyper::body::Body for Stream {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(cx).map(|event| event.map(|bytes| Ok(Frame::data(bytes))))
    }
}
