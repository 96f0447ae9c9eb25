// Specs of LoadShedder.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { CallPriority } from '../../contract/tool/tool-spec.ts';
import { LoadShedder } from './load-shedder.ts';

function shedderWith(maxInflightCalls = 100) {
  const clock = new FakeClock();
  const log = recordingLog();
  const metrics = recordingMetrics();
  let lagMs = 0;
  const shedder = new LoadShedder(
    { maxInflightCalls, shedAtLagMs: 200 },
    { lag: { p99Ms: () => lagMs }, clock, random: () => 0.5, log, metrics },
  );
  const refused = (inFlight: number, priority?: CallPriority): boolean => {
    try {
      shedder.check(inFlight, priority);
      return false;
    } catch {
      return true;
    }
  };
  return { shedder, clock, log, metrics, refused, setLag: (ms: number) => void (lagMs = ms) };
}

describe('LoadShedder', () => {
  it.each<[CallPriority | undefined, number]>([
    ['low', 60],
    ['normal', 80],
    [undefined, 80],
    ['high', 100],
  ])('keeps calls of priority %s within %d of 100 slots', (priority, slots) => {
    const { refused } = shedderWith();
    expect(refused(slots, priority)).toBe(false);
    expect(refused(slots + 1, priority)).toBe(true);
  });

  it('refuses the low at the lag limit, the normal at twice of it, the high not for lag', () => {
    const { refused, setLag } = shedderWith();
    const all = () => (['low', 'normal', 'high'] as const).map((priority) => refused(1, priority));
    setLag(200);
    expect(all()).toEqual([false, false, false]);
    setLag(201);
    expect(all()).toEqual([true, false, false]);
    setLag(401);
    expect(all()).toEqual([true, true, false]);
    setLag(0);
    expect(all()).toEqual([false, false, false]);
  });

  it('says when to come back, counts each refusal, and logs once in a while', () => {
    const { shedder, clock, metrics, log, refused } = shedderWith();
    expect(() => shedder.check(81)).toThrow(
      expect.objectContaining({
        type: 'UNAVAILABLE',
        reason: 'OVERLOADED',
        retryable: true,
        retryAfterMs: 1_500,
      }),
    );
    refused(61, 'low');
    refused(81);
    expect(metrics.values.get('ute_shed_calls_total{normal}')).toBe(2);
    expect(metrics.values.get('ute_shed_calls_total{low}')).toBe(1);
    expect(log.lines).toHaveLength(1);
    clock.jumpTo(clock.now() + 10_000);
    refused(81);
    expect(log.lines).toHaveLength(2);
  });

  it('never refuses a call where it lets a less important one through', () => {
    const order: readonly CallPriority[] = ['low', 'normal', 'high'];
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(400), fc.nat(1_000), (limit, inFlight, lagMs) => {
        const { refused, setLag } = shedderWith(limit);
        setLag(lagMs);
        const [low, normal, high] = order.map((priority) => refused(inFlight, priority));
        expect(high && !normal).toBe(false);
        expect(normal && !low).toBe(false);
        expect(high).toBe(inFlight > limit);
      }),
    );
  });
});
