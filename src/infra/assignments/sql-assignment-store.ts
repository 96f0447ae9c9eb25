// SqlAssignmentStore: AssignmentStore on PostgreSQL. Changes go one after the other: each takes the next generation as its revision.
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type {
  Assignment,
  AssignmentBounds,
  AssignmentDraft,
  AssignmentKey,
  AssignmentRecord,
  AssignmentsInForce,
  AssignmentsQuery,
  AssignmentStore,
  NotChanged,
} from '../../ports/assignments/assignment-store.ts';
import { columns } from '../postgres/columns.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import { storable } from '../postgres/storable.ts';
import type { Tables } from '../postgres/tables.ts';

const IN_FORCE = ['tenantId', 'tool', 'kind', 'subject', 'contentHash'] as const;
const ASSIGNMENT = columns<Assignment>(IN_FORCE);
// oxfmt-ignore
const RECORD = columns<AssignmentRecord>([...IN_FORCE, 'version', 'reason', 'revision', 'assignedAt', 'assignedBy']);

/** Undoes the transaction, and what was taken of the generation with it. */
class Undo extends Error {
  readonly why: NotChanged;

  constructor(why: NotChanged) {
    super(why);
    this.why = why;
  }
}

export class SqlAssignmentStore implements AssignmentStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async generation(): Promise<number> {
    const [row] = await this.#rows<{ generation: number }>(
      sql`SELECT generation FROM tool_assignments_generation`,
    );
    return row?.generation ?? 0;
  }

  /** The generation first: what changes meanwhile is read again. */
  async inForce(): Promise<AssignmentsInForce> {
    const generation = await this.generation();
    const assignments = await this.#rows<Assignment>(sql`SELECT ${ASSIGNMENT} FROM tool_assignments`);
    return { generation, assignments };
  }

  list({ tenantId, limit, before, tool, agents }: AssignmentsQuery): Promise<readonly AssignmentRecord[]> {
    const older = before === undefined ? sql`true` : sql`revision < ${before}::bigint`;
    const ofTool = tool === undefined ? sql`true` : sql`tool = ${storable(tool)}`;
    const ofAgents =
      agents === undefined
        ? sql`true`
        : sql`kind = 'agent' AND subject = ANY(${agents.map(storable)}::text[])`;
    return this.#rows(sql`SELECT ${RECORD} FROM tool_assignments WHERE tenant_id = ${storable(tenantId)}
      AND ${older} AND ${ofTool} AND ${ofAgents} ORDER BY revision DESC LIMIT ${limit}`);
  }

  async get(key: AssignmentKey): Promise<AssignmentRecord | undefined> {
    const [found] = await this.#rows<AssignmentRecord>(
      sql`SELECT ${RECORD} FROM tool_assignments WHERE ${isOf(key)}`,
    );
    return found;
  }

  put(
    draft: AssignmentDraft,
    bounds: AssignmentBounds,
    ifRevision: number | undefined,
  ): Promise<AssignmentRecord | NotChanged> {
    return this.#change(async (trx, revision) => {
      const before = await revisionOf(trx, draft);
      if (ifRevision !== undefined && (before ?? 0) !== ifRevision) throw new Undo('conflict');
      if (before === undefined) await mustHaveRoom(trx, draft.tenantId, bounds);
      return one<AssignmentRecord>(trx, upsert(draft, revision));
    });
  }

  delete(key: AssignmentKey, ifRevision: number | undefined): Promise<AssignmentRecord | NotChanged> {
    return this.#change(async (trx) => {
      const before = await revisionOf(trx, key);
      if (before === undefined) throw new Undo('missing');
      if (ifRevision !== undefined && before !== ifRevision) throw new Undo('conflict');
      return one<AssignmentRecord>(
        trx,
        sql`DELETE FROM tool_assignments WHERE ${isOf(key)} RETURNING ${RECORD}`,
      );
    });
  }

  #rows<Row>(query: RawBuilder<unknown>): Promise<readonly Row[]> {
    return withDatabase(() => rowsOf<Row>(this.#db, query));
  }

  #change<Done>(work: (trx: Transaction<Tables>, revision: number) => Promise<Done>) {
    return withDatabase(async (): Promise<Done | NotChanged> => {
      try {
        return await this.#db.transaction().execute(async (trx) => {
          const next = sql`INSERT INTO tool_assignments_generation AS g (id, generation) VALUES (1, 1)
            ON CONFLICT (id) DO UPDATE SET generation = g.generation + 1 RETURNING generation`;
          return work(trx, (await one<{ generation: number }>(trx, next)).generation);
        });
      } catch (error) {
        if (error instanceof Undo) return error.why;
        throw error;
      }
    });
  }
}

function upsert(draft: AssignmentDraft, revision: number): RawBuilder<unknown> {
  const { tenantId, tool, kind, subject, contentHash, version, reason, assignedBy } = draft;
  return sql`INSERT INTO tool_assignments
      (tenant_id, tool, kind, subject, content_hash, version, reason, revision, assigned_by)
    VALUES (${storable(tenantId)}, ${storable(tool)}, ${kind}, ${storable(subject)}, ${contentHash},
      ${storable(version)}, ${storable(reason)}, ${revision}, ${storable(assignedBy)})
    ON CONFLICT (tenant_id, tool, kind, subject) DO UPDATE SET content_hash = EXCLUDED.content_hash,
      version = EXCLUDED.version, reason = EXCLUDED.reason, revision = EXCLUDED.revision,
      assigned_at = now(), assigned_by = EXCLUDED.assigned_by
    RETURNING ${RECORD}`;
}

async function revisionOf(trx: Transaction<Tables>, key: AssignmentKey): Promise<number | undefined> {
  const query = sql`SELECT revision FROM tool_assignments WHERE ${isOf(key)}`;
  return (await rowsOf<{ revision: number }>(trx, query))[0]?.revision;
}

async function mustHaveRoom(
  trx: Transaction<Tables>,
  tenantId: string,
  { perTenant, inAll }: AssignmentBounds,
): Promise<void> {
  const { all, own } = await one<{ all: number; own: number }>(
    trx,
    sql`SELECT count(*) AS all, count(*) FILTER (WHERE tenant_id = ${storable(tenantId)}) AS own
      FROM tool_assignments`,
  );
  if (all >= inAll || own >= perTenant) throw new Undo('full');
}

async function rowsOf<Row>(db: Kysely<Tables>, query: RawBuilder<unknown>): Promise<readonly Row[]> {
  return (await (query as RawBuilder<Row>).execute(db)).rows;
}

async function one<Row>(db: Kysely<Tables>, query: RawBuilder<unknown>): Promise<Row> {
  const [row] = await rowsOf<Row>(db, query);
  if (row === undefined) throw new Error('the statement gave no row');
  return row;
}

function isOf({ tenantId, tool, kind, subject }: AssignmentKey): RawBuilder<unknown> {
  return sql`tenant_id = ${storable(tenantId)} AND tool = ${storable(tool)} AND kind = ${kind}
    AND subject = ${storable(subject)}`;
}
