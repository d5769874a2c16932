//! Whose database it is, which version it has, and how it becomes ours: the migrations, run under
//! one immediate transaction. Opening files and choosing the journal is `store`'s.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// `omnr`: marks the file as ours (`PRAGMA application_id`).
pub const APPLICATION_ID: i64 = 0x6f6d_6e72;

/// In order, one version each. Released ones are never edited.
const MIGRATIONS: [&str; 3] = [
    include_str!("migrations/0001_first_tables.sql"),
    include_str!("migrations/0002_approval_queue.sql"),
    include_str!("migrations/0003_search.sql"),
];

/// The newest schema that this binary knows.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// What a database file is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Identity {
    /// Nothing in it yet.
    Fresh,
    /// Ours, with the schema of this binary.
    Current,
    /// Ours, made by an older omni-run.
    Older,
    /// Ours, made by a newer one; or a version that never was.
    Newer(i64),
    /// Somebody else's.
    Foreign(i64),
}

/// Looks at one snapshot of the database, so that a migration by another process is seen whole or
/// not at all. Writes nothing.
pub(super) fn identify(connection: &Connection) -> rusqlite::Result<Identity> {
    let snapshot = connection.unchecked_transaction()?;
    let identity = read_identity(&snapshot)?;
    snapshot.finish()?;
    Ok(identity)
}

fn read_identity(connection: &Connection) -> rusqlite::Result<Identity> {
    let number = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    // The schema is read first: on an empty file the two pragmas alone open no transaction.
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    let application_id = number("PRAGMA application_id")?;
    let version = number("PRAGMA user_version")?;
    Ok(match (application_id, version) {
        (0, 0) if tables == 0 => Identity::Fresh,
        (0 | APPLICATION_ID, version) if !(0..=SCHEMA_VERSION).contains(&version) => {
            Identity::Newer(version)
        }
        (APPLICATION_ID, SCHEMA_VERSION) => Identity::Current,
        (APPLICATION_ID, _) => Identity::Older,
        (foreign, _) => Identity::Foreign(foreign),
    })
}

/// Brings a fresh or older database to [`SCHEMA_VERSION`]. Who comes second finds the work done.
pub(super) fn migrate(connection: &Connection) -> rusqlite::Result<()> {
    let change = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let from = match read_identity(&change)? {
        Identity::Fresh => 0,
        Identity::Older => {
            change.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0))?
        }
        // Another process was here first; what it left is judged again by the caller.
        Identity::Current | Identity::Newer(_) | Identity::Foreign(_) => return Ok(()),
    };
    for migration in MIGRATIONS.iter().skip(from as usize) {
        change.execute_batch(migration)?;
    }
    change.pragma_update(None, "application_id", APPLICATION_ID)?;
    change.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    change.commit()
}
