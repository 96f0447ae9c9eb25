-- Notes. Run as their owner; again as often as you like: what is there stays. The role `agent` is the one of the tools; with a
-- database of your own, make it first: see README.md.
CREATE TABLE IF NOT EXISTS notes (
  tenant_id text NOT NULL DEFAULT NULLIF(current_setting('app.tenant_id', true), ''),
  agent_id text NOT NULL DEFAULT coalesce(current_setting('app.agent_id', true), ''),
  user_id text NOT NULL DEFAULT coalesce(current_setting('app.user_id', true), ''),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  content text NOT NULL,
  tags text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  -- Words as they are for names and numbers, and their stems for all else.
  words tsvector GENERATED ALWAYS AS (to_tsvector('simple', content) || to_tsvector('english', content)) STORED,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX IF NOT EXISTS notes_by_owner ON notes (tenant_id, agent_id, user_id, created_at DESC);
CREATE INDEX IF NOT EXISTS notes_by_word ON notes USING gin (words);

-- A note is seen by the tenant, agent and user that wrote it, all three, and by nobody else.
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
ALTER TABLE notes FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own_notes ON notes;
CREATE POLICY own_notes ON notes USING (
  tenant_id = NULLIF(current_setting('app.tenant_id', true), '')
  AND agent_id = coalesce(current_setting('app.agent_id', true), '')
  AND user_id = coalesce(current_setting('app.user_id', true), '')
);
GRANT SELECT, INSERT, UPDATE, DELETE ON notes TO agent;
