// What every ResultCache must keep, whatever it is made of.
import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ResultCache } from '../../../src/ports/result-cache.ts';

export interface ResultCacheHarness {
  readonly cache: ResultCache;
  /** Lets time pass: at once on a fake clock, really on a store's own. */
  pass(ms: number): Promise<void>;
  close?(): Promise<void>;
}

export interface Bounds {
  readonly maxEntries: number;
  readonly maxBytes: number;
}

const ROOMY: Bounds = { maxEntries: 1_000, maxBytes: 1 << 20 };
/** Long enough not to end by itself in any test. */
const LONG_MS = 60_000;
/** Long enough for a busy machine to look at what has not ended yet. */
const SHORT_MS = 2_000;

export function describeResultCache(
  name: string,
  factory: (bounds: Bounds) => Promise<ResultCacheHarness>,
): void {
  describe(`ResultCache: ${name}`, () => {
    let harness: ResultCacheHarness;
    let cache: ResultCache;

    beforeEach(async () => {
      harness = await factory(ROOMY);
      cache = harness.cache;
      return () => harness.close?.();
    });

    function look(
      key: string,
      token: string,
      changes: { leadMs?: number; staleMs?: number; maxBytes?: number } = {},
    ) {
      return cache.look(key, { token, leadMs: LONG_MS, staleMs: 0, maxBytes: 10_000, ...changes });
    }

    it('tells the first who misses to lead, and the others to look again', async () => {
      expect(await look('k', 'a')).toEqual({ value: undefined, fresh: false, lead: true });
      expect(await look('k', 'b')).toMatchObject({ fresh: false, lead: false });
      expect(await look('k', 'a')).toMatchObject({ fresh: false, lead: true });
      expect(await look('other', 'b')).toMatchObject({ lead: true });
    });

    it('gives what was kept to everybody, and ends the lead', async () => {
      await look('k', 'a');
      await cache.keep('k', 'früh ☕ "\\u0000"', { token: 'a', lifeMs: LONG_MS });
      expect(await look('k', 'b')).toEqual({ value: 'früh ☕ "\\u0000"', fresh: true, lead: false });
    });

    it('lets the next one lead when the leader releases', async () => {
      await look('k', 'a');
      await cache.release('k', 'a');
      expect(await look('k', 'b')).toMatchObject({ lead: true });
    });

    it("does not end another's lead by a wrong token, nor by a value that somebody else kept", async () => {
      await look('k', 'a');
      await cache.release('k', 'b');
      expect(await look('k', 'c')).toMatchObject({ lead: false });
      await cache.keep('k', 'v', { token: 'b', lifeMs: SHORT_MS });
      await harness.pass(1.1 * SHORT_MS);
      expect(await look('k', 'c')).toMatchObject({ lead: false });
    });

    it('lets another lead when the leader is not heard of in time', async () => {
      await look('k', 'a', { leadMs: SHORT_MS });
      expect(await look('k', 'b')).toMatchObject({ lead: false });
      await harness.pass(1.1 * SHORT_MS);
      expect(await look('k', 'b')).toMatchObject({ lead: true });
    });

    it('forgets a value when its life is over', async () => {
      await cache.keep('k', 'v', { token: 'a', lifeMs: SHORT_MS });
      await harness.pass(1.1 * SHORT_MS);
      expect(await look('k', 'a')).toEqual({ value: undefined, fresh: false, lead: true });
    });

    it('gives a value in the last part of its life as stale, with the lead to make a new one', async () => {
      await cache.keep('k', 'v', { token: 'a', lifeMs: 30_000 });
      expect(await look('k', 'b', { staleMs: 27_000 })).toMatchObject({ value: 'v', fresh: true });
      await harness.pass(3_100);
      expect(await look('k', 'b', { staleMs: 27_000 })).toEqual({ value: 'v', fresh: false, lead: true });
      expect(await look('k', 'c', { staleMs: 27_000 })).toEqual({ value: 'v', fresh: false, lead: false });
    });

    it('takes a value that is longer than asked for as none', async () => {
      await cache.keep('k', 'x'.repeat(101), { token: 'a', lifeMs: LONG_MS });
      expect(await look('k', 'a', { maxBytes: 100 })).toEqual({ value: undefined, fresh: false, lead: true });
      expect(await look('k', 'b', { maxBytes: 101 })).toMatchObject({ fresh: true });
    });

    it('replaces a value by a newer one', async () => {
      await cache.keep('k', 'old', { token: 'a', lifeMs: SHORT_MS });
      await cache.keep('k', 'new', { token: 'a', lifeMs: LONG_MS });
      await harness.pass(1.1 * SHORT_MS);
      expect(await look('k', 'a')).toMatchObject({ value: 'new', fresh: true });
    });

    it('tells exactly one of many at once to lead', async () => {
      const looks = await Promise.all(
        Array.from({ length: 50 }, (_each, index) => look('k', `token-${index}`)),
      );
      expect(looks.filter(({ lead }) => lead)).toHaveLength(1);
    });

    it('holds no more entries and no more bytes than its bounds, whatever is kept', async () => {
      const bounds = { maxEntries: 5, maxBytes: 300 };
      const kept = fc.array(
        fc.record({ key: fc.integer({ min: 0, max: 9 }), length: fc.integer({ min: 1, max: 320 }) }),
        { maxLength: 25 },
      );
      await fc.assert(
        fc.asyncProperty(kept, async (steps) => {
          const small = await factory(bounds);
          // The keys of one run are not those of another, and each is two bytes long.
          for (const { key, length } of steps)
            await small.cache.keep(`k${key}`, 'x'.repeat(length), { token: 't', lifeMs: LONG_MS });
          const question = { token: 't', leadMs: 1, staleMs: 0, maxBytes: 10_000 };
          const found: string[] = [];
          for (let key = 0; key < 10; key += 1) {
            const { value } = await small.cache.look(`k${key}`, question);
            if (value !== undefined) found.push(value);
          }
          await small.close?.();
          expect(found.length).toBeLessThanOrEqual(bounds.maxEntries);
          expect(found.reduce((sum, value) => sum + value.length + 2, 0)).toBeLessThanOrEqual(
            bounds.maxBytes,
          );
          // What fits is all there.
          const { size } = new Set(steps.map(({ key }) => key));
          expect(wasOver(steps, bounds) ? size : found.length).toBe(size);
        }),
        { numRuns: 40 },
      );
    });

    it('keeps apart what differs in its key by anything at all', async () => {
      const keys = Array.from({ length: 20 }, () => randomUUID());
      for (const key of keys) await cache.keep(key, `value of ${key}`, { token: 't', lifeMs: LONG_MS });
      for (const key of keys) expect(await look(key, 't')).toMatchObject({ value: `value of ${key}` });
    });
  });
}

/** Whether anything may have been dropped on the way. */
function wasOver(steps: readonly { key: number; length: number }[], bounds: Bounds): boolean {
  const held = new Map<number, number>();
  return steps.some(({ key, length }) => {
    held.set(key, length + 2);
    const bytes = [...held.values()].reduce((sum, each) => sum + each, 0);
    return held.size > bounds.maxEntries || bytes > bounds.maxBytes;
  });
}
