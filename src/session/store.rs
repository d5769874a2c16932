//! Opens the database: for writing (made and migrated where needed, spooled rows taken in) or for
//! reading only. One connection, no pool; a caller closes it before the engine runs, so that no
//! lock outlives a record. What is written and read is in `rows`.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::paths::{Paths, create_private_dir};
use crate::session::error::StoreError;
use crate::session::patience;
use crate::session::schema::{self, Identity, SCHEMA_VERSION};
use crate::session::search;
use crate::session::spool;

/// Between two tries where SQLite says "busy" without waiting itself (a change of journal mode).
const RETRY_PAUSE: Duration = Duration::from_millis(5);

/// The open database.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    file: PathBuf,
    notes: Vec<String>,
}

/// What differs between a run and a test.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    /// How long to wait for other processes, in all; `None`: as long as the process has patience.
    pub(super) busy: Option<Duration>,
    /// SQLite's way to the disk; `unix-dotfile` has no shared memory, as some network disks.
    pub(super) vfs: Option<&'static str>,
    /// Where the fallback spool is.
    pub(super) temp: PathBuf,
}

impl Default for Opening {
    fn default() -> Opening {
        Opening { busy: None, vfs: None, temp: crate::paths::temp_folder() }
    }
}

impl Opening {
    fn patience(&self) -> Duration {
        self.busy.unwrap_or_else(patience::now)
    }
}

impl Store {
    /// Opens the database for writing: makes it where there is none, migrates an older one, takes
    /// in what was spooled. Waits at most five seconds for other processes, and hardly at all when the
    /// process has just done so in vain.
    pub fn open(paths: &Paths) -> Result<Store, StoreError> {
        Store::open_with(paths, &Opening::default())
    }

    /// Opens the database without a way to change it; `None` where there is none yet.
    pub fn open_if_there(paths: &Paths) -> Result<Option<Store>, StoreError> {
        match Store::open_reading(paths) {
            Err(StoreError::Missing { .. }) => Ok(None),
            store => store.map(Some),
        }
    }

    /// Opens the database without a way to change it. [`StoreError::Missing`] where there is none.
    pub fn open_reading(paths: &Paths) -> Result<Store, StoreError> {
        let file = paths.database();
        let fail = |error: rusqlite::Error| StoreError::from_sqlite(&file, &error);
        if !file.exists() {
            return Err(StoreError::Missing { file });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let attempt = |name: &Path, flags| -> rusqlite::Result<(Connection, Identity)> {
            let connection = Connection::open_with_flags(name, flags)?;
            connection.busy_timeout(patience::now())?;
            search::register(&connection)?;
            let identity = schema::identify(&connection)?;
            Ok((connection, identity))
        };
        let opened = attempt(&file, flags).or_else(|error| {
            // On a read-only disk the shared memory of WAL can't be made. Without a log to read
            // and without writers the file alone is the whole truth.
            let log_empty = fs::metadata(beside(&file, "-wal")).map_or(true, |m| m.len() == 0);
            match error.sqlite_error_code() {
                Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) if log_empty => {
                    attempt(&immutable_uri(&file), flags | OpenFlags::SQLITE_OPEN_URI)
                }
                _ => Err(error),
            }
        });
        let (connection, identity) = patience::learn(opened.map_err(fail))?;
        match identity {
            Identity::Current => Ok(Store { connection, file, notes: Vec::new() }),
            Identity::Fresh => Err(StoreError::Missing { file }),
            Identity::Older => {
                drop(connection);
                Store::open(paths)
            }
            Identity::Newer(theirs) => {
                Err(StoreError::Newer { file, theirs, ours: SCHEMA_VERSION })
            }
            Identity::Foreign(application_id) => Err(StoreError::Foreign { file, application_id }),
        }
    }

    pub(super) fn open_with(paths: &Paths, opening: &Opening) -> Result<Store, StoreError> {
        let file = paths.database();
        prepare_folder(&paths.data)?;
        create_private_file(&file)?;
        let deadline = Instant::now() + opening.patience();
        let connected = connect(&file, opening, deadline);
        let connection =
            if opening.busy.is_none() { patience::learn(connected) } else { connected }?;
        let mut store = Store { connection, file, notes: Vec::new() };
        store.notes = spool::take_in(&store, paths, &opening.temp)?;
        Ok(store)
    }

    /// Things to tell the person once, such as a spool file that was set aside.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The database file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Leaves the log as it is when this connection closes. Copying it back costs three more waits
    /// for the disk; before an engine starts, nobody wants to wait for that. The close at the end
    /// of the run does it.
    pub(super) fn close_quickly(self) {
        // The connection closes either way; a refused option only makes it slower.
        let _ = self
            .connection
            .set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }

