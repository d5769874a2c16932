//! The editor round trip: the engine's own external-editor key hands over the composer's exact text and
//! takes the new one.

use std::time::{Duration, Instant};

use super::machine::{
    HOLD, Held, KeyGate, Outcome, Phase, Purpose, SLOW_TICK, STEP, TICK, users_own,
};
use super::{EditorReply, Effect, frame};
use crate::engines::screen_state::Mode;

/// A helper that is late on a busy machine is waited for this much longer, as long as no dialog has
/// come up: 0.5 s was seen at a load of six times the cores.
const EDITOR_PATIENCE: Duration = Duration::from_millis(2_000);
/// An editor that is back paints at least something within this.
const REPAINT_LIMIT: Duration = Duration::from_secs(3);
const NOTE_NO_EDITOR: &str =
    "the engine did not open its editor; the docs did not go with a message";

impl KeyGate {
    pub(super) fn ask_editor(&mut self, held: Held, now: Instant) {
        self.press_editor_key(held, Purpose::Submit, now);
    }

    pub(super) fn press_editor_key(&mut self, held: Held, purpose: Purpose, now: Instant) {
        let Some(letter) = self.spec.editor.ctrl else { return self.release(&held, now) };
        let key = self.ctrl_key(letter, &held.submit);
        self.send_bytes(&key, now);
        self.late_call = false;
        let wait = self.spec.timing.editor_wait();
        self.keep(Phase::Asking { held, purpose, since: now, patient: false }, wait);
    }

    pub(super) fn no_editor_yet(
        &mut self,
        held: Held,
        purpose: Purpose,
        since: Instant,
        patient: bool,
        now: Instant,
    ) {
        // It was a composer when the key was pressed, and some engines paint over it for the editor.
        let covered = self.read().dialog;
        if !patient && !covered {
            let phase = Phase::Asking { held, purpose, since, patient: true };
            return self.keep(phase, EDITOR_PATIENCE);
        }
        self.late_call = true;
        match purpose {
            // It came up after the key, which so is not for it.
            Purpose::Submit if covered => self.keep(Phase::BeforeStart(held), TICK),
            Purpose::Draft if covered => self.rearm(now),
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
        let shell = self.read().composer.is_some_and(|composer| composer.mode == Mode::Shell);
        if shell || text.trim().is_empty() || self.spec.commands.matches(text) {
            return (EditorReply::Leave, Outcome::Release);
        }
        let with_block = !self.prefix.is_empty();
        // It stands there from a submit that was not taken; the user may have typed around it.
        let pasted = frame::harmless(&self.prefix);
        let standing = [&self.prefix, &pasted]
            .into_iter()
            .find(|prefix| with_block && text.contains(prefix.as_str()));
        let words = standing.map_or_else(|| text.to_owned(), |s| text.replacen(s.as_str(), "", 1));
        let stands = standing.is_some();
        // Called up from the engine's history, it may have the block of another day in front.
        let own = self.earlier.cut(&words);
        if own.trim().is_empty() {
            return (EditorReply::Leave, Outcome::Release);
        }
        self.record(own);
        let is_right = own.len() == words.len() && (stands || !with_block);
        let reply = if is_right {
            EditorReply::Leave
        } else {
            EditorReply::Write(with_closed_list(self.in_front_of(own)))
        };
        (reply, Outcome::Send { with_block })
    }

    fn answer_with_draft(&mut self, text: &str) -> (EditorReply, Outcome) {
        if !text.trim().is_empty() {
            return (EditorReply::Leave, Outcome::Back);
        }
        let sent = with_closed_list(self.sent_draft());
        (EditorReply::Write(sent), Outcome::Send { with_block: !self.prefix.is_empty() })
    }

    pub(super) fn returned(&mut self, held: Held, outcome: Outcome, since: Instant, now: Instant) {
        if self.read().dialog {
            // The Enter was not meant for it.
            self.set_timer(HOLD, self.spec.timing.max_hold());
            return self.keep(Phase::Returning { held, outcome, since: now }, SLOW_TICK);
        }
        let quiet = self.spec.timing.quiet();
        let waited = now.saturating_duration_since(since);
        let repainted = self.output_at.is_some_and(|at| at > since);
        let shown = self.read().composer.is_some();
        // A long draft may push the composer's edge off the screen: then twice the quiet will do.
        let quiet = if shown { quiet } else { quiet * 2 };
        let settled = self.quiet(now) >= quiet && waited >= quiet && repainted;
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
}

/// A text that ends in the middle of a name opens the engine's list of completions, which would eat the
/// Enter and change the text. The engines drop the blank at the end of a message.
fn with_closed_list(mut text: String) -> String {
    let last_word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    if last_word.starts_with(['@', '/', '$', '#']) {
        text.push(' ');
    }
    text
}
