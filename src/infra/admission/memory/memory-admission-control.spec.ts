// Specs of MemoryAdmissionControl beyond the port's suite: exact times, any history against a model, bounded memory.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FakeClock, settled } from '../../../../test/helpers/fake-clock.ts';
import type { Admission, AdmissionRequest, LeaseRule, RateRule } from '../../../ports/admission-control.ts';
import { MemoryAdmissionControl } from './memory-admission-control.ts';

const NEVER = new AbortController().signal;

describe('MemoryAdmissionControl', () => {
  it('tells who finds the queue full when those before it will have been served, at the usual pace', async () => {
    const { ask, clock } = setUp();
    const two: LeaseRule = { key: 'k', limit: 2, maxQueue: 1, maxWaitMs: 60_000 };
    const first = await ask({ leases: [two] });
    await ask({ leases: [two] });
    void ask({ leases: [two] });
    expect(await ask({ leases: [two] })).toMatchObject({ refusedBy: 'concurrency', retryAfterMs: 1000 });
    await clock.advance(300);
    release(first);
    void ask({ leases: [two] });
    expect(await ask({ leases: [two] })).toMatchObject({ refusedBy: 'concurrency', retryAfterMs: 300 });
  });

  it('tells exactly how long a granted call waited', async () => {
    const { ask, clock } = setUp();
    const one: LeaseRule = { key: 'k', limit: 1, maxQueue: 1, maxWaitMs: 1000 };
    const holder = await ask({ leases: [one] });
    const waiting = ask({ leases: [one] });
    await clock.advance(417);
    release(holder);
    expect(await waiting).toMatchObject({ granted: true, waitedMs: 417 });
  });

  it('gives up on the shortest wait of the leases that are full, not of those that are free', async () => {
    const { ask, clock } = setUp();
    const free: LeaseRule = { key: 'free', limit: 1, maxQueue: 0, maxWaitMs: 0 };
    const full: LeaseRule = { key: 'full', limit: 1, maxQueue: 5, maxWaitMs: 200 };
    await ask({ leases: [full] });
    const waiting = watch(ask({ leases: [free, full] }));
    await clock.advance(199);
    expect(waiting.outcome).toBe('waiting');
    await clock.advance(1);
    expect(waiting.admission).toMatchObject({ granted: false, rule: 'full' });
  });

  it('applies a limit raised by a reload to those who wait already, before the newcomer', async () => {
    const { ask } = setUp();
    const of = (limit: number): LeaseRule => ({ key: 'k', limit, maxQueue: 5, maxWaitMs: 1000 });
    await ask({ leases: [of(1)] });
    const waiting = watch(ask({ leases: [of(1)] }));
    const newcomer = watch(ask({ leases: [of(2)] }));
    await settled();
    expect([waiting.outcome, newcomer.outcome]).toEqual(['granted', 'waiting']);
  });

  it('rejects a request that counts one key twice: that is a mistake, not a limit', async () => {
    const { ask } = setUp();
    const rule: RateRule = { key: 'k', name: 'n', rate: 1, periodMs: 1000, burst: 5 };
    await expect(ask({ rates: [rule, rule] })).rejects.toThrow('"k" only once');
  });

  it('keeps nothing of calls that have ended, and leaves no timer behind', async () => {
    const { ask, clock, control } = setUp();
    const controller = new AbortController();
    for (let call = 0; call < 200; call += 1) {
      const leases = [{ key: `k${call % 7}`, limit: 1, maxQueue: 1, maxWaitMs: 50 }];
      const rates = [{ key: `r${call}`, name: 'n', rate: 100, periodMs: 1000, burst: 1 }];
      const signal = call % 3 === 0 ? controller.signal : NEVER;
      ask({ leases, rates }, signal).then(release, () => undefined);
      await clock.advance(call % 11);
    }
    controller.abort();
    await clock.advance(1000);
    expect(control.entries).toMatchObject({ leaseKeys: 0, calls: 0 });
    expect(control.entries.rateKeys).toBeLessThan(20);
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps every promise under any history of calls', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 1, maxLength: 60 }), async (steps) => {
        const world = new World();
        for (const step of steps) {
          await world.take(step);
          expect(world.brokenPromises()).toEqual([]);
        }
        await world.giveAllBack();
        expect(world.leftovers()).toEqual({ waiting: [], leaseKeys: 0, calls: 0, timers: 0 });
      }),
      { numRuns: 300 },
    );
  });
});

function setUp() {
  const clock = new FakeClock();
  const control = new MemoryAdmissionControl(clock);
  let calls = 0;
  const ask = (changes: Partial<AdmissionRequest>, signal = NEVER): Promise<Admission> => {
    calls += 1;
    return control.admit(
      { callId: `call-${calls}`, fairnessKey: 'a', rates: [], leases: [], ...changes },
      signal,
    );
  };
  return { clock, control, ask };
}

function release(admission: Admission): void {
  if (admission.granted) admission.release();
}

interface Watched {
  outcome: 'waiting' | 'granted' | 'refused' | 'rejected';
  admission: Admission | undefined;
}

