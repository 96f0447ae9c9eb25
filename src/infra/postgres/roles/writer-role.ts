// The two roles of the gateway's own database: the owner of its tables, and the writer, who adds audit records and changes none.
import { sql, type Kysely, type Transaction } from 'kysely';
import type { Tables } from '../tables.ts';

type Db = Kysely<Tables> | Transaction<Tables>;

/** Any number, the same on every replica: who holds this lock of the database gives rights. */
const LOCK = 7_274_304;

/** Of these tables the writer may do that alone; of any other whatever one does with rows. */
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  audit_trail: ['SELECT', 'INSERT'],
  audit_records: ['SELECT', 'INSERT'],
  audit_inbox: ['INSERT'],
  // Where each chain ends: moved by whoever adds to it.
  audit_chains: ['SELECT', 'INSERT', 'UPDATE'],
  audit_checkpoints: [],
  audit_sinks: [],
  ute_migrations: ['SELECT'],
  ute_migrations_lock: ['SELECT'],
};
const ROWS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'];
const CHAIN_END = 'UPDATE (seq, hash, recorded_at)';
/** What would change records that are there. */
const CHANGES = ['UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER'];

interface Table {
  readonly name: string;
  /** A day of the audit trail: reached through the trail alone. */
  readonly part: boolean;
  /** What the writer holds of ROWS. */
  readonly held: readonly string[];
  /** What it, or a role that it may become, holds of CHANGES, on the table or on a column. */
  readonly reached: readonly string[];
}

interface Said {
  readonly is_owner: boolean;
  readonly moves_start: boolean;
  readonly makes_parts: boolean;
  readonly creates: boolean;
  /** A schema that has the owner's name comes first in the owner's search_path. */
  readonly makes_schemas: boolean;
  /** A role that the writer may become, of those for which no right on a table counts. */
  readonly powerful: string | null;
}

const rightsOf = ({ name, part }: Table): readonly string[] => (part ? [] : (RIGHTS[name] ?? ROWS));

/** What keeps `writer` from its work, or lets it change records; empty where all is well. Whoever asks has to own the tables. */
export async function wrongRights(db: Db, writer: string): Promise<readonly string[]> {
  const wrong: string[] = [];
  const { rows } = await sql<Said>`
    SELECT pg_has_role(${writer}, current_user, 'MEMBER') AS is_owner,
      has_column_privilege(${writer}, 'audit_chains', 'dropped_seq', 'UPDATE') AS moves_start,
      has_function_privilege(${writer}, 'audit_partition(date)', 'EXECUTE') AS makes_parts,
      has_schema_privilege(${writer}, current_schema(), 'CREATE') AS creates,
      has_database_privilege(${writer}, current_database(), 'CREATE') AS makes_schemas,
      (SELECT min(r.rolname) FROM pg_roles r
        WHERE (r.rolsuper OR r.rolname IN ('pg_execute_server_program', 'pg_write_server_files')) AND r.rolname <> ${writer}
          AND pg_has_role(${writer}, r.oid, 'MEMBER')) AS powerful`.execute(db);
  const [said] = rows;
  if (said?.is_owner === true) wrong.push('it is a superuser, or a member of the role of database.owner_url');
  if (said?.moves_start === true) wrong.push('it may UPDATE all of audit_chains');
  if (said?.is_owner === false && said.powerful !== null)
    wrong.push(`it is a member of the role ${said.powerful}, which can do anything on the server`);
  if (said?.makes_parts === false) wrong.push('it may not EXECUTE audit_partition(date)');
  if (said?.creates === true) wrong.push('it may CREATE in the schema');
  if (said?.makes_schemas === true)
    wrong.push('it may CREATE in the database, where a schema of its own could stand before the tables');
  for (const table of await tablesFor(db, writer)) {
    const rights = rightsOf(table);
    const isClosed = table.part || table.name in RIGHTS;
    const missing = rights.filter((right) => !table.held.includes(right));
    const excess = CHANGES.filter(
      (right) => isClosed && table.reached.includes(right) && !rights.includes(right),
    );
    if (missing.length > 0) wrong.push(`it may not ${missing.join(', ')} on ${table.name}`);
    if (excess.length > 0) wrong.push(`it may ${excess.join(', ')} on ${table.name}`);
  }
  return wrong;
}

