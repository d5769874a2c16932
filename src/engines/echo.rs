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
        // So that its answer, which is stored, has nothing of the block, whatever stands in that.
        plan.arg(format!("--typed-bytes={}", first.display().as_str().len()));
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
    /// How many bytes at the end of the message were typed; unknown in its interface.
    pub typed_bytes: Option<usize>,
}

/// The section that is not fenced: its lines are somebody's own words.
const LAST_SECTION: &str = "## About the person you work with";
const INSTRUCTION_SECTIONS: [&str; 2] = ["## Custom Instructions", "## Project Instructions"];

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
        // Not the other headings: they may be those of a doc.
        for section in INSTRUCTION_SECTIONS {
            if text.lines().any(|line| line == section) {
                writeln!(output, "  {section}")?;
            }
        }
    }
    for file in &args.attach {
        let size = std::fs::metadata(file)?.len();
        let name = crate::ui::one_line(&file.file_name().unwrap_or_default().to_string_lossy());
        writeln!(output, "attached: {name} ({size} bytes)")?;
    }
    let typed_at = args.typed_bytes.and_then(|typed| message.len().checked_sub(typed));
    let (headings, rest) = match typed_at.and_then(|at| message.split_at_checked(at)) {
        Some((block, typed)) => (split_message(block).0, typed),
        None => split_message(&message),
    };
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
            if text == LAST_SECTION {
                break;
            }
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
    fn nothing_of_profile_or_instructions_is_repeated() {
        let dir = tempfile::tempdir().expect("dir");
        let instructions = dir.path().join("i.md");
        std::fs::write(&instructions, "## Project Instructions\n\n### r.md\n\n## secret\n")
            .expect("write");
        let typed = "## typed\nwords";
        let args = EchoArgs {
            instructions: Some(instructions),
            typed_bytes: Some(typed.len()),
            ..EchoArgs::default()
        };
        let message = format!("{LAST_SECTION}\n\n## secret\nwords of theirs\n\n{typed}");
        let mut output = Vec::new();
        echo_main(&args, &mut message.as_bytes(), &mut output).expect("echo");
        let output = String::from_utf8(output).expect("text");
        assert!(!output.contains("secret") && !output.contains("theirs"), "{output}");
        assert!(output.ends_with(&format!("{LAST_SECTION}\nyour message: {typed}\n")), "{output}");
        assert!(output.contains("  ## Project Instructions\n"), "{output}");
    }

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
