// What a database may hold that turns a call into another tenant's, or reads its rows: laid over TWO_TENANTS.

const TENANT = "current_setting('app.tenant_id', true)";

/** A guarded table of its own, with whatever stands behind its columns. */
const guarded = (name: string, columns = '') => `
CREATE TABLE app.${name} (id int, tenant_id text, guest text${columns});
${policed(name, `tenant_id = ${TENANT}`)}`;

const policed = (name: string, using: string, rest = '') => `
ALTER TABLE app.${name} ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.${name} FORCE ROW LEVEL SECURITY;
CREATE POLICY ${name}_rows ON app.${name} USING (${using}) ${rest};`;

const table = (name: string, using: string, rest = '') => `
CREATE TABLE app.${name} (id int, tenant_id text, guest text);
INSERT INTO app.${name} VALUES (1, 'acme', 'a'), (2, 'umbrella', 'b');
${policed(name, using, rest)}`;

const FUNCTIONS = `
CREATE FUNCTION app.turn(text) RETURNS boolean LANGUAGE sql
  BEGIN ATOMIC SELECT set_config('app.tenant_id', 'umbrella', true) IS NOT NULL; END;
CREATE FUNCTION app.always(text, text) RETURNS boolean IMMUTABLE LANGUAGE sql BEGIN ATOMIC SELECT true; END;
CREATE FUNCTION app.opaque(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION app.as_umbrella() RETURNS bigint LANGUAGE sql SET app.tenant_id = 'umbrella'
  BEGIN ATOMIC SELECT count(*) FROM app.bookings; END;
CREATE FUNCTION app.by_default(a text DEFAULT set_config('app.tenant_id', 'umbrella', true)) RETURNS text LANGUAGE sql
  BEGIN ATOMIC SELECT a; END;
CREATE FUNCTION app.nap(float8) RETURNS void IMMUTABLE LANGUAGE internal AS 'pg_sleep';
CREATE FUNCTION app.harmless(n int DEFAULT 1) RETURNS int LANGUAGE sql SET search_path = ''
  BEGIN ATOMIC SELECT n + 1; END;
CREATE FUNCTION app.step(text, text) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN $2; END';
CREATE AGGREGATE app.grab(text) (SFUNC = app.step, STYPE = text);
CREATE AGGREGATE app.joined(text) (SFUNC = pg_catalog.textcat, STYPE = text, INITCOND = '');
CREATE OPERATOR app.!! (RIGHTARG = text, FUNCTION = app.turn);
CREATE OPERATOR app.= (LEFTARG = text, RIGHTARG = text, FUNCTION = app.always);`;

const TYPES = `
CREATE DOMAIN app.turned AS text CHECK (app.turn(VALUE));
CREATE DOMAIN app.short AS text CHECK (length(VALUE) < 9);
CREATE TYPE app.pair AS (a app.turned, b int);
CREATE TYPE app.kind AS ENUM ('a', 'b');
CREATE FUNCTION app.kind_json(app.kind) RETURNS json LANGUAGE plpgsql AS 'BEGIN RETURN to_json(1); END';
CREATE CAST (app.kind AS json) WITH FUNCTION app.kind_json(app.kind);
CREATE TYPE app.size AS ENUM ('s', 'l');
CREATE TYPE app.span AS RANGE (SUBTYPE = app.turned);
CREATE TYPE app.token AS (v text);
CREATE FUNCTION app.token_text(app.token) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN $1.v; END';
CREATE CAST (app.token AS text) WITH FUNCTION app.token_text(app.token);`;

