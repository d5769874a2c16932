//! The recipe that empties the composer and pastes everything. From the first Backspace on the draft is
//! in our hands: it goes on with the block, or it is put back.

use std::time::{Duration, Instant};

use super::draft::squeeze;
use super::machine::{HOLD, Held, KeyGate, Phase, SLOW_TICK, TICK};
use crate::engines::screen_state::Composer;

/// An engine that has painted nothing for this long has done with the Backspaces.
const CLEAR_LIMIT: Duration = Duration::from_millis(800);
/// What one Backspace may take at most, where the engine paints on and on.
const CLEAR_PER_KEY: Duration = Duration::from_micros(100);
/// How often Backspaces are sent.
const CLEAR_ROUNDS: u8 = 3;
/// Backspaces beyond what is known to be there.
const SPARE_KEYS: usize = 8;
pub(super) const NOTE_NOT_CLEARED: &str =
    "the composer could not be emptied; the docs did not go with a message";
const NOTE_HELD_BACK: &str =
    "the composer could not be emptied; nothing was sent: look at the draft and press Enter again";

/// A draft that Backspaces are sent for.
#[derive(Debug)]
pub(super) struct Clearing {
    held: Held,
    /// All of it.
    text: String,
    /// The composer before.
    shown: String,
    /// Whether that was all of the text: only then an unchanged screen says that nothing is deleted.
    whole: bool,
    rounds: u8,
    /// The last round's start.
    since: Instant,
}

impl Clearing {
    /// The longest wait for one round.
    fn limit(&self) -> Duration {
        let keys = u32::try_from(self.text.chars().count()).unwrap_or(u32::MAX);
        CLEAR_LIMIT + CLEAR_PER_KEY.saturating_mul(keys)
    }
}

impl KeyGate {
    pub(super) fn clear(&mut self, held: Held, text: String, composer: &Composer, now: Instant) {
        let whole = !composer.chips && squeeze(&text) == squeeze(&composer.text);
        let shown = composer.text.clone();
        self.press_backspaces(Clearing { held, text, shown, whole, rounds: 0, since: now }, now);
    }

    fn press_backspaces(&mut self, mut clearing: Clearing, now: Instant) {
        let times = clearing.text.chars().count() + SPARE_KEYS;
        let mut keys = b"\x1b[F".to_vec();
        keys.extend(std::iter::repeat_n(0x7f, times));
        self.send_bytes(&keys, now);
        clearing.rounds += 1;
        clearing.since = now;
        self.set_timer(HOLD, self.spec.timing.max_hold() + clearing.limit());
        self.keep(Phase::Clearing(clearing), TICK);
    }

    pub(super) fn cleared(&mut self, clearing: Clearing, now: Instant) {
        let reading = self.read();
        if reading.dialog {
            // Text that is put back now would be lost in it.
            self.set_timer(HOLD, self.spec.timing.max_hold() + clearing.limit());
            return self.keep(Phase::Clearing(Clearing { since: now, ..clearing }), SLOW_TICK);
        }
        if reading.is_empty() && reading.takes_message() && self.is_echoed(now) {
            self.record(&clearing.text);
            let all = self.framed(&format!("{}{}", self.prefix, clearing.text));
            self.send_bytes(&all, now);
            return self.keep(Phase::Pasted { held: clearing.held, since: now }, TICK);
        }
        if !self.is_done_clearing(&clearing, now) {
            return self.keep(Phase::Clearing(clearing), TICK);
        }
        if clearing.rounds < CLEAR_ROUNDS && reading.takes_message() {
            return self.press_backspaces(clearing, now);
        }
        let unchanged = reading.composer.as_ref().is_some_and(|c| c.text == clearing.shown);
        if !unchanged {
            return self.give_back(&clearing, now);
        }
        // So many Backspaces would have left a trace: this engine does not take them.
        if clearing.whole {
            self.note(NOTE_NOT_CLEARED);
            self.release(&clearing.held, now);
        } else {
            self.note(NOTE_HELD_BACK);
            self.no_backspace = true;
            self.draft.forget();
            self.rearm(now);
        }
    }

    /// Whether no more is to be expected of this round: a large draft shrinks slowly, so what counts
    /// is whether the engine still paints. One that has not painted at all may be stopped, with the
    /// Backspaces still before it: that is waited for as long as a key may be held.
    fn is_done_clearing(&self, clearing: &Clearing, now: Instant) -> bool {
        let waited = now.saturating_duration_since(clearing.since);
        self.has_answered(clearing)
            && (waited.min(self.quiet(now)) >= CLEAR_LIMIT || waited >= clearing.limit())
    }

    fn has_answered(&self, clearing: &Clearing) -> bool {
        self.output_at.is_some_and(|at| at > clearing.since)
    }

    /// The recipe is given up with a changed composer: the draft comes back, and the user sends it.
    pub(super) fn give_back(&mut self, clearing: &Clearing, now: Instant) {
        // An engine that has not answered deletes what it shows before it takes the paste.
        let shown = self.read().composer.filter(|_| self.has_answered(clearing));
        let left = shown.map(|composer| composer.text).unwrap_or_default();
        // Backspaces leave the head of it. Of a longer draft the screen shows less than is left:
        // then something stands there twice, and nothing is lost.
        let rest = clearing.text.strip_prefix(left.as_str()).unwrap_or(&clearing.text);
        let keys = if rest.is_empty() { Vec::new() } else { self.framed(rest) };
        self.send_bytes(&keys, now);
        self.note(NOTE_HELD_BACK);
        if left.is_empty() {
            self.draft.set(&clearing.text);
        } else {
            self.draft.forget();
        }
        self.rearm(now);
    }
}
