//! Carrying out what is asked for settings: the keys of `config.toml`, with the rest of the file as
//! it is.

use crate::config_edit;
use crate::control::actions::queue::Queue;
use crate::control::actions::settings::SettingsChange;
use crate::control::actions::types::{Outcome, OutcomeCode};

/// Sets the keys, all or none.
pub(super) fn apply(queue: &Queue, change: &SettingsChange) -> Result<Outcome, Outcome> {
    match config_edit::set(&queue.config_file(), &change.entries()) {
        Ok(()) => Ok(outcome(change)),
        Err(failure) => {
            let parts: Vec<&str> =
                [&failure.message].into_iter().chain(&failure.hints).map(String::as_str).collect();
            Err(Outcome::new(OutcomeCode::ConfigUnusable, parts.join("; ")))
        }
    }
}

/// Whether the file has the values: then nothing is left to do.
pub(super) fn changed(queue: &Queue, change: &SettingsChange) -> Option<Outcome> {
    config_edit::has(&queue.config_file(), &change.entries()).then(|| outcome(change))
}

fn outcome(change: &SettingsChange) -> Outcome {
    let keys: Vec<String> =
        change.entries().iter().map(|(key, value)| format!("{key} = {value}")).collect();
    Outcome::new(OutcomeCode::Changed, format!("set {}", keys.join(", ")))
}
