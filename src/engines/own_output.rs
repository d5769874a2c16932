//! The user asked for the engine's own JSON (`… -- --output-format json`). Its bytes pass as they
//! are; what is kept as the answer is the final text in them, since some engines repeat the whole
//! message in their events. No IO here.

use serde_json::Value;

use super::dialogue::{Action, Dialogue, EngineEnd, Lines, Verdict, json_line};

/// What an object of the output says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// More of the answer.
    Text(String),
    /// All of the answer.
    Whole(String),
    /// The engine's own id of the session.
    Session(String),
    /// The engine failed, whatever its code says.
    Failure(String),
}

/// Reads one object of an engine's output.
pub(super) type Read = fn(&Value) -> Vec<Piece>;

/// One object over many lines is kept up to this, in bytes; a longer one yields no answer.
const LONGEST_OBJECT: usize = 64 << 20;

/// The talk.
pub(super) struct OwnOutput {
    read: Read,
    lines: Lines,
    /// While no line is an object of its own: all of it.
    whole: Option<Vec<u8>>,
    reply: String,
    failure: Option<String>,
    empty_is_failure: bool,
}

impl OwnOutput {
    /// `empty_is_failure`: code 0 without an answer is a failure.
    pub(super) fn new(read: Read, empty_is_failure: bool) -> OwnOutput {
        OwnOutput {
            read,
            lines: Lines::default(),
            whole: Some(Vec::new()),
            reply: String::new(),
            failure: None,
            empty_is_failure,
        }
    }

    fn take(&mut self, value: &Value, actions: &mut Vec<Action>) {
        // Some print all their events as one list.
        let objects = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for piece in objects.iter().flat_map(self.read) {
            match piece {
                Piece::Text(text) => self.reply.push_str(&text),
                Piece::Whole(text) => self.reply = text,
                Piece::Session(id) => actions.push(Action::Session(id)),
                Piece::Failure(why) => self.failure = Some(why),
            }
        }
    }
}

impl Dialogue for OwnOutput {
    fn stdout(&mut self, chunk: &[u8]) -> Vec<Action> {
        let mut actions = vec![Action::Answer(chunk.to_vec())];
        if let Some(whole) = self.whole.as_mut().filter(|whole| whole.len() < LONGEST_OBJECT) {
            whole.extend_from_slice(chunk);
        }
        for line in self.lines.push(chunk) {
            if let Some(event) = json_line(&line) {
                self.whole = None;
                self.take(&event, &mut actions);
            }
        }
        actions
    }

    fn stdout_end(&mut self) -> Vec<Action> {
        let mut actions = Vec::new();
        let last = self.lines.rest().and_then(|line| json_line(&line));
        match (last, self.whole.take()) {
            (Some(event), _) => self.take(&event, &mut actions),
            (None, Some(whole)) => match serde_json::from_slice(&whole) {
                Ok(value) => self.take(&value, &mut actions),
                // Cut off: half an object may hold the message.
                Err(_) if whole.trim_ascii_start().starts_with(b"{") => {}
                Err(_) if whole.trim_ascii_start().starts_with(b"[") => {}
                // No JSON at all: how engines refuse a login or an option.
                Err(_) => self.reply = String::from_utf8_lossy(&whole).into_owned(),
            },
            (None, None) => {}
        }
        actions
    }

    fn verdict(&mut self, end: EngineEnd) -> Verdict {
        let reply = std::mem::take(&mut self.reply);
        let empty = self.empty_is_failure && end.is_success() && reply.trim().is_empty();
        let failure = match self.failure.take() {
            Some(why) => Some(format!("the engine reported an error: {why}")),
            None => empty.then(|| "the engine ended with code 0 and said nothing".to_owned()),
        };
        Verdict { failure, reply, verified: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::dialogue::text_at;

    fn read(value: &Value) -> Vec<Piece> {
        let piece = |key, made: fn(String) -> Piece| {
            text_at(value, &[key]).map(|text| made(text.to_owned()))
        };
        [piece("text", Piece::Text), piece("id", Piece::Session), piece("error", Piece::Failure)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Bytes for the user, ids, and the verdict, with the output cut at `cut`.
    fn run(output: &str, cut: usize) -> (String, Vec<String>, Verdict) {
        let mut talk = OwnOutput::new(read, true);
        let mut actions = talk.stdout(&output.as_bytes()[..cut]);
        actions.extend(talk.stdout(&output.as_bytes()[cut..]));
        actions.extend(talk.stdout_end());
        let (mut shown, mut ids) = (Vec::new(), Vec::new());
        for action in actions {
            match action {
                Action::Answer(bytes) => shown.extend(bytes),
                Action::Session(id) => ids.push(id),
                other => panic!("{other:?}"),
            }
        }
        let verdict = talk.verdict(EngineEnd { code: Some(0), signal: None });
        (String::from_utf8(shown).expect("UTF-8"), ids, verdict)
    }

    #[test]
    fn the_bytes_pass_and_the_final_text_is_kept() {
        for output in [
            "{\"id\":\"s\"}\n{\"user\":\"BLOCK\"}\n{\"text\":\"a\"}\n{\"text\":\"b\"}\n",
            "{\"id\":\"s\"}\nnoise\n{\"text\":\"ab\"}",
            "{\n  \"id\": \"s\",\n  \"text\": \"ab\",\n  \"user\": \"BLOCK\"\n}\n",
            "[{\"id\":\"s\"},{\"text\":\"a\"},\n{\"text\":\"b\"}]",
        ] {
            for cut in 0..=output.len() {
                let (shown, ids, verdict) = run(output, cut);
                assert_eq!(shown, output);
                assert_eq!(ids, ["s"], "{output}");
                let expected = Verdict { reply: "ab".to_owned(), ..Verdict::default() };
                assert_eq!(verdict, expected, "{output}");
            }
        }
    }

    #[test]
    fn failures_and_plain_refusals() {
        let (_, _, failed) = run("{\"error\":\"no\"}\n", 3);
        assert_eq!(failed.failure.as_deref(), Some("the engine reported an error: no"));
        let (_, _, refused) = run("Please log in.\n", 3);
        assert_eq!((refused.reply.as_str(), refused.failure), ("Please log in.\n", None));
        let (_, _, cut) = run("{\n  \"user\": \"BLOCK", 3);
        assert_eq!(cut.reply, "");
        let (_, _, empty) = run("", 0);
        assert!(empty.failure.is_some());
    }
}
