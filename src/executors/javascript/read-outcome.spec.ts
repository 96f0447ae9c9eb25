// What a handler gives back or throws: plain data, the envelope, and errors in every shape.
import { describe, expect, it } from 'vitest';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { NOTHING_TO_SCRUB } from '../../lib/secrets/scrub-secrets.ts';
import { failureOfThrown, readReturned } from './read-outcome.ts';

function refusalOf(returned: unknown): unknown {
  try {
    return readReturned(returned, NOTHING_TO_SCRUB);
  } catch (error) {
    return error;
  }
}

describe('what a handler returned', () => {
  it.each([[null], [0], ['text'], [[1]], [{ a: 1 }], [{ ok: 'yes', a: 1 }]])('%j is the data', (returned) => {
    expect(readReturned(returned, NOTHING_TO_SCRUB)).toEqual({ data: returned });
  });

  it('is null when it is nothing', () => {
    expect(readReturned(undefined, NOTHING_TO_SCRUB)).toEqual({ data: null });
  });

  it('is unwrapped when it is an envelope', () => {
    const intents = [{ type: 'END_VOICE_SESSION' }, { type: 'MY_OWN', n: 1 }];
    expect(readReturned({ ok: true, data: 1, intents, meta: { x: 1 } }, NOTHING_TO_SCRUB)).toEqual({
      data: 1,
      intents,
    });
    expect(readReturned({ ok: true }, NOTHING_TO_SCRUB)).toEqual({ data: null });
  });

  it('is refused when it looks like an envelope and holds more: the rest would be lost', () => {
    expect(refusalOf({ ok: true, value: 3 })).toMatchObject({
      type: 'OUTPUT_INVALID',
      reason: 'ENVELOPE_INVALID',
    });
  });

  it.each([
    [{ type: 'END' }],
    [['END']],
    [[{}]],
    [[{ type: 'end' }]],
    [[{ type: 7 }]],
    [[null]],
    [Array.from({ length: 33 }, () => ({ type: 'X' }))],
    [[{ type: 'X', big: 1n }]],
  ])('is refused with the intents %#', (intents) => {
    expect(refusalOf({ ok: true, data: 1, intents })).toMatchObject({
      type: 'OUTPUT_INVALID',
      reason: 'INTENTS_INVALID',
    });
  });

  it('keeps the type, words and judgement of an error of the closed list', () => {
    const error = {
      type: 'CONFLICT',
      message: 'Taken.',
      retryable: true,
      partial_side_effects: false,
      retry_after_ms: 50,
      reason: 'SLOT_TAKEN',
      details: { slot: 3 },
    };
    const failure = refusalOf({ ok: false, error });
    expect(failure).toBeInstanceOf(ToolFailure);
    expect(failure).toMatchObject({
      type: 'CONFLICT',
      message: 'Taken.',
      origin: 'tool',
      retryable: true,
      partialSideEffects: false,
      retryAfterMs: 50,
      reason: 'SLOT_TAKEN',
      details: { slot: 3 },
    });
    expect(refusalOf({ ok: false, error: { ...error, partialSideEffects: true } })).toMatchObject({
      partialSideEffects: true,
    });
  });

  it('makes an unknown error type PERMANENT, with that type as the reason', () => {
    expect(refusalOf({ ok: false, error: { type: 'OUT_OF_STOCK', message: 'None left.' } })).toMatchObject({
      type: 'PERMANENT',
      reason: 'OUT_OF_STOCK',
      message: 'None left.',
      retryable: false,
    });
  });

  it.each([undefined, null, 'no', {}])('is PERMANENT when it failed with the error %j', (error) => {
    expect(refusalOf({ ok: false, error })).toMatchObject({ type: 'PERMANENT', origin: 'tool' });
  });
});

describe('what a handler threw', () => {
  it('is PERMANENT, EXCEPTION, and what it said goes to the log alone', () => {
    const thrown = new TypeError('no row for pin 7001');
    expect(failureOfThrown(thrown, NOTHING_TO_SCRUB)).toMatchObject({
      type: 'PERMANENT',
      reason: 'EXCEPTION',
      origin: 'tool',
      message: expect.not.stringMatching(/TypeError|7001/) as string,
      cause: thrown,
      partialSideEffects: undefined,
    });
  });

  it('has its message cut at 500 characters, where callers may read it', () => {
    const thrown = Object.assign(new Error('x'.repeat(10_000)), { type: 'CONFLICT' });
    expect(failureOfThrown(thrown, NOTHING_TO_SCRUB).message).toHaveLength(500);
  });

  it('keeps its type when it names one of the closed list', () => {
    const thrown = Object.assign(new Error('Wait.'), {
      type: 'RATE_LIMIT',
      retryAfterMs: 9,
      partialSideEffects: false,
    });
    expect(failureOfThrown(thrown, NOTHING_TO_SCRUB)).toMatchObject({
      type: 'RATE_LIMIT',
      message: 'Wait.',
      origin: 'tool',
      retryable: true,
      retryAfterMs: 9,
      partialSideEffects: false,
    });
  });

  it.each([['a string'], [undefined], [{ type: 'toString', message: 'x' }]])(
    'may be anything: %j',
    (thrown) => {
      expect(failureOfThrown(thrown, NOTHING_TO_SCRUB)).toMatchObject({
        type: 'PERMANENT',
        reason: 'EXCEPTION',
      });
    },
  );
});
