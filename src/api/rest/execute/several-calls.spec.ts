// One idempotency key for several calls: each call's part of it is its own, and never longer than a key may be.
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { CallEnvironment } from './read-call.ts';
import { environmentOfPart } from './several-calls.ts';

const KEY = /^[\x21-\x7e]{1,255}$/;
const partOf = (key: string, part: number) =>
  environmentOfPart({ traced: { idempotencyKey: key } } as CallEnvironment, part).traced.idempotencyKey ?? '';

it('whatever key of 1 to 255 characters there is, each of a hundred calls has a key of its own, the same every time', () => {
  const keys = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 1,
    maxLength: 255,
  });
  fc.assert(
    fc.property(
      fc.oneof(
        keys,
        keys.map((key) => key.padEnd(254, 'x')),
        keys.map((key) => key.padEnd(255, 'x')),
      ),
      (key) => {
        const parts = Array.from({ length: 100 }, (_, index) => partOf(key, index));
        expect(new Set(parts).size).toBe(100);
        for (const part of parts) expect(part).toMatch(KEY);
        expect(partOf(key, 7)).toBe(parts[7]);
      },
    ),
  );
});

it('two long keys that differ at their end have parts that differ', () => {
  const [one, other] = [`${'k'.repeat(254)}1`, `${'k'.repeat(254)}2`];
  expect(partOf(one, 0)).not.toBe(partOf(other, 0));
});

it.each(['k'.repeat(256), `${'k'.repeat(253)} x`])('what is no key stays none: %s', (key) => {
  expect(partOf(key, 0)).not.toMatch(KEY);
});
