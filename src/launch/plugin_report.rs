//! What a request plugin reported of its launch: the raw text it saw, that it acted, what failed.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::engines::dialogue::{json_line, text_at};

/// The lines of a plugin's receipt file, summed up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PluginReport {
    /// The engine's own session id.
    pub session: Option<String>,
    /// The first message as the engine got it from its own composer or channel.
    pub raw: Option<String>,
    /// The mark of that message, for a later resume.
    pub first_message: Option<String>,
    /// Bytes that were put in front on the wire, once it happened.
    pub acted: Option<u64>,
    /// Failures, a line each.
    pub errors: Vec<String>,
}

/// Where a plugin reports, below the run folder.
const PLACE: &str = "plugin/receipt.jsonl";

impl PluginReport {
    /// The file of a launch's run folder.
    pub fn place(run_dir: &Path) -> PathBuf {
        run_dir.join(PLACE)
    }

    /// What the plugin of a launch reported so far.
    pub fn of_run(run_dir: &Path) -> PluginReport {
        PluginReport::read(&PluginReport::place(run_dir))
    }

    /// How it is known that a message reached the engine's model call, acted upon or not.
    pub fn proof(&self) -> Option<String> {
        let seen = || self.raw.as_ref().map(|_| "the request plugin saw the message".to_owned());
        self.verified().or_else(seen)
    }

    /// Reads the file; one that is not there reports nothing.
    pub fn read(file: &Path) -> PluginReport {
        let mut report = PluginReport::default();
        for line in std::fs::read(file).unwrap_or_default().split(|b| *b == b'\n') {
            let Some(event) = json_line(line) else { continue };
            if let Some(session) = text_at(&event, &["session"]) {
                report.session = Some(session.to_owned());
            }
            match text_at(&event, &["event"]).unwrap_or_default() {
                "raw" => {
                    report.raw = text_at(&event, &["text"]).map(str::to_owned);
                    report.first_message = text_at(&event, &["message"]).map(str::to_owned);
                }
                "acted" => {
                    let bytes = event.get("bytes").and_then(Value::as_u64).unwrap_or_default();
                    report.acted.get_or_insert(bytes);
                }
                "error" => {
                    report.errors.extend(text_at(&event, &["message"]).map(str::to_owned));
                }
                "by_path" => {
                    let path = text_at(&event, &["path"]).unwrap_or_default();
                    report.errors.push(format!(
                        "{} went by path only: the model does not take its kind",
                        crate::ui::one_line(path)
                    ));
                }
                _ => {}
            }
        }
        report
    }

    /// For the receipt: how it is known that the block went out.
    pub fn verified(&self) -> Option<String> {
        let bytes = self.acted?;
        Some(format!("the request plugin put {bytes} bytes in front on the wire"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_summed_up_and_noise_is_passed_over() {
        let dir = tempfile::tempdir().expect("dir");
        let file = dir.path().join("receipt.jsonl");
        std::fs::write(
            &file,
            "{\"event\":\"raw\",\"text\":\"hi\",\"session\":\"s1\"}\nnoise\n{\"event\":\"acted\",\"bytes\":12}\n{\"event\":\"error\",\"message\":\"m\"}\n",
        )
        .expect("write");
        let report = PluginReport::read(&file);
        assert_eq!(report.session.as_deref(), Some("s1"));
        assert_eq!(report.raw.as_deref(), Some("hi"));
        assert_eq!((report.acted, report.errors), (Some(12), vec!["m".to_owned()]));
        assert_eq!(PluginReport::read(&dir.path().join("none")), PluginReport::default());
    }
}
