// What a pool answers when it cannot take a call. Nothing has happened then.
import { toolFailure } from '../../../contract/call/failure.ts';
import type { PoolFailures } from '../../../lib/worker-pool/pool-options.ts';

const QUEUE_FULL_RETRY_MS = 500;

export const POOL_FAILURES: PoolFailures = {
  queueFull: () =>
    toolFailure('QUEUE_FULL', 'Too many calls are waiting for a Python worker.', {
      retryable: true,
      retryAfterMs: QUEUE_FULL_RETRY_MS,
      partialSideEffects: false,
    }),
  cannotStart: (retryAfterMs, cause) =>
    toolFailure('WORKER_START_FAILED', 'No Python worker can be started at the moment.', {
      retryAfterMs,
      partialSideEffects: false,
      cause,
    }),
  closed: () =>
    toolFailure('EXECUTOR_CLOSED', 'The Python executor is closed.', { partialSideEffects: false }),
};
