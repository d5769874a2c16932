-- The full-text index over what was typed and answered; `search::index` says what its terms are.
-- `omni_terms` is a function of omni-run's: another program can read this database, not write messages.

-- The project in the index, by a number that a new name does not change.
CREATE TABLE search_projects (
    key          INTEGER PRIMARY KEY,
    -- NULL: a folder that was not registered.
    project_id   TEXT,
    project_path ANY
) STRICT;

CREATE INDEX search_projects_by_id ON search_projects (project_id, project_path);

-- Given with the first message that goes into the index, and kept: the entries have it in them. 0: no
-- project.
ALTER TABLE sessions ADD COLUMN project_key INTEGER;

-- From when to when 1,024 messages of neighbouring row ids are (or were, before some were removed).
CREATE TABLE search_spans (
    span   INTEGER PRIMARY KEY,
    oldest INTEGER NOT NULL,
    newest INTEGER NOT NULL
) STRICT;

-- Messages up to this row id were written before there was an index and are not in it yet. A search
-- reads them as they are and puts them into the index, newest first (`search::pending`): the first
-- launch of a new omni-run does not wait for that.
CREATE TABLE search_pending (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    upto     INTEGER NOT NULL
) STRICT;

INSERT INTO search_pending SELECT 1, coalesce(max(row_id), 0) FROM messages;

-- What the index holds, row by row.
CREATE VIEW message_terms AS
    SELECT m.row_id AS row_id,
           omni_terms(m.row_id, m.text, m.role, s.engine, nullif(s.project_key, 0)) AS terms
    FROM messages m JOIN sessions s ON s.id = m.session_id
    WHERE m.row_id > (SELECT upto FROM search_pending);

CREATE VIRTUAL TABLE message_index USING fts5 (
    terms,
    content = 'message_terms',
    content_rowid = 'row_id',
    detail = none,
    columnsize = 0,
    tokenize = "ascii tokenchars ':@~'"
);

-- What is removed leaves the index at once, not with a later merge.
INSERT INTO message_index (message_index, rank) VALUES ('secure-delete', 1);

-- `INSERT INTO message_enters SELECT row_id …` puts messages into the index that are due in it.
CREATE VIEW message_enters AS SELECT row_id FROM messages;

CREATE TRIGGER message_enters_index INSTEAD OF INSERT ON message_enters
BEGIN
    INSERT INTO search_projects (project_id, project_path)
        SELECT s.project_id, CASE WHEN s.project_id IS NULL THEN s.project_path END
        FROM messages m JOIN sessions s ON s.id = m.session_id
        WHERE m.row_id = new.row_id AND s.project_key IS NULL
          AND (s.project_id IS NOT NULL OR s.project_path IS NOT NULL)
          AND NOT EXISTS (
            SELECT 1 FROM search_projects p
            WHERE p.project_id IS s.project_id
              AND p.project_path IS CASE WHEN s.project_id IS NULL THEN s.project_path END);
    UPDATE sessions SET project_key = coalesce((
        SELECT min(key) FROM search_projects p
        WHERE p.project_id IS sessions.project_id
          AND p.project_path IS CASE WHEN sessions.project_id IS NULL THEN sessions.project_path END), 0)
    WHERE id = (SELECT session_id FROM messages WHERE row_id = new.row_id) AND project_key IS NULL;
    INSERT INTO message_index (rowid, terms)
        SELECT row_id, terms FROM message_terms WHERE row_id = new.row_id;
    INSERT INTO search_spans
        SELECT row_id >> 10, created_at, created_at FROM messages WHERE row_id = new.row_id
        ON CONFLICT DO UPDATE SET oldest = min(oldest, excluded.oldest),
                                  newest = max(newest, excluded.newest);
END;

-- From here on by triggers, whoever writes. For a message that is not in the index yet `message_terms`
-- has no row, and they do nothing to the index.
-- A project is renamed as a whole: with its first session all have the new name.
CREATE TRIGGER sessions_follow_project AFTER UPDATE OF project_id ON sessions
WHEN new.project_id IS NOT old.project_id AND new.project_id IS NOT NULL
BEGIN
    UPDATE search_projects SET project_id = new.project_id, project_path = NULL
    WHERE key = new.project_key AND project_id IS NOT new.project_id;
END;

-- While the session is there, the entries can be told.
CREATE TRIGGER sessions_remove_messages BEFORE DELETE ON sessions
BEGIN
    DELETE FROM messages WHERE session_id = old.id;
END;

CREATE TRIGGER messages_enter_index AFTER INSERT ON messages
BEGIN
    INSERT INTO message_enters VALUES (new.row_id);
END;

CREATE TRIGGER messages_leave_index BEFORE DELETE ON messages
BEGIN
    INSERT INTO message_index (message_index, rowid, terms)
        SELECT 'delete', row_id, terms FROM message_terms WHERE row_id = old.row_id;
END;

-- A first message may change until it is sent.
CREATE TRIGGER messages_old_text_leaves_index BEFORE UPDATE OF text ON messages
BEGIN
    INSERT INTO message_index (message_index, rowid, terms)
        SELECT 'delete', row_id, terms FROM message_terms WHERE row_id = old.row_id;
END;

CREATE TRIGGER messages_new_text_enters_index AFTER UPDATE OF text ON messages
BEGIN
    INSERT INTO message_index (rowid, terms)
        SELECT row_id, terms FROM message_terms WHERE row_id = new.row_id;
END;

CREATE TRIGGER messages_stay_as_they_are
BEFORE UPDATE OF row_id, session_id, role, created_at ON messages
BEGIN
    SELECT raise(ABORT, 'of a message only the text is changed');
END;

-- Lists with filters: each with the columns that other filters look at.
DROP INDEX sessions_by_project;
CREATE INDEX sessions_by_project ON sessions (project_id, started_at, engine, outcome);
CREATE INDEX sessions_by_engine ON sessions (engine, started_at, project_id, outcome);
CREATE INDEX sessions_by_outcome ON sessions (outcome, started_at, project_id, engine);
CREATE INDEX sessions_without_project ON sessions (project_path, started_at, engine, outcome)
    WHERE project_id IS NULL;
