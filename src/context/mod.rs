//! What is injected into a first message, and nothing else.
//!
//! `folder` reads the docs folder once into a [`ContextSnapshot`]; everything after it is pure: the
//! same snapshot and the same [`Delivery`] give the same bytes. Each phase may fail alone (S6).

pub mod delivery;
pub mod first_message;
pub mod snapshot;

pub use delivery::{AttachmentRules, Budget, Delivery, InstructionRoute};
pub use first_message::{AutoContext, DisplayText, FirstMessage, SentText};
pub use snapshot::{ContextSnapshot, Reading, SnapshotRequest, Switches};
