//! The session to go on with, and what its first message tells the launch that goes on: whether its
//! block has to be put in again, with which options, and by which id the engine knows it.

use std::path::PathBuf;

use super::recording::learn;
use crate::engines::{Engine, Host, Query};
use crate::error::{ExitKind, Failure};
use crate::paths::Paths;
use crate::session::{LaunchOptions, Outcome, Role, SessionRow, Store};
use crate::ui::Ui;

/// A session to go on with.
pub(super) struct Resumed {
    pub(super) row: SessionRow,
    /// The options of the launch that began the conversation.
    pub(super) first: LaunchOptions,
    /// The plugin's mark of the first message.
    pub(super) first_message: Option<String>,
    /// That message as it was typed, if it is known.
    pub(super) first_display: Option<String>,
    /// It carried a block, by its receipt.
    had_block: bool,
}

impl Resumed {
    pub(super) fn read(store: &Store, prefix: &str) -> Result<Resumed, Failure> {
        Resumed::of(store, store.session_by_prefix(prefix)?)
    }

    pub(super) fn of(store: &Store, row: SessionRow) -> Result<Resumed, Failure> {
        let first = store.first_of(&row)?;
        let (own, of_first) = (store.receipt(row.id)?, store.receipt(first.id)?);
        let (own, of_first) = (own.unwrap_or_default(), of_first.unwrap_or_default());
        // A resumed session's own receipt repeats the mark.
        let mark = of_first["first_message"].as_str().or_else(|| own["first_message"].as_str());
        let messages = store.messages(first.id)?;
        let first_display = messages
            .into_iter()
            .find(|message| message.role == Role::Operator)
            .map(|message| message.text)
            // A row from before sessions knew which one they go on with.
            .filter(|_| of_first["resumed"] != true);
        Ok(Resumed {
            first_message: mark.map(str::to_owned),
            first_display,
            had_block: of_first["context"]["block_bytes"].as_u64().unwrap_or(1) > 0,
            first: first.options,
            row,
        })
    }

    /// Whether the block has to be put in again on each request: the engine's own history has the
    /// first message without it.
    pub(super) fn repeats_block(&self, engine: &dyn Engine) -> bool {
        self.first.block_on_wire.unwrap_or(self.had_block && engine.reapplies_block())
    }

    /// The user's own attachments of the first message that are still there; the others are named.
    pub(super) fn attachments(&self, ui: Ui) -> Vec<PathBuf> {
        let (there, gone): (Vec<_>, Vec<_>) =
            self.first.attach.iter().map(|path| path.0.clone()).partition(|path| path.is_file());
        for path in gone {
            ui.warning(&format!(
                "{} is not there any more; the conversation goes on without it",
                path.display()
            ));
        }
        there
    }

    /// Looks the engine's own id up where the row lacks it.
    pub(super) fn learn_id(&mut self, engine: &dyn Engine, host: &Host, paths: &Paths) {
        if self.row.engine_session_id.is_some() {
            return;
        }
        let text = self.first_display.clone().unwrap_or_default();
        let query = Query { id: None, cwd: &self.row.cwd, since: self.row.started_at, text: &text };
        let answer = engine.look_up(host, &query);
        let id = learn(answer, paths, &self.row.engine, self.row.id);
        if let Some(id) = &id
            && let Ok(store) = Store::open(paths)
        {
            // Only saves the next one the search.
            let _ = store.set_engine_session_id(self.row.id, id);
        }
        self.row.engine_session_id = id;
    }

    /// The engine's own id.
    ///
    /// # Errors
    /// Why there is none, and what to do.
    pub(super) fn engine_id(&self, engine: &dyn Engine) -> Result<String, Failure> {
        if let Some(id) = &self.row.engine_session_id {
            return Ok(id.clone());
        }
        let (id, name) = (self.row.id, &engine.catalogue().name);
        let message = format!("session {id} has no id of {name} to resume by");
        let why = match self.row.outcome {
            Outcome::NotStarted => "the engine did not start; nothing was said yet",
            Outcome::Crashed | Outcome::Lost | Outcome::Failed | Outcome::TimedOut => {
                "it ended before the engine told one"
            }
            Outcome::Running | Outcome::Ok => "the engine did not tell one",
        };
        Err(Failure::new(ExitKind::NotFound, message)
            .hint(why)
            .hint(format!("if the message never arrived: omni-run recover {id}")))
    }
}
