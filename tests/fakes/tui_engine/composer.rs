//! The draft and what keys do to it.

use super::keys::Key;

#[derive(Default)]
pub struct Composer {
    text: Vec<char>,
    cursor: usize,
    pub history: Vec<String>,
    recalled: usize,
}

impl Composer {
    pub fn text(&self) -> String {
        self.text.iter().collect()
    }

    pub fn set(&mut self, text: &str) {
        self.text = text.chars().collect();
        self.cursor = self.text.len();
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn take(&mut self) -> String {
        let text = self.text();
        self.set("");
        self.recalled = 0;
        text
    }

    pub fn insert(&mut self, text: &str) {
        let new: Vec<char> = text.chars().collect();
        let len = new.len();
        self.text.splice(self.cursor..self.cursor, new);
        self.cursor += len;
    }

    /// Editing keys; others do nothing.
    pub fn key(&mut self, key: &Key) {
        let line_start =
            self.text[..self.cursor].iter().rposition(|c| *c == '\n').map_or(0, |at| at + 1);
        let line_end = self.text[self.cursor..].iter().position(|c| *c == '\n');
        let line_end = line_end.map_or(self.text.len(), |at| self.cursor + at);
        match key {
            Key::Text(c) => self.insert(&c.to_string()),
            Key::Newline => self.insert("\n"),
            Key::Paste(text) => self.insert(text),
            Key::Backspace if self.cursor > 0 => {
                self.cursor -= 1;
                self.text.remove(self.cursor);
            }
            Key::Left => self.cursor = self.cursor.saturating_sub(1),
            Key::Right => self.cursor = (self.cursor + 1).min(self.text.len()),
            // A second press goes to the line before, as in some engines.
            Key::Home | Key::Ctrl('a') if self.cursor == line_start => {
                self.cursor = self.cursor.saturating_sub(1);
                let before = self.text[..self.cursor].iter().rposition(|c| *c == '\n');
                self.cursor = before.map_or(0, |at| at + 1);
            }
            Key::Home | Key::Ctrl('a') => self.cursor = line_start,
            Key::End | Key::Ctrl('e') => self.cursor = line_end,
            Key::PageUp => self.cursor = 0,
            Key::PageDown => self.cursor = self.text.len(),
            Key::Ctrl('u') => {
                // At the line's start it joins with the line before.
                let from = if self.cursor == line_start {
                    line_start.saturating_sub(1)
                } else {
                    line_start
                };
                self.text.drain(from..self.cursor);
                self.cursor = from;
            }
            Key::Ctrl('w') => {
                while self.cursor > 0 && self.text[self.cursor - 1] == ' ' {
                    self.cursor -= 1;
                    self.text.remove(self.cursor);
                }
                while self.cursor > 0 && !self.text[self.cursor - 1].is_whitespace() {
                    self.cursor -= 1;
                    self.text.remove(self.cursor);
                }
            }
            Key::Up if line_start > 0 => self.cursor = line_start - 1,
            Key::Up if self.recalled < self.history.len() => {
                self.recalled += 1;
                let text = self.history[self.history.len() - self.recalled].clone();
                self.set(&text);
            }
            Key::Down if line_end < self.text.len() => self.cursor = line_end + 1,
            _ => {}
        }
    }
}
