// What a caller hears when the gateway's own database fails: that it is away or has no room, never what it said.
import { DatabaseError } from 'pg';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { isDiskFull } from '../../lib/files/disk-full.ts';
import { AnswerLost } from '../../ports/answer-lost.ts';
import { NotConnected } from './not-connected.ts';

const RETRY_AFTER_MS = 1_000;
/** SQLSTATE of a connection that ends (08, 57P), and of a commit of which the server itself does not know (40003). */
const ENDS_THE_CONNECTION = /^(08|57P|40003)/;

/**
 * Runs a statement of the gateway's own; a failure becomes UNAVAILABLE (DATABASE_UNAVAILABLE), its cause kept for the
 * log. AnswerLost where the statement may have been carried out all the same.
 */
export async function withDatabase<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolFailure) throw error;
    const Failure = isSurelyNotDone(error) ? ToolFailure : AnswerLost;
    throw new Failure('UNAVAILABLE', unavailableMessage(error), {
      reason: 'DATABASE_UNAVAILABLE',
      retryAfterMs: RETRY_AFTER_MS,
      cause: error,
    });
  }
}

export function unavailableMessage(cause: unknown): string {
  return isDiskFull(cause)
    ? "The disk of the gateway's database is full: it stores nothing now."
    : 'The gateway cannot reach its database now.';
}

/** Nothing was sent, or the server has answered that it failed. */
function isSurelyNotDone(error: unknown): boolean {
  if (error instanceof NotConnected) return true;
  return error instanceof DatabaseError && !ENDS_THE_CONNECTION.test(error.code ?? '');
}
