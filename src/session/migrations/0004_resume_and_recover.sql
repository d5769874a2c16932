-- What resume and recover need of a session.

-- The process that the session belongs to, as `launch::owner` writes it: whether it still lives can
-- be judged later. NULL: made by an older omni-run.
ALTER TABLE sessions ADD COLUMN owner_json TEXT;
-- What the launch was asked for beside the message: attachments, switches, the engine's arguments.
ALTER TABLE sessions ADD COLUMN launch_json TEXT;
-- The session that this one goes on with.
ALTER TABLE sessions ADD COLUMN resumes TEXT;
-- How it is known that the engine took the message; NULL: not known.
ALTER TABLE sessions ADD COLUMN accepted TEXT;
-- How often the engine was started with the message.
ALTER TABLE sessions ADD COLUMN attempts INTEGER NOT NULL DEFAULT 1;

-- Few at any time, among many.
CREATE INDEX sessions_running ON sessions (id) WHERE outcome = 'running';
