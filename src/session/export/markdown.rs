//! The export as Markdown. What was typed stands in a fence, byte for byte; an answer is Markdown
//! already and stands as it is, unless it would take in what follows it.

use pulldown_cmark::{Event, Parser, Tag};

use super::facts::{self, Detail};
use super::render::options;
use super::{Sheet, Transcript};
use crate::context::names::{code_span, longest_backtick_run};
use crate::session::record::{Message, Role, SessionRow};
use crate::ui::one_line;

pub(super) struct Markdown;

impl Sheet for Markdown {
    fn begin(&mut self, _heads: &[SessionRow]) -> String {
        String::new()
    }

    fn session(&mut self, transcript: &Transcript) -> String {
        let mut text = format!("# Session {}\n\n", transcript.row.id);
        for (name, value) in facts::facts(transcript, Detail::All).into_iter().skip(1) {
            text.push_str(&format!("- {name}: {}\n", code_span(&one_line(&value))));
        }
        for message in &transcript.messages {
            let speaker = facts::speaker(message.role, &transcript.row.engine);
            text.push_str(&format!("\n## {}\n\n{}", one_line(&speaker), body(message)));
        }
        if let Some(receipt) = &transcript.receipt {
            let docs = facts::docs(&receipt.delivered);
            let proof = facts::proof(&receipt.delivered);
            if !docs.is_empty() || !proof.is_empty() {
                text.push_str("\n## Delivered\n\n");
            }
            for (name, state) in docs {
                text.push_str(&format!("- {}: {state}\n", code_span(&name)));
            }
            for (name, value) in proof {
                text.push_str(&format!("- {name}: {value}\n"));
            }
        }
        text.push_str("\n---\n\n");
        text
    }

    fn end(&mut self) -> String {
        String::new()
    }
}

fn body(message: &Message) -> String {
    match message.role {
        Role::Engine if is_closed(&message.text) => {
            format!("{}\n", message.text.trim_end_matches('\n'))
        }
        Role::Engine | Role::Operator => fenced(&message.text),
    }
}

/// The fence is one backtick longer than any run in the text.
fn fenced(text: &str) -> String {
    let fence = "`".repeat((longest_backtick_run(text) + 1).max(3));
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}text\n{text}{end}{fence}\n")
}

/// Whether a heading behind the text would be one: no fence, comment or HTML is left open.
fn is_closed(text: &str) -> bool {
    let with_heading = format!("{}\n\n# end", text.trim_end_matches('\n'));
    let mut depth = 0;
    let mut last_heading_at = None;
    for event in Parser::new_ext(&with_heading, options()) {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                last_heading_at = Some(depth);
                depth += 1;
            }
            Event::Start(_) => (depth, last_heading_at) = (depth + 1, None),
            Event::End(_) => depth -= 1,
            Event::Text(text) if text.as_ref() == "end" => {}
            _ => last_heading_at = None,
        }
    }
    last_heading_at == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_would_swallow_what_follows_is_fenced() {
        for closed in ["", "plain", "```\nx\n```", "- a\n  - b", "> quote\n", "<b>x</b>", "# end"] {
            assert!(is_closed(closed), "{closed:?}");
        }
        for open in ["```\nx", "````\n```\n", "<!-- x", "<script>\nx", "<![CDATA[", "~~~"] {
            assert!(!is_closed(open), "{open:?}");
        }
    }

    #[test]
    fn typed_text_keeps_its_bytes_in_a_fence_of_its_own() {
        assert_eq!(fenced("a ``` b"), "````text\na ``` b\n````\n");
        assert_eq!(fenced("x\n"), "```text\nx\n```\n");
    }
}
