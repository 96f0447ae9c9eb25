-- The tables of the receptionist. Run as their owner; again as often as you like: what is there stays. The role `agent` is the one
-- of the tools; with a database of your own, make it first: see README.md.
CREATE TABLE IF NOT EXISTS businesses (
  id text PRIMARY KEY,
  name text NOT NULL,
  industry text NOT NULL DEFAULT '',
  phone text,
  email text,
  twilio_number text,
  -- {"tone": "warm", "language": "English", "agent_name": "Echo"}
  ai_config jsonb NOT NULL DEFAULT '{}',
  -- [{"name": "Haircut", "duration_minutes": 30, "price": "45.00"}]
  services jsonb NOT NULL DEFAULT '[]',
  -- {"monday": [["09:00", "17:00"]], …}: local times of time_zone; a day that is not named is closed
  working_hours jsonb NOT NULL DEFAULT '{}',
  time_zone text NOT NULL DEFAULT 'UTC',
  -- How many customers are served at one time.
  seats integer NOT NULL DEFAULT 1 CHECK (seats BETWEEN 1 AND 100),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS calls (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  business_id text NOT NULL REFERENCES businesses (id),
  call_sid text NOT NULL,
  caller_phone text,
  started_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  duration_seconds integer,
  transcript text,
  intent text,
  outcome text,
  sentiment_score real,
  confidence_score real,
  recording_url text,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (business_id, id),
  UNIQUE (business_id, call_sid)
);

CREATE TABLE IF NOT EXISTS bookings (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  business_id text NOT NULL DEFAULT NULLIF(current_setting('app.tenant_id', true), '') REFERENCES businesses (id),
  call_id uuid,
  customer_name text NOT NULL,
  customer_phone text NOT NULL,
  -- Written in any way, the same number.
  customer_phone_digits text GENERATED ALWAYS AS (regexp_replace(customer_phone, '[^0-9]', '', 'g')) STORED,
  customer_email text,
  service text NOT NULL,
  booking_datetime timestamptz NOT NULL,
  duration_minutes integer NOT NULL CHECK (duration_minutes BETWEEN 1 AND 1440),
  ends_at timestamptz NOT NULL,
  seat integer NOT NULL DEFAULT 1,
  status text NOT NULL DEFAULT 'confirmed' CHECK (status IN ('pending', 'confirmed', 'cancelled', 'completed', 'no_show')),
  confirmed_at timestamptz,
  price numeric(12, 2),
  customer_notes text,
  internal_notes text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (business_id, id),
  FOREIGN KEY (business_id, call_id) REFERENCES calls (business_id, id),
  CHECK (ends_at > booking_datetime),
  -- A number that is withheld is nobody's: without digits, all of them would be the same customer.
  CHECK (length(customer_phone_digits) >= 5),
  -- No seat is taken twice at one time, whatever writes to the table. A range of one value stands for the value itself: equality of
  -- text takes an extension.
  CONSTRAINT no_double_booking EXCLUDE USING gist (
    int8range(hashtextextended(business_id, 0), hashtextextended(business_id, 0), '[]') WITH &&,
    int4range(seat, seat, '[]') WITH &&,
    tstzrange(booking_datetime, ends_at) WITH &&
  ) WHERE (status IN ('pending', 'confirmed'))
);
CREATE INDEX IF NOT EXISTS bookings_by_phone ON bookings (business_id, customer_phone_digits, booking_datetime DESC);
CREATE INDEX IF NOT EXISTS bookings_by_time ON bookings (business_id, booking_datetime);
CREATE INDEX IF NOT EXISTS bookings_by_call ON bookings (business_id, call_id);

CREATE TABLE IF NOT EXISTS policies (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  business_id text NOT NULL DEFAULT NULLIF(current_setting('app.tenant_id', true), '') REFERENCES businesses (id),
  topic text NOT NULL,
  content text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (business_id, id)
);

CREATE TABLE IF NOT EXISTS faqs (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  business_id text NOT NULL DEFAULT NULLIF(current_setting('app.tenant_id', true), '') REFERENCES businesses (id),
  topic text NOT NULL DEFAULT '',
  question text NOT NULL,
  answer text NOT NULL,
  tags text[] NOT NULL DEFAULT '{}',
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (business_id, id)
);

-- A row is seen and written by its business alone: that of the tenant whose credential makes the call.
ALTER TABLE businesses ENABLE ROW LEVEL SECURITY;
ALTER TABLE businesses FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own_business ON businesses;
CREATE POLICY own_business ON businesses USING (id = NULLIF(current_setting('app.tenant_id', true), ''));
ALTER TABLE calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE calls FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own_calls ON calls;
CREATE POLICY own_calls ON calls USING (business_id = NULLIF(current_setting('app.tenant_id', true), ''));
ALTER TABLE bookings ENABLE ROW LEVEL SECURITY;
ALTER TABLE bookings FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own_bookings ON bookings;
CREATE POLICY own_bookings ON bookings USING (business_id = NULLIF(current_setting('app.tenant_id', true), ''));
ALTER TABLE policies ENABLE ROW LEVEL SECURITY;
ALTER TABLE policies FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own_policies ON policies;
CREATE POLICY own_policies ON policies USING (business_id = NULLIF(current_setting('app.tenant_id', true), ''));
ALTER TABLE faqs ENABLE ROW LEVEL SECURITY;
ALTER TABLE faqs FORCE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS own_faqs ON faqs;
CREATE POLICY own_faqs ON faqs USING (business_id = NULLIF(current_setting('app.tenant_id', true), ''));

GRANT SELECT ON businesses, calls TO agent;
GRANT SELECT, INSERT, UPDATE ON bookings TO agent;
GRANT SELECT, INSERT ON policies, faqs TO agent;
