-- Two businesses in one table, kept apart by row-level security. Run at each start: `IF NOT EXISTS` keeps what is there.
CREATE TABLE IF NOT EXISTS bookings (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id text NOT NULL DEFAULT NULLIF(current_setting('app.tenant_id', true), ''),
  guest text NOT NULL,
  starts_at timestamptz NOT NULL
);
ALTER TABLE bookings ENABLE ROW LEVEL SECURITY;
ALTER TABLE bookings FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own_rows ON bookings;
CREATE POLICY own_rows ON bookings USING (tenant_id = NULLIF(current_setting('app.tenant_id', true), ''));

DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'agent') THEN CREATE ROLE agent; END IF;
END $$;
GRANT SELECT, INSERT ON bookings TO agent;

INSERT INTO bookings (tenant_id, guest, starts_at)
SELECT * FROM (VALUES
  ('acme', 'Ada Lovelace', timestamptz '2026-12-01 09:00+00'),
  ('acme', 'Alan Turing', timestamptz '2026-12-02 10:30+00'),
  ('umbrella', 'Grace Hopper', timestamptz '2026-12-01 09:00+00')
) AS demo WHERE NOT EXISTS (SELECT FROM bookings);
