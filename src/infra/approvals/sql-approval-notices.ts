// SqlApprovalNotices: ApprovalNotices as rows. A message is there since the commit of what it tells.
import { sql, type RawBuilder, type Transaction } from 'kysely';
import type {
  ApprovalEvent,
  ApprovalEventKind,
  ApprovalNotices,
  DueNotice,
} from '../../ports/approvals/approval-notices.ts';
import { columns } from '../postgres/columns.ts';
import type { Database } from '../postgres/database.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import { storable } from '../postgres/storable.ts';
import type { Tables } from '../postgres/tables.ts';
import { recordEvents, type ApprovalHook } from './approval-events.ts';
import { approvalOf, SEEN_NAMES, seenStatus, type ApprovalRow } from './approval-rows.ts';

/** Of one look: more come with the next. */
const REMINDED_AT_ONCE = 200;
/** Of an approval's time, what is left at most when it is said to expire soon. */
const LAST_PART = 0.25;

interface EventRow extends ApprovalRow {
  readonly seq: number;
  readonly kind: ApprovalEventKind;
  readonly at: Date;
}

interface NoticeRow extends EventRow {
  readonly notice: string;
  readonly hook: string;
  readonly attempt: number;
}

const APPROVAL = sql`${columns<ApprovalRow>(SEEN_NAMES, 'a')}, ${seenStatus('a')} AS status`;

export class SqlApprovalNotices implements ApprovalNotices {
  readonly #database: Pick<Database, 'db'>;
  readonly #hooks: readonly ApprovalHook[];
  readonly #beforeMs: number;

  /** `beforeMs`: how long before its expiry an approval is said to expire soon, unless its whole time is short. */
  constructor(database: Pick<Database, 'db'>, hooks: readonly ApprovalHook[], beforeMs: number) {
    this.#database = database;
    this.#hooks = hooks;
    this.#beforeMs = beforeMs;
  }

  remind(): Promise<number> {
    return withDatabase(() =>
      this.#database.db.transaction().execute(async (trx) => {
        const { rows } = await sql<{ id: string }>`
          SELECT id FROM approvals a WHERE status = 'pending' AND expires_at > now()
            AND expires_at - least(${this.#beforeMs}::float8 * interval '1 millisecond',
              ${LAST_PART}::float8 * (expires_at - created_at)) <= now()
            AND NOT EXISTS (SELECT 1 FROM approval_events e WHERE e.approval_id = a.id AND e.kind = 'expiring')
          LIMIT ${REMINDED_AT_ONCE} FOR UPDATE SKIP LOCKED`.execute(trx);
        const ids = rows.map(({ id }) => id);
        await this.#recordCancelled(trx);
        return recordEvents(trx, 'expiring', ids, this.#hooks);
      }),
    );
  }

  /** Whoever cancels a call closes its approval, and tells nobody. */
  async #recordCancelled(trx: Transaction<Tables>): Promise<void> {
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM approvals a WHERE status = 'cancelled' AND expires_at > now()
        AND NOT EXISTS (SELECT 1 FROM approval_events e WHERE e.approval_id = a.id AND e.kind = 'decided')
      LIMIT ${REMINDED_AT_ONCE} FOR UPDATE SKIP LOCKED`.execute(trx);
    const ids = rows.map(({ id }) => id);
    await recordEvents(trx, 'decided', ids, this.#hooks);
  }

  /** Messages of hooks that gateway.yaml does not name any more wait until their approval is deleted. */
  async claim(limit: number, leaseMs: number): Promise<readonly DueNotice[]> {
    const urls = new Map(this.#hooks.map(({ name, url }) => [name, url]));
    const rows = await this.#rows(sql<NoticeRow>`
      WITH due AS (
        SELECT id FROM approval_notices
        WHERE status = 'pending' AND next_attempt_at <= now() AND hook = ANY(${[...urls.keys()]}::text[])
        ORDER BY next_attempt_at LIMIT ${limit} FOR UPDATE SKIP LOCKED),
      taken AS (
        UPDATE approval_notices n SET attempts = n.attempts + 1,
          next_attempt_at = now() + ${leaseMs}::float8 * interval '1 millisecond'
        FROM due WHERE n.id = due.id RETURNING n.id, n.hook, n.attempts, n.event_seq)
      SELECT t.id AS notice, t.hook, t.attempts AS attempt, e.seq, e.kind, e.at, ${APPROVAL}
      FROM taken t JOIN approval_events e ON e.seq = t.event_seq JOIN approvals a ON a.id = e.approval_id
      ORDER BY e.seq`);
    return rows.map(({ notice: id, hook, attempt, ...row }) => ({
      ...eventOf(row),
      id,
      hook,
      attempt,
      url: urls.get(hook) ?? '',
    }));
  }

  delivered(id: string, attempt: number): Promise<void> {
    return this.#settle(id, attempt, sql`status = 'delivered', finished_at = now(), last_error = ''`);
  }

  failed(
    id: string,
    attempt: number,
    error: string,
    next: { readonly afterMs: number } | 'give_up',
  ): Promise<void> {
    const then =
      next === 'give_up'
        ? sql`status = 'dead', finished_at = now()`
        : sql`next_attempt_at = now() + ${next.afterMs}::float8 * interval '1 millisecond'`;
    return this.#settle(id, attempt, sql`${then}, last_error = ${storable(error)}`);
  }

  async events(tenantId: string, afterSeq: number, limit: number): Promise<readonly ApprovalEvent[]> {
    const rows = await this.#rows(sql<EventRow>`
      SELECT e.seq, e.kind, e.at, ${APPROVAL}
      FROM approval_events e JOIN approvals a ON a.id = e.approval_id
      WHERE e.tenant_id = ${tenantId} AND e.seq > ${afterSeq} ORDER BY e.seq LIMIT ${limit}`);
    return rows.map(eventOf);
  }

  async lastEvent(tenantId: string): Promise<number> {
    const [row] = await this.#rows(sql<{ seq: number | null }>`
      SELECT max(seq) AS seq FROM approval_events WHERE tenant_id = ${tenantId}`);
    return row?.seq ?? 0;
  }

  /** Only by whoever made the latest attempt. */
  async #settle(id: string, attempt: number, change: RawBuilder<unknown>): Promise<void> {
    await this.#rows(sql`UPDATE approval_notices SET ${change}
      WHERE id = ${id} AND attempts = ${attempt} AND status = 'pending'`);
  }

  #rows<Row>(statement: RawBuilder<Row>): Promise<readonly Row[]> {
    return withDatabase(async () => (await statement.execute(this.#database.db)).rows);
  }
}

function eventOf({ seq, kind, at, ...row }: EventRow): ApprovalEvent {
  return { seq, kind, at, approval: approvalOf(row) };
}
