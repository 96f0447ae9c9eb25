// SqlKeyStore: KeyStore on PostgreSQL.
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { KeyQuery, KeyRecord, KeysInForce, KeyStore, NewKey } from '../../ports/keys/key-store.ts';
import { storable } from '../postgres/storable.ts';
import { WriteTurns } from '../postgres/write-turns.ts';
import { columns } from '../postgres/columns.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import type { Tables } from '../postgres/tables.ts';

/** Any number, the same on every replica: who holds this lock of the database makes keys. */
const LOCK = 7_274_308;

// oxfmt-ignore
const KEY = sql`${columns<KeyRecord>([
  'id', 'name', 'secretSha256', 'previousSha256', 'previousExpiresAt', 'tenants', 'agents', 'roles', 'createdAt', 'createdBy',
  'expiresAt', 'revokedAt', 'revokedBy',
])}, key_user AS "user", CASE WHEN tenants IS NULL THEN tenant END AS tenant`;

/** In the column of one tenant, of a key that serves several: see migration 0015. */
const SEVERAL = '*';

export class SqlKeyStore implements KeyStore {
  readonly #db: Kysely<Tables>;
  readonly #turns = new WriteTurns();

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  generation(): Promise<number> {
    return withDatabase(async () => {
      const { rows } = await sql<{
        readonly generation: number;
      }>`SELECT (COALESCE((SELECT sum(revision) FROM api_keys), 0)
        + COALESCE((SELECT sum(revisions) FROM api_keys_gone), 0))::float8 AS generation`.execute(this.#db);
      return rows[0]?.generation ?? 0;
    });
  }

  /** The generation first: keys that change meanwhile are read again. */
  async inForce(): Promise<KeysInForce> {
    const generation = await this.generation();
    const keys = await this.#keys(sql`revoked_at IS NULL ORDER BY id`);
    return { generation, keys };
  }

  list({ tenant, andShared, limit, after }: KeyQuery): Promise<readonly KeyRecord[]> {
    const own = tenant === undefined ? sql`true` : sql`tenants IS NULL AND tenant = ${storable(tenant)}`;
    const shared = sql`tenants && ${[storable(tenant ?? ''), SEVERAL]}::text[]`;
    const whose = andShared === true ? sql`(${own} OR ${shared})` : own;
    return this.#keys(sql`${whose} AND id > ${storable(after ?? '')} ORDER BY id LIMIT ${limit}`);
  }

  async get(id: string): Promise<KeyRecord | undefined> {
    return (await this.#keys(sql`id = ${storable(id)}`))[0];
  }

  create(key: NewKey, most: number): Promise<KeyRecord | undefined> {
    const write = () =>
      this.#db.transaction().execute(async (trx) => {
        // One after the other: the cap holds whoever comes at once.
        await sql`SELECT pg_advisory_xact_lock(${LOCK})`.execute(trx);
        const { rows } = await sql<KeyRecord>`
          INSERT INTO api_keys (id, name, secret_sha256, tenant, tenants, agents, key_user, roles, created_by, expires_at)
          SELECT ${key.id}, ${storable(key.name)}, ${key.secretSha256}, ${key.tenants === null ? orNull(key.tenant) : SEVERAL},
            ${key.tenants?.map(storable) ?? null}::text[], ${key.agents.map(storable)}::text[],
            ${orNull(key.user)}, ${key.roles.map(storable)}::text[], ${storable(key.createdBy)}, ${key.expiresAt}::timestamptz
          WHERE (SELECT count(*) FROM api_keys WHERE revoked_at IS NULL) < ${most}::bigint
          RETURNING ${KEY}`.execute(trx);
        return rows[0];
      });
    return this.#turns.run(() => withDatabase(write));
  }

  rotate(id: string, secretSha256: string, previousExpiresAt: Date): Promise<KeyRecord | undefined> {
    return this.#change(
      id,
      sql`previous_sha256 = secret_sha256, previous_expires_at = ${previousExpiresAt}::timestamptz, secret_sha256 = ${secretSha256}`,
    );
  }

  expire(id: string, expiresAt: Date | null): Promise<KeyRecord | undefined> {
    return this.#change(id, sql`expires_at = ${expiresAt}::timestamptz`);
  }

  revoke(id: string, by: string): Promise<KeyRecord | undefined> {
    return this.#change(id, sql`revoked_at = now(), revoked_by = ${storable(by)}`);
  }

  #keys(which: RawBuilder<unknown>): Promise<readonly KeyRecord[]> {
    return withDatabase(async () => {
      const { rows } = await sql<KeyRecord>`SELECT ${KEY} FROM api_keys WHERE ${which}`.execute(this.#db);
      return rows;
    });
  }

  #change(id: string, change: RawBuilder<unknown>): Promise<KeyRecord | undefined> {
    return withDatabase(async () => {
      const { rows } = await sql<KeyRecord>`UPDATE api_keys SET ${change}, revision = revision + 1
        WHERE id = ${storable(id)} AND revoked_at IS NULL RETURNING ${KEY}`.execute(this.#db);
      return rows[0];
    });
  }
}

function orNull(text: string | null): string | null {
  return text === null ? null : storable(text);
}
