//! An engine made from its own recipe: it paints what the marks look for.

use std::time::Duration;

use crate::engines::gate_spec::{Frame, GateSpec, SubmitKey};
use crate::launch::keys::{Decoder, Input, Key, KeyAction, Mods, Motion};

pub(super) struct FakeEngine {
    spec: GateSpec,
    started: bool,
    pub(super) dialog: bool,
    pub(super) takes_paste: bool,
    /// Answers its editor key.
    pub(super) has_editor: bool,
    /// Enters that a completion list eats.
    pub(super) eats: usize,
    /// Never lets a text go.
    pub(super) deaf: bool,
    pub(super) working: bool,
    /// Shows a paste of more than 1,000 characters as a chip, where the draft is nothing else.
    pub(super) folds: bool,
    /// Of a long draft it shows the end.
    pub(super) scrolls: bool,
    /// Does nothing on Backspace.
    pub(super) no_backspace: bool,
    /// Bytes that it takes in 20 ms; the rest waits.
    pub(super) pace: usize,
    /// From a key to its effect.
    pub(super) delay: Duration,
    pub(super) composer: String,
    /// Where the cursor is, when not at the end.
    cursor: Option<usize>,
    pub(super) history: Option<String>,
    pub(super) in_editor: bool,
    pub(super) submitted: Vec<String>,
    pub(super) commands: Vec<String>,
    pub(super) answers: usize,
    decoder: Decoder,
    paste: Vec<u8>,
}

impl FakeEngine {
    pub(super) fn new(spec: &GateSpec) -> FakeEngine {
        FakeEngine {
            spec: spec.clone(),
            started: false,
            dialog: false,
            takes_paste: true,
            has_editor: true,
            eats: 0,
            deaf: false,
            working: false,
            folds: false,
            scrolls: false,
            no_backspace: false,
            pace: usize::MAX,
            delay: Duration::from_millis(8),
            composer: String::new(),
            cursor: None,
            history: None,
            in_editor: false,
            submitted: Vec::new(),
            commands: Vec::new(),
            answers: 0,
            decoder: Decoder::new(),
            paste: Vec::new(),
        }
    }

    pub(super) fn start(&mut self) {
        self.started = true;
    }

    fn is_shell(&self) -> bool {
        self.composer.starts_with('!')
    }

    /// The whole screen anew.
    pub(super) fn paint(&self) -> Vec<u8> {
        let screen = &self.spec.screen;
        let mut out = String::from("\x1b[2J\x1b[H");
        out += if self.takes_paste { "\x1b[?2004h" } else { "\x1b[?2004l" };
        if !self.started {
            return out.into_bytes();
        }
        let mut rows = vec!["Welcome".to_owned()];
        if self.dialog {
            rows.push("Do you trust the files here? It is 'No' under the cursor".to_owned());
            rows.push(format!("{} 1. Yes", screen.dialogs[0]));
            return (out + &rows.join("\r\n")).into_bytes();
        }
        if let Some(state) = screen.idle_states.first() {
            let state = if self.working { &screen.busy_states[0] } else { state };
            out += &format!("\x1b]7501;state={state}:app=x\x1b\\");
        } else if self.working {
            rows.push(screen.busy[0].clone());
        }
        rows.extend(screen.ready.first().cloned());
        rows.push(String::new());
        let rule = "─".repeat(60);
        if screen.frame == Frame::Rules {
            rows.push(rule.clone());
        }
        rows.extend(self.composer_rows());
        if screen.frame == Frame::Rules {
            rows.push(rule);
        }
        rows.push(String::new());
        rows.push("  footer".to_owned());
        (out + &rows.join("\r\n")).into_bytes()
    }

    fn composer_rows(&self) -> Vec<String> {
        let screen = &self.spec.screen;
        let shell =
            self.is_shell() && !screen.shell_prompts.is_empty() && !screen.prompts.is_empty();
        let prompts = if shell { &screen.shell_prompts } else { &screen.prompts };
        let prompt = prompts.first().cloned().unwrap_or_default();
        let gap = if prompt.is_empty() || prompt.ends_with(' ') { "" } else { " " };
        let text = if shell { &self.composer[1..] } else { self.composer.as_str() };
        if self.composer.is_empty() {
            let placeholder = screen.placeholders.first().cloned().unwrap_or_default();
            return vec![format!("{prompt}{gap}\x1b[2m{placeholder}\x1b[m")];
        }
        if self.folds && self.composer.len() > 1_000 {
            let chip = screen.chips.first().expect("a chip");
            return vec![format!("{prompt}{gap}{chip} {} chars]", self.composer.chars().count())];
        }
        let indent = " ".repeat(prompt.chars().count() + gap.len());
        // A long draft is folded, as in the real ones.
        let lines: Vec<&str> = text.split('\n').collect();
        let first = if self.scrolls { lines.len().saturating_sub(6) } else { 0 };
        let lines = &lines[first..lines.len().min(first + 6)];
        lines
            .iter()
            .enumerate()
            .map(|(at, line)| {
                let line: String = line.chars().take(60).collect();
                if at == 0 { format!("{prompt}{gap}{line}") } else { format!("{indent}{line}") }
            })
            .collect()
    }

