-- Two businesses in one table, kept apart by row-level security. Run at each start, in a new database that has the role `agent`.
CREATE TABLE bookings (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant_id text NOT NULL DEFAULT NULLIF(current_setting('app.tenant_id', true), ''),
  guest text NOT NULL,
  starts_at timestamptz NOT NULL
);

INSERT INTO bookings (tenant_id, guest, starts_at) VALUES
  ('acme', 'Ada Lovelace', '2026-12-01 09:00+00'),
  ('acme', 'Alan Turing', '2026-12-02 10:30+00'),
  ('umbrella', 'Grace Hopper', '2026-12-01 09:00+00');

-- After the rows of others: from here on, the owner sees and writes those of one tenant too.
ALTER TABLE bookings ENABLE ROW LEVEL SECURITY;
ALTER TABLE bookings FORCE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON bookings USING (tenant_id = NULLIF(current_setting('app.tenant_id', true), ''));
GRANT SELECT, INSERT ON bookings TO agent;
