//! CLI Control: what programs may ask of omni-run, with a person in the loop.
//!
//! Principle: who asks never decides. Asking puts a row into the queue of [`actions`]; only a person
//! at a terminal or at the inbox page lets it happen. The API's token opens what can be read and the
//! way into that queue, nothing else: no route of it changes a file, approves, or starts an engine.
//!
//! ```text
//! server (connections, time-outs) ─▶ door (Host, Origin) ─┬▶ routes: auth (token), body, work
//!                                                         └▶ page: the inbox, its own way in
//! ```

pub mod actions;
mod answer;
mod api;
mod auth;
mod backend;
mod body;
mod call;
mod changes;
mod docs_watch;
mod door;
mod error;
mod events;
pub mod limits;
pub mod openapi;
pub mod page;
pub mod place;
mod routes;
pub mod server;
mod stall;
pub mod token;
pub mod unit;
pub mod wire;

pub use api::{Api, router};
pub use auth::Auth;
pub use backend::Backend;
pub use door::Door;
pub use error::{ApiError, ErrorCode};
pub use events::Hub;
