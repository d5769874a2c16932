//! omni-run starts any AI coding agent from the command line and puts the project's own documents
//! in front of its first message.
//!
//! # Bird's eye
//!
//! ```text
//! cli ─▶ commands::run (who, where, display text, attachments)
//!          │
//! project ─┤   context::folder::snapshot ─▶ ContextSnapshot              the only reading
//!          ▼
//!   engine.first_message_auto_context() ─▶ AutoContext                   pure
//!          ▼
//!   FirstMessage::compose(auto, display)                                 the only maker of a sent text
//!          │
//!   engine.plan(request, first) ─▶ LaunchPlan                            pure; --dry-run prints it
//!          │
//!   session::Recorder::start(display)                                    durable before anything starts
//!          ▼
//!   launch::one_shot (pipes and a Dialogue) │ launch::wrapped (terminal and a gate)
//!          ▼
//!   Outcome ─▶ receipt ─▶ exit code
//! ```
//!
//! Data flows one way. Nothing later asks the folder, the config or the clock again.
//!
//! # Code map
//!
//! | room | what is in it |
//! |---|---|
//! | `engines.toml` | the engine catalogue as data, with the reason beside each oddity |
//! | [`cli`] | clap types only |
//! | [`commands`] | one file for each group of subcommands; `run` is the launch |
//! | [`config`], [`config_edit`], [`paths`], [`error`], [`ui`], [`logging`] | settings and their sources, a key of theirs set, folders, exit codes and hints, all that is printed, diagnostics |
//! | [`completions`] | what the shells ask at the cursor |
//! | [`recipes`] | prompts kept as files, with parameters and settings |
//! | [`schedule`] | a job as a crontab line and as systemd units |
//! | [`project`] | which project, its saved order and flags, changes to its docs folder |
//! | [`context`] | what is injected: snapshot of the folder, then pure builders |
//! | [`engines`] | the trait, the catalogue, one small adapter each, their dialogues, `plugins/` (JS, Python) |
//! | [`launch`] | request, plan, run folder, receipt; the one-shot loop and its watcher; the wrapped session with its pty, mode ledger, key decoder, screen and gate |
//! | [`control`] | what programs may ask for and a person decides: the queue of approvals |
//! | [`session`] | the store: schema, rows, lists, search, removal, export, spool, recorder, lock, backup |
//!
//! To add an engine: a table in `engines.toml` (a user's own will do) is enough where it takes its
//! message on stdin, by file or by argument. An adapter in `src/engines` is for what TOML can't say.
//!
//! In a terminal the [`launch::gate`] decides when the first message goes: a pure machine, `(state,
//! event, now) → effects`, whose recipe is the engine's `gate` table. The session loop carries its
//! effects out; it asks nothing of the gate once that is done.
//!
//! # Invariants
//!
//! 1. Only `src/engines` and `engines.toml` know an engine's name (`tests/it/tidy.rs`).
//! 2. The builders of [`context`], [`launch::plan`], the receipt, [`launch::gate`] and
//!    [`launch::keys`] do no IO and read no clock (`tests/it/tidy.rs`); time comes in as a value. The
//!    same folder, engine and model give the same bytes.
//! 3. [`context::DisplayText`] and [`context::SentText`] are different types. [`session`] cannot name
//!    the second; it is made only by [`context::FirstMessage::compose`], from what only
//!    [`engines::Engine::first_message_auto_context`] yields (`tests/it/compile_fail.rs`).
//! 4. Bytes from the engine to the terminal, and its plain output on pipes, are never altered, held or
//!    reordered.
//! 5. A signal reaches the engine's whole group; a killed omni-run leaves none of it behind
//!    ([`launch::watcher`], `tests/it/launch_ends.rs`). The terminal is restored on every path, also
//!    after SIGKILL ([`launch::ledger`], `tests/it/wrapped_end.rs`).
//! 6. No text goes through a shell, and none over [`engines::ARGUMENT_LIMIT`] through argv. Files of
//!    a launch lie in a 0700 folder, are 0600, and go with its end or the next start.
//! 7. Nothing is written into the project but `.claude/docs/` when the user asks for it, and nothing
//!    into the engine's own config.
//! 8. Each phase of the block may fail alone; the launch goes on.
//! 9. What a program asks for is done by a person's word only, at most once, with exactly the bytes
//!    that were asked for, whatever is killed when ([`control::actions`], `tests/it/control_*.rs`).
//!
//! What is deliberately absent: embeddings and retrieval, a project's own engine settings (they
//! would name programs to run), any network use of our own.
#![warn(unreachable_pub)]

pub mod cli;
pub mod commands;
pub mod completions;
pub mod config;
pub mod config_edit;
pub mod context;
pub mod control;
pub mod engines;
pub mod error;
mod failpoint;
pub mod launch;
pub mod logging;
mod own_files;
pub mod paths;
pub mod project;
pub mod recipes;
pub mod schedule;
pub mod session;
pub mod ui;
