//! The recipes: how the block gets in front of the text, and how it is seen that the message went.

use std::time::{Duration, Instant};

use super::machine::{HOLD, Held, KeyGate, Outcome, Phase, Purpose, STEP, TICK, users_own};
use super::{EditorReply, Effect, frame};
use crate::engines::gate_spec::GateRoute;
use crate::engines::screen_state::{Composer, Reading};

/// A helper that is late on a busy machine is waited for this much longer, as long as no dialog has
/// come up: 0.5 s was seen at a load of six times the cores.
const EDITOR_PATIENCE: Duration = Duration::from_millis(2_000);
/// An editor that is back paints at least something within this.
const REPAINT_LIMIT: Duration = Duration::from_secs(3);
/// An engine that takes Enter paints at once; a screen that stands still this long has not taken it.
const STILL: Duration = Duration::from_millis(700);
/// A paste is painted within this, also 500 KB of it.
const PASTE_LIMIT: Duration = Duration::from_secs(6);
/// A composer that takes Backspaces is empty after this.
const CLEAR_LIMIT: Duration = Duration::from_millis(800);
/// How often Backspaces are sent.
const CLEAR_ROUNDS: u8 = 3;
/// A given draft goes in when the composer has stood still this long.
const READY_QUIET: Duration = Duration::from_millis(300);
/// Or, with an engine that always paints something, been ready this long.
const READY_LIMIT: Duration = Duration::from_secs(3);
/// Enter waits this long after the paste of a given draft, where the recipe says nothing.
const DRAFT_SETTLE: Duration = Duration::from_millis(250);
/// Backspaces and End beyond what is known to be there.
const SPARE_KEYS: usize = 8;

const NOTE_NO_EDITOR: &str =
    "the engine did not open its editor; the docs did not go with a message";
const NOTE_NO_WAY: &str = "the engine takes no paste now; the docs did not go with a message";
const NOTE_UNCONFIRMED: &str =
    "it could not be confirmed that the first message went out with the docs";
const NOTE_NOT_CLEARED: &str =
    "the composer could not be emptied; the docs did not go with a message";
const NOTE_NOT_PUT_IN: &str = "the given message could not be put into the engine's composer";

impl KeyGate {
    /// The engine painted something.
    pub(super) fn painted(&mut self, now: Instant) {
        // Looked at in each phase until the engine has been ready once.
        if !self.seen_ready || self.standing {
            let emptied = self.read().is_empty();
            self.standing &= !(emptied && matches!(self.phase, Phase::Armed));
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
            | Phase::Clearing { .. }
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
            Phase::Clearing { held, text, shown, rounds, since } => {
                self.cleared(held, text, shown, rounds, since, now);
            }
            Phase::Pasted { held, since } => self.pasted(held, since, now),
            Phase::Confirming { held, since, again, with_block } => {
                self.phase = Phase::Confirming { held, since, again, with_block };
                self.look_for_sent(now);
            }
            phase @ (Phase::Editing { .. } | Phase::Done) => self.phase = phase,
        }
    }

    fn keep(&mut self, phase: Phase, after: Duration) {
        self.phase = phase;
        self.set_timer(STEP, after);
    }

