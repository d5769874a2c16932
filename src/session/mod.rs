//! What is kept of each session: one SQLite file in the data folder, and a spool of plain files for
//! the times when that file can't be written.
//!
//! The only text that gets in is what the user typed ([`DisplayText`](crate::context::DisplayText))
//! and what the engine answered. The block can't: no type that holds it is named in this folder.
//! A failed record never costs the run: [`Recorder`] turns every error into one warning.

mod again;
pub mod backup;
mod error;
pub mod export;
mod list;
pub mod live;
pub mod lock;
mod options;
mod path_text;
mod patience;
mod record;
mod recorder;
mod removal;
mod rows;
mod schema;
pub mod search;
mod settle;
mod signal;
mod spool;
mod store;

pub use error::StoreError;
pub use live::LiveNote;
pub use lock::{LockError, RunLock};
pub use options::{LaunchOptions, StoredPath};
pub use record::{
    Message, NewSession, Outcome, Role, SessionEnd, SessionFilter, SessionId, SessionMode,
    SessionRow, UnixMs,
};
pub use recorder::Recorder;
pub use removal::Removed;
pub use schema::{APPLICATION_ID, SCHEMA_VERSION};
pub use settle::{Look, settle, settle_if_can};
pub use signal::ignore_file_size_signal;
pub use store::Store;
pub(crate) use store::beside;

pub(crate) use lock::{hex, sha256};
pub(crate) use path_text::{path_from_sql, path_to_sql};
pub(crate) use record::words;
pub(crate) use rows::{hyphenated, json, word};

#[cfg(test)]
mod tests;
