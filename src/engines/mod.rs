//! The engines: one adapter each, and the catalogue `engines.toml` they share.

use crate::context::{AutoContext, ContextSnapshot};

/// An agent CLI that omni-run can start.
pub trait Engine: Send + Sync {
    /// What this engine's first message carries. Required: an adapter without it does not compile.
    fn first_message_auto_context(
        &self,
        snapshot: &ContextSnapshot,
        model: Option<&str>,
    ) -> AutoContext;
}