    /// What the helper wrote.
    pub(super) fn rewrite(&mut self, text: &str) {
        self.cursor = None;
        self.composer = text.to_owned();
    }

    /// Takes keys. Some: the editor is called on this text.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Option<String> {
        let mut call = None;
        let mut events = self.decoder.feed(bytes);
        events.extend(self.decoder.give_up());
        for event in events {
            if self.in_editor {
                continue;
            }
            match event.input {
                Input::Key(press) if press.action == KeyAction::Release => {}
                Input::Key(press) => call = self.key(press.key, press.mods).or(call),
                Input::PasteStart => self.paste.clear(),
                Input::PasteText => self.paste.extend(event.bytes),
                Input::PasteEnd => {
                    let text = String::from_utf8_lossy(&self.paste).into_owned();
                    self.insert(&text.replace("\r\n", "\n").replace('\r', "\n"));
                }
                Input::Reply | Input::Focus | Input::Mouse | Input::Unknown => {}
            }
        }
        call
    }

    fn insert(&mut self, text: &str) {
        if self.dialog || !self.started {
            return;
        }
        match &mut self.cursor {
            Some(at) => {
                self.composer.insert_str(*at, text);
                *at += text.len();
            }
            None => self.composer.push_str(text),
        }
    }

    fn key(&mut self, key: Key, mods: Mods) -> Option<String> {
        let ctrl = mods == Mods::CTRL;
        match key {
            Key::Char(c) if mods.is_none() || mods == Mods::SHIFT => self.insert(&c.to_string()),
            Key::Char('j') if ctrl => self.insert("\n"),
            Key::Char('a') if ctrl => self.cursor = Some(0),
            Key::Char('c') if ctrl => self.empty(),
            Key::Char(c) if ctrl && self.spec.editor.ctrl == Some(c) && self.opens_editor() => {
                self.in_editor = true;
                let hides = self.is_shell() && !self.spec.screen.prompts.is_empty();
                return Some(self.composer[usize::from(hides)..].to_owned());
            }
            Key::Enter if mods == Mods::ALT || mods == Mods::SHIFT => self.insert("\n"),
            Key::Enter if mods.is_none() => self.enter(),
            Key::Tab if self.spec.submit.contains(&SubmitKey::Tab) => self.enter(),
            Key::Backspace if self.no_backspace => {}
            Key::Backspace => match self.cursor {
                None => drop(self.composer.pop()),
                // Joins what it likes; the tests do not look.
                Some(0) => {}
                Some(_) => self.empty(),
            },
            Key::Move(Motion::Up) => {
                if let Some(old) = self.history.take() {
                    self.composer = old;
                    self.cursor = None;
                }
            }
            Key::Move(Motion::PageUp) => self.cursor = Some(0),
            Key::Move(Motion::End) => self.cursor = None,
            _ => {}
        }
        None
    }

    fn opens_editor(&self) -> bool {
        self.has_editor && !self.dialog && self.started
    }

    fn empty(&mut self) {
        self.composer.clear();
        self.cursor = None;
    }

    fn enter(&mut self) {
        if !self.started {
            return;
        }
        if self.dialog {
            self.dialog = false;
            self.answers += 1;
            return;
        }
        if self.spec.backslash_newline && self.composer.ends_with('\\') {
            self.composer.pop();
            self.composer.push('\n');
            return;
        }
        if self.eats > 0 {
            self.eats -= 1;
            return;
        }
        if self.deaf || self.composer.trim().is_empty() {
            return;
        }
        // As the real ones do.
        let text = self.composer.trim_end().to_owned();
        if self.spec.commands.matches(&text) {
            self.commands.push(text);
        } else {
            self.submitted.push(text);
        }
        self.empty();
    }
}
