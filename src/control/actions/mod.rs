//! The queue of actions that wait for a person (S83): asked for by a program, approved or rejected
//! by a person, carried out once.
//!
//! A row goes `pending` → `applying` → `applied` or `failed`; or `pending` → `rejected` or `expired`.
//! Who works on an action holds its lock file, so a row that is `applying` without a holder is one
//! whose omni-run died; what it had done is told by evidence, never guessed. Rows are kept for the
//! record after they are decided.
//!
//! How a request comes in (HTTP) and how a person is asked (terminal, page) is not here.

mod apply_docs;
mod apply_launch;
mod apply_settings;
pub mod ask;
mod claim;
mod decide;
mod enqueue;
mod error;
mod handover;
mod lock;
pub mod payload;
mod preview;
mod queue;
mod quota;
mod rows;
pub mod settings;
mod source;
mod types;

pub use apply_launch::SUBCOMMAND as APPROVED_SUBCOMMAND;
pub use ask::{Ask, Idempotency, IdempotencyKey, ProjectRef, Wish};
pub use decide::Decided;
pub use enqueue::Enqueued;
pub use error::ActionError;
pub use handover::Handover;
pub use payload::Payload;
pub use preview::{Content, Preview, Replaced, SettingNow};
pub use queue::{Filter, Queue, waiting};
pub use quota::{ALWAYS_LIMIT, FILE_LIMIT};
pub use settings::SettingsChange;
pub use types::{Action, ActionId, ActionKind, Outcome, OutcomeCode, Status};

/// How long an action waits for a person (S83).
pub const WAITS_FOR: std::time::Duration = std::time::Duration::from_secs(7 * 24 * 3600);

/// How many actions may wait at once. More than a person can read; what goes beyond is a program
/// that has run wild.
pub const QUEUE_LIMIT: u32 = 2_000;

/// How many bytes of prompts may wait at once, in all: a list of what waits is read as a whole.
pub const PROMPTS_LIMIT: u64 = 8_000_000;
