//! Projects: which folder a run belongs to, and what is kept about its docs (order and flags).
//!
//! Nothing here is written into a project but by the docs commands, and then only below
//! `.claude/docs`. What of the docs goes into a first message is `context`'s business.

pub mod doc_files;
pub mod docs;
mod docs_dir;
pub mod flags;
pub mod names;
pub mod registry;
pub mod resolve;
mod transfer;

pub use docs::{Bucket, DocsError};
pub(crate) use docs_dir::copy_hashed;
pub use registry::{Project, RegistryError};
pub use resolve::{Ask, Resolution, Resolved, registered, resolve};
pub use transfer::transfer;

#[cfg(test)]
mod tests;
