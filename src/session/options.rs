//! What a launch was asked for beside its message, so that the same one can be made once more: the
//! user's own attachments, what he turned off, the engine's arguments. Types only. No text of docs,
//! and no text of the message: the row has that.

use std::ffi::OsString;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::session::path_text;

/// The options of a launch, as they are stored. Fields that are not there are as if nothing had been
/// asked for, so that an older row serves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LaunchOptions {
    /// The `--attach` files, absolute.
    pub attach: Vec<StoredPath>,
    /// What stood after `--`.
    pub engine_args: Vec<StoredPath>,
    /// Without docs and catalogue, by option or variable.
    pub no_docs: bool,
    /// Without the docs folder's attachments.
    pub no_attach: bool,
    /// Without instructions.
    pub no_instructions: bool,
    /// Without the profile.
    pub no_profile: bool,
    /// An empty answer is a failure.
    pub strict: bool,
    /// The time-out of a one-shot run, in seconds.
    pub timeout: Option<u64>,
    /// How often it may be started again by itself.
    pub retries: Option<u32>,
    /// The block is put in on the wire only: the engine's own history has the message without it, and
    /// a resume has to put it in again. `None`: an older row, which does not say.
    pub block_on_wire: Option<bool>,
    /// The instructions stand in the conversation, at the head of the block, and not in the system
    /// prompt: a resume has them already. `None`: an older row.
    pub instructions_in_talk: Option<bool>,
    /// The engine's version.
    pub engine_version: Option<String>,
    /// Where the engine kept its conversations at that time.
    pub kept_in: Option<StoredPath>,
}

/// A path or an argument, which need not be UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoredPath(#[serde(with = "path_text::json")] pub PathBuf);

impl From<PathBuf> for StoredPath {
    fn from(path: PathBuf) -> StoredPath {
        StoredPath(path)
    }
}

impl From<OsString> for StoredPath {
    fn from(text: OsString) -> StoredPath {
        StoredPath(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn options_come_back_as_they_were_and_old_ones_are_empty() {
        let odd = OsString::from_vec(b"caf\xe9.png".to_vec());
        let options = LaunchOptions {
            attach: vec![PathBuf::from("/a b").into(), odd.into()],
            engine_args: vec![OsString::from("--yes").into()],
            no_profile: true,
            timeout: Some(60),
            ..LaunchOptions::default()
        };
        let text = serde_json::to_string(&options).expect("JSON");
        assert_eq!(serde_json::from_str::<LaunchOptions>(&text).expect("options"), options);
        let old: LaunchOptions = serde_json::from_str("{\"later_key\": 1}").expect("options");
        assert_eq!(old, LaunchOptions::default());
    }
}
