// What calls of an erased user were answered is kept for their idempotency keys as well: the answer goes, and the key stays taken.
import { sql, type Transaction } from 'kysely';
import type { StoredOutcome } from '../../../ports/idempotency-store.ts';
import type { Tables } from '../../postgres/tables.ts';

/** What whoever repeats the key hears from then on: a free key would run the call a second time. */
const ERASED: StoredOutcome = {
  ok: false,
  error: {
    type: 'PERMANENT',
    message:
      'What the call with this idempotency key was answered has been erased with the data of its user.',
    retryable: false,
    partialSideEffects: true,
    origin: 'gateway',
    reason: 'OUTCOME_ERASED',
    retryAfterMs: null,
    details: {},
  },
};

/** The key, the caller and the arguments stand there as hashes or as the caller's own word for the call. */
export async function eraseOutcomes(
  trx: Transaction<Tables>,
  tenantId: string,
  callIds: readonly string[],
): Promise<void> {
  await sql`UPDATE idempotency_keys SET outcome = ${JSON.stringify(ERASED)}
    WHERE tenant_id = ${tenantId} AND call_id = ANY(${[...new Set(callIds)]}::text[]) AND status = 'ended'`.execute(
    trx,
  );
}
