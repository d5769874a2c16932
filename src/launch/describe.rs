//! The launch plan for a person: `--dry-run`. Text of docs is not shown, only its length.

use std::fmt::Write as _;

use super::plan::{LaunchPlan, StdinPlan};
use crate::context::FirstMessage;
use crate::ui::one_line;

impl LaunchPlan {
    /// The plan as text, a thing a line.
    pub fn describe(&self, first: &FirstMessage) -> String {
        let mut text = String::new();
        let argv = self.argv_without_text();
        let _ = writeln!(text, "program: {}", one_line(&argv[0]));
        for arg in &argv[1..] {
            let _ = writeln!(text, "  arg: {}", one_line(arg));
        }
        for (name, value) in self.env.iter().filter(|(name, _)| name != "PATH") {
            let value = value.to_string_lossy();
            let shown = if value.len() > 200 {
                format!("<{} bytes>", value.len())
            } else {
                one_line(&value)
            };
            let _ = writeln!(text, "  env: {name}={shown}");
        }
        for name in &self.env_remove {
            let _ = writeln!(text, "  env: {name} removed");
        }
        let _ = writeln!(text, "cwd: {}", one_line(&self.cwd.to_string_lossy()));
        for file in &self.files {
            let _ = writeln!(text, "file: {}", one_line(&format!("{file:?}")));
        }
        let stdin = match &self.stdin {
            StdinPlan::Null => "nothing".to_owned(),
            StdinPlan::File(path) => one_line(&path.to_string_lossy()),
            StdinPlan::Dialogue => "a dialogue, open until the answer".to_owned(),
        };
        let _ = writeln!(text, "stdin: {stdin}");
        let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let channels = &self.channels;
        for (what, channel) in [
            ("message", serde_json::to_value(channels.message)),
            ("instructions", serde_json::to_value(channels.instructions)),
            ("attachments", serde_json::to_value(channels.attachments)),
        ] {
            let _ = writeln!(text, "channel of {what}: {}", word(channel.unwrap_or_default()));
        }
        let report = first.auto().report();
        let _ = writeln!(
            text,
            "sent text: {} bytes, of which {} are yours",
            first.sent().len(),
            first.display().as_str().len()
        );
        let _ = writeln!(
            text,
            "block: {} bytes, {} of {} bytes of the budget used",
            report.block_bytes, report.used, report.budget
        );
        let _ = writeln!(text, "system prompt: {} bytes of instructions", report.instruction_bytes);
        for attachment in first.auto().attachments() {
            let way = match &attachment.by_path {
                None => "as bytes".to_owned(),
                Some(why) => format!("by path only: {why}"),
            };
            let _ = writeln!(text, "attachment: {} ({way})", attachment.shown);
        }
        for warning in report.warnings.iter().chain(&self.warnings) {
            let _ = writeln!(text, "warning: {}", one_line(warning));
        }
        text
    }
}
