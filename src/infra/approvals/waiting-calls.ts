// SqlWaitingCalls: WaitingCalls as rows; and what a decision makes of such a call, in the transaction that decides.
import { sql, type Kysely } from 'kysely';
import { toolFailure } from '../../contract/call/failure.ts';
import type { Approval, NewApproval } from '../../ports/approvals/approval-store.ts';
import type { NewCall } from '../../ports/calls/call-store.ts';
import type { WaitingCalls } from '../../ports/calls/waiting-calls.ts';
import { appendCallEvents } from '../calls/call-operations.ts';
import { fromNow, insertCalls, LAST_RANK_OF_CLASS } from '../calls/call-rows.ts';
import { ENDED, RECORD_ENDS } from '../calls/record-ends.ts';
import type { Database } from '../postgres/database.ts';
import { withDatabase } from '../postgres/database-failures.ts';
import type { Tables } from '../postgres/tables.ts';
import { endOf, insertApproval, type SqlApprovalLimits } from './approval-rows.ts';

type Db = Kysely<Tables>;

const FULL_RETRY_AFTER_MS = 5_000;

export class SqlWaitingCalls implements WaitingCalls {
  readonly #database: Pick<Database, 'db'>;
  readonly #limits: SqlApprovalLimits;

  constructor(database: Pick<Database, 'db'>, limits: SqlApprovalLimits) {
    this.#database = database;
    this.#limits = limits;
  }

  keep(call: NewCall, asked: NewApproval, maxQueued: number): Promise<number> {
    return withDatabase(() =>
      this.#database.db.transaction().execute(async (trx) => {
        const { id } = asked;
        const { rows } = await sql<{ ends: Date; is_kept: boolean }>`
          SELECT coalesce((SELECT expires_at FROM approvals WHERE id = ${id}), ${endOf(asked)}) AS ends,
            EXISTS (SELECT FROM calls WHERE id = ${call.id}) AS is_kept`.execute(trx);
        const [found] = rows;
        if (found === undefined) throw new Error('a SELECT of one row gave none');
        const endsAt = found.ends.getTime();
        if (found.is_kept) return endsAt;
        const approval = { id, expires_at: found.ends.toISOString() };
        const written = await insertCalls(trx, [{ call, maxQueued, approval }]);
        if (!written.has(call.id)) throw queueFull();
        await insertApproval(trx, asked, this.#limits, call.id);
        const data = { status: 'waiting_approval', approval_id: id, expires_at: approval.expires_at };
        await appendCallEvents(trx, call.id, [{ seq: 1, kind: 'status', data }]);
        return endsAt;
      }),
    );
  }
}

function queueFull() {
  return toolFailure('ASYNC_QUEUE_FULL', 'Too many calls of this tenant wait to be run already.', {
    retryAfterMs: FULL_RETRY_AFTER_MS,
  });
}

/**
 * The call goes to the end of its tenant's queue, as one that comes in now; `maxWaitMs` counts from here. False: it does not
 * wait any more.
 */
export async function queueApproved(trx: Db, { callId, id }: Approval, maxWaitMs: number): Promise<boolean> {
  if (callId === undefined) return false;
  const { rows } = await sql`
    UPDATE calls c SET status = 'queued', deadline_at = ${fromNow(maxWaitMs)}, queue_rank = least(
      (queue_rank - 1) / ${LAST_RANK_OF_CLASS}::int * ${LAST_RANK_OF_CLASS}::int + 1 + (SELECT count(*) FROM calls w
        WHERE w.status = 'queued' AND w.kind <> 'sync' AND w.tenant_id = c.tenant_id),
      ((queue_rank - 1) / ${LAST_RANK_OF_CLASS}::int + 1) * ${LAST_RANK_OF_CLASS}::int)
    WHERE c.id = ${callId} AND c.status = 'waiting_approval' RETURNING c.id`.execute(trx);
  if (rows.length === 0) return false;
  const data = { status: 'queued', approval_id: id };
  await appendCallEvents(trx, callId, [{ seq: 2, kind: 'status', data }]);
  return true;
}

/** With its audit record. What the approver wrote is kept for the caller. */
export async function endRejected(trx: Db, { callId, comment }: Approval): Promise<void> {
  if (callId === undefined) return;
  const said = comment === undefined ? {} : { comment };
  await sql`WITH ended AS (
    UPDATE calls c SET status = 'failed', error_type = 'PERMISSION_DENIED', reason = 'APPROVAL_REJECTED', finished_at = now(),
      notes = jsonb_set(coalesce(notes, '{}'), '{approval}', coalesce(notes -> 'approval', '{}') || ${JSON.stringify(said)}::jsonb)
    WHERE id = ${callId} AND status = 'waiting_approval' RETURNING ${ENDED}),
    ${RECORD_ENDS} SELECT id FROM ended`.execute(trx);
}
