//! The settings that a program may ask to have changed (S87): those that can neither start another
//! program, nor send more than before, nor weaken a policy.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::LogLevel;
use crate::control::actions::error::ActionError;

/// The keys, as in `config.toml`.
pub const ALLOWED: [&str; 4] = ["chip", "profile", "retention-days", "log-level"];

/// New values; a key that is not named stays as it is. In JSON the keys of `config.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SettingsChange {
    /// The one line at each launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chip: Option<bool>,
    /// The coaching profile goes along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<bool>,
    /// Sessions older than this may be pruned, in days; 0: kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention_days: Option<u32>,
    /// For `--log-file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_level: Option<LogLevel>,
}

impl SettingsChange {
    /// From the body of a request.
    ///
    /// # Errors
    /// [`ActionError::BadSetting`] for a key that is not on the list, a value it can't have, or no
    /// key at all.
    pub fn from_json(body: &Value) -> Result<SettingsChange, ActionError> {
        let bad = |key: &str, reason: String| ActionError::BadSetting { key: key.into(), reason };
        let keys = body.as_object().ok_or_else(|| bad("", "not an object".to_owned()))?;
        let allowed = || format!("can be asked for: {}", ALLOWED.join(", "));
        if keys.is_empty() {
            return Err(bad("", format!("no key is named; {}", allowed())));
        }
        for (key, value) in keys {
            if !ALLOWED.contains(&key.as_str()) {
                return Err(bad(key, allowed()));
            }
            if value.is_null() {
                return Err(bad(key, "null is no value".to_owned()));
            }
            let one = serde_json::json!({ key: value });
            serde_json::from_value::<SettingsChange>(one).map_err(|e| bad(key, e.to_string()))?;
        }
        serde_json::from_value(body.clone()).map_err(|e| bad("", e.to_string()))
    }

    /// Each key with its new value, in the order of [`ALLOWED`].
    pub fn entries(&self) -> Vec<(&'static str, Value)> {
        let SettingsChange { chip, profile, retention_days, log_level } = self;
        let values = [
            chip.map(Value::from),
            profile.map(Value::from),
            retention_days.map(Value::from),
            log_level.map(|level| level.as_str().into()),
        ];
        ALLOWED.into_iter().zip(values).filter_map(|(key, value)| Some((key, value?))).collect()
    }
}
