//! The gate of an engine with a request plugin: keys pass untouched, the plugin tells what was typed
//! and that the block is on the wire.

use std::time::Instant;

use super::{EditorReply, Effect, GateEvent, Gatekeeper, PluginReport};
use crate::context::DisplayText;

/// Only observes.
#[derive(Debug, Default)]
pub(super) struct Observer {
    recorded: bool,
    done: bool,
}

impl Observer {
    fn report(&mut self, report: PluginReport) -> Vec<Effect> {
        match (report.event.as_str(), report.text) {
            ("raw", Some(text)) if !self.recorded => {
                self.recorded = true;
                vec![Effect::Record(DisplayText::new(text))]
            }
            ("acted", _) if !self.done => {
                self.done = true;
                vec![Effect::Done]
            }
            _ => Vec::new(),
        }
    }
}

impl Gatekeeper for Observer {
    fn event(&mut self, event: GateEvent<'_>, _now: Instant) -> Vec<Effect> {
        match event {
            GateEvent::UserBytes(bytes) => vec![Effect::ToEngine(bytes.to_vec())],
            GateEvent::EditorCalled { .. } => {
                vec![Effect::EditorReply(EditorReply::RunUsersEditor)]
            }
            GateEvent::PluginReport(report) => self.report(report),
            GateEvent::EngineBytes(_)
            | GateEvent::EditorReturned
            | GateEvent::Timer(_)
            | GateEvent::Resized { .. } => Vec::new(),
        }
    }

    fn is_done(&self) -> bool {
        self.done
    }
}
