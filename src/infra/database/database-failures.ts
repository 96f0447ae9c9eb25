// What a caller hears when the gateway's own database fails: that it is away, never what it said.
import { ToolFailure } from '../../contract/tool-failure.ts';

const RETRY_AFTER_MS = 1_000;

/** Runs a statement of the gateway's own; a failure becomes UNAVAILABLE (DATABASE_UNAVAILABLE), its cause kept for the log. */
export async function withDatabase<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolFailure) throw error;
    throw new ToolFailure('UNAVAILABLE', 'The gateway cannot reach its records now.', {
      reason: 'DATABASE_UNAVAILABLE',
      retryAfterMs: RETRY_AFTER_MS,
      cause: error,
    });
  }
}
