// What admission keeps in Redis by its scripts (admit-lua.ts, admission-lua.ts), held to a model: any history of asking, giving back, renewing, running out and losing everything.
import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AdmissionStore } from '../../src/infra/admission/redis/admission-store.ts';
import type { AdmitReply } from '../../src/infra/admission/redis/admit-reply.ts';
import { RedisClients } from '../../src/infra/redis/redis-clients.ts';
import type { BudgetRule, LeaseRule, RateRule } from '../../src/ports/admission-control.ts';
import { quietLog } from '../helpers/quiet-log.ts';
import { startRedis, type RedisServer } from '../helpers/redis.ts';

const HOUR_MS = 3_600_000;
/** Nothing runs out by itself, and no rate grows, while a history runs: only its own steps let time pass. */
const TIMES = { leaseTtlMs: HOUR_MS, silentMs: HOUR_MS, replicaTtlMs: HOUR_MS };
const LIMITS = { a: 1, b: 3 } as const;
const BURSTS = { r: 4, s: 2 } as const;
const BUDGETS = { x: { limit: 5, amount: 2 }, y: { limit: 4, amount: 3, orLess: true } } as const;
type BudgetKey = keyof typeof BUDGETS;
type LeaseKey = keyof typeof LIMITS;
type RateKey = keyof typeof BURSTS;
const CALLS = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5'] as const;

let redis: RedisServer;
let clients: RedisClients;

beforeAll(async () => {
  redis = await startRedis();
  // A busy machine is no store that is away.
  clients = new RedisClients({ url: redis.url, prefix: 'ute', commandTimeoutMs: 20_000 }, quietLog);
  await clients.connected(20_000);
});
afterAll(async () => {
  clients?.close();
  await redis?.stop();
});

/** What the store must know: who holds what, what was spent, and what was granted under which token. */
class Model {
  epoch = '';
  readonly holders = { a: new Set<string>(), b: new Set<string>() };
  readonly spent = { r: 0, s: 0 };
  readonly used = { x: 0, y: 0 };
  /** Answers that were given: whoever asks again gets the same. */
  readonly granted = new Map<string, unknown>();
  lastToken = 0n;

  loseAll(): void {
    this.epoch = '';
    this.granted.clear();
    for (const held of Object.values(this.holders)) held.clear();
    Object.assign(this.spent, { r: 0, s: 0 });
    Object.assign(this.used, { x: 0, y: 0 });
  }
}

interface Real {
  readonly store: AdmissionStore;
  readonly prefix: string;
}

const leaseOf = (key: LeaseKey): LeaseRule => ({ key, limit: LIMITS[key], maxQueue: 0, maxWaitMs: 0 });
const rateOf = (key: RateKey): RateRule => ({
  key,
  name: key,
  rate: 1,
  periodMs: 24 * HOUR_MS,
  burst: BURSTS[key],
});
const budgetOf = (key: BudgetKey): BudgetRule => ({
  key,
  name: key,
  forgetAfterMs: HOUR_MS,
  ...BUDGETS[key],
});
const shown = (what: string, ...about: readonly unknown[]) => `${what}(${about.map(String).join(' ')})`;

/** What was seen, and what the model says of it. */
type Seen = readonly [unknown, unknown];
const NOTHING: Seen = [{}, {}];

interface Step {
  /** Whether it can happen now. */
  check(model: Model): boolean;
  run(model: Model, real: Real): Promise<Seen>;
  /** For the history that fails. */
  toString(): string;
}

class Ask implements Step {
  readonly #call: string;
  readonly #callId: string;
  readonly #leases: readonly LeaseKey[];
  readonly #rates: readonly RateKey[];
  readonly #budgets: readonly BudgetKey[];

  constructor(
    call: string,
    leases: readonly LeaseKey[],
    rates: readonly RateKey[],
    budgets: readonly BudgetKey[],
  ) {
    this.#call = call;
    // The answer about a call without leases is kept for a moment alone: none of those asks twice.
    this.#callId = leases.length > 0 ? call : randomUUID();
    this.#leases = leases;
    this.#rates = rates;
    this.#budgets = budgets;
  }

  check(): boolean {
    return this.#leases.length + this.#rates.length + this.#budgets.length > 0;
  }

  async run(model: Model, { store }: Real): Promise<Seen> {
    return this.judge(model, await this.ask(store, model.epoch));
  }

  ask(store: AdmissionStore, epoch: string): Promise<AdmitReply> {
    const request = {
      callId: this.#callId,
      fairnessKey: 'acme',
      rates: this.#rates.map(rateOf),
      leases: this.#leases.map(leaseOf),
      budgets: this.#budgets.map(budgetOf),
    };
    return store.admit({ request, epoch, mayWait: false, othersWaiting: () => 0 });
  }

