//! Completion of the command line in bash, zsh and fish.
//!
//! Each shell gets a small script that asks omni-run itself (`omni-run __complete`), since the values
//! that help most (engines, projects, docs, sessions, recipes) are known to it alone. What stands at
//! the cursor is found by walking the words over the same clap types that read the command line;
//! paths are left to the shell, which knows `~` and its own quoting.
//!
//! [`place`] is pure; [`answer`] turns a place into lines with values that are fetched by the caller.

pub mod answer;
pub mod place;

/// The script of each shell.
pub const BASH: &str = include_str!("scripts/omni-run.bash");
/// The script of each shell.
pub const ZSH: &str = include_str!("scripts/omni-run.zsh");
/// The script of each shell.
pub const FISH: &str = include_str!("scripts/omni-run.fish");

#[cfg(test)]
mod tests;
