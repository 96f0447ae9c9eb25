// Why something cannot be done with a call that runs later.
import { toolFailure } from '../contract/call/failure.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { RetryOutcome } from '../ports/calls/call-store.ts';

const NOT_RETRIED: Readonly<Record<Exclude<RetryOutcome, 'queued'>, string>> = {
  not_ended: 'This call has not ended yet.',
  succeeded: 'This call has succeeded: there is nothing to do again.',
  not_async: 'This call was not an asynchronous one: its arguments were not kept.',
  unsafe:
    'This call may have acted, and its tool is not idempotent: say "force": true to run it all the same.',
};

export function notRetried(outcome: Exclude<RetryOutcome, 'queued'>): ToolFailure {
  return new ToolFailure('CONFLICT', NOT_RETRIED[outcome], { reason: `RETRY_${outcome.toUpperCase()}` });
}

export function notFound(): ToolFailure {
  return toolFailure('CALL_NOT_FOUND', 'There is no call of this id.');
}

export function tooManyFollowers(): ToolFailure {
  return toolFailure('TOO_MANY_FOLLOWERS', 'Too many follow calls on this replica already.', {
    retryAfterMs: 5_000,
  });
}
