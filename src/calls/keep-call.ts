// Writes the row of an accepted call, although the database may lose the answer to it.
import { toolFailure } from '../contract/call/failure.ts';
import { isReason } from '../contract/call/reasons/is-reason.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import { AnswerLost } from '../ports/answer-lost.ts';
import type { NewCall } from '../ports/calls/call-store.ts';
import type { Log } from '../ports/telemetry/log.ts';

/** A database that takes longer to fail than this is not asked twice while a caller waits. */
const RETRY_WITHIN_MS = 2_000;

/**
 * The row is kept once, however often `write` is called: what failed after its commit is found to be there. Whatever the
 * second try fails with, the first may have been committed. Gives what `write` does. Throws ToolFailure.
 */
export async function keepCall<Kept>(call: NewCall, write: () => Promise<Kept>, log: Log): Promise<Kept> {
  const askedAt = performance.now();
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof AnswerLost)) throw error;
    if (performance.now() - askedAt > RETRY_WITHIN_MS) throw acceptanceUnknown(call, error);
    log.warn(
      { callId: call.id, err: error.cause },
      'the database did not answer whether it accepted a call: it is asked again',
    );
    return write().catch(() => {
      throw acceptanceUnknown(call, error);
    });
  }
}

/** Of what `keepCall` threw. */
export function isPerhapsKept(error: unknown): boolean {
  return error instanceof ToolFailure && isReason(error, 'ACCEPTANCE_UNKNOWN');
}

/** It may have been committed, and will run then: a caller that asks again without a key may have it run twice. */
function acceptanceUnknown({ idempotent, readOnly }: NewCall, failure: AnswerLost): ToolFailure {
  return toolFailure(
    'ACCEPTANCE_UNKNOWN',
    'The gateway cannot reach its database: whether it has accepted the call is not known.',
    {
      partialSideEffects: true,
      retryable: idempotent || readOnly,
      retryAfterMs: failure.retryAfterMs,
      cause: failure.cause,
    },
  );
}
