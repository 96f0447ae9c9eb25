// SqlSessionStore: SessionStore on PostgreSQL. All times are the database's own.
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { isJsonObject } from '../../contract/json.ts';
import type {
  NewSession,
  SessionQuery,
  SessionRecord,
  SessionStore,
  SessionUse,
  ToolHashes,
} from '../../ports/sessions/session-store.ts';
import { columns } from '../postgres/columns.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import { storable } from '../postgres/storable.ts';
import type { Tables } from '../postgres/tables.ts';

// oxfmt-ignore
const SESSION = sql`${columns<SessionRecord>([
  'id', 'tenantId', 'principalId', 'agentId', 'userId', 'mode', 'registryVersion', 'registryHash', 'turn', 'createdAt', 'lastUsedAt',
  'expiresAt', 'overAt', 'endedAt', 'endedBy',
])}, idle_ms::float8 AS "idleMs", extract(epoch FROM over_at - now())::float8 * 1000 AS "leftMs"`;

const ms = (count: number) => sql`${count}::double precision * interval '1 millisecond'`;

/** More than there are connections to one database: so many may begin between a count and what it allowed. */
const MARGIN = 1_000;

const COLUMNS = sql`id, tenant_id, principal_id, agent_id, user_id, mode, registry_version, registry_hash, idle_ms, expires_at, over_at`;

function valuesOf(session: NewSession): RawBuilder<unknown> {
  const { id, tenantId, principalId, agentId, userId, mode, registryVersion, registryHash } = session;
  const { idleMs, maxAgeMs } = session;
  return sql`${id}, ${storable(tenantId)}, ${storable(principalId)}, ${storable(agentId)}, ${storable(userId)}, ${mode}::text,
    ${registryVersion}::text, ${registryHash}::text, ${idleMs}::bigint, now() + ${ms(maxAgeMs)}, now() + ${ms(Math.min(idleMs, maxAgeMs))}`;
}

async function keepRegistry(
  db: Kysely<Tables>,
  hash: string,
  version: string,
  tools: ToolHashes,
): Promise<void> {
  await sql`INSERT INTO session_registries (hash, version, tools)
    VALUES (${hash}, ${version}, ${JSON.stringify(Object.fromEntries(tools))}::jsonb)
    ON CONFLICT (hash) DO UPDATE SET needed_at = now()`.execute(db);
}

