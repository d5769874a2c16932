//! The limits of the server (S86), with the reason for each number.

use std::time::Duration;

/// Connections at once. Each costs a few KB and one descriptor; the usual limit of 1,024 descriptors
/// is far off.
pub const CONNECTIONS: usize = 64;

/// Connections over that limit that are told so and waited for, so that the answer arrives; further
/// ones are told and dropped.
pub const REFUSALS: usize = 32;

/// How long a refused client has to hang up, once it has its answer.
pub const REFUSAL_TIME: Duration = Duration::from_millis(500);

/// A body: a path and a few words, or a prompt. Files go by path.
pub const BODY_BYTES: usize = 64 * 1024;

/// The head of a request: our own routes need a few hundred bytes; a browser sends a few KB.
pub const HEAD_BYTES: usize = 16 * 1024;

/// Header lines of a request.
pub const HEADERS: usize = 64;

/// For the whole head, and for the silence between two requests of a connection.
pub const HEAD_TIME: Duration = Duration::from_secs(10);

/// For the whole body. On loopback 64 KB take milliseconds.
pub const BODY_TIME: Duration = Duration::from_secs(10);

/// How long a client may leave an answer unread before its connection ends.
pub const WRITE_STALL: Duration = Duration::from_secs(20);

/// Requests that work at once. More would only wait for the same disk.
pub const WORKERS: usize = 4;

/// For the work of a request, waiting for its turn included.
pub const REQUEST_TIME: Duration = Duration::from_secs(30);

/// How long requests that are under way have at a stop.
pub const STOP_TIME: Duration = Duration::from_secs(5);

/// Pause after `accept` found no free descriptor: there is no event to wait for.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Wrong tokens in [`FAILURE_TIME`] that get an answer of their own; further ones get 429. A right
/// token always passes.
pub const FAILURES: u32 = 20;

/// See [`FAILURES`].
pub const FAILURE_TIME: Duration = Duration::from_secs(60);

/// Listeners of `GET /events` at once, and as many pages.
pub const STREAMS: usize = 8;

/// How often the store is asked for changes while somebody listens. The question is a look at
/// shared memory (`PRAGMA data_version`).
pub const EVENT_LOOK: Duration = Duration::from_millis(200);

/// Looks with news that wait for one slow listener: seconds of work. They are shared by all listeners;
/// one look's are at most some 400 KB.
pub const EVENT_BACKLOG: usize = 16;