/** What roles hold that it may become by SET ROLE counts, too: has_table_privilege knows only of what is inherited. */
async function tablesFor(db: Db, writer: string): Promise<readonly Table[]> {
  const { rows } = await sql<Table>`
    WITH became AS MATERIALIZED (
      SELECT array_agg(r.oid) AS roles FROM pg_roles r WHERE pg_has_role(${writer}, r.oid, 'MEMBER'))
    SELECT c.relname AS name, c.relispartition AS part, ARRAY(
      SELECT right_of FROM unnest(${ROWS}::text[]) AS right_of
      WHERE has_table_privilege(${writer}, c.oid, right_of)
        OR (right_of = 'UPDATE' AND has_any_column_privilege(${writer}, c.oid, right_of))) AS held, ARRAY(
      SELECT right_of FROM unnest(${CHANGES}::text[]) AS right_of
      WHERE EXISTS (SELECT FROM unnest(became.roles) AS one
        WHERE has_table_privilege(one, c.oid, right_of)
          OR (right_of = 'UPDATE' AND has_any_column_privilege(one, c.oid, right_of)))) AS reached
    FROM became, pg_class c JOIN pg_class own ON own.oid = to_regclass('ute_migrations')
    WHERE c.relkind IN ('r', 'p') AND c.relnamespace = own.relnamespace AND c.relowner = own.relowner
    ORDER BY c.relname`.execute(db);
  return rows;
}

/**
 * Gives the writer what it needs, and takes away all else. As the owner; nothing is written where all is well. Throws Error
 * with a sentence for the operator where the writer may change records all the same.
 */
export async function grantWriter(db: Kysely<Tables>, writer: string): Promise<void> {
  if ((await wrongRights(db, writer)).length === 0) return;
  const wrong = await db.transaction().execute(async (trx) => {
    await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(trx);
    const role = sql.id(writer);
    for (const table of await tablesFor(trx, writer)) {
      const rights = rightsOf(table).map((right) =>
        table.name === 'audit_chains' && right === 'UPDATE' ? CHAIN_END : right,
      );
      await sql`REVOKE ALL ON ${sql.table(table.name)} FROM PUBLIC, ${role}`.execute(trx);
      if (rights.length > 0)
        await sql`GRANT ${sql.raw(rights.join(', '))} ON ${sql.table(table.name)} TO ${role}`.execute(trx);
    }
    const { rows } = await sql<{ schema: string }>`SELECT current_schema() AS schema`.execute(trx);
    const schema = sql.id(rows[0]?.schema ?? 'public');
    // Both do nothing, with a warning, where the schema is somebody else's: what is left is told below.
    await sql`REVOKE CREATE ON SCHEMA ${schema} FROM ${role}`.execute(trx);
    await sql`GRANT USAGE ON SCHEMA ${schema} TO ${role}`.execute(trx);
    await sql`REVOKE ALL ON FUNCTION audit_partition(date) FROM PUBLIC`.execute(trx);
    await sql`GRANT EXECUTE ON FUNCTION audit_partition(date) TO ${role}`.execute(trx);
    return wrongRights(trx, writer);
  });
  if (wrong.length > 0) throw new Error(sentence(writer, wrong));
}

/** Throws Error with a sentence for the operator. */
export async function requireRights(db: Kysely<Tables>, writer: string): Promise<void> {
  const wrong = await wrongRights(db, writer);
  if (wrong.length > 0)
    throw new Error(`${sentence(writer, wrong)}. Run "ute migrate", which sets its rights`);
}

function sentence(writer: string, wrong: readonly string[]): string {
  const [first, second, third] = wrong;
  const told = [first, second, third].filter((each) => each !== undefined).join('; ');
  const more = wrong.length > 3 ? `; and ${wrong.length - 3} more` : '';
  return `the role "${writer}" of database.url must add audit records and change none, and ${told}${more} (docs/audit.md, "Append-only")`;
}

/** Throws Error with a sentence for the operator where the role of database.owner_url cannot be the owner of the tables. */
export async function requireOwner(db: Kysely<Tables>, writer: string): Promise<void> {
  const { rows } = await sql<{ me: string; creates: boolean; foreign: string | null; of: string | null }>`
    SELECT current_user AS me, coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS creates,
      other.name AS foreign, other.of
    FROM (SELECT) AS one LEFT JOIN LATERAL (
      SELECT c.relname AS name, pg_get_userbyid(c.relowner) AS of FROM pg_class c
      WHERE c.oid IN (to_regclass('ute_migrations'), to_regclass('audit_trail'), to_regclass('audit_chains'))
        AND NOT pg_has_role(c.relowner, 'USAGE') LIMIT 1) AS other ON true`.execute(db);
  const { me = '', creates, foreign = null, of = null } = rows[0] ?? {};
  if (me === writer)
    throw new Error(
      `database.owner_url and database.url log in as the same role, "${me}": they have to be two`,
    );
  if (foreign !== null)
    throw new Error(
      `the role "${me}" of database.owner_url does not own the table ${foreign}, which belongs to "${of}": name that role in database.owner_url, and a new one in database.url (docs/audit.md, "Append-only")`,
    );
  if (creates !== true)
    throw new Error(
      `the role "${me}" of database.owner_url may not create tables in the schema: GRANT USAGE, CREATE ON SCHEMA to it`,
    );
}
