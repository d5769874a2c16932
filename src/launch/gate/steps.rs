//! What each phase does when the engine paints, and when its timer is over.

use std::time::{Duration, Instant};

use super::confirm::NOTE_UNCONFIRMED;
use super::given::READY_QUIET;
use super::machine::{KeyGate, Phase, STEP, TICK};

/// While nothing is held the screen is looked at this often: a flood of output must not pay for a look
/// with each piece.
const GLANCE: Duration = Duration::from_millis(100);

impl KeyGate {
    /// The engine painted something.
    pub(super) fn painted(&mut self, now: Instant) {
        let glance = self.glanced_at.is_none_or(|at| now.saturating_duration_since(at) >= GLANCE);
        if matches!(self.phase, Phase::Armed) && glance {
            // Remembers the composer's mode, should its prompt scroll away.
            self.glanced_at = Some(now);
            self.read();
        }
        // A block that may stand in the composer is gone once the composer was empty, however briefly.
        if self.standing && self.read().is_empty() && matches!(self.phase, Phase::Armed) {
            self.standing = false;
        }
        match &self.phase {
            Phase::Confirming { .. } => self.look_for_sent(now),
            Phase::BeforeStart(held) => {
                let held = held.clone();
                if self.read().takes_message() {
                    self.look_at_start(held, now);
                }
            }
            Phase::Armed if self.pending.is_some() && self.draft_ready_at.is_none() => {
                if self.is_ready_for_draft() {
                    self.draft_ready_at = Some(now);
                    self.set_timer(STEP, READY_QUIET);
                }
            }
            Phase::Armed
            | Phase::Echo(_)
            | Phase::Asking { .. }
            | Phase::Editing { .. }
            | Phase::Returning { .. }
            | Phase::Clearing(_)
            | Phase::Pasted { .. }
            | Phase::Done => {}
        }
    }

    /// The phase's own timer.
    pub(super) fn step(&mut self, now: Instant) {
        match std::mem::replace(&mut self.phase, Phase::Armed) {
            Phase::Armed => self.start_draft(now),
            Phase::Echo(held) if self.is_echoed(now) => self.decide(held, now),
            Phase::Echo(held) => self.keep(Phase::Echo(held), TICK),
            Phase::BeforeStart(held) => {
                self.phase = Phase::BeforeStart(held.clone());
                self.look_at_start(held, now);
            }
            Phase::Asking { held, purpose, since, patient } => {
                self.no_editor_yet(held, purpose, since, patient, now);
            }
            Phase::Returning { held, outcome, since } => self.returned(held, outcome, since, now),
            Phase::Clearing(clearing) => self.cleared(clearing, now),
            Phase::Pasted { held, since } => self.pasted(held, since, now),
            Phase::Confirming { held, since, again, with_block } => {
                self.phase = Phase::Confirming { held, since, again, with_block };
                self.look_for_sent(now);
            }
            phase @ (Phase::Editing { .. } | Phase::Done) => self.phase = phase,
        }
    }

    pub(super) fn keep(&mut self, phase: Phase, after: Duration) {
        self.phase = phase;
        self.set_timer(STEP, after);
    }

    /// Nothing of ours may hold a key longer than this.
    pub(super) fn held_too_long(&mut self, now: Instant) {
        match std::mem::replace(&mut self.phase, Phase::Armed) {
            Phase::Echo(held) | Phase::BeforeStart(held) => self.release(&held, now),
            Phase::Clearing(clearing) => self.give_back(&clearing, now),
            // Whether the block got in is unknown.
            Phase::Asking { .. }
            | Phase::Editing { .. }
            | Phase::Returning { .. }
            | Phase::Pasted { .. }
            | Phase::Confirming { .. } => {
                self.note(NOTE_UNCONFIRMED);
                self.standing = true;
                self.draft.forget();
                self.rearm(now);
            }
            phase @ (Phase::Armed | Phase::Done) => self.phase = phase,
        }
    }
}
