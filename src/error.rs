//! What can go wrong at the edge, the exit code that says so, and the hint that tells what to do.
//!
//! Modules inside have their own `thiserror` types; this one is where they end, with a code and a
//! remedy. It prints nothing: `ui` does.

use std::fmt;

/// omni-run's own exit codes (SPEC section 11). An engine's own code passes through untouched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitKind {
    /// The command line is wrong (2).
    Usage,
    /// Input that cannot be used: a prompt that is empty or not UTF-8, a damaged export (64).
    BadPrompt,
    /// A project, file or session that was named is not there (66).
    NotFound,
    /// The engine is not installed or will not start (69).
    EngineUnavailable,
    /// A fault of omni-run itself (70).
    Internal,
    /// A file could not be created (73).
    CannotCreate,
    /// Another run holds the key (75).
    Busy,
    /// Refused by a policy or for want of consent (77).
    Refused,
    /// A config file is wrong (78).
    Config,
    /// The time-out ended the engine (124).
    TimedOut,
}

impl ExitKind {
    /// The number the shell sees.
    pub fn code(self) -> u8 {
        match self {
            ExitKind::Usage => 2,
            ExitKind::BadPrompt => 64,
            ExitKind::NotFound => 66,
            ExitKind::EngineUnavailable => 69,
            ExitKind::Internal => 70,
            ExitKind::CannotCreate => 73,
            ExitKind::Busy => 75,
            ExitKind::Refused => 77,
            ExitKind::Config => 78,
            ExitKind::TimedOut => 124,
        }
    }

    /// The word for scripts.
    pub fn word(self) -> &'static str {
        match self {
            ExitKind::Usage => "usage",
            ExitKind::BadPrompt => "bad_prompt",
            ExitKind::NotFound => "not_found",
            ExitKind::EngineUnavailable => "engine_unavailable",
            ExitKind::Internal => "internal",
            ExitKind::CannotCreate => "cannot_create",
            ExitKind::Busy => "busy",
            ExitKind::Refused => "refused",
            ExitKind::Config => "config",
            ExitKind::TimedOut => "timed_out",
        }
    }
}

/// An error as the user gets it: what happened, the exit code, and what to do next.
#[derive(Debug, Clone)]
pub struct Failure {
    /// Decides the exit code.
    pub kind: ExitKind,
    /// What happened to which thing; no final period.
    pub message: String,
    /// What to do next, a line each.
    pub hints: Vec<String>,
    /// What the log gets instead of the message, where that quotes the user or a variable.
    logged: Option<String>,
}

impl Failure {
    /// A failure without a hint yet.
    pub fn new(kind: ExitKind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into(), hints: Vec::new(), logged: None }
    }

    /// The same failure with one more hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hints.push(hint.into());
        self
    }

    /// The same failure with other words for the log: its message quotes text of a prompt or the
    /// value of a variable, which a log never holds.
    #[must_use]
    pub fn logged_as(mut self, text: impl Into<String>) -> Failure {
        self.logged = Some(text.into());
        self
    }

    /// Its words for the log.
    pub fn for_log(&self) -> &str {
        self.logged.as_deref().unwrap_or(&self.message)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// An unforeseen error is ours: code 70 with the whole chain.
impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        match error.downcast::<Failure>() {
            Ok(failure) => failure,
            Err(error) => Failure::new(ExitKind::Internal, format!("{error:#}")),
        }
    }
}

/// The names among `known` nearest to `wanted`, best first, at most three: for "did you mean".
pub fn did_you_mean<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let mut near: Vec<(f64, &str)> = known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&wanted, &name.to_lowercase()), name))
        // Below 0.75 the suggestions stop looking like the word that was typed.
        .filter(|(score, _)| *score >= 0.75)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_first_and_far_ones_not_at_all() {
        assert_eq!(did_you_mean("cluade", ["claude", "codex", "gemini"]), ["claude"]);
        assert!(did_you_mean("zzz", ["claude", "codex"]).is_empty());
    }
}
