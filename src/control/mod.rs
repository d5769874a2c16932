//! CLI Control: what programs may ask of omni-run, with a person in the loop.
//!
//! Principle: who asks never decides. Asking puts a row into the queue of [`actions`]; only a person
//! at a terminal or at the inbox page lets it happen.

pub mod actions;
