//! A conversation that the engine does not find, explained: what was asked for, where the engine
//! keeps its conversations, what that depends on, and what to do next. An engine that begins a new one
//! in silence is asked beforehand; the others say it themselves, and the explanation follows.

use std::path::PathBuf;

use super::here::shown;
use super::start::Start;
use crate::engines::{Answer, Query};
use crate::error::{ExitKind, Failure};
use crate::ui::one_line;

/// It is not there.
pub(super) struct NotFound {
    message: String,
    hints: Vec<String>,
}

impl NotFound {
    /// Refuses a launch that would begin a new conversation in place of the one asked for.
    pub(super) fn before(start: &Start) -> Result<(), Failure> {
        if !start.engine.catalogue().resume.opens_new {
            return Ok(());
        }
        let Some(missing) = NotFound::look(start) else { return Ok(()) };
        let mut failure = Failure::new(ExitKind::NotFound, missing.message);
        failure.hints = missing.hints;
        Err(failure)
    }

    /// After an engine that ended with `code` and said `stderr` at its end.
    pub(super) fn after(start: &Start, code: u8, stderr: &[u8]) -> Option<NotFound> {
        if start.resume.is_none() || code == 0 {
            return None;
        }
        let said = String::from_utf8_lossy(stderr);
        let words = &start.engine.catalogue().resume.not_found;
        if words.iter().any(|words| said.contains(words.as_str())) {
            return NotFound::new(start);
        }
        NotFound::look(start)
    }

    /// Whether the engine's own words are known.
    pub(super) fn has_words(start: &Start) -> bool {
        !start.engine.catalogue().resume.not_found.is_empty()
    }

    /// In the engine's own record.
    fn look(start: &Start) -> Option<NotFound> {
        let row = &start.resume.as_ref()?.row;
        let id = row.engine_session_id.as_deref()?;
        let query = Query { id: Some(id), cwd: &row.cwd, since: 0, text: "" };
        let absent = start.engine.look_up(&start.host(), &query) == Answer::Absent;
        absent.then(|| NotFound::new(start)).flatten()
    }

    fn new(start: &Start) -> Option<NotFound> {
        let resumed = start.resume.as_ref()?;
        let (row, name) = (&resumed.row, start.name());
        let spec = &start.engine.catalogue().resume;
        let id = one_line(row.engine_session_id.as_deref().unwrap_or_default());
        let mut hints = vec![format!("that is session {} in {}", row.id, shown(&row.cwd))];
        if !spec.kept.is_empty() {
            hints.push(format!("{name} keeps its conversations in {}", spec.kept));
        }
        let now = start.engine.kept_in(&start.host());
        let then = resumed.first.kept_in.as_ref().map(|path| path.0.clone());
        hints.extend(place(now, then));
        if spec.same_folder && start.cwd != row.cwd {
            hints.push(format!(
                "it finds a conversation only from the folder in which that began, and this run was \
                 in {}",
                shown(&start.cwd)
            ));
        }
        hints.push(format!(
            "`omni-run sessions show {}` has what you typed; `omni-run {} \"…\"` begins anew",
            row.id,
            start.engine.id()
        ));
        Some(NotFound { message: format!("{name} has no conversation {id}"), hints })
    }

    /// After the engine's own words.
    pub(super) fn say(&self, start: &Start) {
        start.ui.warning(&self.message);
        for hint in &self.hints {
            start.ui.hint(hint);
        }
    }
}

/// Where it looks now, and where it kept them when the session began.
fn place(now: Option<PathBuf>, then: Option<PathBuf>) -> Option<String> {
    match (now, then) {
        (Some(now), Some(then)) if now != then => Some(format!(
            "it looks in {} now, and kept this one in {}: HOME or a variable has changed",
            shown(&now),
            shown(&then)
        )),
        (Some(now), _) => Some(format!(
            "it looked in {}; another HOME, another machine or a clean-up moves or removes them",
            shown(&now)
        )),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_has_changed_is_named_with_the_one_before() {
        let path = |text: &str| Some(PathBuf::from(text));
        let changed = place(path("/now"), path("/then")).expect("a line");
        assert!(changed.contains("/now now") && changed.contains("/then"), "{changed}");
        let same = place(path("/now"), path("/now")).expect("a line");
        assert!(same.starts_with("it looked in /now"), "{same}");
        assert_eq!(place(None, path("/then")), None);
    }
}
