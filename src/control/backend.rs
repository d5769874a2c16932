//! What the server asks of the rest of the program, so that it knows no engine and no command line.

use std::sync::Arc;

use super::actions::{Ask, Enqueued, Queue};
use super::error::ApiError;
use super::wire;
use crate::project::Project;
use crate::session::UnixMs;

/// The rest of the program.
pub trait Backend: Send + Sync {
    /// The docs of a project as an engine would get them now; without one that is named, the default
    /// engine, or the one with the widest budget.
    ///
    /// # Errors
    /// An engine that is not there; a config file that is wrong.
    fn docs(
        &self,
        project: &Project,
        engine: Option<&str>,
        model: Option<&str>,
    ) -> Result<Arc<wire::Docs>, ApiError>;

    /// The engines there are: id and name.
    ///
    /// # Errors
    /// A config file that is wrong.
    fn engines(&self) -> Result<Vec<(String, String)>, ApiError>;

    /// Puts a request into the queue, with the engines that there are.
    ///
    /// # Errors
    /// Why it is not taken in; a config file that is wrong.
    fn enqueue(&self, queue: &Queue, ask: &Ask, now: UnixMs) -> Result<Enqueued, ApiError>;

    /// The settings in force.
    ///
    /// # Errors
    /// A config file that is wrong.
    fn settings(&self) -> Result<Vec<wire::SettingView>, ApiError>;
}
