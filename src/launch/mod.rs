//! Starting an engine: the request, the plan, the run folder, the one-shot loop, the receipt.

mod answer_writer;
mod describe;
pub mod gate;
pub mod keys;
pub mod one_shot;
pub mod plan;
pub mod plugin_report;
pub mod prompt;
pub mod receipt;
pub mod request;
pub mod run_folder;
pub mod screen;
pub mod watcher;
