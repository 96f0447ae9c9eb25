// Why something cannot be done with a call that runs later.
import type { Reason } from '../contract/call/reasons/reasons.ts';
import { toolFailure } from '../contract/call/failure.ts';
import type { ToolFailure } from '../contract/call/tool-failure.ts';
import type { RetryOutcome } from '../ports/calls/call-store.ts';

const NOT_RETRIED: Readonly<
  Record<Exclude<RetryOutcome, 'queued'>, readonly [reason: Reason, message: string]>
> = {
  not_ended: ['RETRY_NOT_ENDED', 'This call has not ended yet.'],
  succeeded: ['RETRY_SUCCEEDED', 'This call has succeeded: there is nothing to do again.'],
  not_async: ['RETRY_NOT_ASYNC', 'This call was not an asynchronous one: its arguments were not kept.'],
  unsafe: [
    'RETRY_UNSAFE',
    'This call may have acted, and its tool is not idempotent: say "force": true to run it all the same.',
  ],
};

export function notRetried(outcome: Exclude<RetryOutcome, 'queued'>): ToolFailure {
  const [reason, message] = NOT_RETRIED[outcome];
  return toolFailure(reason, message);
}

export function notFound(): ToolFailure {
  return toolFailure('CALL_NOT_FOUND', 'There is no call of this id.');
}

export function tooManyFollowers(): ToolFailure {
  return toolFailure('TOO_MANY_FOLLOWERS', 'Too many follow calls on this replica already.', {
    retryAfterMs: 5_000,
  });
}

/** `refusal`: the end of a sentence. */
export function callbackNotAllowed(refusal: string): ToolFailure {
  return toolFailure('CALLBACK_NOT_ALLOWED', `/callback/url ${refusal}.`, {
    details: { violations: [{ pointer: '/callback/url', message: refusal }] },
  });
}
