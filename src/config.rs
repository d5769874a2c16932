//! The user's `config.toml`, the `OMNI_RUN_*` variables over it, and where each value came from.
//! Unknown keys are errors with file, line and a suggestion (S93).

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{ExitKind, Failure};
use crate::session::words;

/// What happens when a doc holds something that looks like a secret (S72).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretsPolicy {
    /// Say so and send.
    #[default]
    Warn,
    /// Refuse the launch (77).
    Deny,
    /// Do not look.
    Off,
}

words! {
    /// What `--log-file` gets.
    LogLevel {
        /// Errors only.
        Error = "error",
        /// And warnings.
        Warn = "warn",
        /// And what happens.
        Info = "info",
        /// And how.
        Debug = "debug",
        /// Everything.
        Trace = "trace",
    }
}

/// The file as written.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
struct ConfigFile {
    default_engine: Option<String>,
    models: BTreeMap<String, String>,
    secrets: Option<SecretsPolicy>,
    chip: Option<bool>,
    profile: Option<bool>,
    retention_days: Option<u32>,
    log_level: Option<LogLevel>,
}

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Nothing was said.
    BuiltIn,
    /// `config.toml`.
    File,
    /// A variable.
    Environment,
}

impl Source {
    /// For `config show`.
    pub fn shown(self) -> &'static str {
        match self {
            Source::BuiltIn => "built in",
            Source::File => "config.toml",
            Source::Environment => "environment",
        }
    }
}

/// A value with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value in force.
    pub value: T,
    /// Who said so.
    pub source: Source,
}

/// The settings in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The engine when none is named.
    pub default_engine: Setting<Option<String>>,
    /// A model for an engine when none is named.
    pub models: Setting<BTreeMap<String, String>>,
    /// Secrets in docs.
    pub secrets: Setting<SecretsPolicy>,
    /// The one line at each launch.
    pub chip: Setting<bool>,
    /// The coaching profile goes along.
    pub profile: Setting<bool>,
    /// Sessions older than this may be pruned, in days; 0: kept.
    pub retention_days: Setting<u32>,
    /// For `--log-file`.
    pub log_level: Setting<LogLevel>,
}

/// The variables' names, in the order of the fields.
const VARIABLES: [&str; 6] = [
    "OMNI_RUN_DEFAULT_ENGINE",
    "OMNI_RUN_SECRETS",
    "OMNI_RUN_CHIP",
    "OMNI_RUN_PROFILE",
    "OMNI_RUN_RETENTION_DAYS",
    "OMNI_RUN_LOG_LEVEL",
];

impl Config {
    /// Reads the file, if it is there, and lays the environment over it.
    ///
    /// # Errors
    /// [`ExitKind::Config`] with file, line and key, or the variable's name.
    pub fn load(file: &Path, variable: impl Fn(&str) -> Option<String>) -> Result<Config, Failure> {
        let text = match std::fs::metadata(file) {
            Err(_) => String::new(),
            Ok(meta) if !meta.is_file() => {
                let message = format!("{}: is not a regular file", file.display());
                return Err(Failure::new(ExitKind::Config, message));
            }
            Ok(_) => std::fs::read_to_string(file).map_err(|e| {
                Failure::new(ExitKind::Config, format!("{}: cannot be read: {e}", file.display()))
            })?,
        };
        let from_file: ConfigFile = toml::from_str(&text)
            .map_err(|e| crate::engines::catalogue::toml_failure(file, &text, &e))?;
        let [engine, secrets, chip, profile, retention, level] = VARIABLES.map(|name| {
            variable(name).filter(|value| !value.is_empty()).map(|value| (name, value))
        });
        Ok(Config {
            default_engine: layered(
                None,
                from_file.default_engine.map(Some),
                engine.map(|(_, v)| Some(v)),
            ),
            models: Setting {
                source: if from_file.models.is_empty() { Source::BuiltIn } else { Source::File },
                value: from_file.models,
            },
            secrets: layered(
                SecretsPolicy::Warn,
                from_file.secrets,
                read(secrets, secrets_policy)?,
            ),
            chip: layered(true, from_file.chip, read(chip, switch)?),
            profile: layered(true, from_file.profile, read(profile, switch)?),
            retention_days: layered(
                0,
                from_file.retention_days,
                read(retention, |v| v.parse().ok())?,
            ),
            log_level: layered(LogLevel::Info, from_file.log_level, read(level, LogLevel::parse)?),
        })
    }

