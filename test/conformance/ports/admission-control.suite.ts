// What every AdmissionControl must keep, whatever it is made of. Times are tolerant: a twin may have a clock of its own.
import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type {
  Admission,
  AdmissionControl,
  AdmissionRequest,
  BudgetRule,
  LeaseRule,
  RateRule,
} from '../../../src/ports/admission-control.ts';

export interface AdmissionHarness {
  readonly control: AdmissionControl;
  /** Lets time pass: at once on a fake clock, really on a store's own. */
  pass(ms: number): Promise<void>;
}

const GRANTED = { granted: true };
const REFUSED = { granted: false };

type Granted = Admission & { granted: true };
type Refused = Extract<Admission, { retryAfterMs: number }>;

/** Long enough for anything that needs no waiting to have happened. */
const A_MOMENT_MS = 20;
const NEVER = new AbortController().signal;

export function describeAdmissionControl(name: string, factory: () => Promise<AdmissionHarness>): void {
  describe(`AdmissionControl: ${name}`, () => {
    let harness: AdmissionHarness;
    /** Keys of their own for each test: a twin may share its store between tests. */
    let here: string;
    let calls = 0;

    beforeEach(async () => {
      harness = await factory();
      here = randomUUID();
      calls = 0;
      return () => harness.control.close();
    });

    function request(changes: Partial<AdmissionRequest>): AdmissionRequest {
      calls += 1;
      return { callId: `${here}:${calls}`, fairnessKey: 'acme', rates: [], leases: [], ...changes };
    }

    function rate(changes: Partial<RateRule> = {}): RateRule {
      return {
        name: 'calls',
        rate: 1,
        periodMs: 60_000,
        burst: 1,
        ...changes,
        key: `${here}:${changes.key ?? 'rate'}`,
      };
    }

    function lease(changes: Partial<LeaseRule> = {}): LeaseRule {
      return {
        limit: 1,
        maxQueue: 10,
        maxWaitMs: 10_000,
        ...changes,
        key: `${here}:${changes.key ?? 'lease'}`,
      };
    }

    function budget(changes: Partial<BudgetRule> = {}): BudgetRule {
      return {
        name: 'calls',
        limit: 2,
        amount: 1,
        forgetAfterMs: 60_000,
        ...changes,
        key: `${here}:${changes.key ?? 'budget'}`,
      };
    }

    const used = (...budgets: readonly BudgetRule[]) => harness.control.spent(budgets.map(({ key }) => key));

    function ask(changes: Partial<AdmissionRequest>, signal: AbortSignal = NEVER): Promise<Admission> {
      return harness.control.admit(request(changes), signal);
    }

    async function granted(changes: Partial<AdmissionRequest>): Promise<Granted> {
      const admission = await ask(changes);
      expect(admission).toMatchObject(GRANTED);
      return admission as Granted;
    }

    async function refused(changes: Partial<AdmissionRequest>): Promise<Refused> {
      const admission = await ask(changes);
      expect(admission).toMatchObject(REFUSED);
      return admission as Refused;
    }

    /** Asks and does not wait: `state` tells how far it has got. */
    function begun(changes: Partial<AdmissionRequest>, signal: AbortSignal = NEVER): Begun {
      return new Begun(ask(changes, signal));
    }

    describe('budgets', () => {
      it('lets in until a budget is used up, and says then by name how much of it is used', async () => {
        expect(await used(budget())).toEqual([0]);
        for (let call = 0; call < 2; call += 1)
          expect(await granted({ budgets: [budget()] })).toMatchObject({ taken: [1] });
        const refusal = await ask({ budgets: [budget()] });
        expect(refusal).toMatchObject({ ...REFUSED, refusedBy: 'budget', rule: 'calls', used: 2 });
        expect(await used(budget())).toEqual([2]);
      });

      it('does not fill again with time', async () => {
        const lasting = budget({ limit: 1 });
        await granted({ budgets: [lasting] });
        await harness.pass(50);
        expect(await ask({ budgets: [lasting] })).toMatchObject(REFUSED);
      });

      it('is forgotten long after its last use', async () => {
        const short = budget({ limit: 1, forgetAfterMs: 100 });
        await granted({ budgets: [short] });
        await harness.pass(200);
        expect(await ask({ budgets: [short] })).toMatchObject(GRANTED);
      });

      it('lets so many budgets of a tenant begin in a period, and those that are counted go on', async () => {
        const newBudgets = { key: here, limit: 3, periodMs: 60_000 };
        const of = (...names: readonly string[]) => ({
          newBudgets,
          budgets: names.map((key) => budget({ key, name: key, limit: 9 })),
        });
        await granted(of('ann', 'tenant'));
        const refusal = await ask(of('bob', 'eve'));
        expect(refusal).toMatchObject({ ...REFUSED, refusedBy: 'rate', rule: 'new_budgets' });
        expect((refusal as Refused).retryAfterMs).toBeGreaterThan(0);
        expect(await used(budget({ key: 'bob' }))).toEqual([0]);
        await granted(of('bob', 'tenant'));
        expect(await ask(of('eve', 'tenant'))).toMatchObject({ rule: 'new_budgets' });
        for (const name of ['ann', 'bob']) await granted(of(name, 'tenant'));
        await granted({ ...of('eve'), newBudgets: { ...newBudgets, key: `${here}:other` } });
      });

      it('lets others of a tenant begin when the period is over', async () => {
        const newBudgets = { key: here, limit: 1, periodMs: 200 };
        for (const key of ['ann', 'bob']) {
          expect(await ask({ newBudgets, budgets: [budget({ key, limit: 9 })] })).toMatchObject(GRANTED);
          await harness.pass(250);
        }
      });

      it('counts what a call costs, and lets nobody in who would go beyond the limit', async () => {
        const money = (amount: number) => budget({ name: 'cost', limit: 10_000_000, amount });
        await granted({ budgets: [money(7_000_000)] });
        expect(await ask({ budgets: [money(3_000_001)] })).toMatchObject({ rule: 'cost', used: 7_000_000 });
        await granted({ budgets: [money(3_000_000)] });
      });

      it('gives what is left where less will do, and refuses where nothing is', async () => {
        const time = budget({ name: 'ms', limit: 1_000, amount: 400, orLess: true });
        expect(await granted({ budgets: [time] })).toMatchObject({ taken: [400] });
        expect(await granted({ budgets: [{ ...time, amount: 500 }] })).toMatchObject({ taken: [500] });
        expect(await granted({ budgets: [time] })).toMatchObject({ taken: [100] });
        expect(await ask({ budgets: [time] })).toMatchObject({ refusedBy: 'budget', used: 1_000 });
      });

      it('takes back what a call has not used, and counts what it has', async () => {
        const both = [budget(), budget({ key: 'ms', name: 'ms', limit: 1_000, amount: 400, orLess: true })];
        (await granted({ budgets: both })).release([0, 120]);
        await expect.poll(() => used(...both)).toEqual([0, 120]);
        (await granted({ budgets: both })).release();
        await harness.pass(A_MOMENT_MS);
        expect(await used(...both)).toEqual([1, 520]);
      });

      it('spends no budget when another budget, a rate or a lease refuses', async () => {
        const wide = budget({ key: 'wide', limit: 5 });
        await granted({ budgets: [budget({ limit: 1 })], leases: [lease()], rates: [rate()] });
        expect(await ask({ budgets: [wide, budget({ limit: 1 })] })).toMatchObject({ refusedBy: 'budget' });
        expect(await ask({ budgets: [wide], rates: [rate()] })).toMatchObject({ refusedBy: 'rate' });
        const full = lease({ maxQueue: 0 });
        expect(await ask({ budgets: [wide], leases: [full] })).toMatchObject({ refusedBy: 'concurrency' });
        expect(await used(wide)).toEqual([0]);
      });

      it('a call that waits for a slot is let in only if the budget is still there then', async () => {
        const last = [budget({ limit: 1 })];
        const holder = await granted({ leases: [lease()] });
        const waiting = begun({ budgets: last, leases: [lease()] });
        await harness.pass(A_MOMENT_MS);
        await granted({ budgets: last });
        holder.release();
        await harness.pass(A_MOMENT_MS);
        await expect.poll(() => waiting.state).toBe('refused');
        expect(waiting.admission).toMatchObject({ refusedBy: 'budget' });
      });

      it('takes a call that asks twice for one call', async () => {
        const once = request({ budgets: [budget()], leases: [lease({ limit: 5 })] });
        await harness.control.admit(once, NEVER);
        expect(await harness.control.admit(once, NEVER)).toMatchObject({ granted: true, taken: [1] });
        expect(await used(budget())).toEqual([1]);
      });

      it('never counts more than the limit, nor less than was used, under any history', async () => {
        const amounts = fc.integer({ min: 1, max: 5 });
        const steps = fc.array(fc.record({ amount: amounts, orLess: fc.boolean(), used: fc.nat(6) }), {
          maxLength: 15,
        });
        await fc.assert(
          fc.asyncProperty(steps, async (history) => {
            const key = randomUUID();
            let expected = 0;
            for (const { amount, orLess, used: wanted } of history) {
              const rule = budget({ key, limit: 12, amount, ...(orLess && { orLess }) });
              const admission = await ask({ budgets: [rule] });
              expect(admission.granted).toBe(expected + (orLess ? 1 : amount) <= 12);
              if (!admission.granted) continue;
              const taken = Math.min(amount, 12 - expected);
              expect(admission.taken).toEqual([taken]);
              const really = Math.min(wanted, taken);
              admission.release([really]);
              expected += really;
              await expect.poll(() => used(rule), { interval: 1 }).toEqual([expected]);
            }
          }),
          { numRuns: 25 },
        );
      });
    });

    describe('rates', () => {
      it('grants a request without rules at once', async () => {
        const admission = await granted({});
        expect(admission).toMatchObject({ rates: [], waitedMs: 0 });
        admission.release();
      });

      it('grants as many calls as the burst says and refuses the next at once, by name and with a time', async () => {
        const perMinute = rate({ name: 'tenant-60-per-60s', rate: 60, burst: 3 });
        const states = [];
        for (let call = 0; call < 3; call += 1) states.push(...(await granted({ rates: [perMinute] })).rates);
        expect(states.map(({ remaining }) => remaining)).toEqual([2, 1, 0]);
        expect(states[0]).toMatchObject({ name: 'tenant-60-per-60s', limit: 3, periodMs: 60_000 });
        const refusal = await refused({ rates: [perMinute] });
        expect(refusal).toMatchObject({ refusedBy: 'rate', rule: 'tenant-60-per-60s' });
        expect(refusal.rates).toMatchObject([{ remaining: 0 }]);
        expect(refusal.retryAfterMs).toBeGreaterThan(0);
        expect(refusal.retryAfterMs).toBeLessThanOrEqual(1000);
      });

      it('grants again after the time it told', async () => {
        const quick = rate({ rate: 1, periodMs: 1000, burst: 1 });
        await granted({ rates: [quick] });
        const { retryAfterMs } = await refused({ rates: [quick] });
        await harness.pass(retryAfterMs);
        expect(await ask({ rates: [quick] })).toMatchObject(GRANTED);
      });

      it('counts a shadow rate, says whom it would have refused, and refuses nobody', async () => {
        const shadow = rate({ key: 'shadow', name: 'quiet', shadow: true });
        const enforced = rate({ burst: 3 });
        expect((await granted({ rates: [shadow, enforced] })).shadowRefusals).toBeUndefined();
        for (let call = 0; call < 2; call += 1) {
          expect((await granted({ rates: [shadow, enforced] })).shadowRefusals).toEqual(['quiet']);
        }
        expect(await refused({ rates: [shadow, enforced] })).toMatchObject({ rule: 'calls' });
      });

      it('counts each key apart', async () => {
        expect(await ask({ rates: [rate({ key: 'a' })] })).toMatchObject(GRANTED);
        expect(await ask({ rates: [rate({ key: 'b' })] })).toMatchObject(GRANTED);
        expect(await ask({ rates: [rate({ key: 'a' })] })).toMatchObject(REFUSED);
      });

      it('spends nothing of one rule when another one refuses', async () => {
        const wide = rate({ key: 'wide', name: 'wide', burst: 2 });
        const narrow = rate({ key: 'narrow', name: 'narrow', burst: 1 });
        await granted({ rates: [wide, narrow] });
        const refusal = await refused({ rates: [wide, narrow] });
        expect(refusal.rule).toBe('narrow');
        expect(refusal.rates).toMatchObject([{ remaining: 1 }, { remaining: 0 }]);
        await granted({ rates: [wide] });
        await refused({ rates: [wide] });
      });

      it('refuses by rate without taking a place', async () => {
        await granted({ rates: [rate()] });
        expect(await ask({ rates: [rate()], leases: [lease()] })).toMatchObject(REFUSED);
        expect(await ask({ leases: [lease()] })).toMatchObject(GRANTED);
      });

      it('spends nothing for a call that only waited', async () => {
        const limited = { rates: [rate()], leases: [lease()] };
        const holder = await granted({ leases: [lease()] });
        const controller = new AbortController();
        const waiting = begun(limited, controller.signal);
        await harness.pass(A_MOMENT_MS);
        controller.abort(new Error('gone'));
        await waiting.ended();
        holder.release();
        expect(await ask(limited)).toMatchObject(GRANTED);
      });

      it('refuses a call whose rate was used up while it waited, and serves the next', async () => {
        const holder = await granted({ leases: [lease()] });
        const late = begun({ rates: [rate()], leases: [lease()] });
        await harness.pass(A_MOMENT_MS);
        const next = begun({ leases: [lease()] });
        await harness.pass(A_MOMENT_MS);
        await granted({ rates: [rate()] });
        holder.release();
        await harness.pass(A_MOMENT_MS);
        expect([late.state, next.state]).toEqual(['refused', 'granted']);
      });
    });

    describe('leases', () => {
      it('lets as many calls in as the limit says; the next waits until a place is given back', async () => {
        const two = lease({ limit: 2 });
        const first = await granted({ leases: [two] });
        await granted({ leases: [two] });
        const third = begun({ leases: [two] });
        await harness.pass(50);
        expect(third.state).toBe('waiting');
        first.release();
        await harness.pass(A_MOMENT_MS);
        expect(third.state).toBe('granted');
        expect((third.admission as Granted).waitedMs).toBeGreaterThanOrEqual(40);
      });

      it('frees one place however often a call is released', async () => {
        const two = lease({ limit: 2 });
        const first = await granted({ leases: [two] });
        await granted({ leases: [two] });
        first.release();
        first.release();
        await harness.pass(A_MOMENT_MS);
        await granted({ leases: [two] });
        first.release();
        await harness.pass(A_MOMENT_MS);
        const fourth = begun({ leases: [two] });
        await harness.pass(A_MOMENT_MS);
        expect(fourth.state).toBe('waiting');
      });

      it('refuses at once when the queue is full, by key and with a time', async () => {
        const short = lease({ maxQueue: 1 });
        await granted({ leases: [short] });
        const waiting = begun({ leases: [short] });
        await harness.pass(A_MOMENT_MS);
        const refusal = await refused({ leases: [short] });
        expect(refusal).toMatchObject({ refusedBy: 'concurrency', rule: short.key });
        expect(refusal.retryAfterMs).toBeGreaterThanOrEqual(1);
        expect(waiting.state).toBe('waiting');
      });

      it('refuses at once where nobody may wait', async () => {
        await granted({ leases: [lease()] });
        expect(await ask({ leases: [lease({ maxQueue: 0 })] })).toMatchObject(REFUSED);
        expect(await ask({ leases: [lease({ maxWaitMs: 0 })] })).toMatchObject(REFUSED);
      });

      it('refuses a call that waited as long as it may', async () => {
        await granted({ leases: [lease()] });
        // Of real time where the state is shared: on a busy machine, a look comes late.
        const waiting = begun({ leases: [lease({ maxWaitMs: 1_000 })] });
        await harness.pass(30);
        expect(waiting.state).toBe('waiting');
        await harness.pass(1_000);
        await waiting.ended();
        expect(waiting.state).toBe('refused');
        expect(waiting.admission).toMatchObject({ refusedBy: 'concurrency', rule: lease().key });
      });

      it('rejects a waiting call with the reason of its abort, and gives its place in the queue away', async () => {
        const short = lease({ maxQueue: 1 });
        const holder = await granted({ leases: [short] });
        const controller = new AbortController();
        const gone = begun({ leases: [short] }, controller.signal);
        await harness.pass(A_MOMENT_MS);
        const reason = new Error('the caller went away');
        controller.abort(reason);
        await gone.ended();
        expect(gone.error).toBe(reason);
        const next = begun({ leases: [short] });
        await harness.pass(A_MOMENT_MS);
        holder.release();
        await harness.pass(A_MOMENT_MS);
        expect(next.state).toBe('granted');
      });

      it('rejects a call that was aborted before it asked', async () => {
        const reason = new Error('too late');
        await expect(ask({ leases: [lease()] }, AbortSignal.abort(reason))).rejects.toBe(reason);
        await granted({ leases: [lease()] });
      });

      it('takes a call that asks twice for one call: one place, one token', async () => {
        const both = { rates: [rate({ burst: 2 })], leases: [lease({ limit: 2 })] };
        const twice = request(both);
        const first = await harness.control.admit(twice, NEVER);
        const second = await harness.control.admit(twice, NEVER);
        expect([first.granted, second.granted]).toEqual([true, true]);
        await granted(both);
        expect(await refused({ rates: both.rates })).toMatchObject({ refusedBy: 'rate' });
      });

      it('takes all leases of a call or none: who waits for one place does not hold another', async () => {
        const a = lease({ key: 'a' });
        const b = lease({ key: 'b' });
        const holder = await granted({ leases: [b] });
        const both = begun({ leases: [a, b] });
        await harness.pass(A_MOMENT_MS);
        const alone = await granted({ leases: [a] });
        holder.release();
        await harness.pass(A_MOMENT_MS);
        expect(both.state).toBe('waiting');
        alone.release();
        await harness.pass(A_MOMENT_MS);
        expect(both.state).toBe('granted');
      });

      it('has no deadlock between calls that name the same leases in opposite order', async () => {
        const a = lease({ key: 'a' });
        const b = lease({ key: 'b' });
        const orders = [0, 1, 2, 3].map((index) => begun({ leases: index % 2 === 0 ? [a, b] : [b, a] }));
        for (let round = 0; round < orders.length; round += 1) {
          await harness.pass(A_MOMENT_MS);
          const inside = orders.filter((order) => order.state === 'granted');
          expect(inside).toHaveLength(round + 1);
          for (const order of inside) (order.admission as Granted).release();
        }
      });

      it('serves waiting tenants in turn: a flood of one does not starve another', async () => {
        const holder = await granted({ leases: [lease()] });
        const flood = [];
        for (let call = 0; call < 6; call += 1) {
          flood.push(begun({ fairnessKey: 'flood', leases: [lease()] }));
          await harness.pass(1);
        }
        const small = begun({ fairnessKey: 'small', leases: [lease()] });
        await harness.pass(A_MOMENT_MS);
        const order = await servedInTurn(holder, [...flood, small], harness);
        expect(order.indexOf(small)).toBeLessThanOrEqual(1);
        expect(order.filter((call) => call !== small)).toEqual(flood);
      });

      it('lets in while a place of every lease is free, and nobody else, under any history', async () => {
        const keys = fc.constantFrom(['a'], ['b'], ['a', 'b'], ['b', 'a']);
        const take = fc.record({ take: keys });
        const give = fc.record({ give: fc.nat(50) });
        await fc.assert(
          fc.asyncProperty(fc.array(fc.oneof(take, give), { maxLength: 30 }), async (steps) => {
            const limits: Record<string, number> = { a: 2, b: 3 };
            const round = randomUUID();
            const held: { readonly keys: readonly string[]; readonly admission: Granted }[] = [];
            const isFree = (key: string) =>
              held.filter((call) => call.keys.includes(key)).length < (limits[key] ?? 0);
            const answers: boolean[] = [];
            const expected: boolean[] = [];
            for (const step of steps) {
              if ('give' in step) {
                held.splice(step.give % Math.max(1, held.length), 1)[0]?.admission.release();
                continue;
              }
              const leases = step.take.map((key) =>
                lease({ key: `${round}:${key}`, limit: limits[key] ?? 0, maxQueue: 0 }),
              );
              expected.push(step.take.every(isFree));
              const admission = await ask({ leases });
              answers.push(admission.granted);
              if (admission.granted) held.push({ keys: step.take, admission });
            }
            expect(answers).toEqual(expected);
            for (const { admission } of held) admission.release();
          }),
          { numRuns: 40 },
        );
      });

      it('never lets more in than the limit and leaves no place unused, under any mix of calls', async () => {
        const places = fc.integer({ min: 1, max: 3 });
        const holds = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 12 });
        await fc.assert(
          fc.asyncProperty(places, holds, async (limit, holdTimes) => {
            const shared = lease({ key: randomUUID(), limit, maxQueue: 100 });
            let inside = 0;
            let most = 0;
            const runs = holdTimes.map(async (holdMs, index) => {
              const admission = await granted({ fairnessKey: `tenant-${index % 3}`, leases: [shared] });
              inside += 1;
              most = Math.max(most, inside);
              await harness.pass(holdMs);
              inside -= 1;
              admission.release();
            });
            await Promise.all(runs);
            expect(most).toBe(Math.min(limit, holdTimes.length));
          }),
          { numRuns: 10 },
        );
      });
    });

    it('rejects with UNAVAILABLE who waits when it is closed, and who comes after', async () => {
      const holder = await granted({ leases: [lease()] });
      const waiting = begun({ leases: [lease()] });
      await harness.pass(A_MOMENT_MS);
      await harness.control.close();
      await waiting.ended();
      expect(waiting.error).toMatchObject({ type: 'UNAVAILABLE' });
      await expect(ask({ leases: [lease()] })).rejects.toMatchObject({ type: 'UNAVAILABLE' });
      holder.release();
    });
  });
}

class Begun {
  admission: Admission | undefined;
  error: unknown;
  readonly #settled: Promise<void>;

  constructor(asked: Promise<Admission>) {
    this.#settled = asked.then(
      (admission) => {
        this.admission = admission;
      },
      (error: unknown) => {
        this.error = error;
      },
    );
  }

  get state(): 'waiting' | 'granted' | 'refused' | 'rejected' {
    if (this.error !== undefined) return 'rejected';
    if (this.admission === undefined) return 'waiting';
    return this.admission.granted ? 'granted' : 'refused';
  }

  ended(): Promise<void> {
    return this.#settled;
  }
}

/** Releases one call after the other; the calls in the order in which they got in. */
async function servedInTurn(
  holder: Granted,
  waiting: readonly Begun[],
  harness: AdmissionHarness,
): Promise<Begun[]> {
  const order: Begun[] = [];
  let inside = holder;
  while (order.length < waiting.length) {
    inside.release();
    await harness.pass(A_MOMENT_MS);
    const entered = waiting.filter((call) => call.state === 'granted' && !order.includes(call));
    expect(entered).toHaveLength(1);
    order.push(...entered);
    inside = entered[0]?.admission as Granted;
  }
  return order;
}