    /// Runs `work` on one snapshot.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let snapshot = self.connection.unchecked_transaction().map_err(|e| self.error(&e))?;
        work(&snapshot).map_err(|e| self.error(&e))
    }

    /// Runs `work` in one immediate transaction: all of it is kept, durably, or nothing.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let attempt = || {
            let change =
                Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let result = work(&change)?;
            change.commit()?;
            Ok(result)
        };
        attempt().map_err(|e| self.error(&e))
    }

    /// The same for work that has errors of its own: any of them undoes all of it.
    pub(super) fn write_or_undo<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let failed = |error: rusqlite::Error| E::from(self.error(&error));
        // Dropped before the commit, it is rolled back.
        let change = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(failed)?;
        let result = work(&change)?;
        change.commit().map_err(failed)?;
        Ok(result)
    }

    /// The bare connection, for what can't run in a transaction.
    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(super) fn error(&self, error: &rusqlite::Error) -> StoreError {
        StoreError::from_sqlite(&self.file, error)
    }
}

/// Makes the data folder. One that somebody else made for us in a folder open to all (`/tmp`) is
/// not used: its owner could swap the file.
fn prepare_folder(folder: &Path) -> Result<(), StoreError> {
    let fail = |reason: String| StoreError::Folder { folder: folder.to_owned(), reason };
    create_private_dir(folder).map_err(|e| fail(e.to_string()))?;
    let open_to_all = |dir: &Path| fs::metadata(dir).is_ok_and(|m| m.mode() & 0o1002 == 0o1002);
    let us = nix::unistd::geteuid().as_raw();
    // The folder, or one of the two above it, may be the first below `/tmp`.
    for dir in folder.ancestors().take(3) {
        let owner = fs::symlink_metadata(dir).map_err(|e| fail(e.to_string()))?.uid();
        if owner != us && dir.parent().is_some_and(open_to_all) {
            return Err(fail(format!("`{}` belongs to another user", dir.display())));
        }
    }
    Ok(())
}

/// Makes the file with 0600 before SQLite would make it with the user's umask. SQLite gives its
/// side files the mode of the main file. An existing file is not opened here: closing it would drop
/// this process's own locks on it.
fn create_private_file(file: &Path) -> Result<(), StoreError> {
    let unusable =
        |e: io::Error| StoreError::Unusable { file: file.to_owned(), reason: e.to_string() };
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Ok(_) => return Ok(()),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
        Err(e) if e.kind() == io::ErrorKind::StorageFull => {
            return Err(StoreError::Full { file: file.to_owned(), reason: e.to_string() });
        }
        Err(e) => return Err(unusable(e)),
    }
    for file in [file.to_owned(), beside(file, "-wal"), beside(file, "-shm")] {
        if let Ok(about) = fs::metadata(&file)
            && about.is_file()
            && about.permissions().mode() & 0o077 != 0
        {
            // The owner's bits stay: 0444 says that even the owner wants no writing. A file that is
            // not ours, for instance under sudo, stays as its owner wants it.
            let owner_only = fs::Permissions::from_mode(about.permissions().mode() & 0o700);
            let _ = fs::set_permissions(&file, owner_only);
        }
    }
    Ok(())
}

fn connect(file: &Path, opening: &Opening, deadline: Instant) -> Result<Connection, StoreError> {
    let mut setup_lock: Option<SetupLock> = None;
    // Why WAL can't be had; from then on without it.
    let mut no_wal: Option<rusqlite::Error> = None;
    loop {
        let way = match (&setup_lock, &no_wal) {
            (None, _) => Way::AsItIs,
            (Some(_), None) => Way::SetUp,
            (Some(_), Some(_)) => Way::Alone,
        };
        let error = match try_connect(file, opening, deadline, way) {
            Ok((connection, Identity::Current)) => return Ok(connection),
            Ok((_, Identity::Newer(theirs))) => {
                let file = file.to_owned();
                return Err(StoreError::Newer { file, theirs, ours: SCHEMA_VERSION });
            }
            Ok((_, Identity::Foreign(application_id))) => {
                return Err(StoreError::Foreign { file: file.to_owned(), application_id });
            }
            Ok((connection, Identity::Fresh | Identity::Older)) => {
                // Closed before the wait: in WAL mode an open connection keeps a read lock, and the
                // process that we wait for may need the database alone.
                drop(connection);
                setup_lock.get_or_insert_with(|| SetupLock::acquire(file, deadline));
                continue;
            }
            Err(error) => error,
        };
        let busy = matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
        );
        if busy && Instant::now() < deadline {
            std::thread::sleep(RETRY_PAUSE);
        } else if setup_lock.is_none() && lacks_shared_memory(&error) {
            setup_lock = Some(SetupLock::acquire(file, deadline));
        } else if no_wal.is_none() && lacks_shared_memory(&error) {
            no_wal = Some(error);
        } else {
            return Err(match StoreError::from_sqlite(file, &error) {
                told @ (StoreError::Full { .. } | StoreError::Locked { .. }) => told,
                _ => StoreError::from_sqlite(file, &no_wal.unwrap_or(error)),
            });
        }
    }
}

/// How far a try to connect may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Only to a database that is ready.
    AsItIs,
    /// Making it ready, with WAL where it is new.
    SetUp,
    /// Making it ready while nobody else has it. A database in WAL mode needs no shared memory
    /// then: the only way to read it, and to take it out of that mode.
    Alone,
}

