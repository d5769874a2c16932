//! A job as a line of a crontab. Pure.
//!
//! cron takes the line apart before `/bin/sh` does: an unescaped `%` ends the command. Outside of
//! quotes `\%` is a `%` for both, and for a shell into which the line is pasted.

use super::Job;
use super::cron::Cron;

/// The longest command that every cron takes, in bytes: Debian's and the BSDs' cut it at 999 without
/// a word.
pub const LONGEST_COMMAND: usize = 998;

/// The line, without its end.
pub fn line(job: &Job, cron: &Cron) -> String {
    format!("{cron} {}", command(job))
}

/// What cron gives to `/bin/sh -c`.
pub fn command(job: &Job) -> String {
    let folder = job.folder.iter().map(|folder| format!("cd {} &&", quoted(folder)));
    let env = job.env.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
    let words = job.words.iter().map(|word| quoted(word));
    folder.chain(env).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word for `/bin/sh`, by way of cron.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:+@=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let one = |part: &str| match part.is_empty() {
        true => String::new(),
        false => format!("'{}'", part.replace('\'', "'\\''")),
    };
    match word.is_empty() {
        true => "''".to_owned(),
        false => word.split('%').map(one).collect::<Vec<_>>().join("\\%"),
    }
}
