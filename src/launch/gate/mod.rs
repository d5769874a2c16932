//! The gate: between the user's keys and the engine until the first message is through.
//!
//! A pure machine, `(state, event, now) → effects`: no IO, no clock. It forwards what is typed as it
//! comes, looks at a copy of the screen, and holds one thing only: a key that may submit the first
//! message, for as long as its recipe (`[ENGINE.gate]` of `engines.toml`) needs to put the block in
//! front. In doubt the key is released unchanged and the gate stays armed. It never presses a key in
//! a dialog, and never sends a message twice.

mod clear;
mod confirm;
mod decide;
mod draft;
mod editor;
mod frame;
mod given;
mod machine;
mod observer;
mod paste;
mod steps;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use crate::context::DisplayText;
use crate::context::front::Fronts;
use crate::engines::gate_spec::GateRoute;
pub use crate::engines::gate_spec::GateSpec;

/// What happens around the gate.
#[derive(Debug)]
pub enum GateEvent<'a> {
    /// The user's terminal sent these.
    UserBytes(&'a [u8]),
    /// The engine painted these; they are on the terminal already.
    EngineBytes(&'a [u8]),
    /// The engine started the editor helper on this text; it waits for an [`EditorReply`].
    EditorCalled {
        /// The composer's text.
        text: String,
    },
    /// The helper has ended.
    EditorReturned,
    /// The request plugin said something.
    PluginReport(PluginReport),
    /// A timer that the gate set.
    Timer(TimerId),
    /// The window has another size.
    Resized {
        /// Rows.
        rows: u16,
        /// Columns.
        cols: u16,
    },
}

/// What the loop around the gate must do, in this order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Write these bytes to the engine's terminal.
    ToEngine(Vec<u8>),
    /// Start this timer anew.
    SetTimer {
        /// Which.
        id: TimerId,
        /// How long.
        after: Duration,
    },
    /// Forget this timer.
    CancelTimer(TimerId),
    /// Store what the user typed; durable before any later effect is carried out.
    Record(DisplayText),
    /// Answer the waiting editor helper.
    EditorReply(EditorReply),
    /// The gate is through: from here on a plain copy loop.
    Done,
    /// One line for the user, on stderr after the engine's end.
    Note(String),
}

/// Names a timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimerId(pub u8);

/// What a request plugin reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginReport {
    /// `raw`: the typed text of the first message; `acted`: the block is on the wire.
    pub event: String,
    /// The text, with `raw`.
    pub text: Option<String>,
    /// The engine's own id of the session.
    pub session: Option<String>,
}

/// What the editor helper does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditorReply {
    /// It opens the user's own editor.
    RunUsersEditor,
    /// It writes this into the file and ends.
    Write(String),
    /// It ends and leaves the file as it is.
    Leave,
}

/// A gate.
pub trait Gatekeeper {
    /// Takes one event. `now` never goes back.
    fn event(&mut self, event: GateEvent<'_>, now: Instant) -> Vec<Effect>;

    /// What may be done once the effects of an event are carried out, and before the next event.
    fn settle(&mut self) {}

    /// Whether the first message is through.
    fn is_done(&self) -> bool;
}

/// A gate that is through from the start.
#[derive(Debug, Default)]
pub struct OpenGate;

impl Gatekeeper for OpenGate {
    fn event(&mut self, event: GateEvent<'_>, _now: Instant) -> Vec<Effect> {
        match event {
            GateEvent::UserBytes(bytes) => vec![Effect::ToEngine(bytes.to_vec())],
            GateEvent::EditorCalled { .. } => {
                vec![Effect::EditorReply(EditorReply::RunUsersEditor)]
            }
            GateEvent::EngineBytes(_)
            | GateEvent::EditorReturned
            | GateEvent::PluginReport(_)
            | GateEvent::Timer(_)
            | GateEvent::Resized { .. } => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        true
    }
}

/// The gate of an engine.
///
/// `prefix`: the block and its blank line; empty: nothing goes in front, but the display text is
/// still recorded. `draft`: a first message that is given, not typed; its row is in the store
/// already (S60), so the gate does not record it. `earlier`: the fronts of earlier sessions, which may
/// come up from the engine's history.
pub fn for_engine(
    spec: &GateSpec,
    prefix: String,
    draft: Option<DisplayText>,
    earlier: Fronts,
) -> Box<dyn Gatekeeper> {
    match (spec.route, draft) {
        (GateRoute::None, None) => Box::new(OpenGate),
        (GateRoute::Plugin, None) => Box::new(observer::Observer::default()),
        // The plugin puts the block in on the wire; the keys carry the draft alone.
        (GateRoute::Plugin, draft) => {
            Box::new(machine::KeyGate::new(spec, String::new(), draft, earlier))
        }
        (
            GateRoute::None
            | GateRoute::Editor
            | GateRoute::PasteAtStart
            | GateRoute::ClearAndPaste,
            draft,
        ) => Box::new(machine::KeyGate::new(spec, prefix, draft, earlier)),
    }
}
