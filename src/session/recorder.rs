//! Records one session whatever the state of the store: database, else spool, else a warning that
//! says it is lost. The engine runs in every case (S63), so nothing here returns an error. Between
//! start and end no connection to the database is held, only the session's own mark (`live`).

use std::path::PathBuf;

use crate::context::DisplayText;
use crate::paths::Paths;
use crate::session::error::StoreError;
use crate::session::live::{Live, LiveNote};
use crate::session::record::{NewSession, SessionEnd, SessionRow};
use crate::session::rows::{insert_end, insert_session};
use crate::session::spool::{self, SpooledRow};
use crate::session::store::{Opening, Store};

/// The record of one running session.
#[derive(Debug)]
pub struct Recorder {
    paths: Paths,
    opening: Opening,
    session: NewSession,
    live: Live,
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
        let mut recorder = Recorder::marked(paths, opening, session);
        let stored = Store::open_with(&recorder.paths, &recorder.opening).and_then(|store| {
            store.begin_as(&recorder.session, recorder.live.owner())?;
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

    /// Records that the engine is started with the message of `was` once more, in the same row. Never
    /// two at once, and never from a state that is not the one that was judged.
    ///
    /// # Errors
    /// When the store can't take it: then nothing may be started, since nobody would know of it.
    pub fn start_again(
        paths: &Paths,
        session: NewSession,
        was: &SessionRow,
    ) -> Result<Recorder, StoreError> {
        let recorder = Recorder::marked(paths, Opening::default(), session);
        let store = Store::open_with(&recorder.paths, &recorder.opening)?;
        store.begin_again(&recorder.session, recorder.live.owner(), was)?;
        store.close_quickly();
        Ok(recorder)
    }

    fn marked(paths: &Paths, opening: Opening, session: NewSession) -> Recorder {
        let live = Live::begin(paths, session.attempt, session.id, session.run_dir.as_deref());
        Recorder { paths: paths.clone(), opening, session, live, place: Place::Database }
    }

    /// What was recorded.
    pub fn session(&self) -> &NewSession {
        &self.session
    }

    /// Writes down what came to be known, so that it outlives omni-run.
    pub fn note(&mut self, note: &LiveNote) {
        self.live.note(note);
    }

    /// Records the end. A warning only where the person does not know yet that rows are elsewhere.
    pub fn finish(self, mut end: SessionEnd) -> Option<String> {
        let noted = self.live.engine_session_id();
        end.engine_session_id = end.engine_session_id.or_else(|| noted.map(str::to_owned));
        end.accepted = end.accepted.or_else(|| self.live.accepted().map(str::to_owned));
        let known = self.place == Place::Database;
        let stored = Store::open_with(&self.paths, &self.opening).and_then(|store| {
            let there = store.write(|c| {
                if !known {
                    // The start is in the spool of a folder that is out of reach, or lost: here is
                    // all of it once more.
                    insert_session(c, &self.session, Some(self.live.owner()))?;
                }
                insert_end(c, self.session.id, &end)
            })?;
            let mut notes = store.notes().to_vec();
            if !there {
                // Removed meanwhile, with the person's knowledge or with the whole database: it is not
                // put back.
                let id = self.session.id;
                notes.push(format!("the store no longer has session {id}; its end is not kept"));
            }
            Ok(notes.join("; "))
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
