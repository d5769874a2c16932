//! Starting an engine: the request, the plan, the run folder, the one-shot loop and the wrapped
//! session with its gate, the receipt.

mod answer_writer;
pub mod below;
mod describe;
pub mod detached;
pub mod editor_socket;
mod engine_pipe;
pub mod gate;
mod keeper;
pub mod keys;
pub mod ledger;
pub mod notice;
pub mod one_shot;
pub mod owner;
pub mod plan;
pub mod plugin_report;
mod plugin_tail;
pub mod prompt;
pub mod pty;
pub mod receipt;
pub mod request;
pub mod run_folder;
pub mod screen;
mod strays;
pub mod terminal;
pub mod watcher;
pub mod wrapped;
