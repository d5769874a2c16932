//! A job for cron or a systemd timer, as text: nothing is installed. Pure.
//!
//! [`cron`] reads an expression the way cron itself does, [`calendar`] says the same to systemd,
//! [`crontab`] and [`systemd`] write a [`Job`] down so that it runs where there is nothing but a short
//! PATH.

pub mod calendar;
pub mod cron;
pub mod crontab;
pub mod systemd;

/// What is to be run, and in which environment. All of it is text on one line: neither a crontab nor
/// a unit file can hold a line break in a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// For file names: letters, digits, `-`, `_` and `.`.
    pub unit: String,
    /// What it is, for people.
    pub description: String,
    /// Where it starts; `None`: wherever it is started.
    pub folder: Option<String>,
    /// Variables that it needs.
    pub env: Vec<(&'static str, String)>,
    /// Program, absolute, and arguments.
    pub words: Vec<String>,
}

impl Job {
    /// A word that can stand in no crontab and no unit file: it holds a line break or another
    /// control character.
    pub fn unprintable(&self) -> Option<&str> {
        let env = self.env.iter().map(|(_, value)| value);
        let all = self.words.iter().chain(env).chain(&self.folder);
        all.map(String::as_str).find(|word| word.chars().any(crate::ui::is_unprintable))
    }
}

#[cfg(test)]
mod tests;
