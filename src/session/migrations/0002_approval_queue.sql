-- What the queue of approvals needs beyond its first columns.

-- The project's folder as it was when the action was asked for: an id can be given to another one.
ALTER TABLE cli_pending_actions ADD COLUMN project_path ANY;

-- While an action is applied: who does it, and what the place looked like before. It tells a later
-- look what an omni-run that died in the middle had done.
ALTER TABLE cli_pending_actions ADD COLUMN claim_json TEXT;
