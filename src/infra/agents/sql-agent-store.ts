// SqlAgentStore: AgentStore on PostgreSQL. Changes go one after the other: each takes the next generation as its revision.
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type {
  AgentBounds,
  AgentRecord,
  AgentsInForce,
  AgentsQuery,
  AgentStore,
  AgentToolConfig,
  AgentToolDraft,
  AgentToolKey,
  AgentToolRecord,
  IfRevision,
  NewAgent,
  ResealedSecret,
  SealedSecret,
  Unchanged,
} from '../../ports/agents/agent-store.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import { storable } from '../postgres/storable.ts';
import type { Tables } from '../postgres/tables.ts';
import {
  AGENT,
  CONFIG,
  TOOL,
  Undo,
  mustBeThere,
  mustHaveRoom,
  ofAgent,
  ofTool,
  one,
  rowsOf,
  upsert,
  type Trx,
  type Which,
} from './agent-statements.ts';

export class SqlAgentStore implements AgentStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async generation(): Promise<number> {
    const [row] = await this.#rows<{ generation: number }>(sql`SELECT generation FROM agents_generation`);
    return row?.generation ?? 0;
  }

  /** The generation first: what changes meanwhile is read again. */
  async inForce(since: number): Promise<AgentsInForce> {
    const generation = await this.generation();
    const agents = await this.#rows<Which>(sql`SELECT tenant_id AS "tenantId", name FROM agents`);
    const tools = await this.#rows<AgentToolKey>(
      sql`SELECT tenant_id AS "tenantId", agent, tool FROM agent_tools`,
    );
    const changed = await this.#rows<AgentToolConfig>(
      sql`SELECT ${CONFIG} FROM agent_tools WHERE generation > ${since}::bigint`,
    );
    return { generation, agents, tools, changed };
  }

  agents({ tenantId, limit, after, names }: AgentsQuery): Promise<readonly AgentRecord[]> {
    const ofThese = names === undefined ? sql`true` : sql`name = ANY(${names.map(storable)}::text[])`;
    return this.#rows(sql`SELECT ${AGENT} FROM agents WHERE tenant_id = ${storable(tenantId)} AND ${ofThese}
      AND name > ${storable(after ?? '')} ORDER BY name LIMIT ${limit}`);
  }

  async agent(tenantId: string, name: string): Promise<AgentRecord | undefined> {
    return (
      await this.#rows<AgentRecord>(sql`SELECT ${AGENT} FROM agents WHERE ${ofAgent({ tenantId, name })}`)
    )[0];
  }

  createAgent(agent: NewAgent, bounds: AgentBounds): Promise<AgentRecord | Unchanged> {
    return this.#change(async (trx, revision) => {
      const { tenantId, name, description, createdBy } = agent;
      const taken = sql`SELECT 1 FROM agents WHERE ${ofAgent({ tenantId, name })}`;
      if ((await rowsOf(trx, taken)).length > 0) throw new Undo('conflict');
      await mustHaveRoom(trx, 'agents', tenantId, bounds);
      return one<AgentRecord>(
        trx,
        sql`INSERT INTO agents (tenant_id, name, description, revision, created_by, updated_by)
          VALUES (${storable(tenantId)}, ${storable(name)}, ${storable(description)}, ${revision}, ${storable(createdBy)}, ${storable(createdBy)})
          RETURNING ${AGENT}`,
      );
    });
  }

  describeAgent(
    which: Which,
    { description, updatedBy }: Pick<AgentRecord, 'description' | 'updatedBy'>,
    ifRevision: IfRevision,
  ): Promise<AgentRecord | Unchanged> {
    return this.#change(async (trx, revision) => {
      await mustBeThere(trx, sql`SELECT revision FROM agents WHERE ${ofAgent(which)}`, ifRevision);
      return one<AgentRecord>(
        trx,
        sql`UPDATE agents SET description = ${storable(description)}, revision = ${revision}, updated_at = now(), updated_by = ${storable(updatedBy)}
          WHERE ${ofAgent(which)} RETURNING ${AGENT}`,
      );
    });
  }

  deleteAgent(which: Which, ifRevision: IfRevision): Promise<Unchanged | undefined> {
    return this.#change(async (trx) => {
      await mustBeThere(trx, sql`SELECT revision FROM agents WHERE ${ofAgent(which)}`, ifRevision);
      await sql`DELETE FROM agents WHERE ${ofAgent(which)}`.execute(trx);
      return undefined;
    });
  }

  tools(tenantId: string, agent: string): Promise<readonly AgentToolRecord[]> {
    return this.#rows(sql`SELECT ${TOOL} FROM agent_tools WHERE tenant_id = ${storable(tenantId)} AND agent = ${storable(agent)}
      ORDER BY tool`);
  }

  async tool(which: AgentToolKey): Promise<AgentToolRecord | undefined> {
    return (
      await this.#rows<AgentToolRecord>(sql`SELECT ${TOOL} FROM agent_tools WHERE ${ofTool(which)}`)
    )[0];
  }

  putTool(
    draft: AgentToolDraft,
    bounds: AgentBounds,
    ifRevision: IfRevision,
  ): Promise<AgentToolRecord | Unchanged> {
    return this.#change(async (trx, revision) => {
      const { tenantId, agent } = draft;
      const owner = await rowsOf(trx, sql`SELECT 1 FROM agents WHERE ${ofAgent({ tenantId, name: agent })}`);
      if (owner.length === 0) throw new Undo('missing');
      const [row] = await rowsOf<{ revision: number }>(
        trx,
        sql`SELECT revision FROM agent_tools WHERE ${ofTool(draft)}`,
      );
      if (ifRevision !== undefined && (row?.revision ?? 0) !== ifRevision) throw new Undo('conflict');
      if (row === undefined) await mustHaveRoom(trx, 'agent_tools', tenantId, bounds);
      return one<AgentToolRecord>(trx, upsert(draft, revision));
    });
  }

  deleteTool(which: AgentToolKey, ifRevision: IfRevision): Promise<Unchanged | undefined> {
    return this.#change(async (trx) => {
      await mustBeThere(trx, sql`SELECT revision FROM agent_tools WHERE ${ofTool(which)}`, ifRevision);
      await sql`DELETE FROM agent_tools WHERE ${ofTool(which)}`.execute(trx);
      return undefined;
    });
  }

  async touchTools(tenantId: string, agent: string, tools: readonly string[]): Promise<void> {
    await this.#change(async (trx, revision) => {
      await sql`UPDATE agent_tools SET revision = ${revision}, generation = ${revision} WHERE tenant_id = ${storable(tenantId)}
        AND agent = ${storable(agent)} AND tool = ANY(${tools.map(storable)}::text[])`.execute(trx);
    });
  }

  secretsByKey(): Promise<readonly { readonly keyId: string; readonly secrets: number }[]> {
    return this.#rows(sql`SELECT split_part(value, '.', 2) AS "keyId", count(*) AS secrets
      FROM agent_tools, jsonb_each_text(sealed) GROUP BY 1 ORDER BY 1`);
  }

  wrappedBy(keyId: string, limit: number): Promise<readonly SealedSecret[]> {
    return this.#rows(sql`SELECT tenant_id AS "tenantId", agent, tool, key AS field, value AS sealed
      FROM agent_tools, jsonb_each_text(sealed)
      WHERE split_part(value, '.', 2) = ${storable(keyId)} LIMIT ${limit}`);
  }

  wrappedByOthers(
    keyId: string,
    limit: number,
    after: SealedSecret | undefined,
  ): Promise<readonly SealedSecret[]> {
    const { tenantId = '', agent = '', tool = '', field = '' } = after ?? {};
    return this.#rows(sql`SELECT tenant_id AS "tenantId", agent, tool, key AS field, value AS sealed
      FROM agent_tools, jsonb_each_text(sealed)
      WHERE split_part(value, '.', 2) <> ${storable(keyId)}
        AND (tenant_id, agent, tool, key COLLATE "C") > (${tenantId}, ${agent}, ${tool}, ${field})
      ORDER BY tenant_id, agent, tool, key COLLATE "C" LIMIT ${limit}`);
  }

  replaceSealed(changes: readonly ResealedSecret[]): Promise<number> {
    return this.#change(async (trx, generation) => {
      let replaced = 0;
      for (const { field, sealed, ...secret } of changes) {
        const { numAffectedRows } = await sql`UPDATE agent_tools SET generation = ${generation},
            sealed = jsonb_set(sealed, ARRAY[${field}]::text[], to_jsonb(${secret.resealed}::text), false)
          WHERE ${ofTool(secret)} AND sealed ->> ${field}::text = ${sealed}::text`.execute(trx);
        replaced += Number(numAffectedRows ?? 0n);
      }
      return replaced;
    }) as Promise<number>;
  }

  #rows<Row>(query: RawBuilder<unknown>): Promise<readonly Row[]> {
    return withDatabase(() => rowsOf<Row>(this.#db, query));
  }

  /** Whoever comes second waits here for the first to commit: revisions are in the order of the commits. */
  #change<Done>(work: (trx: Trx, revision: number) => Promise<Done>): Promise<Done | Unchanged> {
    return withDatabase(async () => {
      try {
        return await this.#db.transaction().execute(async (trx) => {
          const next = sql`INSERT INTO agents_generation (id, generation) VALUES (1, 1)
            ON CONFLICT (id) DO UPDATE SET generation = agents_generation.generation + 1 RETURNING generation`;
          return work(trx, (await one<{ generation: number }>(trx, next)).generation);
        });
      } catch (error) {
        if (error instanceof Undo) return error.why;
        throw error;
      }
    });
  }
}
