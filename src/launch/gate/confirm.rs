//! Enter is sent: has the engine taken the message? Once more at most, and never a second message.

use std::time::Instant;

use super::machine::{HOLD, Held, KeyGate, Phase, SLOW_TICK, STEP, TICK};
use crate::engines::gate_spec::GateRoute;
use crate::engines::screen_state::Reading;

/// An engine that takes Enter paints soon; a screen that stands still for this share of the time to
/// confirm has not taken it.
const STILL_SHARE: u32 = 3;
/// A message of this many bytes may take longer, up to so many times the time to confirm.
const LARGE: usize = 16 << 10;
const LARGE_FACTOR: u32 = 4;
pub(super) const NOTE_UNCONFIRMED: &str =
    "it could not be confirmed that the engine took the first message";

impl KeyGate {
    /// Whether the message is so large that an engine which still paints may not have come to the Enter
    /// yet. One more would then be a newline, or be the next message's.
    fn still_takes_it(&self, now: Instant) -> bool {
        let size = self.prefix.len() + self.recorded.as_ref().map_or(0, String::len);
        size >= LARGE && self.quiet(now) < self.spec.timing.confirm() / STILL_SHARE
    }

    /// Sends the submit and watches the composer.
    pub(super) fn send(&mut self, held: Held, with_block: bool, now: Instant) {
        self.send_bytes(&held.submit, now);
        self.set_timer(HOLD, self.spec.timing.max_hold());
        self.keep(Phase::Confirming { held, since: now, again: false, with_block }, TICK);
    }

    pub(super) fn look_for_sent(&mut self, now: Instant) {
        let reading = self.read();
        let Phase::Confirming { held, since, again, with_block } = &self.phase else { return };
        let (held, since, again, with_block) = (held.clone(), *since, *again, *with_block);
        let answered = self.output_at.is_some_and(|at| at > since);
        if answered && was_sent(&reading) {
            return self.finish(now);
        }
        if reading.dialog {
            // It covers the composer: what became of the message is seen when the user has answered.
            self.set_timer(HOLD, self.spec.timing.max_hold());
            return self.keep(Phase::Confirming { held, since: now, again, with_block }, SLOW_TICK);
        }
        let waited = now.saturating_duration_since(since);
        let limit = self.spec.timing.confirm();
        let is_over = waited >= limit * if self.still_takes_it(now) { LARGE_FACTOR } else { 1 };
        let still_after = self.spec.timing.confirm() / STILL_SHARE;
        let still = waited >= still_after && self.quiet(now) >= still_after;
        let in_composer = reading.composer.as_ref().is_some_and(|c| !c.text.is_empty());
        // Without the block, and typed by the user, it is as if we were not there.
        let ours = with_block || held.given;
        if ours && !again && in_composer && reading.takes_message() && (still || is_over) {
            // A completion list ate it.
            self.send_bytes(&held.submit, now);
            let again = Phase::Confirming { held, since: now, again: true, with_block };
            return self.keep(again, TICK);
        }
        if !is_over {
            return self.set_timer(STEP, TICK);
        }
        if ours {
            self.note(NOTE_UNCONFIRMED);
        }
        if in_composer && (with_block || !held.given) {
            self.standing = with_block;
            // Only there the cursor is where the user left it.
            if self.spec.route != GateRoute::ClearAndPaste {
                self.draft.forget();
            }
            self.rearm(now);
        } else {
            // Never a second time.
            self.finish(now);
        }
    }
}

/// The composer has let the text go.
fn was_sent(reading: &Reading) -> bool {
    !reading.dialog && (reading.busy || reading.is_empty())
}
