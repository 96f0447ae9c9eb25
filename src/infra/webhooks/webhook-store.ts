// DatabaseWebhookStore: WebhookStore on PostgreSQL. A message's row is there since its call was accepted.
import { sql, type UpdateObject } from 'kysely';
import type { DeadWebhook, DueWebhook, WebhookStore } from '../../ports/calls/webhook-store.ts';
import { fromNow, NOW, STORED_CALL, storedCallOf, type StoredRow } from '../calls/call-rows.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import type { Database } from '../postgres/database.ts';
import { storable } from '../postgres/storable.ts';
import type { Tables } from '../postgres/tables.ts';

type Db = Database['db'];

export function databaseWebhookStore({ db }: Pick<Database, 'db'>): WebhookStore {
  return {
    claim: (limit, leaseMs) => withDatabase(() => claimDue(db, limit, leaseMs)),
    delivered: (id, attempt) =>
      withDatabase(() => settle(db, id, attempt, { status: 'delivered', finished_at: NOW, last_error: '' })),
    failed: (id, attempt, error, next) =>
      withDatabase(() =>
        settle(db, id, attempt, {
          ...(next === 'give_up'
            ? { status: 'dead', finished_at: NOW }
            : { next_attempt_at: fromNow(next.afterMs) }),
          last_error: storable(error),
        }),
      ),
    dead: (tenantId, limit, before) => withDatabase(() => deadOnes(db, tenantId, limit, before)),
    redrive: (tenantId, id) => withDatabase(() => redriveDead(db, tenantId, id)),
    counts: () => withDatabase(() => countOpen(db)),
  };
}

/** Only by whoever made the latest attempt. */
async function settle(
  db: Db,
  id: string,
  attempt: number,
  change: UpdateObject<Tables, 'webhooks'>,
): Promise<void> {
  await db
    .updateTable('webhooks')
    .set(change)
    .where('id', '=', id)
    .where('attempts', '=', attempt)
    .where('status', '=', 'pending')
    .execute();
}

async function deadOnes(
  db: Db,
  tenantId: string,
  limit: number,
  before: string | undefined,
): Promise<readonly DeadWebhook[]> {
  let query = db
    .selectFrom('webhooks')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('status', '=', 'dead');
  if (before !== undefined) query = query.where('id', '<', before);
  const rows = await query.orderBy('id', 'desc').limit(limit).execute();
  return rows.map(({ id, url, attempts, ...row }) => ({
    id,
    callId: row.call_id,
    url,
    attempts,
    lastError: row.last_error,
    createdAt: row.created_at,
    finishedAt: row.finished_at ?? row.created_at,
  }));
}

async function redriveDead(db: Db, tenantId: string, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhooks')
    .set({ status: 'pending', attempts: 0, next_attempt_at: NOW, finished_at: null, last_error: '' })
    .where('id', '=', id)
    .where('tenant_id', '=', tenantId)
    .where('status', '=', 'dead')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function countOpen(db: Db): Promise<{ pending: number; dead: number }> {
  const { rows } = await sql<{ pending: number; dead: number }>`
    SELECT (SELECT count(*) FROM webhooks w JOIN calls c ON c.id = w.call_id
        WHERE w.status = 'pending' AND c.finished_at IS NOT NULL) AS pending,
      (SELECT count(*) FROM webhooks WHERE status = 'dead') AS dead`.execute(db);
  return rows[0] ?? { pending: 0, dead: 0 };
}

interface ClaimedWebhook {
  readonly webhook_id: string;
  readonly url: string;
  readonly webhook_attempts: number;
}

async function claimDue(db: Database['db'], limit: number, leaseMs: number): Promise<readonly DueWebhook[]> {
  const { rows } = await sql<ClaimedWebhook & StoredRow>`
    WITH due AS (
      SELECT w.id FROM webhooks w JOIN calls c ON c.id = w.call_id
      WHERE w.status = 'pending' AND w.next_attempt_at <= now() AND c.finished_at IS NOT NULL
      ORDER BY w.next_attempt_at LIMIT ${limit} FOR UPDATE OF w SKIP LOCKED),
    taken AS (
      UPDATE webhooks w SET attempts = w.attempts + 1, next_attempt_at = ${fromNow(leaseMs)}
      FROM due WHERE w.id = due.id
      RETURNING w.id AS webhook_id, w.url, w.attempts AS webhook_attempts, w.call_id)
    SELECT taken.webhook_id, taken.url, taken.webhook_attempts, ${STORED_CALL}
    FROM taken JOIN calls c ON c.id = taken.call_id`.execute(db);
  return rows.map(({ webhook_id: id, url, webhook_attempts: attempt, ...row }) => ({
    id,
    url,
    attempt,
    call: storedCallOf(row),
  }));
}