    /// Nothing of ours may hold a key longer than this.
    pub(super) fn held_too_long(&mut self, now: Instant) {
        match std::mem::replace(&mut self.phase, Phase::Armed) {
            Phase::Echo(held) | Phase::BeforeStart(held) => self.release(&held, now),
            // Whether the block got in is unknown.
            Phase::Asking { .. }
            | Phase::Editing { .. }
            | Phase::Returning { .. }
            | Phase::Clearing { .. }
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

    // The editor round trip.

    pub(super) fn ask_editor(&mut self, held: Held, now: Instant) {
        self.press_editor_key(held, Purpose::Submit, now);
    }

    fn press_editor_key(&mut self, held: Held, purpose: Purpose, now: Instant) {
        let Some(letter) = self.spec.editor.ctrl else { return self.release(&held, now) };
        let key = self.ctrl_key(letter, &held.submit);
        self.to_engine(&key, now);
        self.late_call = false;
        let wait = self.spec.timing.editor_wait();
        self.keep(Phase::Asking { held, purpose, since: now, patient: false }, wait);
    }

    fn no_editor_yet(
        &mut self,
        held: Held,
        purpose: Purpose,
        since: Instant,
        patient: bool,
        now: Instant,
    ) {
        // It was a composer when the key was pressed, and some engines paint over it for the editor.
        if !patient && !self.read().dialog {
            let phase = Phase::Asking { held, purpose, since, patient: true };
            return self.keep(phase, EDITOR_PATIENCE);
        }
        self.late_call = true;
        match purpose {
            Purpose::Submit => {
                if patient {
                    self.note(NOTE_NO_EDITOR);
                }
                self.release(&held, now);
            }
            Purpose::Draft => self.paste_draft(held, now),
        }
    }

    /// The helper runs and waits for its answer.
    pub(super) fn editor_called(&mut self, text: &str, now: Instant) {
        let Phase::Asking { held, purpose, .. } = &self.phase else {
            if std::mem::take(&mut self.late_call) {
                self.effect(Effect::EditorReply(EditorReply::Leave));
                return;
            }
            self.effect(users_own());
            self.users_editor = true;
            self.draft.forget();
            // What is held was typed to his editor.
            match std::mem::replace(&mut self.phase, Phase::Armed) {
                Phase::Echo(held) | Phase::BeforeStart(held) => self.release(&held, now),
                phase => self.phase = phase,
            }
            return;
        };
        let (held, purpose) = (held.clone(), *purpose);
        let (reply, outcome) = match purpose {
            Purpose::Submit => self.answer(text),
            Purpose::Draft => self.answer_with_draft(text),
        };
        self.effect(Effect::EditorReply(reply));
        self.effect(Effect::CancelTimer(STEP));
        self.phase = Phase::Editing { held, outcome };
    }

    fn answer(&mut self, text: &str) -> (EditorReply, Outcome) {
        // Shell mode hides its `!` from the editor; the screen shows it.
        let shell = self
            .read()
            .composer
            .is_some_and(|composer| composer.mode == crate::engines::screen_state::Mode::Shell);
        if shell || text.trim().is_empty() || self.spec.commands.matches(text) {
            return (EditorReply::Leave, Outcome::Release);
        }
        if self.prefix.is_empty() {
            self.record(text);
            return (EditorReply::Leave, Outcome::Send { with_block: false });
        }
        // It stands there from a submit that was not taken; the user may have typed around it.
        let pasted = frame::harmless(&self.prefix);
        let standing =
            [&self.prefix, &pasted].into_iter().find(|prefix| text.contains(prefix.as_str()));
        if let Some(prefix) = standing {
            self.record(&text.replacen(prefix.as_str(), "", 1));
            return (EditorReply::Leave, Outcome::Send { with_block: true });
        }
        self.record(text);
        (EditorReply::Write(format!("{}{text}", self.prefix)), Outcome::Send { with_block: true })
    }

    fn answer_with_draft(&mut self, text: &str) -> (EditorReply, Outcome) {
        if !text.trim().is_empty() {
            return (EditorReply::Leave, Outcome::Back);
        }
        let sent = self.sent_draft();
        (EditorReply::Write(sent), Outcome::Send { with_block: !self.prefix.is_empty() })
    }

    fn returned(&mut self, held: Held, outcome: Outcome, since: Instant, now: Instant) {
        let quiet = self.spec.timing.quiet();
        let waited = now.saturating_duration_since(since);
        let repainted = self.output_at.is_some_and(|at| at > since);
        let shown = self.read().composer.is_some();
        let settled = self.quiet(now) >= quiet && waited >= quiet && repainted && shown;
        if !settled && waited < REPAINT_LIMIT {
            return self.keep(Phase::Returning { held, outcome, since }, TICK);
        }
        match outcome {
            Outcome::Release => self.release(&held, now),
            Outcome::Back => self.rearm(now),
            Outcome::Send { with_block } => {
                self.pending = None;
                self.send(held, with_block, now);
            }
        }
    }

    // Pastes.

    /// Whether text can be put in by keys now.
    pub(super) fn can_put_in(&self) -> bool {
        self.screen.takes_paste() || !self.spec.paste.typed_newline.is_empty()
    }

    fn framed(&self, text: &str) -> Vec<u8> {
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

    pub(super) fn paste_at_start(&mut self, held: Held, text: &str, now: Instant) {
        self.record(text);
        let mut keys = frame::to_start(&self.spec.paste, text.lines().count());
        keys.extend(self.framed(&self.prefix));
        self.to_engine(&keys, now);
        self.after_paste(held, now);
    }

    fn after_paste(&mut self, held: Held, now: Instant) {
        if self.spec.paste.settle_ms == 0 {
            self.send(held, !self.prefix.is_empty(), now);
        } else {
            self.keep(Phase::Pasted { held, since: now }, TICK);
        }
    }

    pub(super) fn clear(&mut self, held: Held, text: String, composer: &Composer, now: Instant) {
        self.press_backspaces(&text, now);
        let shown = composer.text.clone();
        self.keep(Phase::Clearing { held, text, shown, rounds: 1, since: now }, TICK);
    }

    fn press_backspaces(&mut self, text: &str, now: Instant) {
        let times = text.chars().count() + SPARE_KEYS;
        let mut keys = b"\x1b[F".to_vec();
        keys.extend(std::iter::repeat_n(0x7f, times));
        self.to_engine(&keys, now);
    }

    fn cleared(
        &mut self,
        held: Held,
        text: String,
        shown: String,
        rounds: u8,
        since: Instant,
        now: Instant,
    ) {
        let reading = self.read();
        if reading.is_empty() && reading.takes_message() && self.is_echoed(now) {
            self.record(&text);
            let all = self.framed(&format!("{}{text}", self.prefix));
            self.to_engine(&all, now);
            return self.keep(Phase::Pasted { held, since: now }, TICK);
        }
        if now.saturating_duration_since(since) < CLEAR_LIMIT {
            return self.keep(Phase::Clearing { held, text, shown, rounds, since }, TICK);
        }
        let untouched = reading.composer.as_ref().is_some_and(|c| c.text == shown);
        if untouched {
            self.note(NOTE_NOT_CLEARED);
            self.release(&held, now);
        } else if rounds < CLEAR_ROUNDS && reading.takes_message() {
            self.press_backspaces(&text, now);
            let rounds = rounds + 1;
            self.keep(Phase::Clearing { held, text, shown, rounds, since: now }, TICK);
        } else {
            // Half a draft must not be sent.
            self.note(NOTE_NOT_CLEARED);
            self.draft.forget();
            self.rearm(now);
        }
    }

    fn pasted(&mut self, held: Held, since: Instant, now: Instant) {
        let settle = match self.spec.paste.settle_ms {
            0 => DRAFT_SETTLE,
            ms => Duration::from_millis(ms),
        };
        let reading = self.read();
        let painted = self.output_at.is_some_and(|at| at > since)
            && reading.composer.as_ref().is_some_and(|c| !c.text.is_empty());
        let waited = now.saturating_duration_since(since);
        if painted && self.quiet(now) >= settle && waited >= settle && !reading.dialog {
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

    // A given draft.

    fn start_draft(&mut self, now: Instant) {
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
        let held = Held { submit: self.enter_key(), since: now };
        self.set_timer(HOLD, self.spec.timing.max_hold());
        match self.spec.route {
            GateRoute::Editor => self.press_editor_key(held, Purpose::Draft, now),
            GateRoute::None
            | GateRoute::Plugin
            | GateRoute::PasteAtStart
            | GateRoute::ClearAndPaste => self.paste_draft(held, now),
        }
    }

    fn is_ready_for_draft(&mut self) -> bool {
        let reading = self.read();
        reading.takes_message() && reading.is_empty() && !reading.popup
    }

    fn sent_draft(&self) -> String {
        let text = self.pending.as_ref().map_or("", |draft| draft.as_str());
        // With nothing in front it would run as a command; the engines trim the blank away.
        let guard =
            if self.prefix.is_empty() && self.spec.commands.matches(text) { " " } else { "" };
        format!("{}{guard}{text}", self.prefix)
    }

    fn paste_draft(&mut self, held: Held, now: Instant) {
        if !self.can_put_in() {
            self.note(NOTE_NOT_PUT_IN);
            self.pending = None;
            return self.rearm(now);
        }
        let all = self.framed(&self.sent_draft());
        self.to_engine(&all, now);
        self.keep(Phase::Pasted { held, since: now }, TICK);
    }

    // The end.

    /// Sends the submit and watches the composer.
    pub(super) fn send(&mut self, held: Held, with_block: bool, now: Instant) {
        self.to_engine(&held.submit, now);
        self.set_timer(HOLD, self.spec.timing.max_hold());
        self.keep(Phase::Confirming { held, since: now, again: false, with_block }, TICK);
    }

    fn look_for_sent(&mut self, now: Instant) {
        let reading = self.read();
        let Phase::Confirming { held, since, again, with_block } = &self.phase else { return };
        let (since, again, with_block) = (*since, *again, *with_block);
        let answered = self.output_at.is_some_and(|at| at > since);
        if answered && was_sent(&reading) {
            return self.finish(now);
        }
        let waited = now.saturating_duration_since(since);
        let limit = self.spec.timing.confirm();
        let still = waited >= STILL && self.quiet(now) >= STILL;
        let in_composer = reading.composer.as_ref().is_some_and(|c| !c.text.is_empty());
        if waited < limit && !(still && in_composer && !again) {
            return self.set_timer(STEP, TICK);
        }
        if !again && with_block && in_composer && reading.takes_message() {
            // A completion list ate it.
            let held = held.clone();
            self.to_engine(&held.submit, now);
            return self
                .keep(Phase::Confirming { held, since: now, again: true, with_block }, TICK);
        }
        if with_block {
            self.note(NOTE_UNCONFIRMED);
        }
        if in_composer {
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
    // A dialog in its place is the engine's question about what it does now.
    let replaced = reading.composer.is_none() && reading.dialog;
    reading.busy || reading.is_empty() || replaced
}
