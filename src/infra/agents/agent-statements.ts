// Pieces of the statements about agents, and what ends a change of them that cannot be made.
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import type {
  AgentBounds,
  AgentRecord,
  AgentToolConfig,
  AgentToolDraft,
  AgentToolKey,
  AgentToolRecord,
  IfRevision,
  Unchanged,
} from '../../ports/agents/agent-store.ts';
import { columns } from '../postgres/columns.ts';
import { storable } from '../postgres/storable.ts';
import type { Tables } from '../postgres/tables.ts';

// oxfmt-ignore
export const AGENT = columns<AgentRecord>([
  'tenantId', 'name', 'description', 'revision', 'createdAt', 'createdBy', 'updatedAt', 'updatedBy',
]);
// oxfmt-ignore
const IN_FORCE = ['tenantId', 'agent', 'tool', 'isEnabled', 'config', 'sealed', 'schemaHash', 'revision'] as const;
export const CONFIG = columns<AgentToolConfig>(IN_FORCE);
export const TOOL = columns<AgentToolRecord>([...IN_FORCE, 'updatedAt', 'updatedBy']);

export type Which = Pick<AgentRecord, 'tenantId' | 'name'>;
export type Trx = Transaction<Tables>;

/** Undoes the transaction, and what was taken of the generation with it. */
export class Undo extends Error {
  readonly why: Unchanged;

  constructor(why: Unchanged) {
    super(why);
    this.why = why;
  }
}

export function upsert(draft: AgentToolDraft, revision: number): RawBuilder<unknown> {
  const { tenantId, agent, tool, isEnabled, config, sealed, schemaHash, updatedBy } = draft;
  return sql`INSERT INTO agent_tools (tenant_id, agent, tool, is_enabled, config, sealed, schema_hash, revision, generation, updated_by)
    VALUES (${storable(tenantId)}, ${storable(agent)}, ${storable(tool)}, ${isEnabled}, ${JSON.stringify(config)}::jsonb,
      ${JSON.stringify(sealed)}::jsonb, ${schemaHash}, ${revision}, ${revision}, ${storable(updatedBy)})
    ON CONFLICT (tenant_id, agent, tool) DO UPDATE SET is_enabled = EXCLUDED.is_enabled, config = EXCLUDED.config,
      sealed = EXCLUDED.sealed, schema_hash = EXCLUDED.schema_hash, revision = EXCLUDED.revision, generation = EXCLUDED.generation, updated_at = now(),
      updated_by = EXCLUDED.updated_by
    RETURNING ${TOOL}`;
}

export async function rowsOf<Row>(db: Kysely<Tables>, query: RawBuilder<unknown>): Promise<readonly Row[]> {
  return (await (query as RawBuilder<Row>).execute(db)).rows;
}

export async function one<Row>(db: Kysely<Tables>, query: RawBuilder<unknown>): Promise<Row> {
  const [row] = await rowsOf<Row>(db, query);
  if (row === undefined) throw new Error('the statement gave no row');
  return row;
}

export async function mustBeThere(
  trx: Trx,
  query: RawBuilder<unknown>,
  ifRevision: IfRevision,
): Promise<void> {
  const [row] = await rowsOf<{ revision: number }>(trx, query);
  if (row === undefined) throw new Undo('missing');
  if (ifRevision !== undefined && row.revision !== ifRevision) throw new Undo('conflict');
}

export async function mustHaveRoom(
  trx: Trx,
  table: 'agents' | 'agent_tools',
  tenantId: string,
  { perTenant, inAll }: AgentBounds,
): Promise<void> {
  const counted = sql`SELECT count(*) AS all, count(*) FILTER (WHERE tenant_id = ${storable(tenantId)}) AS own
    FROM ${sql.ref(table)}`;
  const { all, own } = await one<{ all: number; own: number }>(trx, counted);
  if (all >= inAll || own >= perTenant) throw new Undo('full');
}

export function ofAgent({ tenantId, name }: Which): RawBuilder<unknown> {
  return sql`tenant_id = ${storable(tenantId)} AND name = ${storable(name)}`;
}

export function ofTool({ tenantId, agent, tool }: AgentToolKey): RawBuilder<unknown> {
  return sql`tenant_id = ${storable(tenantId)} AND agent = ${storable(agent)} AND tool = ${storable(tool)}`;
}
