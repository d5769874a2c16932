//! The two texts of a first message, as types that cannot be mixed up: what the user typed
//! ([`DisplayText`], the only thing stored) and what goes to the engine ([`SentText`]).

use std::collections::HashSet;
use std::path::PathBuf;

/// Exactly what the user typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplayText(String);

impl DisplayText {
    /// Takes the text as typed.
    pub fn new(text: impl Into<String>) -> DisplayText {
        DisplayText(text.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is sent: attachments header, block, blank line, display text. Has no `Debug` and no
/// serialisation, so that it can't slip into a log or the store.
#[derive(Clone)]
pub struct SentText {
    prefix: String,
    display: String,
}

impl SentText {
    /// The whole sent text.
    pub fn to_text(&self) -> String {
        format!("{}{}", self.prefix, self.display)
    }

    /// Everything in front of the display text, with the blank line at its end; empty when nothing
    /// is injected.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Length of the whole, in bytes.
    pub fn len(&self) -> usize {
        self.prefix.len() + self.display.len()
    }

    /// Nothing at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One attachment and the way it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Absolute path.
    pub path: PathBuf,
    /// As printed.
    pub shown: String,
    /// `png`, `pdf`, …
    pub kind: String,
    /// Media type.
    pub mime: String,
    /// In bytes.
    pub size: u64,
    /// `None`: as bytes. Else by path only, and why.
    pub by_path: Option<String>,
}

/// What became of one doc.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "reason")]
pub enum DocState {
    /// In the block, whole.
    Included,
    /// In the system prompt (or at the head of the block), whole.
    Instruction,
    /// Over the budget: a note stands in its place.
    Skipped,
    /// An instruction over the budget: a binding notice stands in its place.
    Withheld,
    /// Attached as bytes.
    Attached,
    /// Named by path; why.
    ByPath(String),
    /// Not used; why.
    Ignored(String),
    /// Text without content.
    Empty,
}

/// One doc in the report.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DocReport {
    /// As printed.
    pub name: String,
    /// On disk, in bytes.
    pub size: u64,
    /// What the entry took of the budget, in bytes.
    pub used: u64,
    /// About how many tokens its content is.
    pub about_tokens: u64,
    /// What became of it.
    #[serde(flatten)]
    pub state: DocState,
}

/// What was built, for the chip, the receipt and `docs ls`. Names and figures only.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct ContextReport {
    /// The budget, in bytes.
    pub budget: u64,
    /// What instructions and always bucket took of it, in bytes.
    pub used: u64,
    /// Length of the block with catalogue and profile, in bytes.
    pub block_bytes: u64,
    /// SHA-256 of the block, hex; empty without a block.
    pub block_hash: String,
    /// Length of the system prompt section, in bytes.
    pub instruction_bytes: u64,
    /// About how many tokens block and instructions are.
    pub about_tokens: u64,
    /// The engine's window, in tokens.
    pub window: u64,
    /// Every entry of the docs folder's top level, in order.
    pub docs: Vec<DocReport>,
    /// The user's own attachments.
    pub attach: Vec<DocReport>,
    /// Files in the catalogue, listed and not.
    pub rag_files: usize,
    /// One line each, names escaped.
    pub warnings: Vec<String>,
}

/// All that is injected into one first message of one engine. Only
/// [`Engine::first_message_auto_context`](crate::engines::Engine::first_message_auto_context)
/// yields one: the builder behind it is not public.
#[derive(Clone)]
pub struct AutoContext {
    pub(crate) header: Option<String>,
    pub(crate) block: Option<String>,
    pub(crate) instructions: Option<String>,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) report: ContextReport,
}

impl AutoContext {
    /// The block, exactly as `docs preview` prints it.
    pub fn block(&self) -> Option<&str> {
        self.block.as_deref()
    }

    /// The attachments header, where some go by text.
    pub fn header(&self) -> Option<&str> {
        self.header.as_deref()
    }

    /// What is appended to the system prompt: custom and project instructions. `None` also where
    /// the engine has no such route and the block holds them.
    pub fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    /// Every attachment with its way.
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }

    /// Figures and names.
    pub fn report(&self) -> &ContextReport {
        &self.report
    }
}

