// The sql executor: a tool is one registered statement. Arguments are parameters; the tenant is the credential's.
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type {
  Connection,
  Executor,
  ExecutorPlugin,
  ExecutorTarget,
  PreparedFunction,
} from '../../contract/plugin.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { Embedder } from '../../ports/egress/embedder.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/telemetry/log.ts';
import type {
  SqlDatabase,
  SqlDatabases,
  SqlResult,
  SqlRun,
  TenantForm,
} from '../../ports/egress/sql-databases.ts';
import { compileStatement, placeholdersOf, statementOptionsOf } from './compile-statement.ts';
import { EmbeddedArguments } from './embedded-arguments.ts';
import {
  embeddedConnectionSchema,
  postgresConnectionSchema,
  sqlOptionsSchema,
  type SqlOptions,
} from './options-schema.ts';
import { loadParser } from './postgres-parser.ts';
import { runAgain } from './run-again.ts';
import { SharedDatabases, tenancyOf } from './shared-databases.ts';
import { StatementCheck } from './statement-check.ts';

export type { SqlOptions } from './options-schema.ts';

interface Needs {
  readonly sqlDatabases: SqlDatabases;
  readonly embedder: Embedder;
  readonly clock: Clock;
  readonly log: Log;
}

const DEFAULT_MAX_ROWS = 100;
const DEFAULT_MAX_BYTES = 1024 * 1024;

export const sqlExecutor: ExecutorPlugin<SqlOptions, Needs> = {
  name: 'sql',
  summary:
    'Runs one registered SQL statement on PostgreSQL: arguments as parameters, rows of the own tenant alone, bounded answers.',
  optionsSchema: sqlOptionsSchema,
  connectionTypes: { postgres: postgresConnectionSchema, embedded: embeddedConnectionSchema },
  ready: loadParser,
  placeholders: placeholdersOf,
  create: (needs) => new SqlExecutor(needs),
};

class SqlExecutor implements Executor<SqlOptions> {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #embedder: Embedder;
  readonly #databases: SharedDatabases;

  constructor({ sqlDatabases, embedder, clock, log }: Needs) {
    this.#embedder = embedder;
    this.#clock = clock;
    this.#log = log;
    this.#databases = new SharedDatabases(sqlDatabases);
  }

  async prepare({
    function: fn,
    options,
    connection,
  }: ExecutorTarget<SqlOptions>): Promise<PreparedFunction> {
    if (connection === undefined) throw new Error(`There is no connection "${options.connection}".`);
    await loadParser();
    const own = statementOptionsOf(options, fn);
    const { statement, names } = compileStatement(own, fn);
    const tenant = own.tenant ?? tenancyOf(connection);
    const embedded = this.#argumentsWith(names);
    const lease = this.#databases.lease(connection);
    const { held: database } = lease;
    const check = new StatementCheck(database, statement, names, { ...own, tenant });
    try {
      await this.#checkAtLoad(check, fn.name, connection);
    } catch (error) {
      await lease.release();
      throw error;
    }
    const { max_rows: maxRows = DEFAULT_MAX_ROWS, max_bytes: maxBytes = DEFAULT_MAX_BYTES } = own;
    return {
      upstream: `sql:${connection.name}`,
      execute: async (call) => {
        // Before anything else: a call without a tenant learns nothing.
        const tenantId = tenant === 'bound' ? tenantOf(call) : undefined;
        const { encode, tenantForms } = check.passed ?? (await check.pass());
        if (tenantId !== undefined) refuseOtherForm(tenantId, tenantForms);
        const values = encode(await embedded(call));
        const asked = { statement, values, tenantId, ...callerOf(call), maxRows, maxBytes };
        const result = await this.#run(database, asked, call, own.conflict_retries);
        return { data: own.result === 'row' ? onlyRow(result) : rowsOf(result) };
      },
      render: async (call) => {
        const { encode } = check.passed ?? (await check.pass());
        return { statement: statement.text, parameters: [...encode(call.arguments)] };
      },
      yieldsPlainJson: true,
      close: () => lease.release(),
    };
  }

  #run(
    database: SqlDatabase,
    asked: Omit<SqlRun, 'timeoutMs' | 'signal' | 'onWaiting'>,
    { deadline, signal, progress }: ToolCall,
    retries = 0,
  ): Promise<SqlResult> {
    const leftMs = () => deadline - this.#clock.now();
    return runAgain(
      retries,
      () =>
        database.run({
          ...asked,
          timeoutMs: leftMs(),
          signal,
          onWaiting: (why) => void (progress.stalled = why),
        }),
      () => !signal.aborted && leftMs() > 0,
    );
  }

  /** The arguments, and the vectors that the statement asks for besides. */
  #argumentsWith(names: readonly string[]): (call: ToolCall) => JsonObject | Promise<JsonObject> {
    const needs = { clock: this.#clock, log: this.#log };
    const embedded = EmbeddedArguments.of(names, this.#embedder, needs);
    return embedded === undefined ? (call) => call.arguments : (call) => embedded.with(call);
  }

  /** A server that is down is no fault of the tool: it is checked at its first call instead. */
  async #checkAtLoad(check: StatementCheck, tool: string, { name }: Connection): Promise<void> {
    try {
      await check.run();
    } catch (error) {
      if (!(error instanceof ToolFailure && error.type === 'UNAVAILABLE')) throw error;
      this.#log.warn(
        { tool, connection: name, reason: error.reason, err: error.cause },
        'the database cannot be reached: the statement is checked at its first call',
      );
    }
  }
}

/** As auth bound it to the credential: what a caller says of itself counts for nothing here. */
function tenantOf({ principal }: ToolCall): string {
  if (principal !== undefined && principal.tenantId !== '') return principal.tenantId;
  throw otherTenants('This tool serves only callers that belong to a tenant.');
}

function callerOf({ context: { agentId, userId } }: ToolCall) {
  return { agentId, userId };
}

const FORMS: Readonly<Record<TenantForm, RegExp>> = {
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  integer: /^(?:0|-?[1-9][0-9]*)$/,
};

/** '01' and '1' are two tenants, and one number: only one of them may be what the number means. */
function refuseOtherForm(tenantId: string, forms: readonly TenantForm[]): void {
  const form = forms.find((each) => !FORMS[each].test(tenantId));
  if (form === undefined) return;
  const written = form === 'uuid' ? 'a uuid' : 'an integer';
  throw otherTenants(`This tool serves only tenants whose name is written as PostgreSQL writes ${written}.`);
}

function otherTenants(message: string): ToolFailure {
  return new ToolFailure('PERMISSION_DENIED', message, {
    reason: 'TENANT_REQUIRED',
    partialSideEffects: false,
  });
}

function rowsOf({ rows, cutBy, affectedRows }: SqlResult): JsonObject {
  return {
    rows,
    row_count: rows.length,
    ...(affectedRows === undefined ? {} : { affected_rows: affectedRows }),
    ...(cutBy === undefined ? {} : { truncated: { more: true, limit: cutBy } }),
  };
}

function onlyRow({ rows, cutBy }: SqlResult): JsonValue {
  const [row = null] = rows;
  if (rows.length <= 1 && cutBy === undefined) return row;
  throw toolFailure('MORE_THAN_ONE_ROW', 'The statement gave more than the one row it may give.');
}