    /// A line for each setting, with its value and source, for `config show`.
    pub fn lines(&self) -> Vec<String> {
        let line = |key: &str, value: String, source: Source| {
            format!("{key} = {value}  ({})", source.shown())
        };
        let engine = self.default_engine.value.as_deref().unwrap_or("none").to_owned();
        let models = format!("{:?}", self.models.value);
        vec![
            line("default-engine", engine, self.default_engine.source),
            line("models", models, self.models.source),
            line(
                "secrets",
                format!("{:?}", self.secrets.value).to_lowercase(),
                self.secrets.source,
            ),
            line("chip", self.chip.value.to_string(), self.chip.source),
            line("profile", self.profile.value.to_string(), self.profile.source),
            line(
                "retention-days",
                self.retention_days.value.to_string(),
                self.retention_days.source,
            ),
            line("log-level", self.log_level.value.as_str().to_owned(), self.log_level.source),
        ]
    }
}

fn layered<T>(built_in: T, file: Option<T>, environment: Option<T>) -> Setting<T> {
    match (environment, file) {
        (Some(value), _) => Setting { value, source: Source::Environment },
        (None, Some(value)) => Setting { value, source: Source::File },
        (None, None) => Setting { value: built_in, source: Source::BuiltIn },
    }
}

fn read<T>(
    variable: Option<(&str, String)>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Failure> {
    let Some((name, value)) = variable else { return Ok(None) };
    parse(&value).map(Some).ok_or_else(|| {
        Failure::new(ExitKind::Config, format!("{name}=`{value}` is not a value it can have"))
            .logged_as(format!("{name} has a value that it can't have"))
            .hint(format!("unset {name}, or see `omni-run config show`"))
    })
}

fn switch(value: &str) -> Option<bool> {
    match value {
        "1" | "true" | "on" | "yes" => Some(true),
        "0" | "false" | "off" | "no" => Some(false),
        _ => None,
    }
}

fn secrets_policy(value: &str) -> Option<SecretsPolicy> {
    match value {
        "warn" => Some(SecretsPolicy::Warn),
        "deny" => Some(SecretsPolicy::Deny),
        "off" => Some(SecretsPolicy::Off),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str, variables: &[(&str, &str)]) -> Result<Config, Failure> {
        let dir = tempfile::tempdir().expect("dir");
        let file = dir.path().join("config.toml");
        std::fs::write(&file, text).expect("write");
        Config::load(&file, |name| {
            variables.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned())
        })
    }

    #[test]
    fn the_environment_is_over_the_file_and_the_file_over_the_built_in() {
        let config =
            load("chip = false\nsecrets = 'deny'\n", &[("OMNI_RUN_CHIP", "on")]).expect("config");
        assert_eq!(config.chip, Setting { value: true, source: Source::Environment });
        assert_eq!(config.secrets, Setting { value: SecretsPolicy::Deny, source: Source::File });
        assert_eq!(config.profile, Setting { value: true, source: Source::BuiltIn });
    }

    #[test]
    fn mistakes_name_file_line_and_key() {
        let failure = load("chip = true\nsecerts = 'warn'\n", &[]).expect_err("typo");
        assert!(failure.message.contains("config.toml:2: unknown field `secerts`"), "{failure}");
        assert_eq!(failure.hints[0], "did you mean `secrets`?");
        let failure = load("", &[("OMNI_RUN_CHIP", "maybe")]).expect_err("value");
        assert!(failure.message.contains("OMNI_RUN_CHIP"));
    }
}
