// SqlConnectionStore: ConnectionStore on PostgreSQL. All times are the database's own.
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { ResealedSecret, SealedSecret } from '../../ports/agents/agent-store.ts';
import type {
  Connection,
  ConnectionDraft,
  ConnectionKey,
  ConnectedBy,
  ConnectionStore,
  Disconnected,
  RenewedTokens,
} from '../../ports/oauth/connection-store.ts';
import { columns } from '../postgres/columns.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import { storable } from '../postgres/storable.ts';
import type { Tables } from '../postgres/tables.ts';
import { secretPlaceOf, providerOfPlace } from '../../lib/secrets/token-place.ts';

// oxfmt-ignore
const CONNECTION = sql`${columns<Connection>([
  'tenantId', 'agent', 'provider', 'providerKey', 'state', 'scopes', 'sealed', 'version', 'connectedAt', 'connectedBy',
  'refreshedAt', 'problem',
])}, ${left('expires_at')} AS "expiresInMs", ${left('refresh_at')} AS "refreshInMs"`;

function left(column: string): RawBuilder<unknown> {
  return sql`extract(epoch FROM ${sql.ref(column)} - now())::float8 * 1000`;
}

const later = (ms: number | null) => sql`now() + ${ms}::double precision * interval '1 millisecond'`;
const list = (texts: readonly string[]) => sql`${texts.map(storable)}::text[]`;

type SealedToken = ConnectionKey & Pick<SealedSecret, 'field' | 'sealed'>;

export class SqlConnectionStore implements ConnectionStore {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  async find(key: ConnectionKey): Promise<Connection | undefined> {
    return (
      await this.#rows<Connection>(sql`SELECT ${CONNECTION} FROM oauth_connections WHERE ${only(key)}`)
    )[0];
  }