function watch(asked: Promise<Admission>): Watched {
  const watched: Watched = { outcome: 'waiting', admission: undefined };
  asked.then(
    (admission) => {
      watched.outcome = admission.granted ? 'granted' : 'refused';
      watched.admission = admission;
    },
    () => {
      watched.outcome = 'rejected';
    },
  );
  return watched;
}

function isRefused(admission: Admission | undefined, by: 'rate' | 'concurrency'): boolean {
  return admission?.granted === false && admission.refusedBy === by;
}

type Step =
  | { readonly do: 'ask'; readonly keys: readonly string[]; readonly rated: boolean; readonly tenant: string }
  | { readonly do: 'release' | 'abort'; readonly pick: number }
  | { readonly do: 'pass'; readonly ms: number };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      keys: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
      rated: fc.boolean(),
      tenant: fc.constantFrom('x', 'y', 'z'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'abort' as const), pick: fc.nat(100) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 120 }) }),
  },
);

const LIMITS: Record<string, number> = { a: 1, b: 2, c: 3 };
const MAX_QUEUE = 3;
const MAX_WAIT_MS = 300;
const RATE: RateRule = { key: 'rate', name: 'rate', rate: 10, periodMs: 1000, burst: 4 };

interface Asked {
  readonly keys: readonly string[];
  readonly rated: boolean;
  readonly at: number;
  /** On arrival there was a slot for it under every key. */
  readonly hadCapacity: boolean;
  readonly watched: Watched;
  readonly controller: AbortController;
  released: boolean;
}

/** Runs steps against the control and works out from the answers alone whether it keeps its word. */
class World {
  readonly #clock = new FakeClock();
  readonly #control = new MemoryAdmissionControl(this.#clock);
  readonly #calls: Asked[] = [];

  async take(step: Step): Promise<void> {
    if (step.do === 'ask') this.#ask(step);
    if (step.do === 'pass') await this.#clock.advance(step.ms);
    if (step.do === 'release') this.#release(step.pick);
    if (step.do === 'abort') this.#pick('waiting', step.pick)?.controller.abort();
    await settled();
  }

  brokenPromises(): string[] {
    const keys = Object.keys(LIMITS);
    const full = (key: string) => this.#inUse(key) >= (LIMITS[key] ?? 0);
    const waiting = this.#in('waiting');
    const rated = this.#calls.filter((call) => call.rated && call.watched.admission?.granted === true);
    const sinceStart = this.#clock.now() - (this.#calls[0]?.at ?? this.#clock.now());
    const promises: Record<string, boolean> = {
      'no more inside than the limit': keys.every((key) => this.#inUse(key) <= (LIMITS[key] ?? 0)),
      'nobody waits while its slots are free': waiting.every((call) => call.keys.some(full)),
      'nobody waits longer than it may': waiting.every((call) => this.#clock.now() - call.at < MAX_WAIT_MS),
      'nobody with a slot free on arrival is turned away for lack of one': this.#calls.every(
        (call) => !(call.hadCapacity && isRefused(call.watched.admission, 'concurrency')),
      ),
      'no more calls than the rate': rated.length <= RATE.burst + (sinceStart * RATE.rate) / RATE.periodMs,
    };
    return Object.keys(promises).filter((promise) => !promises[promise]);
  }

  async giveAllBack(): Promise<void> {
    while (this.#in('granted').length > 0) {
      this.#release(0);
      await settled();
    }
  }

  leftovers() {
    const { leaseKeys, calls } = this.#control.entries;
    return { waiting: this.#in('waiting'), leaseKeys, calls, timers: this.#clock.pendingTimers };
  }

  #ask({ keys, rated, tenant }: Step & { do: 'ask' }): void {
    const leases = keys.map((key) => ({
      key,
      limit: LIMITS[key] ?? 0,
      maxQueue: MAX_QUEUE,
      maxWaitMs: MAX_WAIT_MS,
    }));
    const controller = new AbortController();
    const request = {
      callId: `${this.#calls.length}`,
      fairnessKey: tenant,
      rates: rated ? [RATE] : [],
      leases,
    };
    const watched = watch(this.#control.admit(request, controller.signal));
    const hadCapacity = keys.every((key) => this.#inUse(key) < (LIMITS[key] ?? 0));
    this.#calls.push({
      keys,
      rated,
      at: this.#clock.now(),
      hadCapacity,
      watched,
      controller,
      released: false,
    });
  }

  #release(pick: number): void {
    const call = this.#pick('granted', pick);
    if (call?.watched.admission?.granted !== true) return;
    call.released = true;
    call.watched.admission.release();
    call.watched.admission.release();
  }

  #pick(outcome: 'waiting' | 'granted', pick: number): Asked | undefined {
    const calls = this.#in(outcome);
    return calls[pick % Math.max(1, calls.length)];
  }

  #in(outcome: 'waiting' | 'granted'): Asked[] {
    return this.#calls.filter((call) => call.watched.outcome === outcome && !call.released);
  }

  #inUse(key: string): number {
    return this.#in('granted').filter((call) => call.keys.includes(key)).length;
  }
}
