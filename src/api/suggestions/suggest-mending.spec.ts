// Which failures are worth a suggestion, and that each kind of failure has one.
import { expect, it } from 'vitest';
import { ERROR_TYPES } from '../../contract/call/error-types.ts';
import type { FailureCount } from '../../ports/calls/call-analytics.ts';
import { suggestMending } from './suggest-mending.ts';

const failure = (changes: Partial<FailureCount> = {}): FailureCount => ({
  tool: 'pay',
  errorType: 'TIMEOUT',
  reason: 'TIMEOUT',
  calls: 5,
  lastAt: new Date(0),
  ...changes,
});
const COUNTS = { succeeded: 0, failed: 0, unapproved: 0, ran: 0, cost: 0, lastAt: null };
const TIMES = { meanMs: null, p50Ms: null, p95Ms: null, p99Ms: null, maxMs: null };
const ofCalls = (calls: number) => [{ tool: 'pay', calls, ...COUNTS, ...TIMES }];
const mending = (failures: readonly FailureCount[], calls = 10) =>
  suggestMending({ byTool: ofCalls(calls), failures }, (tool) => tool === 'pay');

it('says how many of how many calls failed, with what, and what mends it', () => {
  expect(mending([failure()])).toEqual([
    {
      kind: 'mend',
      tools: ['pay'],
      sessions: 0,
      calls: 5,
      share: 0.5,
      errorType: 'TIMEOUT',
      reason: 'TIMEOUT',
      text: '5 of 10 calls of pay failed with TIMEOUT: make it faster, raise `timeout_ms`, or have it called for later (`Prefer: respond-async`).',
    },
  ]);
});

it.each([
  ['less than three calls', [failure({ calls: 2 })], 10],
  ['less than a tenth of the calls', [failure()], 51],
  ['a name that is no tool', [failure({ tool: '' })], 10],
  ['a tool that who asks is not shown', [failure({ tool: 'other' })], 10],
  ['calls that their callers cancelled', [failure({ errorType: 'CANCELLED' })], 10],
])('%s are no suggestion', (_, failures, calls) => {
  expect(mending(failures, calls)).toEqual([]);
});

it.each(
  Object.keys(ERROR_TYPES).filter(
    (type) => !['CANCELLED', 'CONFIRMATION_REQUIRED', 'SESSION_INACTIVE', 'PAYLOAD_TOO_LARGE'].includes(type),
  ),
)('%s has advice of its own', (errorType) => {
  const [found] = mending([failure({ errorType })]);
  expect(found?.text).toContain(`failed with ${errorType}: `);
  expect(found?.text).not.toMatch(/: look at the log of one of its calls\.$/);
});
