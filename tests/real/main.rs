//! The tests that run the real engines; `tests/real/install` gets them.

#[path = "../support/mod.rs"]
mod support;

mod smoke;
