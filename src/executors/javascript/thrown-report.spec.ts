// What a handler threw in a worker becomes the failure that it would have become inside the gateway.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../contract/json.ts';
import { NOTHING_TO_SCRUB } from '../../lib/secrets/scrub-secrets.ts';
import { failureOfThrown } from './read-outcome.ts';
import { failureOfReport, reportOf, wordsOf } from './thrown-report.ts';

const throughReport = (thrown: unknown) =>
  failureOfReport(JSON.parse(reportOf(thrown)) as JsonValue, NOTHING_TO_SCRUB);

function summaryOf(failure: ReturnType<typeof failureOfThrown>) {
  const { type, reason, message, origin, retryable, retryAfterMs, partialSideEffects, details } = failure;
  return { type, reason, message, origin, retryable, retryAfterMs, partialSideEffects, details };
}

describe('a report', () => {
  it.each([
    [new TypeError('x is not a function')],
    [Object.assign(new Error('Wait.'), { type: 'RATE_LIMIT', retryAfterMs: 9, partialSideEffects: false })],
    [Object.assign(new Error('Odd.'), { type: 'OUT_OF_STOCK' })],
    [{ type: 'CONFLICT', message: 'Taken.', retryable: true, reason: 'SLOT', details: { slot: 3 } }],
    ['a string'],
    [undefined],
    [null],
    [7],
    [{ message: 'no error' }],
  ])('gives the failure that the thrown thing gives: %o', (thrown) => {
    expect(summaryOf(throughReport(thrown))).toEqual(summaryOf(failureOfThrown(thrown, NOTHING_TO_SCRUB)));
  });

  it('holds for anything that is thrown', () => {
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        expect(throughReport(thrown).origin).toBe('tool');
      }),
    );
  });

  it('is made of traps, too', () => {
    const trap = new Proxy({}, { get: () => { throw new Error('trap'); } }); // oxfmt-ignore
    expect(throughReport(trap)).toMatchObject({ type: 'PERMANENT', reason: 'EXCEPTION' });
  });

  it('tells the log the stack', () => {
    expect(wordsOf(JSON.parse(reportOf(new Error('boom'))) as JsonValue)).toMatch(/^Error: boom\n\s+at /);
    expect(wordsOf(undefined)).toBe('something that cannot be read');
  });
});
