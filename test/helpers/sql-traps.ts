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

/** Columns and policies whose `=` calls values equal that differ; rows of a tenant and of its like. */
const alike = (name: string, type: string, using: string) => `
CREATE TABLE app.${name} (id int, tenant_id ${type}, guest text);
${policed(name, using)}`;

const LOOSE = `
CREATE COLLATION app.ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE DOMAIN app.ci_name AS text COLLATE app.ci;
CREATE TYPE app.tenants AS ENUM ('acme', 'umbrella', 'ACME');
${alike('ci_column', 'text COLLATE app.ci', `tenant_id = ${TENANT}`)}
${alike('ci_either', 'text COLLATE app.ci', `id = 0 OR tenant_id = ${TENANT}`)}
${alike('ci_policy', 'text', `tenant_id = ${TENANT} COLLATE app.ci`)}
${alike('ci_domain', 'app.ci_name', `tenant_id = ${TENANT}`)}
${alike('padded', 'char(8)', `tenant_id = ${TENANT}::char(8)`)}
${alike('padded_policy', 'text', `tenant_id::bpchar = ${TENANT}::bpchar`)}
${alike('numbered', 'numeric', `tenant_id = ${TENANT}::numeric`)}
${alike('floating', 'float8', `tenant_id = ${TENANT}::float8`)}
${alike('text_as_number', 'text', `tenant_id::int = ${TENANT}::int`)}
${alike('text_as_uuid', 'text', `tenant_id::uuid = ${TENANT}::uuid`)}
${alike('folded', 'text', `lower(tenant_id) = lower(${TENANT})`)}
${alike('dated', 'date', `tenant_id = NULLIF(${TENANT}, '')::date`)}
${alike('addressed', 'inet', `tenant_id = NULLIF(${TENANT}, '')::inet`)}
${alike('by_json', 'jsonb', `tenant_id = to_jsonb(${TENANT})`)}
${alike('exact_again', 'text COLLATE app.ci', `tenant_id COLLATE "C" = ${TENANT}`)}
${alike('by_name', 'name', `tenant_id = ${TENANT}`)}
${alike('by_enum', 'app.tenants', `tenant_id = NULLIF(${TENANT}, '')::app.tenants`)}
${alike('by_number', 'bigint', `tenant_id = ${TENANT}::int`)}
${alike('uuid_as_text', 'uuid', `tenant_id::text = ${TENANT}`)}
${alike('throws', 'text', "tenant_id = current_setting('app.tenant_id')")}
INSERT INTO app.exact_again VALUES (1, 'acme', 'a'), (2, 'ACME', 'b');
INSERT INTO app.by_enum VALUES (1, 'acme', 'a'), (2, 'ACME', 'b');
INSERT INTO app.by_number VALUES (1, 7, 'a'), (2, 8, 'b');`;

const PARENT = 'id int, tenant_id text, guest text, PRIMARY KEY (id), UNIQUE (tenant_id, id)';
const child = (name: string, key: string, policy = `tenant_id = ${TENANT}`) => `
CREATE TABLE app.${name} (n int DEFAULT 1, tenant_id text DEFAULT 'umbrella', parent int, ${key});
${policed(name, policy)}`;
const parent = (name: string) => `
CREATE TABLE app.${name} (${PARENT});
${policed(name, `tenant_id = ${TENANT}`)}
INSERT INTO app.${name} VALUES (1, 'acme', 'a'), (2, 'umbrella', 'b');`;

