//! What the test binaries share: an own home per test, a fake model, the real engines, child
//! processes with an end, and small files of each kind.
//!
//! Nothing here knows what omni-run ought to do; the tests say that.

// Each test binary takes what it needs of these modules and leaves the rest.
#![allow(dead_code)]

pub mod approvals;
pub mod engines;
pub mod fake_model;
pub mod home;
pub mod process;
pub mod sample_files;
pub mod serve;
pub mod turns;

#[allow(unused_imports, reason = "see above: not every test binary uses every part")]
pub use self::{
    engines::{RealEngine, require_engine},
    fake_model::FakeModel,
    home::TestHome,
    process::{Finished, run},
};
