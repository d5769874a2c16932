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

ALTER TABLE sessions ADD COLUMN project_key INTEGER;

-- From when to when 1,024 messages of neighbouring row ids are (or were, before some were removed).
CREATE TABLE search_spans (
    span   INTEGER PRIMARY KEY,
    oldest INTEGER NOT NULL,
    newest INTEGER NOT NULL
) STRICT;

CREATE VIEW message_terms AS
    SELECT m.row_id AS row_id,
           omni_terms(m.row_id, m.text, m.role, s.engine, s.project_key) AS terms
    FROM messages m JOIN sessions s ON s.id = m.session_id;

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

-- The database as it is now.
INSERT INTO search_projects (project_id, project_path)
    SELECT DISTINCT project_id, CASE WHEN project_id IS NULL THEN project_path END
    FROM sessions WHERE project_id IS NOT NULL OR project_path IS NOT NULL;
UPDATE sessions SET project_key = (
    SELECT min(key) FROM search_projects p
    WHERE p.project_id IS sessions.project_id
      AND p.project_path IS CASE WHEN sessions.project_id IS NULL THEN sessions.project_path END)
    WHERE project_id IS NOT NULL OR project_path IS NOT NULL;
INSERT INTO search_spans SELECT row_id >> 10, min(created_at), max(created_at) FROM messages GROUP BY 1;
INSERT INTO message_index (message_index, rank) VALUES ('hashsize', 67108864);
INSERT INTO message_index (rowid, terms) SELECT row_id, terms FROM message_terms ORDER BY row_id;
INSERT INTO message_index (message_index, rank) VALUES ('hashsize', 1048576);

-- From here on by triggers, whoever writes.
CREATE TRIGGER sessions_get_project_key AFTER INSERT ON sessions
WHEN new.project_id IS NOT NULL OR new.project_path IS NOT NULL
BEGIN
    INSERT INTO search_projects (project_id, project_path)
        SELECT new.project_id, CASE WHEN new.project_id IS NULL THEN new.project_path END
        WHERE NOT EXISTS (
            SELECT 1 FROM search_projects
            WHERE project_id IS new.project_id
              AND project_path IS CASE WHEN new.project_id IS NULL THEN new.project_path END);
    UPDATE sessions SET project_key = (
        SELECT min(key) FROM search_projects
        WHERE project_id IS new.project_id
          AND project_path IS CASE WHEN new.project_id IS NULL THEN new.project_path END)
    WHERE id = new.id;
END;

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
    INSERT INTO message_index (rowid, terms)
        SELECT row_id, terms FROM message_terms WHERE row_id = new.row_id;
    INSERT INTO search_spans VALUES (new.row_id >> 10, new.created_at, new.created_at)
        ON CONFLICT DO UPDATE SET oldest = min(oldest, excluded.oldest),
                                  newest = max(newest, excluded.newest);
END;

CREATE TRIGGER messages_leave_index BEFORE DELETE ON messages
BEGIN
    INSERT INTO message_index (message_index, rowid, terms)
        SELECT 'delete', row_id, terms FROM message_terms WHERE row_id = old.row_id;
END;

CREATE TRIGGER messages_stay_as_they_are
BEFORE UPDATE OF row_id, session_id, role, created_at ON messages
BEGIN
    SELECT raise(ABORT, 'of a message only the text is changed');
END;

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

-- Lists with filters: each with the columns that other filters look at.
DROP INDEX sessions_by_project;
CREATE INDEX sessions_by_project ON sessions (project_id, started_at, engine, outcome);
CREATE INDEX sessions_by_engine ON sessions (engine, started_at, project_id, outcome);
CREATE INDEX sessions_by_outcome ON sessions (outcome, started_at, project_id, engine);
CREATE INDEX sessions_without_project ON sessions (project_path, started_at, engine, outcome)
    WHERE project_id IS NULL;
