//! The queue as its callers have it: taking in, looking, deciding. One for each thread; two of them,
//! also in two processes, do each action once.

use std::path::PathBuf;

use crate::control::actions::ask::Ask;
use crate::control::actions::decide::{self, Decided};
use crate::control::actions::enqueue::{self, Enqueued};
use crate::control::actions::error::ActionError;
use crate::control::actions::payload::Payload;
use crate::control::actions::preview::{self, Preview};
use crate::control::actions::rows::{self, COLUMNS};
use crate::control::actions::types::{Action, ActionId};
use crate::engines::Catalogue;
use crate::paths::Paths;
use crate::session::{Store, StoreError, UnixMs, hyphenated};

/// The queue of one data folder.
#[derive(Debug)]
pub struct Queue {
    store: Store,
    paths: Paths,
    program: Option<PathBuf>,
}

/// Which actions to list, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Also those that are decided.
    pub decided: bool,
    /// Only this project's, by id.
    pub project: Option<String>,
    /// The newest so many.
    pub limit: Option<u32>,
}

impl Queue {
    /// Opens the queue for taking in and deciding.
    pub fn open(paths: &Paths) -> Result<Queue, StoreError> {
        Ok(Queue::new(Store::open(paths)?, paths))
    }

    /// Opens the queue for looking only. [`StoreError::Missing`] where there is none yet.
    pub fn open_reading(paths: &Paths) -> Result<Queue, StoreError> {
        Ok(Queue::new(Store::open_reading(paths)?, paths))
    }

    /// The queue in a store that is open already.
    pub fn new(store: Store, paths: &Paths) -> Queue {
        Queue { store, paths: paths.clone(), program: None }
    }

    /// Takes an action in. Durable when it returns.
    ///
    /// # Errors
    /// Why not; nothing is kept of it then.
    pub fn enqueue(
        &self,
        ask: &Ask,
        catalogue: &Catalogue,
        now: UnixMs,
    ) -> Result<Enqueued, ActionError> {
        enqueue::enqueue(self, ask, catalogue, now)
    }

    /// The action with this id.
    pub fn get(&self, id: ActionId) -> Result<Action, ActionError> {
        let unknown = || ActionError::Unknown { id: id.to_string() };
        self.store.read(|c| rows::get(c, id))?.ok_or_else(unknown)
    }

    /// The action whose id begins with `prefix`, with or without hyphens.
    ///
    /// # Errors
    /// [`ActionError::Unknown`], [`ActionError::Ambiguous`]
    pub fn by_prefix(&self, prefix: &str) -> Result<Action, ActionError> {
        let unknown = || ActionError::Unknown { id: crate::ui::one_line(prefix) };
        let from = hyphenated(prefix).ok_or_else(unknown)?;
        let mut found = self.store.read(|c| rows::by_prefix(c, &from))?;
        match (found.pop(), found.is_empty()) {
            (None, _) => Err(unknown()),
            (Some(only), true) => Ok(only),
            (Some(last), false) => {
                let matches = found.iter().map(|action| action.id).chain([last.id]).collect();
                Err(ActionError::Ambiguous { prefix: crate::ui::one_line(prefix), matches })
            }
        }
    }

    /// What a person has to see before they decide.
    pub fn preview(&self, action: &Action) -> Preview {
        preview::preview(self, action)
    }

    /// The actions of `filter`, oldest first.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Action>, StoreError> {
        let open = if filter.decided { "" } else { "AND status IN ('pending', 'applying')" };
        let sql = format!(
            "SELECT {COLUMNS} FROM cli_pending_actions
             WHERE (?1 IS NULL OR project_id = ?1) {open} ORDER BY id DESC LIMIT ?2"
        );
        let limit = filter.limit.map_or(-1, i64::from);
        let mut newest_first: Vec<Action> = self.store.read(|c| {
            c.prepare(&sql)?
                .query_map(rusqlite::params![filter.project, limit], rows::from_row)?
                .collect()
        })?;
        newest_first.reverse();
        Ok(newest_first)
    }

    /// How many actions wait for a person.
    pub fn waiting(&self, now: UnixMs) -> Result<u32, StoreError> {
        waiting(&self.store, now)
    }

    /// A person says yes: the action is carried out, once. A second yes changes nothing and has the
    /// first result. Returns when it is done or has failed; a launch when the engine is about to
    /// start, or still [`Status::Applying`](super::Status::Applying) where that takes long.
    ///
    /// `by`: who, and by which way, for the record.
    pub fn approve(&self, id: ActionId, by: &str, now: UnixMs) -> Result<Decided, ActionError> {
        decide::approve(self, id, by, now)
    }

    /// A person says no.
    pub fn reject(&self, id: ActionId, by: &str, now: UnixMs) -> Result<Decided, ActionError> {
        decide::reject(self, id, by, now)
    }

    /// The bytes of the file that is to be added, if they are those that were asked for.
    ///
    /// # Errors
    /// Why there are none, for people.
    pub fn source(&self, action: &Action) -> Result<Vec<u8>, String> {
        match &action.payload {
            Payload::AddDoc(add) => preview::source_bytes(action, add),
            Payload::DeleteDoc(_) | Payload::Launch(_) | Payload::Settings(_) => {
                Err("it adds no file".to_owned())
            }
        }
    }

    /// Expires what nobody decided in time, and ends what an omni-run that died has left in the
    /// middle. To be called before a list is shown; costs one query where there is nothing to do.
    pub fn look(&self, now: UnixMs) -> Result<(), ActionError> {
        decide::look(self, now)
    }

    /// Whether [`Queue::look`] would have something to do; needs no right to write.
    pub fn has_to_look(&self, now: UnixMs) -> Result<bool, StoreError> {
        let due = self.store.read(|c| rows::due(c, now))?;
        Ok(due.expired || !due.applying.is_empty())
    }

    /// The store it is in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The program that carries a launch out: this one, unless told otherwise.
    #[must_use]
    pub fn with_program(mut self, program: PathBuf) -> Queue {
        self.program = Some(program);
        self
    }

    /// See [`Queue::with_program`].
    pub(super) fn program(&self) -> std::io::Result<PathBuf> {
        self.program.clone().map_or_else(std::env::current_exe, Ok)
    }

    /// The settings.
    pub(super) fn config_file(&self) -> PathBuf {
        self.paths.config.join("config.toml")
    }

    /// The folders.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }
}

/// How many actions wait for a person: for the line at each launch. One count by an index.
pub fn waiting(store: &Store, now: UnixMs) -> Result<u32, StoreError> {
    store.read(|c| rows::waiting(c, now))
}
