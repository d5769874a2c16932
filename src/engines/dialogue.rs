//! The talk with a running engine over its pipes, as a pure state machine: bytes in, actions out.
//! Each adapter whose engine speaks something other than plain text has its own; this file holds
//! the trait, the plain one, and the line splitter that the others share. No IO here.

use serde_json::Value;

/// What the launch loop is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Part of the answer, for the user's stdout.
    Answer(Vec<u8>),
    /// Bytes for the engine's standard input.
    Send(Vec<u8>),
    /// Close the engine's standard input.
    CloseStdin,
    /// The engine told its own session id.
    Session(String),
    /// The engine said something that the person should see on stderr.
    Complaint(String),
    /// The turn is over; an engine that lingers may be ended after the grace time.
    Done,
}

/// How the engine's process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineEnd {
    /// Exit code, if it exited.
    pub code: Option<i32>,
    /// Signal, if it died of one.
    pub signal: Option<i32>,
}

impl EngineEnd {
    /// Exit code 0.
    pub fn is_success(self) -> bool {
        self.code == Some(0)
    }
}

/// The dialogue's own view of how the run went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// Why this was no success, whatever the exit code says.
    pub failure: Option<String>,
    /// The final answer.
    pub reply: String,
    /// How it is known that the engine got the whole message, if it is.
    pub verified: Option<String>,
}

/// One talk with one engine process.
pub trait Dialogue {
    /// At the start, when the pipes stand.
    fn start(&mut self) -> Vec<Action> {
        Vec::new()
    }

    /// Bytes from the engine's stdout, cut anywhere.
    fn stdout(&mut self, chunk: &[u8]) -> Vec<Action>;

    /// The engine's stdout ended.
    fn stdout_end(&mut self) -> Vec<Action> {
        Vec::new()
    }

    /// Bytes from the engine's stderr, which pass to the user anyway.
    fn stderr(&mut self, _chunk: &[u8]) -> Vec<Action> {
        Vec::new()
    }

    /// Whether stderr must be seen at all; else the engine gets ours directly.
    fn wants_stderr(&self) -> bool {
        false
    }

    /// The reply that is kept is not the whole answer.
    fn is_reply_cut(&self) -> bool {
        false
    }

    /// After the end of the process and of its output.
    fn verdict(&mut self, end: EngineEnd) -> Verdict;
}

/// The most of an answer that is kept for the store and for `--output json`, in bytes.
const REPLY_LIMIT: usize = 8 << 20;

/// Plain text: every byte of stdout is the answer.
#[derive(Debug, Default)]
pub struct Plain {
    reply: Vec<u8>,
    cut: bool,
    empty_is_failure: bool,
}

impl Plain {
    /// `empty_is_failure`: code 0 without a byte of output is a failure.
    pub fn new(empty_is_failure: bool) -> Plain {
        Plain { reply: Vec::new(), cut: false, empty_is_failure }
    }
}

impl Dialogue for Plain {
    fn stdout(&mut self, chunk: &[u8]) -> Vec<Action> {
        let room = REPLY_LIMIT.saturating_sub(self.reply.len());
        self.reply.extend_from_slice(&chunk[..chunk.len().min(room)]);
        self.cut |= chunk.len() > room;
        vec![Action::Answer(chunk.to_vec())]
    }

    fn is_reply_cut(&self) -> bool {
        self.cut
    }

    fn verdict(&mut self, end: EngineEnd) -> Verdict {
        let reply = String::from_utf8_lossy(&self.reply).into_owned();
        let empty = reply.trim().is_empty();
        let failure = (end.is_success() && empty && self.empty_is_failure)
            .then(|| "the engine ended with code 0 and said nothing".to_owned());
        Verdict { failure, reply, verified: None }
    }
}

/// Splits bytes into lines across chunks. A last line without an end comes from [`Lines::rest`].
#[derive(Debug, Default)]
pub struct Lines {
    pending: Vec<u8>,
}

/// A line longer than this is let go, in bytes: no engine's event comes near it.
const LINE_LIMIT: usize = 64 << 20;

impl Lines {
    /// The whole lines that `chunk` completes, without their ends.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        for part in chunk.split_inclusive(|b| *b == b'\n') {
            self.pending.extend_from_slice(part);
            if part.ends_with(b"\n") {
                let mut line = std::mem::take(&mut self.pending);
                line.pop();
                if line.ends_with(b"\r") {
                    line.pop();
                }
                lines.push(line);
            } else if self.pending.len() > LINE_LIMIT {
                self.pending.clear();
            }
        }
        lines
    }

    /// What is left after the end.
    pub fn rest(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.pending)).filter(|rest| !rest.is_empty())
    }
}

/// A line as JSON object, or `None` for anything else.
pub fn json_line(line: &[u8]) -> Option<Value> {
    serde_json::from_slice::<Value>(line).ok().filter(Value::is_object)
}

/// The text of a JSON field, found by a path of keys.
pub fn text_at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(value, |value, key| value.get(key))?.as_str()
}

/// An answer for a person: the text with one newline at its end.
pub fn answer_line(text: &str) -> Action {
    let mut bytes = text.as_bytes().to_vec();
    if !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    Action::Answer(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_for_every_split() {
        let text = b"one\r\ntwo\n\nlast";
        for cut in 0..=text.len() {
            let mut lines = Lines::default();
            let mut got = lines.push(&text[..cut]);
            got.extend(lines.push(&text[cut..]));
            assert_eq!(got, [b"one".to_vec(), b"two".to_vec(), b"".to_vec()]);
            assert_eq!(lines.rest(), Some(b"last".to_vec()));
        }
    }

    #[test]
    fn an_empty_answer_with_code_0_is_a_failure_where_said_so() {
        let end = EngineEnd { code: Some(0), signal: None };
        assert!(Plain::new(true).verdict(end).failure.is_some());
        assert!(Plain::new(false).verdict(end).failure.is_none());
        let mut plain = Plain::new(true);
        plain.stdout(b"hi");
        assert_eq!(plain.verdict(end), Verdict { reply: "hi".into(), ..Verdict::default() });
    }
}
