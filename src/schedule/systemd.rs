//! A job as a systemd service and its timer, for the user's own manager. Pure.
//!
//! In unit files `%` begins a specifier, `$` a variable (in commands only), and quoted words know the
//! escapes of C (systemd.service(5), systemd.unit(5)).

use super::Job;
use super::calendar::on_calendar;
use super::cron::Cron;

/// The `.service` file.
pub fn service(job: &Job) -> String {
    let mut text = format!(
        "[Unit]\nDescription={}\n\n[Service]\nType=oneshot\n",
        specifiers(&job.description)
    );
    if let Some(folder) = &job.folder {
        text.push_str(&format!("WorkingDirectory={}\n", specifiers(folder)));
    }
    for (name, value) in &job.env {
        text.push_str(&format!("Environment={}\n", quoted(&format!("{name}={value}"))));
    }
    let words: Vec<String> = job.words.iter().map(|word| quoted(word).replace('$', "$$")).collect();
    text.push_str(&format!("ExecStart={}\n", words.join(" ")));
    text
}

/// The `.timer` file.
pub fn timer(job: &Job, cron: &Cron) -> String {
    let times: String =
        on_calendar(cron).iter().map(|time| format!("OnCalendar={time}\n")).collect();
    format!(
        "[Unit]\nDescription={}\n\n[Timer]\n{times}# A run that was missed, the machine being off, is \
         made up for.\nPersistent=true\n\n[Install]\nWantedBy=timers.target\n",
        specifiers(&job.description)
    )
}

fn quoted(word: &str) -> String {
    let word = specifiers(word);
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./,:+@=%$".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

fn specifiers(text: &str) -> String {
    text.replace('%', "%%")
}
