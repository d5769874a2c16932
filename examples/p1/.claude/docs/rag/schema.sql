-- Canonical DB schema of the lending desk

CREATE TABLE members (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    card       TEXT NOT NULL UNIQUE,
    joined_on  TEXT NOT NULL
);

CREATE TABLE tools (
    id     INTEGER PRIMARY KEY,
    label  TEXT NOT NULL UNIQUE,
    model  TEXT NOT NULL,
    power  INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE loans (
    id            INTEGER PRIMARY KEY,
    tool_id       INTEGER NOT NULL REFERENCES tools (id),
    member_id     INTEGER NOT NULL REFERENCES members (id),
    stamped_on    TEXT NOT NULL,
    due_on        TEXT NOT NULL,
    renewed       INTEGER NOT NULL DEFAULT 0,
    closed_on     TEXT,
    close_reason  TEXT
);

CREATE TABLE holds (
    tool_id    INTEGER NOT NULL REFERENCES tools (id),
    member_id  INTEGER NOT NULL REFERENCES members (id),
    placed_at  TEXT NOT NULL,
    PRIMARY KEY (tool_id, member_id)
);
