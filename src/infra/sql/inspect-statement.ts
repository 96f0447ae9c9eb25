// Looks at a statement without running it: what it takes and gives, whether it writes, and all that it reaches.
import { DatabaseError, type ClientBase } from 'pg';
import type { SqlInspection, SqlIsolation, SqlStatement } from '../../ports/sql-databases.ts';
import { ISOLATION_QUERY } from './isolation-query.ts';
import { Session, PrepareExchange } from './session.ts';
import { connectFailure } from './sql-failures.ts';

export interface InspectOptions {
  readonly depth: 'shape' | 'isolation';
  /** What the statement will run as, if not as the login. */
  readonly role: string | undefined;
}

const NAME = 'ute_inspected';

/** Leaves the connection with things prepared: it must not be used for calls. */
export async function inspectStatement(
  client: ClientBase,
  statement: SqlStatement,
  options: InspectOptions,
): Promise<SqlInspection> {
  try {
    return await inspect(client, statement, options);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw connectFailure(error as Error, false);
    throw new Error(sentenceOf(error), { cause: error });
  }
}

async function inspect(
  client: ClientBase,
  { text }: SqlStatement,
  { depth, role }: InspectOptions,
): Promise<SqlInspection> {
  const session = new Session();
  const preparing = new PrepareExchange(session, [{ name: NAME, text }], NAME);
  client.query(preparing);
  await preparing.done;
  await client.query('BEGIN');
  if (role !== undefined) await client.query("SELECT set_config('role', $1, true)", [role]);
  const parameterTypes = await parameterTypesOf(client);
  const plan = await planOf(client, parameterTypes.length);
  const columns = session.columnsOf(NAME).map(({ name }) => name);
  const isolation = depth === 'isolation' ? await isolationOf(client, text, parameterTypes) : undefined;
  await client.query('ROLLBACK');
  return {
    parameterTypes,
    ...(preparing.givesRows ? { columns } : {}),
    writes: hasNode(plan, WRITING_NODES),
    ...(isolation === undefined ? {} : { isolation }),
  };
}

async function parameterTypesOf(client: ClientBase): Promise<readonly string[]> {
  const { rows } = await client.query<{ types: readonly string[] }>(
    'SELECT parameter_types::text[] AS types FROM pg_prepared_statements WHERE name = $1',
    [NAME],
  );
  return rows[0]?.types ?? [];
}

/** The generic plan: with NULLs put in, the planner would find that nothing has to be read. */
async function planOf(client: ClientBase, parameters: number): Promise<unknown> {
  await client.query("SELECT set_config('plan_cache_mode', 'force_generic_plan', true)");
  const nulls = Array.from({ length: parameters }, () => 'NULL').join(', ');
  const { rows } = await client.query<{ 'QUERY PLAN': unknown }>(
    `EXPLAIN (FORMAT JSON) EXECUTE ${NAME}${parameters === 0 ? '' : `(${nulls})`}`,
  );
  return rows[0]?.['QUERY PLAN'];
}

const WRITING_NODES: ReadonlySet<unknown> = new Set(['ModifyTable', 'LockRows']);

function hasNode(plan: unknown, types: ReadonlySet<unknown>): boolean {
  if (Array.isArray(plan)) return plan.some((item) => hasNode(item, types));
  if (typeof plan !== 'object' || plan === null) return false;
  if ('Node Type' in plan && types.has(plan['Node Type'])) return true;
  return Object.values(plan).some((item) => hasNode(item, types));
}

/**
 * The server itself says what a statement depends on: as the parsed body of a function that exists only until
 * the ROLLBACK. Constants folded and joins removed by a planner would hide some of it.
 */
async function isolationOf(
  client: ClientBase,
  text: string,
  parameterTypes: readonly string[],
): Promise<SqlIsolation> {
  await client.query(
    `CREATE FUNCTION pg_temp.${NAME}(${parameterTypes.join(', ')}) RETURNS void LANGUAGE sql BEGIN ATOMIC\n${text}\n; END`,
  );
  const { rows } = await client.query<{ isolation: SqlIsolation }>(ISOLATION_QUERY, [NAME]);
  const isolation = rows[0]?.isolation;
  if (isolation === undefined) throw new Error('The server did not say what the statement reaches.');
  return isolation;
}

function sentenceOf({ message, code, hint }: DatabaseError): string {
  const advice = hint === undefined ? '' : ` ${hint}`;
  return `The database refuses the statement: ${message} (SQLSTATE ${code}).${advice}`;
}
