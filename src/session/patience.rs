//! How long a process waits for a locked database: five seconds, but not at each step of a launch
//! anew. A program that holds the lock that long will most likely hold it a while yet.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::session::error::StoreError;

/// How long a write waits for another process before the row goes to the spool. Fifty launches at
/// once need well under a second on a slow disk; a person is not kept waiting for longer than this.
const FIRST: Duration = Duration::from_secs(5);
/// The same right after a wait that was in vain.
const AGAIN: Duration = Duration::from_millis(100);
/// After this the lock may be another one. A launch up to its engine takes less.
const FORGOTTEN: Duration = Duration::from_secs(10);

/// When this process last waited in vain.
static IN_VAIN: Mutex<Option<Instant>> = Mutex::new(None);

fn in_vain() -> MutexGuard<'static, Option<Instant>> {
    IN_VAIN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long to wait now.
pub(super) fn now() -> Duration {
    after(in_vain().map(|at| at.elapsed()))
}

fn after(since: Option<Duration>) -> Duration {
    match since {
        Some(since) if since < FORGOTTEN => AGAIN,
        _ => FIRST,
    }
}

/// Learns from what came of an attempt.
pub(super) fn learn<T>(result: Result<T, StoreError>) -> Result<T, StoreError> {
    match &result {
        Ok(_) => *in_vain() = None,
        Err(StoreError::Locked { .. }) => *in_vain() = Some(Instant::now()),
        Err(_) => {}
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn g01_a_launch_waits_for_a_locked_store_once() {
        assert_eq!(after(None), FIRST);
        assert_eq!(after(Some(Duration::from_millis(1))), AGAIN);
        assert_eq!(after(Some(FORGOTTEN)), FIRST);
    }
}
