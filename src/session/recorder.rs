//! Records one session whatever the state of the store: database, else spool, else a warning that
//! says it is lost. The engine runs in every case (S63), so nothing here returns an error. Between
//! start and end no connection and no lock is held.

use std::path::PathBuf;

use crate::context::DisplayText;
use crate::paths::Paths;
use crate::session::error::StoreError;
use crate::session::record::{NewSession, SessionEnd};
use crate::session::rows::{insert_end, insert_session};
use crate::session::spool::{self, SpooledRow};
use crate::session::store::{Opening, Store};

/// The record of one running session.
#[derive(Debug)]
pub struct Recorder {
    paths: Paths,
    opening: Opening,
    session: NewSession,
    engine_session_id: Option<String>,
    place: Place,
}

/// Where the operator row is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Database,
    Spool,
    Lost,
}

impl Recorder {
    /// Records the start. When it returns without a warning, the operator row is durable in the
    /// database (S60); else the warning says where it is, or why it is nowhere.
    pub fn start(paths: &Paths, session: NewSession) -> (Recorder, Option<String>) {
        Recorder::start_with(paths, Opening::default(), session)
    }

    pub(super) fn start_with(
        paths: &Paths,
        opening: Opening,
        session: NewSession,
    ) -> (Recorder, Option<String>) {
        let (paths, engine_session_id) = (paths.clone(), None);
        let mut recorder =
            Recorder { paths, opening, session, engine_session_id, place: Place::Database };
        let stored = Store::open_with(&recorder.paths, &recorder.opening).and_then(|store| {
            store.begin(&recorder.session)?;
            let notes = store.notes().join("; ");
            store.close_quickly();
            Ok(notes)
        });
        let warning = match stored {
            Ok(notes) => Some(notes).filter(|notes| !notes.is_empty()),
            Err(error) => {
                let (place, warning) = recorder.spool(None, &error);
                recorder.place = place;
                Some(warning)
            }
        };
        (recorder, warning)
    }

    /// The first message changed before it was sent: the engine had not taken it, and the person went
    /// on writing. Durable when it returns without a warning, as at the start.
    pub fn set_display(&mut self, display: &DisplayText) -> Option<String> {
        self.session.display = display.clone();
        if self.place != Place::Database {
            // Told already that the row is elsewhere.
            return None;
        }
        let stored = Store::open_with(&self.paths, &self.opening).and_then(|store| {
            store.set_display(self.session.id, display.as_str())?;
            store.close_quickly();
            Ok(())
        });
        let why = stored.err()?;
        Some(format!("{why}; the store has the first message as it was before it was changed"))
    }

    /// Keeps the engine's own id of the session as soon as it is known, so that a session that
    /// omni-run does not outlive can be resumed. A failure is made good by [`Recorder::finish`].
    pub fn note_engine_session_id(&mut self, engines: &str) {
        self.engine_session_id = Some(engines.to_owned());
        if self.place == Place::Database
            && let Ok(store) = Store::open_with(&self.paths, &self.opening)
        {
            let _ = store.set_engine_session_id(self.session.id, engines);
            store.close_quickly();
        }
    }

    /// Records the end. A warning only where the person does not know yet that rows are elsewhere.
    pub fn finish(self, mut end: SessionEnd) -> Option<String> {
        end.engine_session_id = end.engine_session_id.or_else(|| self.engine_session_id.clone());
        let known = self.place == Place::Database;
        let stored = Store::open_with(&self.paths, &self.opening).and_then(|store| {
            store.write(|c| {
                if !known {
                    // The start is in the spool of a folder that is out of reach, or lost: here is
                    // all of it once more.
                    insert_session(c, &self.session)?;
                }
                insert_end(c, self.session.id, &end)
            })?;
            Ok(store.notes().join("; "))
        });
        match stored {
            Ok(notes) => Some(notes).filter(|notes| !notes.is_empty()),
            Err(error) => {
                let (place, warning) = self.spool(Some(end), &error);
                Some(warning).filter(|_| known || (place == Place::Lost && self.place != place))
            }
        }
    }

    fn spool(&self, end: Option<SessionEnd>, error: &StoreError) -> (Place, String) {
        let what = if end.is_some() { "the end of this session" } else { "this session" };
        let known = self.place == Place::Database && end.is_some();
        let database: PathBuf = self.paths.database();
        let row = SpooledRow::new(database, &self.session, known, end);
        let mut warning = match spool::put(&row, &self.paths, &self.opening.temp) {
            Ok(file) => (
                Place::Spool,
                format!(
                    "{error}; {what} waits in `{}` and is taken in by a later run",
                    file.display()
                ),
            ),
            Err(reasons) => {
                (Place::Lost, format!("{error}; {what} is not recorded (spool {reasons})"))
            }
        };
        if let Some(hint) = error.hint() {
            warning.1 = format!("{}; {hint}", warning.1);
        }
        warning
    }
}
