//! A first message that is given, not typed: it goes in once the composer is there and empty.

use std::time::{Duration, Instant};

use super::machine::{HOLD, Held, KeyGate, Phase, Purpose, STEP, TICK};
use crate::engines::gate_spec::GateRoute;

/// A given draft goes in when the composer has stood still this long.
pub(super) const READY_QUIET: Duration = Duration::from_millis(300);
/// Or, with an engine that always paints something, been ready this long.
const READY_LIMIT: Duration = Duration::from_secs(3);
const NOTE_NOT_PUT_IN: &str = "the given message could not be put into the engine's composer";

impl KeyGate {
    pub(super) fn start_draft(&mut self, now: Instant) {
        if self.pending.is_none() || self.users_editor {
            return;
        }
        let Some(ready_at) = self.draft_ready_at.filter(|_| self.is_ready_for_draft()) else {
            self.draft_ready_at = None;
            return;
        };
        let since_key = self.key_at.map_or(Duration::MAX, |at| now.saturating_duration_since(at));
        let still = self.quiet(now) >= READY_QUIET
            || now.saturating_duration_since(ready_at) >= READY_LIMIT;
        if !still || since_key < READY_QUIET {
            return self.set_timer(STEP, READY_QUIET);
        }
        self.draft_ready_at = None;
        let held = Held { submit: self.enter_key(), since: now, given: true };
        self.set_timer(HOLD, self.spec.timing.max_hold());
        match self.spec.route {
            GateRoute::Editor => self.press_editor_key(held, Purpose::Draft, now),
            GateRoute::None
            | GateRoute::Plugin
            | GateRoute::PasteAtStart
            | GateRoute::ClearAndPaste => self.paste_draft(held, now),
        }
    }

    pub(super) fn is_ready_for_draft(&mut self) -> bool {
        let reading = self.read();
        reading.takes_message() && reading.is_empty() && !reading.popup
    }

    pub(super) fn sent_draft(&self) -> String {
        self.in_front_of(self.pending.as_ref().map_or("", |draft| draft.as_str()))
    }

    /// The text as it is to be sent.
    pub(super) fn in_front_of(&self, text: &str) -> String {
        // With nothing in front it would run as a command; the engines trim the blank away.
        let guard =
            if self.prefix.is_empty() && self.spec.commands.matches(text) { " " } else { "" };
        format!("{}{guard}{text}", self.prefix)
    }

    pub(super) fn paste_draft(&mut self, held: Held, now: Instant) {
        if !self.can_put_in() {
            self.note(NOTE_NOT_PUT_IN);
            self.pending = None;
            return self.rearm(now);
        }
        let all = self.framed(&self.sent_draft());
        self.send_bytes(&all, now);
        self.keep(Phase::Pasted { held, since: now }, TICK);
    }
}
