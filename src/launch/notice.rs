//! What the launch loops notice while an engine runs and that must be known even if omni-run is killed
//! in the next moment. They say it; who started them writes it down.

use nix::unistd::Pid;

/// One thing noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// The engine is about to be started: without this it was not.
    Starting,
    /// The engine runs; this is its process.
    Started(Pid),
    /// The engine told its own id of the session.
    Session(String),
    /// The engine took the message; how that shows.
    Accepted(&'static str),
}