export class SqlSessionStore implements SessionStore {
  readonly #db: Kysely<Tables>;
  /** By hash. */
  readonly #beingSaid = new Map<string, Promise<void>>();

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  create(session: NewSession, tools: ToolHashes, most: number): Promise<SessionRecord | undefined> {
    return withDatabase(async () => {
      if (most <= MARGIN) return this.#createInTurn(session, tools, most);
      const made = await this.#createFarBelow(session, most);
      if (made !== undefined) return made;
      // The first with these tools, or there are too many: whoever is not the first knows by now.
      await this.#need(session, tools);
      return (await this.#createFarBelow(session, most)) ?? this.#createInTurn(session, tools, most);
    });
  }

  /**
   * One statement that waits for nobody, where the tenant is far from its cap and its set of tools is there: many calls begin at once, and
   * one after the other would hold every connection. Undefined: it has to take its turn.
   */
  async #createFarBelow(session: NewSession, most: number): Promise<SessionRecord | undefined> {
    const { rows } = await sql<SessionRecord>`
      INSERT INTO sessions (${COLUMNS}) SELECT ${valuesOf(session)}
      WHERE EXISTS (SELECT FROM session_registries WHERE hash = ${session.registryHash} AND needed_at > now() - interval '1 hour')
        AND (SELECT count(*) FROM (
          SELECT FROM sessions WHERE tenant_id = ${storable(session.tenantId)} AND over_at > now() LIMIT ${most - MARGIN}
        ) AS found) < ${most - MARGIN}
      RETURNING ${SESSION}`.execute(this.#db);
    return rows[0];
  }

  /** Said to be needed, so that nobody deletes it meanwhile. One of many that begin at once says so. */
  #need({ registryHash: hash, registryVersion: version }: NewSession, tools: ToolHashes): Promise<void> {
    let said = this.#beingSaid.get(hash);
    if (said === undefined) {
      said = keepRegistry(this.#db, hash, version, tools).finally(() => this.#beingSaid.delete(hash));
      this.#beingSaid.set(hash, said);
    }
    return said;
  }

  #createInTurn(session: NewSession, tools: ToolHashes, most: number): Promise<SessionRecord | undefined> {
    const { registryHash, registryVersion } = session;
    const tenant = storable(session.tenantId);
    return this.#db.transaction().execute(async (trx) => {
      // One after the other within a tenant: the cap holds whoever comes at once.
      await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`sessions of ${tenant}`}, 0))`.execute(trx);
      const { rows: counted } = await sql<{ found: number }>`SELECT count(*) AS found FROM sessions
        WHERE tenant_id = ${tenant} AND over_at > now()`.execute(trx);
      if ((counted[0]?.found ?? 0) >= most) return undefined;
      await keepRegistry(trx, registryHash, registryVersion, tools);
      const { rows } = await sql<SessionRecord>`
        INSERT INTO sessions (${COLUMNS}) VALUES (${valuesOf(session)}) RETURNING ${SESSION}`.execute(trx);
      return rows[0];
    });
  }

  find(ids: readonly string[]): Promise<readonly SessionRecord[]> {
    return this.#select(sql`id = ANY(${ids.map(storable)}::text[])`);
  }

  list(tenantId: string, { principalId, agentId, userId, active, limit, before }: SessionQuery) {
    const only = (name: string, value: string | undefined) =>
      value === undefined ? sql`true` : sql`${sql.ref(name)} = ${storable(value)}`;
    const older = before === undefined ? sql`true` : sql`id < ${storable(before)}`;
    return this.#select(sql`tenant_id = ${storable(tenantId)} AND ${only('principal_id', principalId)}
      AND ${only('agent_id', agentId)} AND ${only('user_id', userId)} AND ${older}
      AND ${active ? sql`over_at > now()` : sql`true`} ORDER BY id DESC LIMIT ${limit}`);
  }

  async end(tenantId: string, id: string, by: string): Promise<SessionRecord | undefined> {
    const mine = sql`tenant_id = ${storable(tenantId)} AND id = ${storable(id)}`;
    const ended = await this.#update(
      sql`ended_at = now(), ended_by = ${storable(by)}, over_at = now()`,
      sql`${mine} AND ended_at IS NULL AND over_at > now()`,
    );
    return ended ?? (await this.#select(mine))[0];
  }

  nextTurn(tenantId: string, id: string): Promise<SessionRecord | undefined> {
    return this.#update(
      sql`turn = turn + 1, last_used_at = now(), over_at = least(expires_at, now() + idle_ms * interval '1 millisecond')`,
      sql`tenant_id = ${storable(tenantId)} AND id = ${storable(id)} AND over_at > now()`,
    );
  }

  async touch(uses: readonly SessionUse[]): Promise<void> {
    if (uses.length === 0) return;
    await withDatabase(() =>
      sql`UPDATE sessions SET last_used_at = greatest(last_used_at, used.at),
          over_at = greatest(over_at, least(expires_at, used.at + idle_ms * interval '1 millisecond'))
        FROM (SELECT id, now() - ago * interval '1 millisecond' AS at
          FROM unnest(${uses.map(({ id }) => storable(id))}::text[], ${uses.map(({ agoMs }) => agoMs)}::float8[]) AS u(id, ago)) AS used
        WHERE sessions.id = used.id AND ended_at IS NULL AND over_at > used.at`.execute(this.#db),
    );
  }

  async toolsOf(registryHash: string): Promise<ToolHashes | undefined> {
    const found = await withDatabase(async () => {
      const { rows } = await sql<{
        tools: unknown;
      }>`SELECT tools FROM session_registries WHERE hash = ${storable(registryHash)}`.execute(this.#db);
      return rows[0]?.tools;
    });
    if (!isJsonObject(found)) return undefined;
    return new Map(
      Object.entries(found).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  }

  #select(which: RawBuilder<unknown>): Promise<readonly SessionRecord[]> {
    return withDatabase(async () => {
      const { rows } = await sql<SessionRecord>`SELECT ${SESSION} FROM sessions WHERE ${which}`.execute(
        this.#db,
      );
      return rows;
    });
  }

  #update(change: RawBuilder<unknown>, which: RawBuilder<unknown>): Promise<SessionRecord | undefined> {
    return withDatabase(async () => {
      const { rows } =
        await sql<SessionRecord>`UPDATE sessions SET ${change} WHERE ${which} RETURNING ${SESSION}`.execute(
          this.#db,
        );
      return rows[0];
    });
  }
}
