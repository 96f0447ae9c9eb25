// What a pool answers when it cannot take a call. Nothing has happened then.
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { PoolFailures } from '../../../lib/worker-pool/pool-options.ts';

const QUEUE_FULL_RETRY_MS = 500;

export const POOL_FAILURES: PoolFailures = {
  queueFull: () =>
    new ToolFailure('UNAVAILABLE', 'Too many calls are waiting for a Python worker.', {
      reason: 'QUEUE_FULL',
      retryable: true,
      retryAfterMs: QUEUE_FULL_RETRY_MS,
      partialSideEffects: false,
    }),
  cannotStart: (retryAfterMs, cause) =>
    new ToolFailure('UNAVAILABLE', 'No Python worker can be started at the moment.', {
      reason: 'WORKER_START_FAILED',
      retryAfterMs,
      partialSideEffects: false,
      cause,
    }),
  closed: () =>
    new ToolFailure('UNAVAILABLE', 'The Python executor is closed.', {
      reason: 'EXECUTOR_CLOSED',
      partialSideEffects: false,
    }),
};
