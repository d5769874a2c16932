//! The built-in engine: omni-run itself as a child process, which answers with a summary of what it
//! received. No account, no network: the demo, and the tests' engine.

use std::io::{Read, Write};
use std::path::PathBuf;

use super::*;

/// The adapter's name in the catalogue.
pub(super) const ADAPTER: &str = "echo";

adapter!(
    /// omni-run talking to itself.
    Echo
);

impl Engine for Echo {
    fn id(&self) -> &EngineId {
        &self.id
    }

    fn catalogue(&self) -> &EngineSpec {
        &self.spec
    }

    fn first_message_auto_context(
        &self,
        snapshot: &ContextSnapshot,
        delivery: &Delivery,
    ) -> AutoContext {
        AutoContext::build(snapshot, delivery)
    }

    fn plan(&self, request: &LaunchRequest, first: &FirstMessage) -> Result<LaunchPlan, PlanError> {
        let mut plan = generic::base(&self.spec, request, first)?;
        generic::message(&mut plan, &self.spec, request, first.sent().to_text())?;
        Ok(plan)
    }

    fn dialogue(&self, _plan: &LaunchPlan, _first: &FirstMessage) -> Box<dyn Dialogue> {
        Box::new(dialogue::Plain::new(false))
    }
}

/// What the echo process was told on its command line.
#[derive(Debug, Default)]
pub struct EchoArgs {
    /// The file with instructions.
    pub instructions: Option<PathBuf>,
    /// Attached files.
    pub attach: Vec<PathBuf>,
    /// The session's id.
    pub session: Option<String>,
    /// The model.
    pub model: Option<String>,
}

/// The echo engine: reads its message from `input` and writes the summary to `output`.
///
/// # Errors
/// When a stream or a named file fails.
pub fn echo_main(
    args: &EchoArgs,
    input: &mut dyn Read,
    output: &mut dyn Write,
) -> std::io::Result<()> {
    let mut message = String::new();
    input.read_to_string(&mut message)?;
    writeln!(output, "echo received {} bytes.", message.len())?;
    if let Some(file) = &args.instructions {
        let text = std::fs::read_to_string(file)?;
        writeln!(output, "system prompt: {} bytes", text.len())?;
        for line in text.lines().filter(|l| l.starts_with("## ") || l.starts_with("### ")) {
            writeln!(output, "  {line}")?;
        }
    }
    for file in &args.attach {
        let size = std::fs::metadata(file)?.len();
        let name = crate::ui::one_line(&file.file_name().unwrap_or_default().to_string_lossy());
        writeln!(output, "attached: {name} ({size} bytes)")?;
    }
    let (headings, rest) = split_message(&message);
    for heading in headings {
        writeln!(output, "  {heading}")?;
    }
    writeln!(output, "your message: {rest}")
}

/// The headings of the block, outside its fences, and what follows the block. A fence is closed by
/// a run of at least as many backticks alone on its line.
fn split_message(message: &str) -> (Vec<&str>, &str) {
    let (mut headings, mut fence, mut rest) = (Vec::new(), 0, 0);
    // The catalogue's list is part of the block, a list in the message is not.
    let (mut in_catalogue, mut listed) = (false, false);
    let mut at = 0;
    for line in message.split_inclusive('\n') {
        at += line.len();
        let text = line.trim_end_matches('\n');
        let ticks = text.len() - text.trim_start_matches('`').len();
        if fence > 0 {
            if ticks >= fence && ticks == text.len() {
                (fence, rest) = (0, at);
            }
        } else if ticks >= 3 {
            fence = ticks;
        } else if text.starts_with("## ") || text.starts_with("### ") {
            headings.push(text);
            rest = at;
            (in_catalogue, listed) = (text.starts_with("## Available Reference Docs"), false);
        } else if in_catalogue && text.starts_with("- ") {
            (rest, listed) = (at, true);
        } else if text.is_empty() {
            in_catalogue &= !listed;
        } else if !headings.is_empty() && text.starts_with("*Skipped") {
            rest = at;
        }
    }
    (headings, message[rest..].trim_start_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_what_came_and_repeats_the_message() {
        let message = "## Injected Project Docs\n\n### a.md\n````\n## not a heading\n```\n````\n\nhello\nworld";
        let mut output = Vec::new();
        echo_main(&EchoArgs::default(), &mut message.as_bytes(), &mut output).expect("echo");
        let output = String::from_utf8(output).expect("text");
        assert_eq!(
            output,
            format!(
                "echo received {} bytes.\n  ## Injected Project Docs\n  ### a.md\nyour message: hello\nworld\n",
                message.len()
            )
        );
    }
}
