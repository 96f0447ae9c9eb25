// SqlFlowStore: FlowStore on PostgreSQL. All times are the database's own; what is over is deleted by whoever makes another.
import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Flow, FlowDraft, FlowStart, FlowStore } from '../../ports/oauth/flow-store.ts';
import { OneByOne } from '../../lib/concurrency/one-by-one.ts';
import { columns } from '../postgres/columns.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import { storable } from '../postgres/storable.ts';
import type { Tables } from '../postgres/tables.ts';

// oxfmt-ignore
const FLOW = columns<Flow>([
  'idHash', 'kind', 'tenantId', 'agent', 'provider', 'providerKey', 'scopes', 'sealed', 'createdBy', 'createdByUser', 'intervalMs', 'createdAt',
  'expiresAt',
]);
const MOST_DELETED = 1_000;
/** For the provider's answer and what is made of it, whenever the link would have ended. */
const EXCHANGE_MS = 120_000;
const ms = (count: number) => sql`${count}::double precision * interval '1 millisecond'`;

export class SqlFlowStore implements FlowStore {
  readonly #db: Kysely<Tables>;
  /** By tenant: a burst of one holds one connection, and not all of them. */
  readonly #making = new OneByOne();

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  create(draft: FlowDraft, lifeMs: number, most: number): Promise<Flow | 'full' | 'missing'> {
    return this.#making.run(draft.tenantId, () => this.#create(draft, lifeMs, most));
  }

  #create(draft: FlowDraft, lifeMs: number, most: number): Promise<Flow | 'full' | 'missing'> {
    const { idHash, kind, agent, provider, providerKey, scopes, sealed, createdBy, intervalMs } = draft;
    const user = draft.createdByUser ? storable(draft.createdByUser) : null;
    const tenant = storable(draft.tenantId);
    return withDatabase(() =>
      this.#db.transaction().execute(async (trx) => {
        // One after the other within a tenant: the cap holds whoever comes at once.
        await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`oauth flows of ${tenant}`}, 0))`.execute(
          trx,
        );
        await sql`DELETE FROM oauth_flows WHERE id_hash IN
          (SELECT id_hash FROM oauth_flows WHERE expires_at <= now() LIMIT ${MOST_DELETED} FOR UPDATE SKIP LOCKED)`.execute(
          trx,
        );
        const { rows: counted } = await sql<{ found: number }>`SELECT count(*) AS found FROM oauth_flows
          WHERE tenant_id = ${tenant}`.execute(trx);
        if ((counted[0]?.found ?? 0) >= most) return 'full' as const;
        const { rows } = await sql<Flow>`
          INSERT INTO oauth_flows (id_hash, kind, tenant_id, agent, provider, provider_key, scopes, sealed, created_by, created_by_user, interval_ms, expires_at)
          SELECT ${idHash}, ${kind}, tenant_id, name, ${storable(provider)}, ${providerKey}, ${scopes.map(storable)}::text[], ${sealed}::text,
            ${storable(createdBy)}, ${user}::text, ${Math.round(intervalMs)}::bigint, now() + ${ms(lifeMs)}
          FROM agents WHERE tenant_id = ${tenant} AND name = ${storable(agent)} FOR KEY SHARE
          RETURNING ${FLOW}`.execute(trx);
        return rows[0] ?? ('missing' as const);
      }),
    );
  }

  async find(idHash: string): Promise<Flow | undefined> {
    return (await this.#rows<Flow>(sql`SELECT ${FLOW} FROM oauth_flows WHERE ${open(idHash)}`))[0];
  }

  async start(idHash: string, { stateHash, browserHash, sealed }: FlowStart): Promise<Flow | undefined> {
    const [row] = await this.#rows<Flow>(sql`UPDATE oauth_flows
      SET state_hash = ${stateHash}, browser_hash = ${browserHash}, sealed = ${sealed}
      WHERE ${open(idHash)} AND kind = 'link' RETURNING ${FLOW}`);
    return row;
  }

  async take(stateHash: string, browserHash: string, provider: string): Promise<Flow | undefined> {
    const [row] = await this.#rows<Flow>(sql`UPDATE oauth_flows
      SET state_hash = NULL, browser_hash = NULL, taken_at = now(), expires_at = now() + ${ms(EXCHANGE_MS)}
      WHERE state_hash = ${stateHash} AND browser_hash = ${browserHash} AND provider = ${storable(provider)} AND expires_at > now()
      RETURNING ${FLOW}`);
    return row;
  }

  async claimPoll(idHash: string): Promise<boolean> {
    const claimed =
      await this.#rows(sql`UPDATE oauth_flows SET next_poll_at = now() + interval_ms * interval '1 millisecond'
      WHERE ${open(idHash)} AND kind = 'device' AND next_poll_at <= now() RETURNING kind`);
    return claimed.length > 0;
  }

  async slowDown(idHash: string, byMs: number): Promise<void> {
    await this.#rows(sql`UPDATE oauth_flows SET interval_ms = interval_ms + ${byMs}::bigint,
      next_poll_at = next_poll_at + ${ms(byMs)} WHERE ${open(idHash)}`);
  }

  async end(idHash: string): Promise<boolean> {
    return (
      (await this.#rows(sql`DELETE FROM oauth_flows WHERE id_hash = ${idHash} RETURNING kind`)).length > 0
    );
  }

  #rows<Row>(query: RawBuilder<unknown>): Promise<readonly Row[]> {
    return withDatabase(async () => (await (query as RawBuilder<Row>).execute(this.#db)).rows);
  }
}

function open(idHash: string): RawBuilder<unknown> {
  return sql`id_hash = ${idHash} AND expires_at > now() AND taken_at IS NULL`;
}
