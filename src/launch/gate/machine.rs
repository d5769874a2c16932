//! The machine for engines whose first message gets its block by keys. This file: its state and the
//! way of each event. `decide` judges a submit, `editor`, `paste` and `clear` carry a recipe out, `confirm` sees
//! that the message went.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::clear::Clearing;
use super::draft::Draft;
use super::{EditorReply, Effect, GateEvent, Gatekeeper, TimerId};
use crate::context::DisplayText;
use crate::context::front::Fronts;
use crate::engines::gate_spec::{GateRoute, GateSpec};
use crate::engines::screen_state::{Mode, Reading, read};
use crate::launch::keys::{Decoder, InputEvent};
use crate::launch::screen::EngineScreen;

/// A lone Escape is taken for the Escape key after this: the eye does not see it, and no line cuts a
/// sequence by more (D04).
pub(super) const ESCAPE_WAIT: Duration = Duration::from_millis(50);
/// How often a waiting phase looks again.
pub(super) const TICK: Duration = Duration::from_millis(20);
/// The same while the user reads a dialog or the engine starts.
pub(super) const SLOW_TICK: Duration = Duration::from_millis(100);

/// The end of a lone Escape.
pub(super) const ESCAPE: TimerId = TimerId(0);
/// The next look of the present phase.
pub(super) const STEP: TimerId = TimerId(1);
/// The longest hold.
pub(super) const HOLD: TimerId = TimerId(2);

/// A submit that is held.
#[derive(Debug, Clone)]
pub(super) struct Held {
    /// Its bytes, in the form that the terminal uses.
    pub(super) submit: Vec<u8>,
    /// Since when.
    pub(super) since: Instant,
    /// Ours, for a message that is given and not typed.
    pub(super) given: bool,
}

/// What becomes of a held submit when the editor is back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It is released as it came; the gate stays armed.
    Release,
    /// It sends the first message; whether the block is in front of it.
    Send { with_block: bool },
    /// The user's own words stand in the composer: the given draft waits on.
    Back,
}

/// Why the editor key was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// For a submit of the user.
    Submit,
    /// To put a given draft in.
    Draft,
}

#[derive(Debug)]
pub(super) enum Phase {
    /// Nothing is held.
    Armed,
    /// Held until the screen shows what was typed before.
    Echo(Held),
    /// Held because the engine has shown neither a composer nor a dialog yet.
    BeforeStart(Held),
    /// The editor key is pressed. `patient`: the screen shows a composer, so the helper is late.
    Asking { held: Held, purpose: Purpose, since: Instant, patient: bool },
    /// The helper has its answer.
    Editing { held: Held, outcome: Outcome },
    /// The editor is back; its repaint is waited for.
    Returning { held: Held, outcome: Outcome, since: Instant },
    /// Backspaces are on their way.
    Clearing(Clearing),
    /// Everything is pasted; Enter waits for it to be painted.
    Pasted { held: Held, since: Instant },
    /// Enter is sent; the composer must empty.
    Confirming { held: Held, since: Instant, again: bool, with_block: bool },
    /// Through.
    Done,
}

/// The gate of the key recipes.
pub(super) struct KeyGate {
    pub(super) spec: GateSpec,
    pub(super) prefix: String,
    /// What stood in front of the first messages of earlier sessions.
    pub(super) earlier: Fronts,
    /// A first message that is given and still to be sent.
    pub(super) pending: Option<DisplayText>,
    pub(super) screen: EngineScreen,
    /// Its columns.
    pub(super) columns: u16,
    pub(super) draft: Draft,
    pub(super) phase: Phase,
    /// What was typed behind a held submit.
    pub(super) waiting: VecDeque<InputEvent>,
    /// What has gone out and is not in the draft yet; whether the screen showed all that went before.
    unsettled: Vec<(InputEvent, bool)>,
    /// The last output of the engine, and the last bytes to it.
    pub(super) output_at: Option<Instant>,
    pub(super) key_at: Option<Instant>,
    /// A composer for messages was seen once.
    pub(super) seen_ready: bool,
    /// The engine showed no composer in time; submits are no longer held for it.
    pub(super) start_given_up: bool,
    /// The block stands in the composer, or may.
    pub(super) standing: bool,
    /// Our editor key got no answer in time; one may still come.
    pub(super) late_call: bool,
    pub(super) users_editor: bool,
    /// The engine was seen not to take Backspaces.
    pub(super) no_backspace: bool,
    /// The composer is ready for the given draft since then.
    pub(super) draft_ready_at: Option<Instant>,
    pub(super) recorded: Option<String>,
    /// The composer's mode when its prompt was last seen.
    mode: Mode,
    /// When the screen was last looked at while nothing was held.
    pub(super) glanced_at: Option<Instant>,
    /// What the screen says, until it changes.
    reading: Option<Reading>,
    decoder: Decoder,
    /// The terminal was seen to speak the kitty protocol.
    kitty_keys: bool,
    escape_timer: bool,
    effects: Vec<Effect>,
}

