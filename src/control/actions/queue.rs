//! The queue as its callers have it: taking in, looking, deciding. One for each thread; two of them,
//! also in two processes, do each action once.

use crate::control::actions::ask::Ask;
use crate::control::actions::enqueue::{self, Enqueued};
use crate::control::actions::error::ActionError;
use crate::control::actions::rows::{self, COLUMNS};
use crate::control::actions::types::{Action, ActionId};
use crate::engines::Catalogue;
use crate::paths::Paths;
use crate::session::{Store, StoreError, UnixMs};

/// The queue of one data folder.
#[derive(Debug)]
pub struct Queue {
    store: Store,
    paths: Paths,
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
        Ok(Queue { store: Store::open(paths)?, paths: paths.clone() })
    }

    /// The queue in a store that is open already.
    pub fn new(store: Store, paths: &Paths) -> Queue {
        Queue { store, paths: paths.clone() }
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

    /// The actions of `filter`, oldest first.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Action>, StoreError> {
        let open = if filter.decided { "" } else { "AND status IN ('pending', 'applying')" };
        let sql = format!(
            "SELECT * FROM (
               SELECT {COLUMNS} FROM cli_pending_actions
               WHERE (?1 IS NULL OR project_id = ?1) {open}
               ORDER BY asked_at DESC, id DESC LIMIT ?2
             ) ORDER BY asked_at, id"
        );
        let limit = filter.limit.map_or(-1, i64::from);
        self.store.read(|c| {
            c.prepare(&sql)?
                .query_map(rusqlite::params![filter.project, limit], rows::from_row)?
                .collect()
        })
    }

    /// How many actions wait for a person.
    pub fn waiting(&self, now: UnixMs) -> Result<u32, StoreError> {
        self.store.read(|c| rows::waiting(c, now))
    }

    /// The store it is in.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The folders.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }
}
