-- Notes. Run as their owner; again as often as you like, after an update too: what is there stays. The role `agent` is the one of
-- the tools; with a database of your own, make it first: see README.md.
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
-- What the content means, of length 1, and the model that said so. Both are there or neither is.
ALTER TABLE notes ADD COLUMN IF NOT EXISTS embedding real[];
ALTER TABLE notes ADD COLUMN IF NOT EXISTS embedding_model text;
-- When index_notes last had a vector made of it.
ALTER TABLE notes ADD COLUMN IF NOT EXISTS embedding_tried_at timestamptz;
CREATE INDEX IF NOT EXISTS notes_by_owner ON notes (tenant_id, agent_id, user_id, created_at DESC);
CREATE INDEX IF NOT EXISTS notes_of_user ON notes (tenant_id, user_id, created_at);
CREATE INDEX IF NOT EXISTS notes_by_word ON notes USING gin (words);

-- The cosine of two vectors of length 1. A user has a thousand notes at most, so that each search looks at them all, and misses
-- none; pgvector, where this database has it, takes less time for it.
DO $make$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') THEN
    CREATE OR REPLACE FUNCTION note_similarity(a real[], b real[]) RETURNS double precision
      LANGUAGE sql IMMUTABLE PARALLEL SAFE BEGIN ATOMIC SELECT -(a::vector <#> b::vector); END;
  ELSE
    CREATE OR REPLACE FUNCTION note_similarity(a real[], b real[]) RETURNS double precision
      LANGUAGE sql IMMUTABLE PARALLEL SAFE
      BEGIN ATOMIC SELECT sum(t.x::double precision * t.y) FROM unnest(a, b) AS t (x, y); END;
  END IF;
END
$make$;

-- A note is seen by the tenant, agent and user that wrote it, all three. A call that names no agent sees the user's notes of all
-- agents: the tools of the desk use that, and those of agents leave it out.
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
ALTER TABLE notes FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own_notes ON notes;
CREATE POLICY own_notes ON notes USING (
  tenant_id = NULLIF(current_setting('app.tenant_id', true), '')
  AND coalesce(current_setting('app.agent_id', true), '') IN (agent_id, '')
  AND user_id = coalesce(current_setting('app.user_id', true), '')
);
-- Whether there may be a further note. Of several that are saved at once each waits for the one before, by the oldest note, and
-- counts what that one has left.
CREATE OR REPLACE FUNCTION notes_may_grow() RETURNS boolean LANGUAGE sql VOLATILE
BEGIN ATOMIC
  SELECT id FROM notes WHERE agent_id = coalesce(current_setting('app.agent_id', true), '') AND (expires_at IS NULL OR expires_at > now())
    ORDER BY created_at, id LIMIT 1 FOR NO KEY UPDATE;
  SELECT count(*) < 1000 FROM notes
    WHERE agent_id = coalesce(current_setting('app.agent_id', true), '') AND (expires_at IS NULL OR expires_at > now());
END;
GRANT SELECT, INSERT, UPDATE, DELETE ON notes TO agent;
GRANT EXECUTE ON FUNCTION note_similarity(real[], real[]), notes_may_grow() TO agent;