/// A key that a terminal turns into a signal, unless the program has asked for it.
fn is_signal_key(event: &InputEvent) -> bool {
    ['c', '\\', 'z'].iter().any(|letter| event.is_ctrl(*letter))
}

impl KeyGate {
    pub(super) fn new(
        spec: &GateSpec,
        prefix: String,
        draft: Option<DisplayText>,
        earlier: Fronts,
    ) -> KeyGate {
        KeyGate {
            spec: spec.clone(),
            prefix,
            earlier,
            pending: draft,
            screen: EngineScreen::new(0, 0),
            columns: 0,
            draft: Draft::new(spec.paste.tabs_lost),
            phase: Phase::Armed,
            waiting: VecDeque::new(),
            unsettled: Vec::new(),
            output_at: None,
            key_at: None,
            seen_ready: false,
            start_given_up: false,
            standing: false,
            late_call: false,
            users_editor: false,
            no_backspace: false,
            draft_ready_at: None,
            recorded: None,
            mode: Mode::Hidden,
            glanced_at: None,
            reading: None,
            decoder: Decoder::new(),
            kitty_keys: false,
            escape_timer: false,
            effects: Vec::new(),
        }
    }

    pub(super) fn read(&mut self) -> Reading {
        let spec = &self.spec.screen;
        let screen = &self.screen;
        let reading = self.reading.get_or_insert_with(|| {
            let mut reading = read(spec, &screen.snapshot());
            if let Some(composer) = &mut reading.composer {
                if composer.mode == Mode::Hidden {
                    composer.mode = self.mode;
                } else {
                    self.mode = composer.mode;
                }
            }
            reading
        });
        self.seen_ready |= reading.takes_message();
        reading.clone()
    }

    /// How long the engine has painted nothing.
    pub(super) fn quiet(&self, now: Instant) -> Duration {
        self.output_at.map_or(Duration::MAX, |at| now.saturating_duration_since(at))
    }

    /// Whether a draft can be put in by the editor.
    pub(super) fn has_editor(&self) -> bool {
        self.spec.editor.ctrl.is_some()
            && [Some(self.spec.route), self.spec.fallback].contains(&Some(GateRoute::Editor))
    }

    pub(super) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(super) fn note(&mut self, note: &str) {
        let note = Effect::Note(note.to_owned());
        if !self.effects.contains(&note) {
            self.effects.push(note);
        }
    }

    pub(super) fn set_timer(&mut self, id: TimerId, after: Duration) {
        self.effects.push(Effect::SetTimer { id, after });
    }

    pub(super) fn send_bytes(&mut self, bytes: &[u8], now: Instant) {
        self.key_at = Some(now);
        self.write(bytes);
    }

    /// Without counting as a key, which a report is not.
    fn write(&mut self, bytes: &[u8]) {
        match self.effects.last_mut() {
            Some(Effect::ToEngine(last)) => last.extend_from_slice(bytes),
            _ => self.effects.push(Effect::ToEngine(bytes.to_vec())),
        }
    }

    /// Control with a letter, as this terminal would send it to this engine.
    pub(super) fn ctrl_key(&self, letter: char, submit: &[u8]) -> Vec<u8> {
        let kitty = self.kitty_keys && self.screen.kitty_flags() != 0;
        if kitty || submit.starts_with(b"\x1b[") && submit.ends_with(b"u") {
            format!("\x1b[{};5u", u32::from(letter)).into_bytes()
        } else {
            vec![u8::try_from(u32::from(letter)).unwrap_or(b'g') & 0x1f]
        }
    }

    /// Enter, where no user's own is at hand.
    pub(super) fn enter_key(&self) -> Vec<u8> {
        /// Kitty's flag "report all keys as escape codes": only then Enter has another form.
        const ALL_KEYS: u16 = 8;
        let kitty = self.screen.kitty_flags() & ALL_KEYS != 0;
        if kitty { b"\x1b[13u".to_vec() } else { b"\r".to_vec() }
    }

    /// Nothing is held any more: what was typed meanwhile is judged in its turn.
    pub(super) fn rearm(&mut self, now: Instant) {
        self.phase = Phase::Armed;
        self.effect(Effect::CancelTimer(STEP));
        self.effect(Effect::CancelTimer(HOLD));
        while matches!(self.phase, Phase::Armed) {
            let Some(event) = self.waiting.pop_front() else { break };
            self.typed(event, now);
        }
    }

    /// The first message is through.
    pub(super) fn finish(&mut self, now: Instant) {
        self.phase = Phase::Done;
        for id in [STEP, HOLD, ESCAPE] {
            self.effect(Effect::CancelTimer(id));
        }
        while let Some(event) = self.waiting.pop_front() {
            self.send_bytes(&event.bytes, now);
        }
        let rest = self.decoder.take_rest();
        if !rest.is_empty() {
            self.send_bytes(&rest, now);
        }
        self.effect(Effect::Done);
    }