  async versions(keys: readonly ConnectionKey[]) {
    if (keys.length === 0) return [];
    return this.#rows<ConnectionKey & { readonly version: number }>(sql`
      SELECT ${columns<Connection>(['tenantId', 'agent', 'provider', 'version'])} FROM oauth_connections
      WHERE (tenant_id, agent, provider) IN (SELECT * FROM unnest(${list(keys.map(({ tenantId }) => tenantId))},
        ${list(keys.map(({ agent }) => agent))}, ${list(keys.map(({ provider }) => provider))}))`);
  }

  ofAgent(tenantId: string, agent: string): Promise<readonly Connection[]> {
    return this.#rows(sql`SELECT ${CONNECTION} FROM oauth_connections
      WHERE tenant_id = ${storable(tenantId)} AND agent = ${storable(agent)} ORDER BY provider`);
  }

  connect(
    draft: ConnectionDraft,
    { id, userId }: ConnectedBy,
    flow: string,
  ): Promise<Connection | undefined> {
    const { providerKey, scopes, sealed, expiresInMs, refreshInMs } = draft;
    const { tenantId, agent } = draft;
    const made = sql<Connection>`
      WITH agreed AS (DELETE FROM oauth_flows WHERE id_hash = ${flow} AND ${only(draft)} RETURNING tenant_id, agent, provider)
      INSERT INTO oauth_connections (tenant_id, agent, provider, provider_key, state, scopes, sealed, expires_at, refresh_at,
        connected_by, connected_by_user)
      SELECT tenant_id, agent, provider, ${providerKey}, 'connected', ${list(scopes)}, ${JSON.stringify(sealed)}::jsonb,
        ${later(expiresInMs)}, ${later(refreshInMs)}, ${storable(id)}, ${userId ? storable(userId) : null}::text
      FROM agreed
      ON CONFLICT (tenant_id, agent, provider) DO UPDATE SET provider_key = EXCLUDED.provider_key, state = EXCLUDED.state,
        scopes = EXCLUDED.scopes, sealed = EXCLUDED.sealed, expires_at = EXCLUDED.expires_at, refresh_at = EXCLUDED.refresh_at,
        version = EXCLUDED.version, refreshing_until = NULL, problem = '', connected_at = now(),
        connected_by = EXCLUDED.connected_by, connected_by_user = EXCLUDED.connected_by_user, refreshed_at = NULL
      RETURNING ${CONNECTION}`;
    return withDatabase(() =>
      this.#db.transaction().execute(async (trx) => {
        // Before its flows, as whoever deletes the agent does: neither waits for the other in a circle.
        await sql`SELECT FROM agents WHERE tenant_id = ${storable(tenantId)} AND name = ${storable(agent)} FOR KEY SHARE`.execute(
          trx,
        );
        return (await made.execute(trx)).rows[0];
      }),
    );
  }

  /** Flows first, as `connect` does: whoever is connecting is waited for, and what it made goes; or it finds its flow gone. */
  delete(key: ConnectionKey): Promise<Disconnected> {
    return withDatabase(() =>
      this.#db.transaction().execute(async (trx) => {
        const flows = await sql`DELETE FROM oauth_flows WHERE id_hash IN
          (SELECT id_hash FROM oauth_flows WHERE ${only(key)} ORDER BY id_hash FOR UPDATE)`.execute(trx);
        const { rows } =
          await sql<Connection>`DELETE FROM oauth_connections WHERE ${only(key)} RETURNING ${CONNECTION}`.execute(
            trx,
          );
        return { connection: rows[0], flows: Number(flows.numAffectedRows ?? 0n) };
      }),
    );
  }

  ofUser(tenantId: string, userId: string): Promise<readonly ConnectionKey[]> {
    const [tenant, user] = [storable(tenantId), storable(userId)];
    return this.#rows(sql`SELECT tenant_id AS "tenantId", agent, provider FROM oauth_connections
        WHERE tenant_id = ${tenant} AND connected_by_user = ${user}
      UNION SELECT tenant_id, agent, provider FROM oauth_flows WHERE tenant_id = ${tenant} AND created_by_user = ${user}`);
  }

  async claim(key: ConnectionKey, version: number, leaseMs: number): Promise<boolean> {
    const claimed = await this.#rows(sql`UPDATE oauth_connections SET refreshing_until = ${later(leaseMs)}
      WHERE ${only(key)} AND version = ${version} AND state = 'connected'
        AND (refreshing_until IS NULL OR refreshing_until <= now()) RETURNING version`);
    return claimed.length > 0;
  }

  async renew(key: ConnectionKey, version: number, tokens: RenewedTokens): Promise<Connection | undefined> {
    const { scopes, sealed, expiresInMs, refreshInMs } = tokens;
    const [row] = await this.#rows<Connection>(sql`UPDATE oauth_connections SET scopes = ${list(scopes)},
        sealed = ${JSON.stringify(sealed)}::jsonb, expires_at = ${later(expiresInMs)}, refresh_at = ${later(refreshInMs)},
        version = DEFAULT, refreshing_until = NULL, problem = '', refreshed_at = now()
      WHERE ${only(key)} AND version = ${version} RETURNING ${CONNECTION}`);
    return row;
  }

  async release(key: ConnectionKey, version: number, problem: string): Promise<void> {
    await this.#rows(sql`UPDATE oauth_connections SET refreshing_until = NULL, problem = ${storable(problem)}
      WHERE ${only(key)} AND version = ${version}`);
  }

  async expire(key: ConnectionKey, version: number, problem: string): Promise<void> {
    await this.#rows(sql`UPDATE oauth_connections SET state = 'needs_reauth', refreshing_until = NULL,
        problem = ${storable(problem)}, version = DEFAULT
      WHERE ${only(key)} AND version = ${version}`);
  }

  secretsByKey(): Promise<readonly { readonly keyId: string; readonly secrets: number }[]> {
    return this.#rows(sql`SELECT split_part(value, '.', 2) AS "keyId", count(*) AS secrets
      FROM oauth_connections, jsonb_each_text(sealed) GROUP BY 1 ORDER BY 1`);
  }

  async wrappedBy(keyId: string, limit: number): Promise<readonly SealedSecret[]> {
    return (
      await this.#rows<SealedToken>(sql`
      SELECT tenant_id AS "tenantId", agent, provider, key AS field, value AS sealed
      FROM oauth_connections, jsonb_each_text(sealed)
      WHERE split_part(value, '.', 2) = ${storable(keyId)} LIMIT ${limit}`)
    ).map(secretOf);
  }

  async wrappedByOthers(
    keyId: string,
    limit: number,
    after: SealedSecret | undefined,
  ): Promise<readonly SealedSecret[]> {
    const { tenantId = '', agent = '', tool = '', field = '' } = after ?? {};
    const provider = providerOfPlace(tool) ?? '';
    const found = await this.#rows<SealedToken>(sql`
      SELECT tenant_id AS "tenantId", agent, provider, key AS field, value AS sealed
      FROM oauth_connections, jsonb_each_text(sealed)
      WHERE split_part(value, '.', 2) <> ${storable(keyId)}
        AND (tenant_id, agent, provider, key COLLATE "C") > (${tenantId}, ${agent}, ${provider}, ${field})
      ORDER BY tenant_id, agent, provider, key COLLATE "C" LIMIT ${limit}`);
    return found.map(secretOf);
  }

  /** The version stays: whoever refreshes it meanwhile has to be able to store what it got. */
  replaceSealed(changes: readonly ResealedSecret[]): Promise<number> {
    return withDatabase(() =>
      this.#db.transaction().execute(async (trx) => {
        let replaced = 0;
        for (const { tenantId, agent, tool, field, sealed, resealed } of changes) {
          const provider = providerOfPlace(tool);
          if (provider === undefined) continue;
          const { numAffectedRows } = await sql`UPDATE oauth_connections
              SET sealed = jsonb_set(sealed, ARRAY[${field}]::text[], to_jsonb(${resealed}::text), false)
            WHERE ${only({ tenantId, agent, provider })} AND sealed ->> ${field}::text = ${sealed}::text`.execute(
            trx,
          );
          replaced += Number(numAffectedRows ?? 0n);
        }
        return replaced;
      }),
    );
  }

  #rows<Row>(query: RawBuilder<unknown>): Promise<readonly Row[]> {
    return withDatabase(async () => (await (query as RawBuilder<Row>).execute(this.#db)).rows);
  }
}

function only({ tenantId, agent, provider }: ConnectionKey): RawBuilder<unknown> {
  return sql`tenant_id = ${storable(tenantId)} AND agent = ${storable(agent)} AND provider = ${storable(provider)}`;
}

function secretOf({ field, sealed, ...key }: SealedToken): SealedSecret {
  return { ...secretPlaceOf(key, field), sealed };
}
