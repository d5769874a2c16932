//! The `omni-run` binary.
fn main() {}
