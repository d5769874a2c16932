//! Who of the real engines may run at the same time. The tests that wait for their turn cost nothing,
//! so there may be many more of them than cores (`tests/run` starts sixteen).
//!
//! On two cores, two heavy engines at once make each other run into their own start-up time limits;
//! a heavy one and a light one do not. Larger machines have as many of each as half their cores.

use std::sync::{Condvar, Mutex, PoisonError};

/// Engines that keep a core busy while they start.
const HEAVY: [&str; 4] = ["gemini", "openclaw", "opencode", "hermes"];

static HEAVY_SEATS: Seats = Seats::new();
static LIGHT_SEATS: Seats = Seats::new();

/// A right to run, given back when it is dropped.
#[must_use = "the turn ends where it is dropped"]
pub struct Turn(&'static Seats);

impl Turn {
    /// Waits for the turn of an engine.
    pub fn of(engine: &str) -> Turn {
        if HEAVY.contains(&engine) { HEAVY_SEATS.take() } else { LIGHT_SEATS.take() }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

struct Seats {
    taken: Mutex<usize>,
    freed: Condvar,
}

impl Seats {
    const fn new() -> Seats {
        Seats { taken: Mutex::new(0), freed: Condvar::new() }
    }

    fn take(&'static self) -> Turn {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let seats = (cores / 2).max(1);
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken = self
            .freed
            .wait_while(taken, |taken| *taken >= seats)
            .unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Turn(self)
    }
}
