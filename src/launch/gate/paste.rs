//! Pasting: at the start of the draft, and what comes after any paste.

use std::time::{Duration, Instant};

use super::confirm::NOTE_UNCONFIRMED;
use super::frame;
use super::machine::{HOLD, Held, KeyGate, Phase, SLOW_TICK, TICK};

/// Keys that an engine takes some tenths of a second for.
const MANY_KEYS: usize = 400;
/// A paste is painted within this, also 500 KB of it.
const PASTE_LIMIT: Duration = Duration::from_secs(6);
/// Enter waits this long after the paste of a given draft, where the recipe says nothing.
const DRAFT_SETTLE: Duration = Duration::from_millis(250);
const NOTE_NO_WAY: &str = "the engine takes no paste now; the docs did not go with a message";

impl KeyGate {
    /// Whether text can be put in by keys now.
    pub(super) fn can_put_in(&self) -> bool {
        self.screen.takes_paste() || !self.spec.paste.typed_newline.is_empty()
    }

    pub(super) fn framed(&self, text: &str) -> Vec<u8> {
        if self.screen.takes_paste() {
            frame::paste(text)
        } else {
            frame::typed(text, &self.spec.paste.typed_newline)
        }
    }

    pub(super) fn cannot_put_in(&mut self, held: &Held, now: Instant) {
        self.note(NOTE_NO_WAY);
        self.release(held, now);
    }

    /// `lines`: how many the composer has of it.
    pub(super) fn paste_at_start(&mut self, held: Held, text: &str, lines: usize, now: Instant) {
        self.record(text);
        let times = frame::start_times(&self.spec.paste, lines);
        let mut keys = frame::to_start(&self.spec.paste, times);
        keys.extend(self.framed(&self.prefix));
        self.send_bytes(&keys, now);
        // An engine paints each of the keys. After so many an Enter would come while it has still to
        // take the paste, and be a part of that.
        if self.spec.paste.settle_ms == 0 && times < MANY_KEYS {
            self.send(held, !self.prefix.is_empty(), now);
        } else {
            self.keep(Phase::Pasted { held, since: now }, TICK);
        }
    }

    pub(super) fn pasted(&mut self, held: Held, since: Instant, now: Instant) {
        let settle = match self.spec.paste.settle_ms {
            0 => DRAFT_SETTLE,
            ms => Duration::from_millis(ms),
        };
        let reading = self.read();
        if reading.dialog {
            // The Enter was not meant for it.
            self.set_timer(HOLD, self.spec.timing.max_hold());
            return self.keep(Phase::Pasted { held, since: now }, SLOW_TICK);
        }
        let painted = self.output_at.is_some_and(|at| at > since)
            && reading.composer.as_ref().is_some_and(|c| !c.text.is_empty());
        let waited = now.saturating_duration_since(since);
        if painted && self.quiet(now) >= settle && waited >= settle {
            self.pending = None;
            return self.send(held, !self.prefix.is_empty(), now);
        }
        if waited < PASTE_LIMIT {
            return self.keep(Phase::Pasted { held, since }, TICK);
        }
        self.note(NOTE_UNCONFIRMED);
        self.pending = None;
        self.standing = true;
        self.draft.forget();
        self.rearm(now);
    }
}
