// Looks at a statement without running it: what it takes and gives, whether it writes, and all that it calls and reaches.
import { DatabaseError, type ClientBase } from 'pg';
import {
  TENANT_SETTING,
  type SqlInspection,
  type SqlStatement,
} from '../../../ports/egress/sql-databases.ts';
import { ROLE_QUERY } from './catalog-query.ts';
import { calledBy, follow } from './follow-statement.ts';
import { Session, PrepareExchange } from '../session.ts';
import { connectFailure } from '../sql-failures.ts';
import { Unfit } from './unfit.ts';

export interface InspectOptions {
  readonly depth: 'shape' | 'isolation';
}

export interface Inspected extends SqlInspection {
  /** Whoever prepares the statement says these: a server left to find them could take another function than it did here. */
  readonly parameterOids: readonly number[];
}

const NAME = 'ute_inspected';
/** From the first that keeps a function's body as it was parsed, to the last whose parsed statements are known here. */
const OLDEST_RELEASE = 14;
export const NEWEST_RELEASE = 18;

/** Leaves the connection with things prepared: it must not be used for calls. */
export async function inspectStatement(
  client: ClientBase,
  statement: SqlStatement,
  options: InspectOptions,
): Promise<Inspected> {
  try {
    return await inspect(client, statement, options);
  } catch (error) {
    if (error instanceof DatabaseError) throw new Error(sentenceOf(error), { cause: error });
    if (error instanceof Unfit) throw error;
    throw connectFailure(error as Error, false);
  }
}

async function inspect(
  client: ClientBase,
  { text, writes: mayWrite }: SqlStatement,
  { depth }: InspectOptions,
): Promise<Inspected> {
  const session = new Session();
  await refuseRelease(client);
  const preparing = new PrepareExchange(session, [{ name: NAME, text }], NAME);
  client.query(preparing);
  await preparing.done;
  await client.query('BEGIN');
  const parameters = await parametersOf(client);
  const plan = await plannedForSomeTenant(client, parameters.length);
  const columns = session.columnsOf(NAME).map(({ name }) => name);
  const parameterTypes = parameters.map(({ type }) => type);
  const tree = await treeOf(client, text, parameterTypes);
  const { functions, isolation } = await reachOf(client, tree, depth, mayWrite);
  await client.query('ROLLBACK');
  return {
    parameterTypes,
    parameterOids: parameters.map(({ oid }) => oid),
    ...(preparing.givesRows ? { columns } : {}),
    writes: hasNode(plan, WRITING_NODES),
    functions,
    ...(isolation === undefined ? {} : { isolation }),
  };
}

async function refuseRelease(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ release: number }>(
    "SELECT current_setting('server_version_num')::int / 10000 AS release",
  );
  const release = rows[0]?.release ?? 0;
  if (release >= OLDEST_RELEASE && release <= NEWEST_RELEASE) return;
  throw new Unfit(
    `The server is PostgreSQL ${release}, and this gateway can check statements of PostgreSQL ${OLDEST_RELEASE} to ${NEWEST_RELEASE} alone: ` +
      (release < OLDEST_RELEASE ? 'a newer server is needed.' : 'a newer gateway is needed.'),
  );
}

interface Parameter {
  readonly type: string;
  readonly oid: number;
}

async function parametersOf(client: ClientBase): Promise<readonly Parameter[]> {
  const { rows } = await client.query<{ type: string; oid: string }>(
    `SELECT type::text, type::oid::text AS oid
     FROM pg_prepared_statements, unnest(parameter_types) WITH ORDINALITY AS parameter(type, place)
     WHERE name = $1 ORDER BY place`,
    [NAME],
  );
  return rows.map(({ type, oid }) => ({ type, oid: Number(oid) }));
}

/** None, and what can be read as a number or as a uuid: a policy may read the tenant as such. */
const SOME_TENANTS = ['', '0', '00000000-0000-0000-0000-000000000000'];
/** A value that cannot be read as the type it must have. */
const UNREADABLE: ReadonlySet<string> = new Set(['22P02', '22003', '22007', '22008', '22023']);

/** The planner evaluates policies to estimate how many rows they let through, and a call always has its tenant set. */
async function plannedForSomeTenant(client: ClientBase, parameters: number): Promise<unknown> {
  const sentences: string[] = [];
  for (const tenant of SOME_TENANTS) {
    await client.query('SAVEPOINT planning');
    try {
      await client.query('SELECT set_config($1, $2, true)', [TENANT_SETTING, tenant]);
      return await planOf(client, parameters);
    } catch (error) {
      if (!(error instanceof DatabaseError) || !UNREADABLE.has(error.code ?? '')) throw error;
      sentences.push(sentenceOf(error));
      await client.query('ROLLBACK TO SAVEPOINT planning');
    }
  }
  throw new Unfit(
    `${sentences[0] ?? ''} If a policy reads ${TENANT_SETTING} as another type than text, ` +
      `let it read NULLIF(current_setting('${TENANT_SETTING}', true), '').`,
  );
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
 * What the server itself makes of the statement: as the parsed body of a function that exists only until the ROLLBACK.
 * Constants folded and joins removed by a planner would hide some of it.
 */
async function treeOf(client: ClientBase, text: string, parameterTypes: readonly string[]): Promise<string> {
  await client.query(
    `CREATE FUNCTION pg_temp.${NAME}(${parameterTypes.join(', ')}) RETURNS void LANGUAGE sql BEGIN ATOMIC\n${text}\n; END`,
  );
  const { rows } = await client.query<{ tree: string }>(
    'SELECT prosqlbody::text AS tree FROM pg_proc WHERE proname = $1 AND pronamespace = pg_my_temp_schema()',
    [NAME],
  );
  const tree = rows[0]?.tree;
  if (tree === undefined) throw new Unfit('The server did not say what it made of the statement.');
  return tree;
}

async function reachOf(client: ClientBase, tree: string, depth: InspectOptions['depth'], writes: boolean) {
  if (depth === 'shape') return { functions: await calledBy(client, tree) };
  const { rows } = await client.query<{ name: string; superuser: boolean; bypassesRls: boolean }>(ROLE_QUERY);
  const [role] = rows;
  if (role === undefined) throw new Unfit('The server did not say which role it is.');
  const { functions, ...isolation } = await follow(client, tree, writes);
  return { functions, isolation: { role, ...isolation } };
}

function sentenceOf({ message, code, hint }: DatabaseError): string {
  const advice = hint === undefined ? '' : ` ${hint}`;
  return `The database refuses the statement: ${message} (SQLSTATE ${code}).${advice}`;
}
