//! The integration tests: one binary, for one link.

#[path = "../support/pty_driver.rs"]
mod pty_driver;
mod wrapped;
mod wrapped_end;
mod wrapped_gate;
mod wrapped_input;
mod wrapped_output;
