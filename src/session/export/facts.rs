//! What is said of a session above its messages, the same in Markdown and HTML. Times are UTC: the
//! same bytes everywhere, and no word of where somebody lives.

use serde_json::Value;

use super::Transcript;
use crate::context::{figures, names};
use crate::session::record::{Role, SessionMode, SessionRow, UnixMs};
use crate::ui::one_line;

/// The most characters of a title.
const TITLE_LENGTH: usize = 80;

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// All: an export is the owner's own.
    All,
    /// What a reader elsewhere needs: no ids, commands or names of docs.
    Shared,
}

/// The first words of what was typed, on one line.
pub(super) fn title(row: &SessionRow) -> String {
    title_of(&row.first_words, &row.engine)
}

/// The same of a text.
pub(super) fn title_of(text: &str, engine: &str) -> String {
    // No title has more words than characters.
    let words = text.split_whitespace().take(TITLE_LENGTH).collect::<Vec<&str>>();
    let line = one_line(&words.join(" "));
    match line.chars().count() {
        0 => format!("Session with {engine}"),
        n if n <= TITLE_LENGTH => line,
        _ => line.chars().take(TITLE_LENGTH - 1).chain(['…']).collect(),
    }
}

/// Name and value of each fact that is known, in order.
pub(super) fn facts(transcript: &Transcript, detail: Detail) -> Vec<(&'static str, String)> {
    let row = &transcript.row;
    let mut facts = Vec::new();
    let mut add = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    let all = |value: String| (detail == Detail::All).then_some(value);
    add("session", all(row.id.to_string()));
    add("engine", Some(row.engine.clone()));
    add("model", row.model.clone());
    add("project", row.project.clone());
    add("folder", row.project_root.as_deref().map(names::shown_path).and_then(all));
    add("ran in", Some(names::shown_path(&row.cwd)));
    let how = match row.mode {
        SessionMode::OneShot => "one-shot",
        SessionMode::Prompted => "in the terminal, with a given message",
        SessionMode::Wrapped => "in the terminal",
    };
    add("how", Some(how.to_owned()));
    add("began", Some(time(row.started_at)));
    add("ended", row.ended_at.map(time));
    add("took", row.ended_at.map(|end| duration(end.saturating_sub(row.started_at))));
    add("outcome", Some(outcome(row)));
    add("engine's id", row.engine_session_id.clone().and_then(all));
    add("command", Some(row.argv.join(" ")).filter(|c| !c.is_empty()).and_then(all));
    add("context", transcript.receipt.as_ref().and_then(|r| context(&r.delivered)));
    facts
}

/// Who speaks.
pub(super) fn speaker(role: Role, engine: &str) -> String {
    match role {
        Role::Operator => "Prompt".to_owned(),
        Role::Engine => format!("Answer of {engine}"),
    }
}

/// A moment, UTC.
pub(super) fn time(ms: UnixMs) -> String {
    match jiff::Timestamp::from_millisecond(ms) {
        Ok(moment) => moment.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => ms.to_string(),
    }
}

fn duration(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

fn outcome(row: &SessionRow) -> String {
    let word = row.outcome.as_str().replace('_', " ");
    match (row.signal, row.exit_code) {
        (Some(signal), _) => format!("{word}, signal {signal}"),
        (None, Some(code)) if code != 0 => format!("{word}, code {code}"),
        (None, _) => word,
    }
}

/// How much went in front of the first message. Fields that another version did not write are left
/// out.
fn context(receipt: &Value) -> Option<String> {
    let context = &receipt["context"];
    let docs = docs(receipt).iter().filter(|(_, state)| state.starts_with("included")).count();
    let bytes = context["block_bytes"].as_u64().filter(|bytes| *bytes > 0)?;
    let docs = figures::counted(docs, "doc", "docs");
    Some(format!("{docs}, {} in front of the first message", figures::bytes(bytes)))
}

/// Each doc of the receipt with what became of it.
pub(super) fn docs(receipt: &Value) -> Vec<(String, String)> {
    let context = &receipt["context"];
    [&context["docs"], &context["attach"]]
        .into_iter()
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(|doc| {
            let state = doc["state"].as_str()?.replace('_', " ");
            let reason = doc["reason"].as_str().map_or(String::new(), |why| format!(": {why}"));
            Some((one_line(doc["name"].as_str()?), one_line(&format!("{state}{reason}"))))
        })
        .collect()
}

/// How it is known that the block arrived, and its hash.
pub(super) fn proof(receipt: &Value) -> Vec<(&'static str, String)> {
    let hash = receipt["context"]["block_hash"].as_str().filter(|hash| !hash.is_empty());
    [("block, SHA-256", hash), ("verified", receipt["verified"].as_str())]
        .into_iter()
        .filter_map(|(name, value)| Some((name, one_line(value?))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_durations_read_well() {
        assert_eq!(time(1_796_000_000_000), "2026-11-30 00:53:20 UTC");
        assert_eq!(time(i64::MAX), i64::MAX.to_string());
        for (ms, expected) in
            [(-5, "0 s"), (59_999, "59 s"), (61_000, "1 min 1 s"), (7_260_000, "2 h 1 min")]
        {
            assert_eq!(duration(ms), expected);
        }
    }
}
