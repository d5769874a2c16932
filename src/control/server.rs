//! The listeners and their connections: so many at once, each with time-outs; who comes beyond is
//! told so and let go. Stops gracefully. What a request means is not known here.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Method;
use axum::http::header::ALLOW;
use axum::response::{IntoResponse, Response};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use super::door::Door;
use super::error::{ApiError, ErrorCode};
use super::stall::Stall;
use super::{answer, limits};
use crate::error::{ExitKind, Failure};

/// The port unless told: in no registry of services, and below those that systems give out.
pub const DEFAULT_PORT: u16 = 6287;

/// Listens on 127.0.0.1 and, where the machine has it, on ::1 with the same port. Port 0: a free one.
///
/// # Errors
/// [`ExitKind::CannotCreate`] where the port is taken; also where it is on one address only, because
/// `localhost` could mean the other program then.
pub fn listen(port: u16) -> Result<(u16, Vec<TcpListener>), Failure> {
    // A port that is free on one address may be taken on the other; another try gets another one.
    let tries = if port == 0 { 20 } else { 1 };
    let mut last = io::Error::from(io::ErrorKind::AddrInUse);
    for _ in 0..tries {
        match listen_once(port) {
            Ok(listening) => return Ok(listening),
            Err(error) => last = error,
        }
    }
    let message = format!("port {port} of this machine cannot be listened on: {last}");
    Err(Failure::new(ExitKind::CannotCreate, message)
        .hint("`--port N` names another port, `--port 0` takes a free one"))
}

fn listen_once(port: u16) -> io::Result<(u16, Vec<TcpListener>)> {
    let four = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    let port = four.local_addr()?.port();
    let mut listeners = vec![four];
    match TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))) {
        Ok(six) => listeners.push(six),
        Err(error) if has_no_ipv6(&error) => {}
        Err(error) => return Err(error),
    }
    Ok((port, listeners))
}

fn has_no_ipv6(error: &io::Error) -> bool {
    use nix::libc::{EADDRNOTAVAIL, EAFNOSUPPORT, EPROTONOSUPPORT};
    [EADDRNOTAVAIL, EAFNOSUPPORT, EPROTONOSUPPORT]
        .iter()
        .any(|code| error.raw_os_error() == Some(*code))
}

/// What is listened on. The listeners must not block.
#[derive(Debug)]
pub enum Listener {
    /// A loopback address.
    Tcp(tokio::net::TcpListener),
    /// A socket in the file system.
    Socket(tokio::net::UnixListener),
}

/// A stream of either kind.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

impl Listener {
    async fn accept(&self) -> io::Result<Box<dyn Stream>> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                // Small answers, at once. Slower without, never wrong.
                let _ = stream.set_nodelay(true);
                Ok(Box::new(stream))
            }
            Listener::Socket(listener) => Ok(Box::new(listener.accept().await?.0)),
        }
    }
}

/// Serves until `stop` comes; then what is under way has [`limits::STOP_TIME`] to end.
pub async fn serve(
    listeners: Vec<(Listener, Door)>,
    router: Router,
    stop: impl Future<Output = ()>,
) {
    let (stopping, stopped) = watch::channel(false);
    let places = Arc::new(Semaphore::new(limits::CONNECTIONS));
    let refusals = Arc::new(Semaphore::new(limits::REFUSALS));
    let mut accepting = Vec::new();
    for (listener, door) in listeners {
        let gate = Gate {
            places: places.clone(),
            refusals: refusals.clone(),
            door: Arc::new(door),
            router: router.clone(),
            stopped: stopped.clone(),
        };
        accepting.push(tokio::spawn(gate.accept_all(listener)));
    }
    stop.await;
    let _ = stopping.send(true);
    for task in accepting {
        task.abort();
        let _ = task.await;
    }
    let all = u32::try_from(limits::CONNECTIONS).unwrap_or(u32::MAX);
    let _ = timeout(limits::STOP_TIME, places.acquire_many(all)).await;
}

/// What each new connection needs.
#[derive(Clone)]
struct Gate {
    places: Arc<Semaphore>,
    refusals: Arc<Semaphore>,
    door: Arc<Door>,
    router: Router,
    stopped: watch::Receiver<bool>,
}

impl Gate {
    async fn accept_all(self, listener: Listener) {
        loop {
            let stream = match listener.accept().await {
                Ok(stream) => stream,
                Err(error) => {
                    tracing::warn!(%error, "accept");
                    if !is_of_one_connection(&error) {
                        tokio::time::sleep(limits::ACCEPT_PAUSE).await;
                    }
                    continue;
                }
            };
            if let Ok(place) = self.places.clone().try_acquire_owned() {
                let gate = self.clone();
                tokio::spawn(async move {
                    gate.connection(stream).await;
                    drop(place);
                });
            } else if let Ok(place) = self.refusals.clone().try_acquire_owned() {
                tokio::spawn(async move {
                    let _ = timeout(limits::REFUSAL_TIME, refuse(stream)).await;
                    drop(place);
                });
            }
            // Else it is dropped without a word: more than that nobody would read.
        }
    }

    async fn connection(mut self, stream: Box<dyn Stream>) {
        let service = service_fn(|request| handle(&self.door, &self.router, request));
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(limits::HEAD_TIME)
            .max_headers(limits::HEADERS)
            .max_buf_size(limits::HEAD_BYTES);
        let mut connection =
            pin!(builder.serve_connection(TokioIo::new(Stall::new(stream)), service));
        let result = tokio::select! {
            result = connection.as_mut() => result,
            () = stopping(&mut self.stopped) => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = result {
            tracing::debug!(%error, "connection");
        }
    }
}

async fn stopping(stopped: &mut watch::Receiver<bool>) {
    // An error is the sender's end, which is the server's.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

/// The door first, then the routes; every answer is hardened.
async fn handle(
    door: &Door,
    router: &Router,
    request: Request<Incoming>,
) -> Result<Response, Infallible> {
    let (head, body) = request.into_parts();
    let preflight = head.method == Method::OPTIONS;
    let mut response = match door.check(&head) {
        Err(error) => error.into_response(),
        Ok(()) => {
            let request = Request::from_parts(head, Body::new(body));
            let routes = TowerToHyperService::new(router.clone());
            routes.call(request).await?
        }
    };
    answer::harden(&mut response);
    if preflight {
        // It learns nothing, not even the methods.
        response.headers_mut().remove(ALLOW);
    }
    Ok(response)
}

/// Says "busy" and waits for the client to hang up: an answer that is followed by a reset at once is
/// lost with it.
async fn refuse(mut stream: Box<dyn Stream>) -> io::Result<()> {
    let error = ApiError::new(ErrorCode::Busy, "all connections are in use");
    let body = serde_json::to_string(&error.body()).unwrap_or_default() + "\n";
    let text = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nRetry-After: 1\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await?;
    let mut rest = [0; 1024];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

/// The client was gone before it was let in; the listener is well.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    [ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted].contains(&error.kind())
}

/// A runtime of one thread, with [`limits::WORKERS`] beside it that end when they have nothing to do.
///
/// # Errors
/// When the system has no descriptor left for it.
pub fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(limits::WORKERS)
        .thread_keep_alive(Duration::from_secs(2))
        .build()
}
