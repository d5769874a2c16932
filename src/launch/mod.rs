//! Starting an engine: the request, the plan, the run folder, the one-shot loop, the receipt.

pub mod plan;
pub mod request;