/// The first message: the only maker of a [`SentText`].
#[derive(Clone)]
pub struct FirstMessage {
    sent: SentText,
    display: DisplayText,
    auto: AutoContext,
}

impl FirstMessage {
    /// Joins header, block and display text (S26). The display text stays byte for byte.
    pub fn compose(auto: AutoContext, display: DisplayText) -> FirstMessage {
        let mut prefix = String::new();
        for part in [auto.header(), auto.block()].into_iter().flatten() {
            prefix.push_str(part.trim_end_matches('\n'));
            prefix.push_str("\n\n");
        }
        let sent = SentText { prefix, display: display.as_str().to_owned() };
        FirstMessage { sent, display, auto }
    }

    /// What goes to the engine.
    pub fn sent(&self) -> &SentText {
        &self.sent
    }

    /// What the user typed.
    pub fn display(&self) -> &DisplayText {
        &self.display
    }

    /// What was built for it.
    pub fn auto(&self) -> &AutoContext {
        &self.auto
    }

    /// An answer as it is stored. An engine that prints its whole input must not bring the block into
    /// the store: a mark stands in its place. What a model quotes of a doc is its answer and stays.
    pub fn answer_to_store(&self, answer: &str) -> String {
        [self.auto.block(), self.auto.instructions()]
            .into_iter()
            .flatten()
            .map(|sent| sent.trim_end_matches('\n'))
            .filter(|sent| !sent.is_empty())
            .fold(answer.to_owned(), |answer, sent| answer.replace(sent, MARK))
    }

    /// A complaint of the engine as it is stored: any stretch of the block is left out. A service
    /// that refuses a message may quote from it. The paths of attachments may stay.
    pub fn complaint_to_store(&self, complaint: &str) -> String {
        let texts = [self.auto.block(), self.auto.instructions()];
        without_quotes(complaint, &texts.map(Option::unwrap_or_default))
    }
}

/// Stands for text of the block where an engine repeated it.
const MARK: &str = "[the injected docs]";
/// Bytes in a row that make a quote: no chance, and hardly a name that both have.
const SHORTEST_QUOTE: usize = 24;

/// `text` without the stretches that it has in common with one of `sources`.
fn without_quotes(text: &str, sources: &[&str]) -> String {
    let bytes = text.as_bytes();
    let windows: HashSet<&[u8]> = bytes.windows(SHORTEST_QUOTE).collect();
    if windows.is_empty() {
        return text.to_owned();
    }
    let quoted: HashSet<&[u8]> = sources
        .iter()
        .flat_map(|source| source.as_bytes().windows(SHORTEST_QUOTE))
        .filter(|window| windows.contains(window))
        .collect();
    let mut kept = String::with_capacity(text.len());
    let (mut looked, mut quoted_until) = (0, 0);
    for (at, c) in text.char_indices() {
        let was_quote = 0 < quoted_until && at <= quoted_until;
        // A stretch may begin inside a character.
        while looked <= at {
            if bytes[looked..].get(..SHORTEST_QUOTE).is_some_and(|w| quoted.contains(w)) {
                quoted_until = looked + SHORTEST_QUOTE;
            }
            looked += 1;
        }
        if quoted_until <= at {
            kept.push(c);
        } else if !was_quote {
            kept.push_str(MARK);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_left_out_of_complaints_and_the_rest_stays() {
        let block =
            "## Injected Project Docs\n\n### a.md\n```\nThe 世界 of rules is short.\n```\n\n";
        for (complaint, expected) in [
            ("bad request: 400", "bad request: 400"),
            ("invalid: The 世界 of rules is short. end", "invalid: [the injected docs] end"),
            (block, "[the injected docs]"),
            ("short", "short"),
            ("", ""),
        ] {
            assert_eq!(without_quotes(complaint, &[block, ""]), expected, "{complaint:?}");
        }
        // A quote cut anywhere leaves less than a window of it.
        let cut = format!("x{}", &block[..40]);
        assert_eq!(without_quotes(&cut, &[block]), "x[the injected docs]");
    }
}
