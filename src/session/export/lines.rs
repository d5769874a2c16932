//! The export as lines of JSON.

use super::wire::{FORMAT, Header, SessionLine, VERSION, line};
use super::{Sheet, Transcript};
use crate::session::record::SessionRow;

pub(super) struct Lines;

impl Sheet for Lines {
    fn begin(&mut self, heads: &[SessionRow]) -> String {
        line(&Header { format: FORMAT.to_owned(), version: VERSION, sessions: heads.len() as u64 })
    }

    fn session(&mut self, transcript: &Transcript) -> String {
        line(&SessionLine::of(transcript))
    }

    fn end(&mut self) -> String {
        String::new()
    }
}