/// Lets one process at a time choose the journal and migrate. Without it two that fall back from
/// WAL wait for each other's read lock until both give up, and a late one can switch a database
/// back to WAL under the others. Where the disk has no such locks the work goes on without: then a
/// row may have to go through the spool.
struct SetupLock {
    _held: Option<fs::File>,
}

impl SetupLock {
    fn acquire(file: &Path, deadline: Instant) -> SetupLock {
        let open = || {
            let folder = file.with_file_name("locks");
            create_private_dir(&folder)?;
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).mode(0o600);
            options.open(folder.join("store-setup.lock"))
        };
        let Ok(lock) = open() else { return SetupLock { _held: None } };
        loop {
            match lock.try_lock() {
                Ok(()) => return SetupLock { _held: Some(lock) },
                Err(fs::TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(RETRY_PAUSE);
                }
                Err(_) => return SetupLock { _held: None },
            }
        }
    }
}

/// How long one try alone waits for readers: it holds a read lock itself meanwhile, so it gives up
/// soon and comes again.
const ALONE_TIMEOUT: Duration = Duration::from_millis(50);

/// One try; the identity is what the database is at the end of it.
fn try_connect(
    file: &Path,
    opening: &Opening,
    deadline: Instant,
    way: Way,
) -> rusqlite::Result<(Connection, Identity)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    crate::own_files::register(file);
    let connection = match opening.vfs {
        Some(vfs) => Connection::open_with_flags_and_vfs(file, flags, vfs)?,
        None => Connection::open_with_flags(file, flags)?,
    };
    let alone = way == Way::Alone;
    let remaining = deadline.saturating_duration_since(Instant::now());
    connection.busy_timeout(if alone { remaining.min(ALONE_TIMEOUT) } else { remaining })?;
    if alone {
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    }
    let mut identity = schema::identify(&connection)?;
    let ready = identity == Identity::Current;
    let to_set_up = matches!(identity, Identity::Fresh | Identity::Older) && way != Way::AsItIs;
    if !ready && !to_set_up {
        return Ok((connection, identity));
    }
    choose_journal(&connection, identity == Identity::Fresh && !alone, alone)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // What is removed, or moved within the index, is overwritten, not only unlinked.
    connection.pragma_update(None, "secure_delete", true)?;
    search::register(&connection)?;
    if to_set_up {
        schema::migrate(&connection)?;
    }
    if alone {
        connection.pragma_update(None, "locking_mode", "NORMAL")?;
    }
    if to_set_up || alone {
        // Also the access that lets go of the exclusive lock.
        identity = schema::identify(&connection)?;
    }
    // Whether it can be written shows only now: a database in WAL mode can be read without a usable
    // shared memory.
    connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK")?;
    connection.busy_timeout(opening.patience())?;
    Ok((connection, identity))
}

/// WAL for a new database. One that once fell back stays with its rollback journal: trying again at
/// each start would flip the file's header under other processes. What SQLite answers counts, not
/// what was asked for.
fn choose_journal(
    connection: &Connection,
    want_wal: bool,
    leave_wal: bool,
) -> rusqlite::Result<()> {
    let ask = |sql| connection.query_row(sql, [], |row| row.get::<_, String>(0));
    let mode =
        if want_wal { ask("PRAGMA journal_mode = WAL")? } else { ask("PRAGMA journal_mode")? };
    if mode == "wal" && !leave_wal {
        return Ok(());
    }
    let mode = ask("PRAGMA journal_mode = TRUNCATE")?;
    if mode == "truncate" || mode == "delete" {
        return Ok(());
    }
    let refused = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_PROTOCOL);
    Err(rusqlite::Error::SqliteFailure(refused, Some(format!("journal mode `{mode}` is not safe"))))
}

/// Errors of disks on which WAL can't work: no shared memory, or locks that do not lock.
fn lacks_shared_memory(error: &rusqlite::Error) -> bool {
    use rusqlite::ffi;
    let extended = error.sqlite_error().map_or(0, |e| e.extended_code);
    // "Read-only" is also said of a shared memory that can be opened only to look at.
    matches!(extended & 0xff, ffi::SQLITE_CANTOPEN | ffi::SQLITE_PROTOCOL | ffi::SQLITE_READONLY)
        || matches!(
            extended,
            ffi::SQLITE_IOERR_SHMOPEN
                | ffi::SQLITE_IOERR_SHMSIZE
                | ffi::SQLITE_IOERR_SHMLOCK
                | ffi::SQLITE_IOERR_SHMMAP
        )
}

/// `omni-run.db` + `-wal`.
pub(crate) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The file as a URI that promises SQLite that nobody writes it.
fn immutable_uri(file: &Path) -> PathBuf {
    let mut uri = b"file:".to_vec();
    for &byte in file.as_os_str().as_bytes() {
        match byte {
            b'%' | b'?' | b'#' => uri.extend(format!("%{byte:02x}").bytes()),
            _ => uri.push(byte),
        }
    }
    uri.extend(b"?immutable=1");
    PathBuf::from(OsString::from_vec(uri))
}
