// Messages of a worker are read as from anybody: whatever comes, it is one of ours or a ProtocolViolation.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtocolViolation, readBody, readEvent, readMessage, readPrinted, readStep } from './messages.ts';

const LIMITS = { maxMessageBytes: 100 };
const good = { kind: 'returned', id: 'a', body: '1', spoiled: false };

/** What else than a violation reading throws. */
function surpriseOf(read: () => unknown): unknown {
  try {
    read();
    return undefined;
  } catch (error) {
    return error instanceof ProtocolViolation ? undefined : error;
  }
}

describe('readMessage', () => {
  it('takes what the code in the worker sends, and drops the rest', () => {
    expect(readMessage({ ...good, more: 1 }, LIMITS)).toEqual(good);
  });

  it.each([
    [null],
    ['returned'],
    [{ ...good, kind: 'toString' }],
    [{ ...good, id: 7 }],
    [{ ...good, id: 'x'.repeat(65) }],
    [{ ...good, body: { length: 1 } }],
    [{ ...good, body: 'x'.repeat(70_000) }],
    [{ ...good, spoiled: 'no' }],
  ])('refuses %#', (message) => {
    expect(() => readMessage(message, LIMITS)).toThrow(ProtocolViolation);
  });

  it('never throws anything but a violation', () => {
    fc.assert(
      fc.property(fc.anything(), fc.string(), (message, body) => {
        expect(surpriseOf(() => readMessage(message, LIMITS))).toBeUndefined();
        for (const read of [readEvent, readStep, readPrinted, readBody])
          expect(surpriseOf(() => read(body))).toBeUndefined();
      }),
    );
  });
});

describe('readBody', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

  it('reads what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
        expect(JSON.stringify(readBody(JSON.stringify(value)))).toBe(JSON.stringify(value));
      }),
    );
  });

  it('counts levels, and not brackets in strings', () => {
    expect(readBody(nested(64))).toBeDefined();
    expect(readBody(nested(65))).toBeUndefined();
    const text = `\\"${'[{'.repeat(200)}`;
    expect(readBody(JSON.stringify([text]))).toEqual([text]);
  });
});

describe('readEvent', () => {
  it.each([
    [{ kind: 'progress', fraction: 0.5, message: 'half' }],
    [{ kind: 'progress' }],
    [{ kind: 'log', level: 'warn', message: 'm' }],
    [{ kind: 'partial', data: null }],
  ])('takes %j', (event) => {
    expect(readEvent(JSON.stringify(event))).toEqual(event);
  });

  it.each([
    [{ kind: 'progress', fraction: 'half' }],
    [{ kind: 'log', level: 'child', message: 'm' }],
    [{ kind: 'log', level: 'warn', message: 1 }],
    [{ kind: 'partial' }],
    [{ kind: 'returned', data: 1 }],
    [[]],
  ])('refuses %j', (event) => {
    expect(() => readEvent(JSON.stringify(event))).toThrow(ProtocolViolation);
  });
});