const POLICIES = `
${table('or_true', `tenant_id = ${TENANT} OR true`)}
${table('mentions', "'app.tenant_id' <> tenant_id")}
${table('reads_it', `${TENANT} IS NOT NULL`)}
${table('unlike', `tenant_id <> ${TENANT}`)}
${table('shared_rows', `tenant_id IS NULL OR tenant_id = ${TENANT}`)}
${table('somewhere', `EXISTS (SELECT FROM app.currencies WHERE ${TENANT} = ${TENANT})`)}
${table('own_operator', `tenant_id OPERATOR(app.=) ${TENANT}`)}
${table('first_letter', `tenant_id::varchar(1) = ${TENANT}::varchar(1)`)}
${table('itself', `tenant_id = COALESCE(${TENANT}, tenant_id)`)}
${table('constant', `'acme' = ${TENANT}`)}
${table('negated', `NOT (tenant_id = ${TENANT})`)}
${table('open_check', `tenant_id = ${TENANT}`, 'WITH CHECK (true)')}
${table('guard_of_writes', 'true')}
CREATE POLICY guard ON app.guard_of_writes AS RESTRICTIVE WITH CHECK (tenant_id = ${TENANT});
${table('turning', `tenant_id = ${TENANT} AND app.turn(guest)`)}
${table('sound_and', `guest <> 'x' AND tenant_id = NULLIF(${TENANT}, '')`)}
${table('sound_or', `(tenant_id = ${TENANT} AND id = 1) OR (tenant_id = (SELECT ${TENANT}) AND id = 2)`)}
${table('sound_else', `COALESCE(${TENANT}, '') = tenant_id`)}
CREATE TABLE app.by_uuid (id int, tenant_id uuid);
${policed('by_uuid', `tenant_id = NULLIF(${TENANT}, '')::uuid`)}
CREATE TABLE app.lines (id int, booking_id int);
${policed('lines', 'booking_id IN (SELECT id FROM app.bookings)')}`;

const TABLES = `
${guarded('triggered')}
CREATE FUNCTION app.on_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER on_change BEFORE INSERT ON app.triggered FOR EACH ROW EXECUTE FUNCTION app.on_change();
${guarded('conditional')}
CREATE TRIGGER maybe BEFORE UPDATE ON app.conditional FOR EACH ROW WHEN (app.turn(NEW.guest))
  EXECUTE FUNCTION suppress_redundant_updates_trigger();
${guarded('ruled')}
CREATE RULE also AS ON INSERT TO app.ruled DO ALSO UPDATE app.bookings SET guest = 'ruled';
${guarded('defaulted', ", x text DEFAULT app.turn_into('umbrella')")}
${guarded('checked', ', CHECK (app.turn(guest))')}
${guarded('typed', ', x app.turned')}
${guarded('generated', ', g text GENERATED ALWAYS AS (app.opaque(guest)) STORED')}
${guarded('indexed')}
CREATE INDEX ON app.indexed (app.opaque(guest));
${guarded('partly')}
CREATE INDEX ON app.partly (id) WHERE app.opaque(guest) <> '';
CREATE TABLE app.parted (id int, tenant_id text, guest text) PARTITION BY LIST (tenant_id);
${policed('parted', `tenant_id = ${TENANT}`)}
CREATE TABLE app.parted_acme PARTITION OF app.parted FOR VALUES IN ('acme');
CREATE TRIGGER on_change BEFORE INSERT ON app.parted_acme FOR EACH ROW EXECUTE FUNCTION app.on_change();
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE app.far (id int, tenant_id text) SERVER elsewhere;
${guarded('plain', ', at timestamptz DEFAULT now(), n serial, k app.short')}
CREATE UNIQUE INDEX ON app.plain (id);
INSERT INTO app.plain (id, tenant_id, guest) VALUES (1, 'acme', 'a'), (2, 'umbrella', 'b');`;

const VIEWS = `
CREATE VIEW app.turning_view WITH (security_invoker = true) AS
  SELECT set_config('app.tenant_id', 'umbrella', true) AS t, id FROM app.bookings;
CREATE VIEW app.sessions WITH (security_invoker = true) AS SELECT query FROM pg_stat_activity;
CREATE VIEW app.unguarded_view WITH (security_invoker = true) AS SELECT id FROM app.or_true;`;

export const TRAPS = `${FUNCTIONS}${TYPES}${POLICIES}${TABLES}${VIEWS}
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA app TO reader;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA app TO reader;
GRANT EXECUTE ON FUNCTION pg_read_file(text), pg_ls_dir(text), lo_import(text) TO reader;`;
