// The sql executor on a database of two tenants, acme and umbrella, with everything in it that could mix them up.
import type { JsonObject } from '../../src/contract/json.ts';
import type { PreparedFunction } from '../../src/contract/plugin.ts';
import type { ToolMetadata } from '../../src/contract/tool/tool-spec.ts';
import { sqlExecutor, type SqlOptions } from '../../src/executors/sql/index.ts';
import type { EmbeddedPostgres } from '../../src/infra/embedded-postgres/embedded-postgres.ts';
import { NO_EMBEDDER } from '../../src/infra/embeddings/http-embedder.ts';
import { PgSqlDatabases } from '../../src/infra/sql/pg-sql-databases.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { callOf, functionOf, principalOf, recordingLog } from './call-kit.ts';

export const TWO_TENANTS = `
CREATE ROLE keeper;
CREATE ROLE reader LOGIN;
CREATE ROLE owner_login LOGIN IN ROLE keeper;
CREATE ROLE bypasser LOGIN BYPASSRLS;
CREATE SCHEMA app;
CREATE TABLE app.bookings (id int PRIMARY KEY, tenant_id text NOT NULL, guest text NOT NULL, note jsonb);
INSERT INTO app.bookings SELECT n, CASE WHEN n <= 10 THEN 'acme' ELSE 'umbrella' END, 'guest-' || n,
  jsonb_build_object('pin', 7000 + n) FROM generate_series(1, 20) n;
CREATE TABLE app.unforced (LIKE app.bookings);
CREATE TABLE app.unguarded (LIKE app.bookings);
CREATE TABLE app.wide_open (LIKE app.bookings);
CREATE TABLE app.currencies (code text PRIMARY KEY);
INSERT INTO app.currencies VALUES ('EUR'), ('USD');
ALTER TABLE app.bookings ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.bookings FORCE ROW LEVEL SECURITY;
ALTER TABLE app.wide_open ENABLE ROW LEVEL SECURITY;
ALTER TABLE app.wide_open FORCE ROW LEVEL SECURITY;
ALTER TABLE app.unforced ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_rows ON app.bookings USING (tenant_id = NULLIF(current_setting('app.tenant_id', true), ''));
CREATE POLICY own_rows ON app.unforced USING (tenant_id = NULLIF(current_setting('app.tenant_id', true), ''));
CREATE POLICY everything ON app.wide_open USING (true);
CREATE VIEW app.leaky AS SELECT * FROM app.bookings;
CREATE VIEW app.sound WITH (security_invoker = true) AS SELECT * FROM app.bookings;
CREATE VIEW app.sound_over_leaky WITH (security_invoker = true) AS SELECT * FROM app.leaky;
CREATE MATERIALIZED VIEW app.snapshot AS SELECT * FROM app.bookings;
CREATE FUNCTION app.all_guests() RETURNS SETOF text LANGUAGE sql SECURITY DEFINER
  AS 'SELECT guest FROM app.bookings';
CREATE FUNCTION app.hidden(text) RETURNS bigint LANGUAGE plpgsql
  AS 'BEGIN RETURN (SELECT count(*) FROM app.bookings); END';
CREATE FUNCTION app.turn_into(text) RETURNS text LANGUAGE plpgsql
  AS 'BEGIN RETURN set_config(''app.tenant_id'', $1, false); END';
CREATE FUNCTION app.write(int) RETURNS int LANGUAGE plpgsql
  AS 'BEGIN UPDATE app.bookings SET guest = ''overwritten'' WHERE id = $1; RETURN $1; END';
CREATE FUNCTION app.complain(text) RETURNS int LANGUAGE plpgsql
  AS 'BEGIN RAISE EXCEPTION ''the pin of % is 7001'', $1; END';
GRANT USAGE ON SCHEMA app TO PUBLIC;
GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA app TO reader, bypasser;
ALTER TABLE app.bookings OWNER TO keeper;
ALTER TABLE app.leaky OWNER TO CURRENT_USER;
`;

export interface SqlKit {
  readonly log: ReturnType<typeof recordingLog>;
  /** Loads a tool; parameters without a type in `properties` are strings. */
  load(options: Partial<SqlOptions> & { statement: string }, tool?: ToolChanges): Promise<LoadedTool>;
  close(): Promise<void>;
}

export interface ToolChanges {
  readonly url?: string;
  readonly connection?: JsonObject;
  readonly parameters?: readonly string[];
  readonly metadata?: Partial<ToolMetadata>;
}

export interface CallChanges {
  /** Null: a credential without a tenant. */
  readonly tenant?: string | null;
  /** What the caller says of itself. */
  readonly says?: string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface SqlData {
  readonly rows: readonly JsonObject[];
  readonly row_count: number;
  readonly affected_rows?: number;
  readonly truncated?: { readonly more: boolean; readonly limit: string };
}

export interface LoadedTool {
  call(args?: JsonObject, changes?: CallChanges): Promise<SqlData>;
  readonly prepared: PreparedFunction;
}

const NO_SERVER = { pool: () => Promise.reject(new Error('there is no embedded server here')) };

/** On a server elsewhere, by its URL, or by the settings of a connection to `server`, the embedded one. */
export function sqlKit(
  database: string | JsonObject,
  server: Pick<EmbeddedPostgres, 'pool'> = NO_SERVER,
): SqlKit {
  const databases = new PgSqlDatabases(server);
  const log = recordingLog();
  const executor = sqlExecutor.create({
    sqlDatabases: databases,
    embedder: NO_EMBEDDER,
    clock: new SystemClock(),
    log,
  });
  return {
    log,
    async load({ statement, ...options }, { url, connection = {}, parameters, metadata } = {}) {
      const settings = settingsOf(database, url, connection);
      const names = parameters ?? [...statement.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      const fn = functionOf({
        inputSchema: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) },
        metadata: { readOnly: true, ...metadata },
      });
      await sqlExecutor.ready?.();
      const prepared = await executor.prepare({
        function: fn,
        options: sqlExecutor.optionsSchema.parse({ connection: 'main', statement, ...options }),
        connection: {
          name: 'main',
          type: settings['type'] === 'embedded' ? 'embedded' : 'postgres',
          settings,
        },
      });
      return { prepared, call: (args = {}, changes = {}) => callTool(prepared, args, changes) };
    },
    close: () => databases.close(),
  };
}

function settingsOf(database: string | JsonObject, url: string | undefined, own: JsonObject): JsonObject {
  if (typeof database !== 'string') return { ...database, ...own };
  return { type: 'postgres', url: url ?? database, ...own };
}

async function callTool(
  prepared: PreparedFunction,
  args: JsonObject,
  { tenant = 'acme', says, timeoutMs = 20_000, signal }: CallChanges,
): Promise<SqlData> {
  const call = callOf({
    arguments: args,
    context: { tenantId: says ?? tenant ?? undefined },
    principal: tenant === null ? undefined : principalOf({ tenantId: tenant }),
    deadline: Date.now() + timeoutMs,
    signal: signal ?? new AbortController().signal,
  });
  return (await prepared.execute(call, () => {})).data as unknown as SqlData;
}
