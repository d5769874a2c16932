//! `omni-run serve`: puts the server together, tells where it is, and stays until it is told to end.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use nix::sys::signal::Signal;

use super::gather::current_dir;
use super::serve_backend::ServeBackend;
use super::{Workplace, now_ms, own_paths, print};
use crate::cli::ServeArgs;
use crate::control::actions::{ActionError, Queue};
use crate::control::place::{Place, SocketFile, port_file};
use crate::control::server::{self, DEFAULT_PORT, Listener};
use crate::control::token::{self, TokenFile};
use crate::control::{Api, Auth, Door, Hub, router, unit};
use crate::error::{ExitKind, Failure};
use crate::launch::one_shot::{received, unless_ignored};
use crate::paths::Paths;
use crate::session::StoreError;
use crate::ui::Ui;

/// Carries the command out.
pub(super) fn serve(args: &ServeArgs, ui: Ui) -> Result<ExitCode, Failure> {
    if args.print_unit {
        return print_unit(args, ui);
    }
    if args.rotate_token {
        let file = token::make(&own_paths())?;
        ui.status(&format!("a new token is in {}; the old one is worth nothing", file.display()));
        return Ok(ExitCode::SUCCESS);
    }
    // A config file that is wrong is told now and not with each request.
    let Workplace { paths, .. } = Workplace::open()?;
    let place = Place::take(&paths, now_ms())?;
    let auth = Auth::new(TokenFile::open(&paths)?);
    let mut listening = Listening::default();
    if !args.no_tcp {
        let (port, listeners) = server::listen(args.port.unwrap_or(DEFAULT_PORT))?;
        ui.status(&format!("listening on http://127.0.0.1:{port}"));
        listening.tcp = listeners.into_iter().map(|listener| (port, listener)).collect();
        place.tell_port(port)?;
    }
    if let Some(path) = &args.socket {
        listening.socket = Some(SocketFile::listen(&current_dir().join(path))?);
        ui.status(&format!("listening on the socket {}", path.display()));
    }
    ui.status(&format!("token: {}", token::file(&paths).display()));
    if !args.no_tcp {
        ui.status(&format!("port: {}", port_file(&paths).display()));
    }
    look_at_queue(&paths, ui);
    let events = Hub::new(paths.clone());
    let backend = Box::new(ServeBackend::new(paths.clone()));
    let api = Arc::new(Api { paths, auth, backend, events: events.clone() });

    let runtime = server::runtime().map_err(no_descriptor)?;
    let outcome = runtime.block_on(async {
        let listeners = listening.doors()?;
        let mut signals = Signals::listen().map_err(no_descriptor)?;
        let stop = async {
            signals.next().await;
            events.close();
        };
        tracing::info!("serving");
        server::serve(listeners, router(api), stop).await;
        tracing::info!("ended");
        Ok(ExitCode::SUCCESS)
    });
    // A request that is stuck on a dead disk does not hold the end.
    runtime.shutdown_background();
    ui.status("the server has ended");
    outcome
}

/// Ends what is out of date and what an omni-run that died has left in the middle: the API itself only
/// looks.
fn look_at_queue(paths: &Paths, ui: Ui) {
    let due = Queue::open_reading(paths).and_then(|queue| queue.has_to_look(now_ms()));
    let looked = match due {
        Ok(false) | Err(StoreError::Missing { .. }) => Ok(()),
        Ok(true) => Queue::open(paths).map_err(Into::into).and_then(|q| q.look(now_ms())),
        Err(error) => Err(ActionError::from(error)),
    };
    if let Err(error) = looked {
        ui.warning(&error.to_string());
    }
}

/// What is listened on, before there is a runtime.
#[derive(Default)]
struct Listening {
    tcp: Vec<(u16, std::net::TcpListener)>,
    socket: Option<(SocketFile, std::os::unix::net::UnixListener)>,
}

impl Listening {
    /// Each listener with its door. Needs the runtime.
    fn doors(&mut self) -> Result<Vec<(Listener, Door)>, Failure> {
        let mut doors = Vec::new();
        for (port, listener) in self.tcp.drain(..) {
            listener.set_nonblocking(true).map_err(no_descriptor)?;
            let listener = tokio::net::TcpListener::from_std(listener).map_err(no_descriptor)?;
            doors.push((Listener::Tcp(listener), Door::tcp(port)));
        }
        if let Some((_, listener)) = &self.socket {
            let listener = listener.try_clone().map_err(no_descriptor)?;
            listener.set_nonblocking(true).map_err(no_descriptor)?;
            let listener = tokio::net::UnixListener::from_std(listener).map_err(no_descriptor)?;
            doors.push((Listener::Socket(listener), Door::socket()));
        }
        Ok(doors)
    }
}

fn no_descriptor(error: std::io::Error) -> Failure {
    Failure::new(ExitKind::Internal, format!("the server cannot start: {error}"))
}

/// What ends the server. One that was ignored at the start stays so: `nohup omni-run serve &`.
struct Signals([Option<tokio::signal::unix::Signal>; 3]);

impl Signals {
    fn listen() -> std::io::Result<Signals> {
        Ok(Signals([
            unless_ignored(Signal::SIGTERM)?,
            unless_ignored(Signal::SIGINT)?,
            unless_ignored(Signal::SIGHUP)?,
        ]))
    }

    async fn next(&mut self) {
        let [terminate, interrupt, hangup] = &mut self.0;
        tokio::select! {
            () = received(terminate) => {}
            () = received(interrupt) => {}
            () = received(hangup) => {}
        }
    }
}

fn print_unit(args: &ServeArgs, ui: Ui) -> Result<ExitCode, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        Failure::new(ExitKind::Internal, format!("where omni-run lies is not known: {error}"))
    })?;
    let mut options = Vec::new();
    if let Some(port) = args.port {
        options.push(format!("--port={port}"));
    }
    if let Some(socket) = &args.socket {
        options.push(format!("--socket={}", absolute(socket).display()));
    }
    if args.no_tcp {
        options.push("--no-tcp".to_owned());
    }
    print(ui, &unit::systemd(&program, &options))
}

fn absolute(path: &Path) -> PathBuf {
    current_dir().join(path)
}
