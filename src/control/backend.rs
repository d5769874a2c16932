//! What the server asks of the rest of the program, so that it knows no engine and no command line.

use super::error::ApiError;
use super::wire;
use crate::engines::Catalogue;
use crate::project::Project;

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
    ) -> Result<wire::Docs, ApiError>;

    /// The engines that can be asked for.
    ///
    /// # Errors
    /// A config file that is wrong.
    fn catalogue(&self) -> Result<Catalogue, ApiError>;

    /// The settings in force.
    ///
    /// # Errors
    /// A config file that is wrong.
    fn settings(&self) -> Result<Vec<wire::SettingView>, ApiError>;
}