const KEYS = `
${parent('cascaded')}
${child('by_id', 'FOREIGN KEY (parent) REFERENCES app.cascaded ON DELETE CASCADE')}
${parent('renumbered')}
${child('by_update', 'FOREIGN KEY (parent) REFERENCES app.renumbered ON UPDATE CASCADE')}
${parent('nulled')}
${child('to_null', 'FOREIGN KEY (parent) REFERENCES app.nulled ON DELETE SET NULL')}
${parent('reset')}
${child('to_default', 'FOREIGN KEY (tenant_id, parent) REFERENCES app.reset (tenant_id, id) ON DELETE SET DEFAULT')}
${parent('first_of_three')}
${child('second', 'FOREIGN KEY (tenant_id, parent) REFERENCES app.first_of_three (tenant_id, id) ON DELETE CASCADE, UNIQUE (parent)')}
${child('third', 'FOREIGN KEY (parent) REFERENCES app.second (parent) ON DELETE CASCADE')}
${parent('with_trigger')}
${child('triggered_child', 'FOREIGN KEY (tenant_id, parent) REFERENCES app.with_trigger (tenant_id, id) ON DELETE CASCADE')}
CREATE TRIGGER on_change BEFORE DELETE ON app.triggered_child FOR EACH ROW EXECUTE FUNCTION app.on_change();
${parent('with_rule')}
${child('ruled_child', 'FOREIGN KEY (tenant_id, parent) REFERENCES app.with_rule (tenant_id, id) ON DELETE CASCADE')}
CREATE RULE also AS ON DELETE TO app.ruled_child DO ALSO UPDATE app.bookings SET guest = 'ruled';
${parent('with_default')}
CREATE TABLE app.defaulted_child (tenant_id text, parent int, n text DEFAULT app.turn_into('umbrella'),
  FOREIGN KEY (tenant_id, parent) REFERENCES app.with_default (tenant_id, id) ON DELETE CASCADE);
${policed('defaulted_child', `tenant_id = ${TENANT}`)}
CREATE TABLE app.old_parent (${PARENT});
${policed('old_parent', `tenant_id = ${TENANT}`)}
CREATE TABLE app.heir (PRIMARY KEY (id)) INHERITS (app.old_parent);
${child('of_heir', 'FOREIGN KEY (parent) REFERENCES app.heir ON DELETE CASCADE')}
CREATE TABLE app.sharded (id int, tenant_id text, guest text, PRIMARY KEY (tenant_id, id)) PARTITION BY LIST (tenant_id);
${policed('sharded', `tenant_id = ${TENANT}`)}
CREATE TABLE app.sharded_acme PARTITION OF app.sharded FOR VALUES IN ('acme');
CREATE TABLE app.shard_lines (n int, tenant_id text, parent int,
  FOREIGN KEY (tenant_id, parent) REFERENCES app.sharded ON DELETE CASCADE) PARTITION BY LIST (tenant_id);
${policed('shard_lines', `tenant_id = ${TENANT}`)}
CREATE TABLE app.shard_lines_acme PARTITION OF app.shard_lines FOR VALUES IN ('acme');
CREATE TABLE app.ci_parent (id int, tenant_id text COLLATE app.ci, guest text, UNIQUE (tenant_id, id));
${policed('ci_parent', `tenant_id COLLATE "C" = ${TENANT}`)}
CREATE TABLE app.ci_child (n int, tenant_id text COLLATE app.ci, parent int,
  FOREIGN KEY (tenant_id, parent) REFERENCES app.ci_parent (tenant_id, id) ON DELETE CASCADE);
${policed('ci_child', `tenant_id COLLATE "C" = ${TENANT}`)}
${parent('without_rows')}
CREATE TABLE app.unpoliced_child (tenant_id text, parent int,
  FOREIGN KEY (tenant_id, parent) REFERENCES app.without_rows (tenant_id, id) ON DELETE CASCADE);
${parent('sound_parent')}
${child('sound_child', 'FOREIGN KEY (tenant_id, parent) REFERENCES app.sound_parent (tenant_id, id) ON DELETE CASCADE, UNIQUE (tenant_id, n)')}
${child('sound_grandchild', 'FOREIGN KEY (tenant_id, parent) REFERENCES app.sound_child (tenant_id, n) ON DELETE CASCADE')}
INSERT INTO app.sound_child VALUES (5, 'acme', 1), (5, 'umbrella', 2);
INSERT INTO app.sound_grandchild VALUES (9, 'acme', 5), (9, 'umbrella', 5);
${parent('restricted')}
${child('by_restrict', 'FOREIGN KEY (parent) REFERENCES app.restricted')}
CREATE VIEW app.cascading_view WITH (security_invoker = true) AS SELECT id, guest FROM app.cascaded;
CREATE FUNCTION app.drop_one(int) RETURNS int LANGUAGE sql BEGIN ATOMIC DELETE FROM app.cascaded WHERE id = $1 RETURNING id; END;`;

const READ_TYPES = `
CREATE DOMAIN app.some_class AS regclass;
CREATE TYPE app.with_class AS (a int, c regclass);
CREATE TYPE app.class_span AS RANGE (SUBTYPE = oid);
CREATE DOMAIN app.nested AS app.with_class;
CREATE FUNCTION app.own_input(text) RETURNS regproc LANGUAGE sql BEGIN ATOMIC SELECT $1::regproc; END;`;

const KEPT = `
CREATE FUNCTION app.me() RETURNS text IMMUTABLE LANGUAGE sql BEGIN ATOMIC SELECT ${TENANT}; END;
CREATE FUNCTION app.my_count() RETURNS bigint IMMUTABLE LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM app.bookings; END;
CREATE FUNCTION app.me_unseen() RETURNS text IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN current_setting(''app.tenant_id'', true); END';
CREATE FUNCTION app.me_stable() RETURNS text STABLE LANGUAGE plpgsql AS 'BEGIN RETURN current_setting(''app.tenant_id'', true); END';
CREATE FUNCTION app.plus(int) RETURNS int IMMUTABLE LANGUAGE sql BEGIN ATOMIC SELECT $1 + 1; END;
${table('by_unseen', 'tenant_id = app.me_unseen()')}
${table('by_stable', 'tenant_id = app.me_stable()')}`;

const ROLES = `
CREATE ROLE wardens;
CREATE ROLE loner LOGIN NOINHERIT IN ROLE wardens;
${table('guarded_for_some', 'true')}
CREATE POLICY guard ON app.guarded_for_some AS RESTRICTIVE TO wardens USING (tenant_id = ${TENANT});`;

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

export const TRAPS = `${FUNCTIONS}${TYPES}${POLICIES}${TABLES}${VIEWS}${LOOSE}${KEYS}${READ_TYPES}${KEPT}${ROLES}
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA app TO reader, loner;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA app TO reader;
GRANT EXECUTE ON FUNCTION pg_read_file(text), pg_ls_dir(text), lo_import(text) TO reader;`;
