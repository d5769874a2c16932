//! What is injected into a first message, and nothing else.
//!
//! `folder` reads the docs folder once into a [`ContextSnapshot`]; everything after it is pure: the
//! same snapshot and the same [`Delivery`] give the same bytes. Each phase may fail alone (S6).

mod always;
mod attachments;
mod auto;
pub(crate) mod chip;
mod defuse;
pub mod delivery;
pub mod describe;
pub(crate) mod dir;
pub mod figures;
pub mod first_message;
pub mod folder;
pub mod front;
pub mod hidden;
mod instructions;
pub mod kinds;
mod ledger;
mod magic;
pub mod names;
mod profile;
mod reference;
pub mod secrets;
pub mod snapshot;
pub mod sniff;
pub mod tokens;

#[cfg(test)]
mod tests;

pub use delivery::{AttachmentRules, Budget, Delivery, InstructionRoute};
pub use first_message::{AutoContext, DisplayText, FirstMessage, SentText};
pub use snapshot::{ContextSnapshot, Reading, SnapshotRequest, Switches};
