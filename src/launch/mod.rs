//! Starting an engine: the request, the plan, the run folder, the one-shot loop, the receipt.

mod answer_writer;
pub mod editor_socket;
pub mod gate;
mod keeper;
pub mod ledger;
pub mod one_shot;
pub mod plan;
mod plugin_reports;
pub mod prompt;
pub mod pty;
pub mod receipt;
pub mod request;
pub mod run_folder;
pub mod terminal;
pub mod watcher;
pub mod wrapped;
