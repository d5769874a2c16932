//! What a request plugin reports: JSON lines that it appends to a file of the run folder. Looked at
//! only while the gate is armed and something has just happened; a file needs no socket code in
//! three languages.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use super::gate::PluginReport;

/// A report longer than this is cut off with its line: a plugin gone mad costs no memory. In bytes.
const MOST: u64 = 8 << 20;

/// The reading end.
#[derive(Debug)]
pub(super) struct PluginTail {
    path: PathBuf,
    read: u64,
    partial: Vec<u8>,
}

impl PluginTail {
    pub(super) fn new(path: PathBuf) -> PluginTail {
        PluginTail { path, read: 0, partial: Vec::new() }
    }

    /// The reports that were added since the last look. Lines that are none are passed over.
    pub(super) fn look(&mut self) -> Vec<PluginReport> {
        let Ok(mut file) = File::open(&self.path) else { return Vec::new() };
        let mut fresh = Vec::new();
        let got = file
            .seek(SeekFrom::Start(self.read))
            .and_then(|_| file.take(MOST).read_to_end(&mut fresh));
        let Ok(got) = got else { return Vec::new() };
        self.read += got as u64;
        self.partial.extend_from_slice(&fresh);
        let mut reports = Vec::new();
        while let Some(end) = self.partial.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = self.partial.drain(..=end).collect();
            reports.extend(parse(&line));
        }
        if self.partial.len() as u64 > MOST {
            self.partial.clear();
        }
        reports
    }
}

fn parse(line: &[u8]) -> Option<PluginReport> {
    let value: serde_json::Value = serde_json::from_slice(line).ok()?;
    let text = |key| value.get(key).and_then(|v| v.as_str()).map(str::to_owned);
    Some(PluginReport { event: text("event")?, text: text("text"), session: text("session") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn lines_are_reported_once_and_whole() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("receipt");
        let mut reports = PluginTail::new(path.clone());
        assert!(reports.look().is_empty(), "no file yet");
        let mut file = File::create(path).expect("create");
        file.write_all(b"{\"event\":\"raw\",\"text\":\"hi\"}\nnoise\n{\"event\":").expect("write");
        let raw = PluginReport { event: "raw".into(), text: Some("hi".into()), session: None };
        assert_eq!(reports.look(), [raw]);
        file.write_all(b"\"acted\"}\n").expect("write");
        let acted = PluginReport { event: "acted".into(), text: None, session: None };
        assert_eq!(reports.look(), [acted]);
        assert!(reports.look().is_empty());
    }
}
