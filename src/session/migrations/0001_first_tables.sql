-- The first tables. Released migrations are never edited, only added to.
-- Times are integer Unix milliseconds, named `*_at`. Columns of type ANY hold a path: text, or the
-- raw bytes as a blob where the path is not UTF-8.

CREATE TABLE projects (
    row_id               INTEGER PRIMARY KEY,
    -- NULL: a folder that has an order or flags but was never registered.
    id                   TEXT UNIQUE,
    folder_path          ANY NOT NULL UNIQUE,
    doc_order_json       TEXT NOT NULL DEFAULT '[]',
    doc_instruction_json TEXT NOT NULL DEFAULT '[]',
    -- Name -> hash and size of each flagged doc, so that a flag can follow a rename.
    doc_content_json     TEXT NOT NULL DEFAULT '{}',
    created_at           INTEGER NOT NULL,
    updated_at           INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions (
    id                TEXT PRIMARY KEY,
    engine            TEXT NOT NULL,
    model             TEXT,
    project_id        TEXT,
    project_path      ANY,
    cwd               ANY NOT NULL,
    mode              TEXT NOT NULL,
    engine_session_id TEXT,
    -- The engine's arguments without any text of the message.
    argv_json         TEXT NOT NULL,
    started_at        INTEGER NOT NULL,
    ended_at          INTEGER,
    exit_code         INTEGER,
    signal            INTEGER,
    outcome           TEXT NOT NULL DEFAULT 'running'
) STRICT;

CREATE INDEX sessions_by_start ON sessions (started_at, id);
CREATE INDEX sessions_by_project ON sessions (project_id, started_at);

CREATE TABLE messages (
    -- An integer key of its own: a full-text index needs a row id that VACUUM keeps.
    row_id     INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq        INTEGER NOT NULL,
    role       TEXT NOT NULL CHECK (role IN ('operator', 'engine')),
    text       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    UNIQUE (session_id, seq)
) STRICT;

CREATE TABLE receipts (
    session_id   TEXT PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    receipt_json TEXT NOT NULL,
    created_at   INTEGER NOT NULL
) STRICT;

CREATE TABLE cli_pending_actions (
    id              TEXT PRIMARY KEY,
    kind            TEXT NOT NULL,
    project_id      TEXT,
    payload_json    TEXT NOT NULL,
    -- SHA-256 of the file as it was when the action was asked for.
    content_hash    TEXT,
    size_bytes      INTEGER,
    asked_by        TEXT NOT NULL,
    asked_at        INTEGER NOT NULL,
    status          TEXT NOT NULL DEFAULT 'pending',
    decided_by      TEXT,
    decided_at      INTEGER,
    applied_at      INTEGER,
    outcome         TEXT,
    expires_at      INTEGER NOT NULL,
    idempotency_key TEXT UNIQUE,
    request_hash    TEXT
) STRICT;

CREATE INDEX cli_pending_actions_by_status ON cli_pending_actions (status, expires_at);
