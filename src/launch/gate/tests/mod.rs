//! The gate against a small engine that paints, edits and submits as the catalogue says the real one
//! does, in fake time. Each situation runs on every engine whose recipe touches keys.

mod engine;
mod large;
mod prompted;
mod random;
mod situations;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::FakeEngine;

use super::*;
use crate::context::front::FrontMark;
use crate::engines::Catalogue;

/// What stands in front of the first message in these tests. With what a paste must not change.
const PREFIX: &str = "## Injected Project Docs\n### a.md\nline <x> 世界\n\n";

/// The front of an earlier session, of which the gate knows the mark.
const EARLIER: &str = "## Injected Project Docs\n### old.md\nother words\n\n";

fn earlier() -> Fronts {
    Fronts::new(FrontMark::of(EARLIER).into_iter().collect())
}

/// One run: a gate, an engine, the loop between them.
struct Run {
    gate: Box<dyn Gatekeeper>,
    engine: FakeEngine,
    now: Instant,
    timers: BTreeMap<TimerId, Instant>,
    /// Bytes on their way to the engine, and when they get there.
    underway: Vec<(Instant, Vec<u8>)>,
    /// The helper is running until then.
    helper: Option<Instant>,
    recorded: Vec<String>,
    notes: Vec<String>,
    users_editor: usize,
    /// All that went to the engine.
    sent: Vec<u8>,
    done: bool,
}

/// The engines with a recipe of keys.
fn recipes() -> Vec<(String, GateSpec)> {
    let catalogue = Catalogue::from_layers(None).expect("engines.toml");
    let by_keys = |spec: &GateSpec| !matches!(spec.route, GateRoute::None | GateRoute::Plugin);
    let found: Vec<_> = catalogue
        .iter()
        // The built-in engine has no dialogs, no shell lines and never works: its own tests are in
        // tests/it/tui_echo.rs.
        .filter(|(_, spec)| !spec.gate.screen.dialogs.is_empty())
        .filter(|(_, spec)| by_keys(&spec.gate))
        .map(|(id, spec)| (id.to_owned(), spec.gate.clone()))
        .collect();
    assert!(found.len() >= 5, "{found:?}");
    found
}

fn recipe(route: GateRoute) -> GateSpec {
    recipes().into_iter().map(|(_, spec)| spec).find(|spec| spec.route == route).expect("a recipe")
}

impl Run {
    /// An engine that is not started yet.
    fn cold(spec: &GateSpec, prefix: &str, draft: Option<&str>) -> Run {
        let mut run = Run {
            gate: for_engine(spec, prefix.to_owned(), draft.map(DisplayText::new), earlier()),
            engine: FakeEngine::new(spec),
            now: Instant::now(),
            timers: BTreeMap::new(),
            underway: Vec::new(),
            helper: None,
            recorded: Vec::new(),
            notes: Vec::new(),
            users_editor: 0,
            sent: Vec::new(),
            done: false,
        };
        run.event(GateEvent::Resized { rows: 40, cols: 100 });
        run
    }

    /// An engine at its composer.
    fn ready(spec: &GateSpec) -> Run {
        let mut run = Run::cold(spec, PREFIX, None);
        run.start();
        run
    }

    fn start(&mut self) {
        self.engine.start();
        self.paint();
        self.pass(1_000);
    }

    fn paint(&mut self) {
        let output = self.engine.paint();
        self.event(GateEvent::EngineBytes(&output));
    }

    fn event(&mut self, event: GateEvent<'_>) {
        let effects = self.gate.event(event, self.now);
        for effect in effects {
            match effect {
                Effect::ToEngine(bytes) => {
                    self.sent.extend(&bytes);
                    self.underway.push((self.now + self.engine.delay, bytes));
                }
                Effect::SetTimer { id, after } => {
                    self.timers.insert(id, self.now + after);
                }
                Effect::CancelTimer(id) => {
                    self.timers.remove(&id);
                }
                Effect::Record(text) => self.recorded.push(text.as_str().to_owned()),
                Effect::EditorReply(reply) => match reply {
                    EditorReply::RunUsersEditor => {
                        self.users_editor += 1;
                        self.helper = Some(self.now + Duration::from_secs(5));
                    }
                    EditorReply::Write(text) => {
                        self.engine.rewrite(&text);
                        self.helper = Some(self.now + Duration::from_millis(40));
                    }
                    EditorReply::Leave => {
                        self.helper = Some(self.now + Duration::from_millis(40));
                    }
                },
                Effect::Done => {
                    assert!(!self.done, "done twice");
                    self.done = true;
                }
                Effect::Note(note) => self.notes.push(note),
            }
        }
    }

    /// Lets time go by; everything happens in its order.
    fn pass(&mut self, ms: u64) {
        let end = self.now + Duration::from_millis(ms);
        loop {
            let timer = self.timers.iter().map(|(id, at)| (*at, Some(*id))).min();
            let bytes = self.underway.first().map(|(at, _)| (*at, None));
            let helper = self.helper.map(|at| (at, None));
            let next = [timer, bytes, helper].into_iter().flatten().map(|(at, _)| at).min();
            let Some(at) = next.filter(|at| *at <= end) else { break };
            self.now = self.now.max(at);
            if self.underway.first().is_some_and(|(due, _)| *due == at) {
                let (_, mut bytes) = self.underway.remove(0);
                if bytes.len() > self.engine.pace {
                    let rest = bytes.split_off(self.engine.pace);
                    self.underway.insert(0, (at + Duration::from_millis(20), rest));
                }
                if let Some(text) = self.engine.take(&bytes) {
                    self.event(GateEvent::EditorCalled { text });
                }
                if !self.engine.in_editor {
                    self.paint();
                }
            } else if self.helper == Some(at) {
                self.helper = None;
                self.engine.in_editor = false;
                self.event(GateEvent::EditorReturned);
                self.paint();
            } else if let Some((_, Some(id))) = timer {
                self.timers.remove(&id);
                self.event(GateEvent::Timer(id));
            }
        }
        self.now = end;
    }

    /// Bytes of the user in one read.
    fn burst(&mut self, bytes: impl AsRef<[u8]>) {
        self.event(GateEvent::UserBytes(bytes.as_ref()));
    }

    /// A person at the keyboard: a character every 80 ms.
    fn typing(&mut self, text: &str) {
        for c in text.chars() {
            self.burst(c.to_string());
            self.pass(80);
        }
    }

    /// Types a line, presses Enter, waits.
    fn line(&mut self, text: &str) {
        self.typing(text);
        self.burst("\r");
        self.pass(6_000);
    }

    /// The first message went out with the block, once, exactly; the record is what was typed.
    #[track_caller]
    fn assert_delivered(&self, id: &str, text: &str) {
        assert_eq!(self.engine.submitted, [format!("{PREFIX}{text}")], "{id}: {:?}", self.notes);
        assert_eq!(self.recorded, [text], "{id}");
        assert!(self.done && self.gate.is_done(), "{id}");
        assert!(self.notes.is_empty(), "{id}: {:?}", self.notes);
    }
}
