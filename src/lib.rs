//! omni-run: starts any AI coding agent with the project's own documents in its first message.
#![warn(unreachable_pub)]

pub mod cli;
pub mod commands;
pub mod config;
pub mod context;
pub mod engines;
pub mod error;
pub mod launch;
pub mod logging;
pub mod paths;
pub mod project;
pub mod session;
pub mod ui;