  judge(model: Model, reply: AdmitReply): Seen {
    const callId = this.#callId;
    if (model.epoch === '') return [reply, { kind: 'other_epoch' }];
    const before = model.granted.get(callId);
    if (before !== undefined) return [reply, before];
    // A rate refuses first, and nothing is spent or taken then.
    const usedUp = this.#rates.find((key) => model.spent[key] >= BURSTS[key]);
    if (usedUp !== undefined) return [reply, { kind: 'rate', rule: { key: usedUp } }];
    const spent = this.#budgets.find((key) => model.used[key] + leastOf(key) > BUDGETS[key].limit);
    if (spent !== undefined)
      return [reply, { kind: 'budget', rule: { key: spent }, used: model.used[spent] }];
    const full = this.#leases.filter((key) => model.holders[key].size >= LIMITS[key]);
    if (full.length > 0) return [reply, { kind: 'full', full: full.map((key) => ({ key })) }];
    // One that holds a place already, as by a renewal, is taken for one more: nobody gets in above the limit by that.
    const left = this.#leases.map((key) => LIMITS[key] - model.holders[key].size - 1);
    for (const key of this.#rates) model.spent[key] += 1;
    const taken = this.#budgets.map((key) =>
      Math.min(BUDGETS[key].amount, BUDGETS[key].limit - model.used[key]),
    );
    this.#budgets.forEach((key, index) => (model.used[key] += taken[index] ?? 0));
    for (const key of this.#leases) model.holders[key].add(this.#call);
    const rates = this.#rates.map((key) => ({ remaining: BURSTS[key] - model.spent[key] }));
    if (this.#leases.length === 0) return [reply, { kind: 'granted', rates, taken }];
    const token = reply.kind === 'granted' ? reply.fencingToken : undefined;
    const isNewer = BigInt(token ?? 0) > model.lastToken;
    model.lastToken = BigInt(token ?? 0);
    model.granted.set(callId, { kind: 'granted', fencingToken: token, taken });
    return [
      { ...reply, isNewer },
      { kind: 'granted', rates, taken, left: Math.min(...left), isNewer: true },
    ];
  }

  toString = () =>
    shown('ask', this.#call, ...[this.#leases, this.#rates, this.#budgets].map((keys) => `[${keys.join()}]`));
}

/** In one turn of the event loop: what Redis says is what it would say of each alone, in their order. */
class AskTogether implements Step {
  readonly #asks: readonly Ask[];

  constructor(asks: readonly Ask[]) {
    this.#asks = asks.filter((ask) => ask.check());
  }

  check = () => this.#asks.length > 0;

  async run(model: Model, { store }: Real): Promise<Seen> {
    const replies = await Promise.all(this.#asks.map((ask) => ask.ask(store, model.epoch)));
    const seen = replies.map((reply, index) => this.#asks[index]?.judge(model, reply) ?? NOTHING);
    return [seen.map(([was]) => was), seen.map(([, expected]) => expected)];
  }

  toString = () => `together(${this.#asks.join(', ')})`;
}

const leastOf = (key: BudgetKey) => ('orLess' in BUDGETS[key] ? 1 : BUDGETS[key].amount);

class Refund implements Step {
  readonly #key: BudgetKey;
  readonly #amount: number;

  constructor(key: BudgetKey, amount: number) {
    this.#key = key;
    this.#amount = amount;
  }

  check = () => true;

  async run(model: Model, { store }: Real): Promise<Seen> {
    await store.giveBack(new Map([[this.#key, this.#amount]]));
    model.used[this.#key] = Math.max(0, model.used[this.#key] - this.#amount);
    return NOTHING;
  }

  toString = () => shown('refund', this.#key, this.#amount);
}

class GiveBack implements Step {
  readonly #calls: readonly string[];

  constructor(calls: readonly string[]) {
    this.#calls = calls;
  }

  check = () => true;

  async run(model: Model, { store }: Real): Promise<Seen> {
    await store.release(
      this.#calls.flatMap((callId) => [
        { key: 'a', callId },
        { key: 'b', callId },
      ]),
    );
    for (const call of this.#calls) {
      for (const held of Object.values(model.holders)) held.delete(call);
      model.granted.delete(call);
    }
    return NOTHING;
  }

  toString = () => shown('give back', ...this.#calls);
}

class Renew implements Step {
  readonly #call: string;
  readonly #key: LeaseKey;
  readonly #isNew: boolean;

  constructor(call: string, key: LeaseKey, isNew: boolean) {
    this.#call = call;
    this.#key = key;
    this.#isNew = isNew;
  }

  check = () => true;

  async run(model: Model, { store }: Real): Promise<Seen> {
    const held = { rule: leaseOf(this.#key), callId: this.#call, isNew: this.#isNew };
    const { epoch, outcomes } = await store.renew(model.epoch, [held]);
    if (model.epoch === '')
      return [
        { epoch, outcomes },
        { epoch: '', outcomes: [] },
      ];
    const holders = model.holders[this.#key];
    const isKept = this.#isNew || holders.has(this.#call);
    const hasRoom = holders.size < LIMITS[this.#key];
    // Whatever the limit says: the call runs.
    holders.add(this.#call);
    const outcome = isKept ? 'kept' : hasRoom ? 'taken_again' : 'lost';
    return [
      { epoch, outcomes },
      { epoch: model.epoch, outcomes: [outcome] },
    ];
  }

  toString = () => shown('renew', this.#call, this.#key, this.#isNew);
}

/** Its lease is over and nobody has renewed it. */
class RunOut implements Step {
  readonly #call: string;
  readonly #key: LeaseKey;

  constructor(call: string, key: LeaseKey) {
    this.#call = call;
    this.#key = key;
  }

  check = (model: Model) => model.holders[this.#key].has(this.#call);

  async run(model: Model, { prefix }: Real): Promise<Seen> {
    await redis.client.zadd(`${prefix}:lease:${this.#key}`, 1, this.#call);
    model.holders[this.#key].delete(this.#call);
    return NOTHING;
  }

  toString = () => shown('run out', this.#call, this.#key);
}

class LoseAll implements Step {
  check = () => true;

  async run(model: Model): Promise<Seen> {
    await redis.client.flushall();
    model.loseAll();
    return NOTHING;
  }

  toString = () => 'lose all';
}

/** A replica joins the store that it finds, or begins a new one. */
class Join implements Step {
  check = () => true;

  async run(model: Model, { store }: Real): Promise<Seen> {
    const { epoch } = await store.renew(model.epoch, [], randomUUID());
    if (model.epoch === '') model.epoch = epoch;
    return [
      { epoch, isThere: epoch !== '' },
      { epoch: model.epoch, isThere: true },
    ];
  }

  toString = () => 'join';
}

/** Who holds a place, of those whose lease is not over: what the model says, after every step. */
class Look implements Step {
  check = () => true;

  async run(model: Model, { prefix, store }: Real): Promise<Seen> {
    const [x, y] = await store.spent(['x', 'y']);
    const of = (key: LeaseKey) => redis.client.zrangebyscore(`${prefix}:lease:${key}`, 2, '+inf');
    const [a, b] = await Promise.all([of('a'), of('b')]);
    const { holders } = model;
    return [
      { a: a.toSorted(), b: b.toSorted(), x, y },
      { a: [...holders.a].toSorted(), b: [...holders.b].toSorted(), ...model.used },
    ];
  }

  toString = () => 'look';
}

it('admission in Redis does what its model does, under any history', async () => {
  const call = fc.constantFrom(...CALLS);
  const key = fc.constantFrom('a' as const, 'b' as const);
  const asks = fc
    .tuple(
      call,
      fc.subarray(['a', 'b'] as const),
      fc.subarray(['r', 's'] as const),
      fc.subarray(['x', 'y'] as const),
    )
    .map((about) => new Ask(...about));
  const steps: fc.Arbitrary<Step>[] = [
    asks,
    fc.array(asks, { minLength: 2, maxLength: 5 }).map((together) => new AskTogether(together)),
    fc.subarray([...CALLS], { minLength: 1, maxLength: 3 }).map((each) => new GiveBack(each)),
    fc.tuple(fc.constantFrom('x' as const, 'y' as const), fc.nat(6)).map((about) => new Refund(...about)),
    fc.tuple(call, key, fc.boolean()).map((about) => new Renew(...about)),
    fc.tuple(call, key).map((about) => new RunOut(...about)),
    fc.constant(new Look()),
    fc.constant(new Join()),
  ];
  // Losses are rare, or no history gets far.
  const lost = { weight: 1, arbitrary: fc.constant(new LoseAll()) };
  const step = fc.oneof(...steps.map((arbitrary) => ({ weight: 6, arbitrary })), lost);
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (history) => {
      await redis.client.flushall();
      const real = { store: new AdmissionStore(clients, 'replica', TIMES), prefix: 'ute' };
      const model = new Model();
      for (const each of [new Join(), ...history, new Look()]) {
        if (!each.check(model)) continue;
        const [seen, expected] = await each.run(model, real);
        expect(seen).toMatchObject(expected as object);
      }
    }),
    { numRuns: 150 },
  );
});
