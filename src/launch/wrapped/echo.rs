//! Whether it pays to stay awake for an echo. To sleep and be woken costs some 35 µs each time, about
//! as much as all that lies between a key and its echo in a line editor. Interfaces that paint take
//! milliseconds; for those the loop sleeps at once, so that no core is kept busy for nothing.

use std::time::{Duration, Instant};

/// How long the loop stays awake after a key: an echo of `cat` comes within 40 µs, a woken process
/// that has a core to itself writes within 100 µs.
const AWAKE: Duration = Duration::from_micros(120);
/// An echo that came later than this is not one to stay awake for: [`AWAKE`] and one wake-up.
const QUICK: Duration = Duration::from_micros(250);

/// The last key and how quickly the engine answered it.
#[derive(Debug, Default)]
pub(super) struct Echo {
    typed: Option<Instant>,
    quick: bool,
}

impl Echo {
    /// A key went to the engine.
    pub(super) fn typed(&mut self, now: Instant) {
        // A key that never got an answer says that the engine does not echo.
        self.quick &= self.typed.is_none();
        self.typed = Some(now);
    }

    /// The engine has written.
    pub(super) fn answered(&mut self, now: Instant) {
        if let Some(typed) = self.typed.take() {
            self.quick = now.duration_since(typed) <= QUICK;
        }
    }

    /// Until when the loop stays awake; nothing: it sleeps at once.
    pub(super) fn awake_until(&self) -> Option<Instant> {
        self.typed.filter(|_| self.quick).map(|typed| typed + AWAKE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loop_stays_awake_only_for_an_engine_that_echoes_at_once() {
        let now = Instant::now();
        let mut echo = Echo::default();
        echo.typed(now);
        assert_eq!(echo.awake_until(), None, "nothing is known of the first key");
        echo.answered(now + QUICK);
        assert_eq!(echo.awake_until(), None, "nothing was typed since");
        echo.typed(now);
        assert_eq!(echo.awake_until(), Some(now + AWAKE));
        echo.answered(now + QUICK + Duration::from_micros(1));
        echo.typed(now);
        assert_eq!(echo.awake_until(), None, "the last answer was slow");
        echo.answered(now);
        echo.typed(now);
        echo.typed(now);
        assert_eq!(echo.awake_until(), None, "the last key had no answer");
    }
}