    fn input(&mut self, event: InputEvent, now: Instant) {
        self.kitty_keys |= event.is_kitty_key();
        if event.is_report() {
            // The engine waits for it; it is not typing and takes no turn.
            self.write(&event.bytes);
            return;
        }
        let may_be_covered = matches!(
            self.phase,
            Phase::BeforeStart(_)
                | Phase::Returning { .. }
                | Phase::Clearing(_)
                | Phase::Pasted { .. }
                | Phase::Confirming { .. }
        );
        let in_dialog = may_be_covered && self.read().dialog;
        match self.phase {
            Phase::Armed => self.typed(event, now),
            Phase::BeforeStart(_) if is_signal_key(&event) => self.signal_key(event, now),
            // These answer the dialog that is on the screen; the submit before it was not meant
            // for it.
            _ if in_dialog => self.forward(event, now),
            Phase::Echo(_)
            | Phase::BeforeStart(_)
            | Phase::Asking { .. }
            | Phase::Editing { .. }
            | Phase::Returning { .. }
            | Phase::Clearing(_)
            | Phase::Pasted { .. }
            | Phase::Confirming { .. } => self.waiting.push_back(event),
            Phase::Done => self.write(&event.bytes),
        }
    }

    /// While an engine starts, which may take it long, the way out is open. As in a terminal's own
    /// queue, an interrupt takes along what was typed before it: the submit that waits, and all after
    /// it. A stop leaves them.
    fn signal_key(&mut self, event: InputEvent, now: Instant) {
        if !event.is_ctrl('z') {
            self.waiting.clear();
            self.rearm(now);
        }
        self.forward(event, now);
    }

    fn typed(&mut self, event: InputEvent, now: Instant) {
        self.settle();
        let candidate = !self.users_editor && self.pending.is_none() && self.submits(&event);
        if candidate {
            self.hold(event.bytes, now);
        } else {
            self.forward(event, now);
        }
    }

    /// Passes a key on. What it does to the draft is for [`Gatekeeper::settle`]: that needs a look at the
    /// screen, and the key is not to wait for it.
    fn forward(&mut self, event: InputEvent, now: Instant) {
        if self.spec.editor.ctrl.is_some_and(|letter| event.is_ctrl(letter)) {
            // His own editor comes next, not the answer to ours.
            self.late_call = false;
        }
        let echoed = self.is_echoed(now);
        self.send_bytes(&event.bytes, now);
        if !self.users_editor {
            self.unsettled.push((event, echoed));
        }
    }

    fn user_bytes(&mut self, bytes: &[u8], now: Instant) {
        for event in self.decoder.feed(bytes) {
            self.input(event, now);
        }
        if matches!(self.phase, Phase::Done) {
            return;
        }
        match (self.decoder.is_waiting(), self.escape_timer) {
            (true, _) => self.set_timer(ESCAPE, ESCAPE_WAIT),
            (false, true) => self.effect(Effect::CancelTimer(ESCAPE)),
            (false, false) => {}
        }
        self.escape_timer = self.decoder.is_waiting();
    }

    fn editor_returned(&mut self, now: Instant) {
        if std::mem::take(&mut self.users_editor) {
            self.draft.forget();
            return;
        }
        if let Phase::Editing { held, outcome } = &self.phase {
            let (held, outcome) = (held.clone(), *outcome);
            self.phase = Phase::Returning { held, outcome, since: now };
            self.set_timer(STEP, self.spec.timing.quiet());
        }
    }
}

impl Gatekeeper for KeyGate {
    fn event(&mut self, event: GateEvent<'_>, now: Instant) -> Vec<Effect> {
        if matches!(self.phase, Phase::Done) {
            return super::OpenGate.event(event, now);
        }
        self.settle();
        match event {
            GateEvent::UserBytes(bytes) => self.user_bytes(bytes, now),
            GateEvent::EngineBytes(bytes) => {
                self.screen.feed(bytes);
                self.reading = None;
                self.output_at = Some(now);
                self.painted(now);
            }
            GateEvent::EditorCalled { text } => self.editor_called(&text, now),
            GateEvent::EditorReturned => self.editor_returned(now),
            GateEvent::Timer(ESCAPE) => {
                self.escape_timer = false;
                for event in self.decoder.give_up() {
                    self.input(event, now);
                }
            }
            GateEvent::Timer(STEP) => self.step(now),
            GateEvent::Timer(HOLD) => self.held_too_long(now),
            GateEvent::Resized { rows, cols } => {
                self.screen.resize(rows, cols);
                self.columns = cols;
                self.reading = None;
            }
            GateEvent::PluginReport(_) | GateEvent::Timer(_) => {}
        }
        std::mem::take(&mut self.effects)
    }

    fn settle(&mut self) {
        for (event, echoed) in std::mem::take(&mut self.unsettled) {
            let pressed = event.pressed().is_some();
            if pressed && self.read().dialog {
                self.draft.doubt();
                continue;
            }
            if pressed && echoed && self.draft.text().is_none() && self.read().is_empty() {
                self.draft.reset();
            }
            self.draft.take(&event);
        }
    }

    fn is_done(&self) -> bool {
        matches!(self.phase, Phase::Done)
    }
}

/// The helper's answer when the user himself opened his editor.
pub(super) fn users_own() -> Effect {
    Effect::EditorReply(EditorReply::RunUsersEditor)
}
