//! The gate: decides about the first message while the engine's own interface runs. What goes in
//! and out is here; it does no IO and reads no clock.

use std::time::{Duration, Instant};

use crate::context::first_message::DisplayText;

/// What the session loop tells the gate.
#[derive(Debug)]
pub enum GateEvent<'a> {
    /// The user's terminal sent these. The loop has not forwarded them: the gate does.
    UserBytes(&'a [u8]),
    /// The engine wrote these. The terminal already has them.
    EngineBytes(&'a [u8]),
    /// The engine opened the external editor on a file with this text.
    EditorCalled {
        /// The file's text.
        text: String,
    },
    /// The editor has ended.
    EditorReturned,
    /// A request plugin reported.
    PluginReport(PluginReport),
    /// A timer has run out.
    Timer(TimerId),
    /// The terminal has another size.
    Resized {
        /// Lines.
        rows: u16,
        /// Columns.
        cols: u16,
    },
}

/// What the session loop is to do, in order.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// Write these to the engine.
    ToEngine(Vec<u8>),
    /// Start a timer, or start it anew.
    SetTimer {
        /// Which.
        id: TimerId,
        /// From now.
        after: Duration,
    },
    /// Stop a timer.
    CancelTimer(TimerId),
    /// Store the operator row; durable before any later effect is carried out.
    Record(DisplayText),
    /// The answer to the waiting editor helper.
    EditorReply(EditorReply),
    /// From here on a plain copy loop.
    Done,
    /// One line on stderr after the engine's end.
    Note(String),
}

/// A timer of the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerId(pub u8);

/// A line of a request plugin's receipt file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginReport {
    /// What happened: `raw`, `acted`, …
    pub event: String,
    /// The text that belongs to it.
    pub text: Option<String>,
}

/// What the editor helper is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditorReply {
    /// Run the user's own editor on the file.
    RunUsersEditor,
    /// Write this into the file and end.
    Write(String),
    /// End; the file stays as it is.
    Leave,
}

/// The gate as the session loop sees it.
pub trait Gatekeeper {
    /// Takes an event at a time; the effects are carried out in order.
    fn event(&mut self, event: GateEvent<'_>, now: Instant) -> Vec<Effect>;
    /// Nothing is left to decide.
    fn is_done(&self) -> bool;
}
