// Admission over a real Redis and real lines to it: exact limits, crashed holders, lost stores, broken lines, policies.
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Admission, AdmissionRequest, LeaseRule, RateRule } from '../../src/ports/admission-control.ts';
import { AdmissionStore } from '../../src/infra/admission/redis/admission-store.ts';
import { checkRedisServer } from '../../src/infra/redis/check-redis-server.ts';
import type { RedisAdmissionOptions } from '../../src/infra/admission/redis/redis-admission-control.ts';
import { settled } from '../helpers/fake-clock.ts';
import { recordingLog } from '../helpers/call-kit.ts';
import { startReplica, type Replica } from '../helpers/redis-admission.ts';
import { startRedis, type RedisServer } from '../helpers/redis.ts';
import { startTcpProxy, type TcpProxy } from '../helpers/tcp-proxy.ts';
import { eventually } from '../helpers/eventually.ts';

type Granted = Admission & { granted: true };

const NEVER = new AbortController().signal;
/** Renews ten times within a lease, and lets a dead one go after a second. */
const FAST: RedisAdmissionOptions = { leaseTtlMs: 1_000, tickMs: 100, pollMs: 50 };

let redis: RedisServer;
let proxy: TcpProxy;
let replicas: Replica[];

beforeEach(async () => {
  redis = await startRedis();
  proxy = await startTcpProxy(redis.port);
  replicas = [];
});

afterEach(async () => {
  await Promise.all(replicas.map((replica) => replica.close()));
  await proxy.close();
  await redis.stop();
});

async function replica(options: RedisAdmissionOptions = {}, port = redis.port): Promise<Replica> {
  const started = await startReplica(`redis://127.0.0.1:${port}`, options);
  replicas.push(started);
  return started;
}

/** A busy machine is no silent store: for what holds while the store answers, however long that takes. */
async function patientReplica(): Promise<Replica> {
  const started = await startReplica(`redis://127.0.0.1:${redis.port}`, {}, 'ute', 20_000);
  replicas.push(started);
  return started;
}

function lease(changes: Partial<LeaseRule> = {}): LeaseRule {
  return { key: 'tool', limit: 1, maxQueue: 0, maxWaitMs: 10_000, ...changes };
}

function rate(changes: Partial<RateRule> = {}): RateRule {
  return { key: 'rate', name: 'calls', rate: 1, periodMs: 3_600_000, burst: 1, ...changes };
}

function request(changes: Partial<AdmissionRequest>): AdmissionRequest {
  return { callId: randomUUID(), fairnessKey: 'acme', rates: [], leases: [], ...changes };
}

function ask({ control }: Replica, changes: Partial<AdmissionRequest>, signal = NEVER): Promise<Admission> {
  return control.admit(request(changes), signal);
}

async function granted(by: Replica, changes: Partial<AdmissionRequest>): Promise<Granted> {
  const admission = await ask(by, changes);
  expect(admission).toMatchObject({ granted: true });
  return admission as Granted;
}

/** What is settled without waiting for anything outside this process. */
function atOnce<T>(work: Promise<T>): Promise<T | 'later'> {
  return Promise.race([work, settled().then(() => 'later' as const)]);
}

function inUse(key = 'tool'): Promise<number> {
  return redis.client.zcard(`ute:lease:${key}`);
}

function isDegraded(by: Replica): boolean {
  return by.metrics.get('ute_degraded{admission}') === 1;
}

describe('limits over replicas', () => {
  it('of 200 that ask at once at three replicas, exactly as many get in as the limit says', async () => {
    const three = [await patientReplica(), await patientReplica(), await patientReplica()];
    const asked = Array.from({ length: 200 }, (_, index) =>
      ask(three[index % 3] as Replica, { leases: [lease({ limit: 7 })] }),
    );
    const admissions = await Promise.all(asked);
    expect(admissions.filter((admission) => admission.granted)).toHaveLength(7);
    expect(await inUse()).toBe(7);
  });

  it('one call asks for all of its rates and leases in one round trip', async () => {
    const over = await replica({ tickMs: 60_000 }, proxy.port);
    const all = {
      rates: [rate({ key: 'a', burst: 100 }), rate({ key: 'b', burst: 100 })],
      leases: ['tool', 'tenant', 'agent', 'user', 'connection'].map((key) => lease({ key, limit: 100 })),
    };
    const trips: number[] = [];
    for (let batch = 0; batch < 3; batch += 1) {
      proxy.reset();
      for (let call = 0; call < 25; call += 1) await granted(over, all);
      trips.push(proxy.roundTrips);
    }
    // A subscription that is still being set up beside them can only add to the count.
    expect(Math.min(...trips)).toBe(25);
    expect(await inUse('connection')).toBe(75);
  });

  it('a call that is asked about twice, as after a lost reply, counts once and gets the same answer', async () => {
    const { clients } = await replica();
    const store = new AdmissionStore(clients, 'r', { leaseTtlMs: 5_000, silentMs: 500, replicaTtlMs: 5_000 });
    const epoch = (await redis.client.get('ute:epoch')) ?? '';
    const once = request({ rates: [rate({ burst: 2 })], leases: [lease({ limit: 2 })] });
    const question = { request: once, epoch, mayWait: false, othersWaiting: () => 0 };
    const first = await store.admit(question);
    expect(first).toMatchObject({ kind: 'granted', left: 1, rates: [{ remaining: 1 }] });
    expect(await store.admit(question)).toEqual(first);
    expect(await inUse()).toBe(1);
  });

  it('a call whose key holds something else fails alone: those asked about with it are decided, and counted whole', async () => {
    const { clients } = await replica();
    const store = new AdmissionStore(clients, 'r', { leaseTtlMs: 5_000, silentMs: 500, replicaTtlMs: 5_000 });
    const epoch = (await redis.client.get('ute:epoch')) ?? '';
    await redis.client.rpush('ute:lease:odd', 'no sorted set');
    const ask = (key: string) => {
      const one = request({ rates: [rate({ burst: 5 })], leases: [lease({ key, limit: 5 })] });
      return store.admit({ request: one, epoch, mayWait: false, othersWaiting: () => 0 });
    };
    const answers = await Promise.allSettled([ask('sound'), ask('odd'), ask('sound')]);
    expect(answers).toMatchObject([
      { status: 'fulfilled', value: { kind: 'granted', rates: [{ remaining: 4 }] } },
      { status: 'rejected', reason: { message: expect.stringContaining('WRONGTYPE') as string } },
      { status: 'fulfilled', value: { kind: 'granted', rates: [{ remaining: 3 }] } },
    ]);
    expect(await ask('sound')).toMatchObject({ left: 2, rates: [{ remaining: 2 }] });
    await expect(ask('odd')).rejects.toThrow('WRONGTYPE');
  });

  it('a fencing token is greater than every one before it, also after the store lost everything', async () => {
    const two = [await replica(FAST), await replica(FAST)];
    const tokens: bigint[] = [];
    for (let call = 0; call < 20; call += 1) {
      const place = await granted(two[call % 2] as Replica, { leases: [lease({ limit: 50 })] });
      tokens.push(BigInt(place.fencingToken ?? '0'));
      if (call === 10) await redis.client.flushall();
    }
    expect(tokens).toEqual(tokens.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(new Set(tokens).size).toBe(20);
  });

  it('the place of a replica that died is free after the time of a lease, not before', async () => {
    const [dying, other] = [await replica(FAST), await replica(FAST)];
    await granted(dying, { leases: [lease()] });
    dying.crash();
    expect(await ask(other, { leases: [lease()] })).toMatchObject({ refusedBy: 'concurrency' });
    const place = await granted(other, { leases: [lease({ maxQueue: 1 })] });
    expect(place.waitedMs).toBeGreaterThan(300);
  });

  it('a long call keeps its place for as long as its replica lives', async () => {
    const [holding, other] = [await replica(FAST), await replica(FAST)];
    const place = await granted(holding, { leases: [lease()] });
    await pause(2_500);
    expect(await ask(other, { leases: [lease()] })).toMatchObject({ granted: false });
    place.release();
    await eventually(async () => expect(await inUse()).toBe(0));
  });

  it('who closes gives everything back', async () => {
    const [closing, other] = [await replica(), await replica()];
    await granted(closing, { leases: [lease()] });
    await closing.close();
    expect(await ask(other, { leases: [lease()] })).toMatchObject({ granted: true });
  });

  it('of 600 calls, each gets in at its turn and is passed over for a round at most, also who came while the line formed', async () => {
    const only = await patientReplica();
    const order: number[] = [];
    const waiting = lease({ limit: 50, maxQueue: 1_000, maxWaitMs: 60_000 });
    const runs: Promise<void>[] = [];
    for (let index = 0; index < 600; index += 1) {
      const place = granted(only, { leases: [waiting] });
      runs.push(
        place.then(async (held) => {
          order.push(index);
          await pause(50);
          held.release();
        }),
      );
      // Some come before the first answers, some between them.
      if (index % 3 === 0) await new Promise((done) => setImmediate(done));
    }
    await Promise.all(runs);
    const astray = Math.max(...order.map((index, place) => Math.abs(index - place)));
    expect(order).toHaveLength(600);
    expect(astray).toBeLessThanOrEqual(50);
    const inTurn = order.filter((index, place) => Math.abs(index - place) < 25);
    expect(inTurn.length).toBeGreaterThan(570);
  });

  it('calls that wait at two replicas get the place in turn: nobody starves', async () => {
    const two = [await replica(), await replica()];
    const order: number[] = [];
    const waiting = lease({ maxQueue: 100, maxWaitMs: 20_000 });
    const runs = Array.from({ length: 40 }, async (_, index) => {
      // Three of four calls come to the first replica.
      const at = index % 4 === 3 ? 1 : 0;
      const place = await granted(two[at] as Replica, { leases: [waiting] });
      order.push(at);
      await pause(2);
      place.release();
    });
    await Promise.all(runs);
    expect(order).toHaveLength(40);
    const lastOfSecond = order.lastIndexOf(1);
    expect(lastOfSecond).toBeLessThan(30);
  });

  it('a shadow rate counts and refuses nobody', async () => {
    const one = await replica();
    const shadow = { rates: [rate({ shadow: true })] };
    expect((await granted(one, shadow)).shadowRefusals).toBeUndefined();
    expect((await granted(one, shadow)).shadowRefusals).toEqual(['calls']);
  });

  it('keeps every promise under any history of replicas that take, give back and die', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 40 }), async (steps) => {
        const world = new World();
        for (const step of steps) await world.take(step);
        await world.end();
        expect(world.broken).toEqual([]);
      }),
      { numRuns: 12 },
    );
  });
});

describe('a call that lost its slot', () => {
  it('is told when another got in while its own replica was cut off', async () => {
    const [cutOff, other] = [await replica(FAST, proxy.port), await replica(FAST)];
    const place = await granted(cutOff, { leases: [lease()] });
    let lost = 0;
    place.whenLost?.(() => (lost += 1));
    proxy.setMode({ kind: 'blackhole' });
    await granted(other, { leases: [lease({ maxQueue: 1 })] });
    expect(lost).toBe(0);
    proxy.setMode({ kind: 'pass' });
    await eventually(() => expect(lost).toBe(1));
    expect(cutOff.metrics.get('ute_lease_lost_total')).toBe(1);
  });

  it('is told, where it may not run without the store, although the line is silent', async () => {
    const cutOff = await replica(FAST, proxy.port);
    const place = await granted(cutOff, { leases: [lease({ onStoreFailure: 'closed' })] });
    let lost = false;
    place.whenLost?.(() => (lost = true));
    proxy.setMode({ kind: 'blackhole' });
    await eventually(() => expect(lost).toBe(true));
  });
});

describe('a store that lost everything', () => {
  it.each(['flush', 'restart'])(
    '%s: what runs is counted again, and nobody gets in above it',
    async (how) => {
      const two = [await replica(FAST), await replica(FAST)];
      const four = lease({ limit: 4 });
      const held: Granted[] = [];
      for (const one of two)
        held.push(await granted(one, { leases: [four] }), await granted(one, { leases: [four] }));
      await eventually(async () => expect(await redis.client.zcard('ute:replicas')).toBe(2));
      await pause(300);
      if (how === 'flush') await redis.client.flushall();
      else await redis.restart();
      // In the quarantine each may hold two, and does.
      for (const one of two) expect(await ask(one, { leases: [four] })).toMatchObject({ granted: false });
      await eventually(async () => expect(await inUse()).toBe(4));
      await eventually(() => expect(two.some(isDegraded)).toBe(false));
      held[0]?.release();
      await eventually(async () =>
        expect(await ask(two[0] as Replica, { leases: [four] })).toMatchObject({ granted: true }),
      );
      expect(
        two.flatMap(({ lines }) => lines).filter(({ message }) => message.includes('lost the leases')),
      ).toHaveLength(2);
    },
  );

  it('after the quarantine a replica may again take more than its share', async () => {
    const two = [await replica(FAST), await replica(FAST)];
    await eventually(async () => expect(await redis.client.zcard('ute:replicas')).toBe(2));
    await pause(300);
    await redis.client.flushall();
    const four = lease({ limit: 4 });
    const [one] = two as [Replica];
    await granted(one, { leases: [four] });
    await granted(one, { leases: [four] });
    expect(await ask(one, { leases: [four] })).toMatchObject({ granted: false });
    await eventually(async () => expect(await ask(one, { leases: [four] })).toMatchObject({ granted: true }));
  });
});

describe('a line that breaks', () => {
  it.each(['blackhole', 'cut', 'half_open'] as const)(
    '%s: calls go on by the share, and come back',
    async (kind) => {
      const over = await replica(FAST, proxy.port);
      await granted(over, { leases: [lease({ key: 'before' })] });
      proxy.setMode({ kind });
      const first = await granted(over, { rates: [rate()], leases: [lease({ limit: 3 })] });
      expect(first.degraded).toEqual(['rate_limit', 'concurrency']);
      expect(isDegraded(over)).toBe(true);
      // None of them waits for the line. Half open, it is made anew, and may be back by now.
      const soon = kind === 'half_open' ? <T>(work: Promise<T>) => work : atOnce;
      for (let call = 0; call < 2; call += 1)
        expect(await soon(ask(over, { leases: [lease({ limit: 3 })] }))).toMatchObject({ granted: true });
      const fourth = await soon(ask(over, { leases: [lease({ limit: 3 })] }));
      expect(fourth).toMatchObject({ refusedBy: 'concurrency' });
      if (kind !== 'half_open') proxy.setMode({ kind: 'pass' });
      await eventually(() => expect(isDegraded(over)).toBe(false));
      expect(await inUse()).toBe(3);
      expect(await ask(over, { leases: [lease({ limit: 3 })] })).toMatchObject({ refusedBy: 'concurrency' });
      expect((await granted(over, { leases: [lease({ limit: 4 })] })).degraded).toBeUndefined();
      const changes = over.lines.filter(({ message }) => message.startsWith('limits '));
      expect(changes.map(({ level }) => level)).toEqual(['info', 'warn', 'info']);
    },
  );

  it('who waits when the line breaks goes on waiting by the share', async () => {
    const over = await replica(FAST, proxy.port);
    const holder = await granted(over, { leases: [lease()] });
    const waiting = ask(over, { leases: [lease({ maxQueue: 1 })] });
    await pause(50);
    proxy.setMode({ kind: 'cut' });
    await eventually(() => expect(isDegraded(over)).toBe(true));
    holder.release();
    expect(await waiting).toMatchObject({ granted: true, degraded: ['concurrency'] });
  });

  it('a slow line is only slow', async () => {
    const over = await replica({}, proxy.port);
    proxy.setMode({ kind: 'latency', ms: 40 });
    const place = await granted(over, { leases: [lease()] });
    expect(place.degraded).toBeUndefined();
  });

  it('a store that is full refuses writes: calls go on by the share until there is room', async () => {
    const over = await replica(FAST);
    await granted(over, { leases: [lease({ key: 'before' })] });
    await redis.client.config('SET', 'maxmemory', '1');
    await eventually(() => expect(isDegraded(over)).toBe(true));
    const place = await granted(over, { leases: [lease()] });
    expect(place.degraded).toEqual(['concurrency']);
    await redis.client.config('SET', 'maxmemory', '0');
    await eventually(() => expect(isDegraded(over)).toBe(false));
    expect(await inUse()).toBe(1);
  });
});

describe('a store that was paused', () => {
  const LEASE_MS = 3_000;

  it('takes no place, when it wakes, for calls that have given up on it long ago', async () => {
    const over = await replica({ ...FAST, leaseTtlMs: LEASE_MS });
    redis.pause();
    const pausedAt = performance.now();
    const asked = await Promise.all(
      [1, 2, 3, 4].map(() => ask(over, { leases: [lease({ limit: 2, maxQueue: 4 })] }).then(letGo)),
    );
    expect(asked).toHaveLength(4);
    await eventually(() => expect(performance.now() - pausedAt).toBeGreaterThan(1.2 * LEASE_MS));
    redis.resume();
    await eventually(() => expect(isDegraded(over)).toBe(false));
    expect(await inUse()).toBe(0);
    await Promise.all([1, 2].map(() => granted(over, { leases: [lease({ limit: 2 })] })));
  });

  it('neither takes nor renews a place by a command that was sent before', async () => {
    const { clients } = await replica({ tickMs: 60_000 });
    const times = { leaseTtlMs: 60_000, silentMs: 500, replicaTtlMs: 5_000 };
    const store = new AdmissionStore(clients, 'r', times);
    const epoch = (await redis.client.get('ute:epoch')) ?? '';
    await store.renew(epoch, []);
    const held = request({ leases: [lease({ limit: 2 })] });
    redis.pause();
    const pausedAt = performance.now();
    const question = { request: held, epoch, mayWait: false, othersWaiting: () => 0 };
    await expect(store.admit(question)).rejects.toThrow('timed out');
    const renewed = { rule: lease(), callId: randomUUID(), isNew: false };
    await expect(store.renew(epoch, [renewed])).rejects.toThrow('timed out');
    await eventually(() => expect(performance.now() - pausedAt).toBeGreaterThan(2_000));
    redis.resume();
    // Behind them, on the same connection.
    await eventually(() => store.renew(epoch, []));
    expect(await inUse()).toBe(0);
    expect(await store.admit(question)).toMatchObject({ kind: 'granted', left: 1 });
  });
});

function letGo(admission: Admission): void {
  if (admission.granted) admission.release();
}

describe('without the store, by policy', () => {
  it('local: each of three replicas goes by its third of the limits', async () => {
    const three = [await replica(FAST), await replica(FAST), await replica(FAST)];
    await eventually(async () => expect(await redis.client.zcard('ute:replicas')).toBe(3));
    await pause(400);
    await redis.kill();
    const seven = { leases: [lease({ limit: 7 })] };
    for (const one of three) {
      const answers = [];
      for (let call = 0; call < 4; call += 1) answers.push((await ask(one, seven)).granted);
      expect(answers).toEqual([true, true, false, false]);
    }
    const [one] = three as [Replica];
    const nine = { rates: [rate({ burst: 9 })] };
    const rated = [];
    for (let call = 0; call < 4; call += 1) rated.push((await ask(one, nine)).granted);
    expect(rated).toEqual([true, true, true, false]);
  });

  it('local: a rate that is used up is used up, also when Redis goes away: no outage gives a burst of its own', async () => {
    const one = await replica(FAST);
    const five = { rates: [rate({ rate: 5, burst: 5 })] };
    for (let call = 0; call < 5; call += 1) await granted(one, five);
    for (let outage = 0; outage < 2; outage += 1) {
      await redis.kill();
      await eventually(async () => {
        await ask(one, { leases: [lease({ limit: 9 })] });
        expect(isDegraded(one)).toBe(true);
      });
      expect(await ask(one, five)).toMatchObject({ granted: false, refusedBy: 'rate' });
      await redis.restart();
      await eventually(() => expect(isDegraded(one)).toBe(false));
    }
  });

  it('closed refuses, open lets everybody in, and the strictest rule of a call holds', async () => {
    const one = await replica(FAST);
    await redis.kill();
    const open = lease({ key: 'open', onStoreFailure: 'open' });
    const closed = rate({ onStoreFailure: 'closed' });
    await eventually(async () =>
      expect((await granted(one, { leases: [open] })).degraded).toEqual(['concurrency']),
    );
    for (let call = 0; call < 5; call += 1) await granted(one, { leases: [open] });
    await expect(ask(one, { rates: [closed], leases: [open] })).rejects.toMatchObject({
      type: 'UNAVAILABLE',
      reason: 'LIMITS_UNAVAILABLE',
      retryAfterMs: 1_000,
    });
  });

  it('a gateway that starts before its Redis begins by its share and joins when it is there', async () => {
    await redis.kill();
    const early = await replica(FAST);
    expect((await granted(early, { leases: [lease()] })).degraded).toEqual(['concurrency']);
    await redis.restart();
    await eventually(() => expect(isDegraded(early)).toBe(false));
    await eventually(async () => expect(await inUse()).toBe(1));
  });
});

describe('the server at boot', () => {
  it('a node of a cluster is refused where no cluster was said', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'ute-redis-'));
    const file = ['--cluster-config-file', join(dir, 'nodes.conf')];
    const cluster = await startRedis(['--cluster-enabled', 'yes', ...file]);
    try {
      await expect(checkRedisServer(cluster.client, recordingLog())).rejects.toThrow('redis.mode: cluster');
      await checkRedisServer(cluster.client, recordingLog(), true);
    } finally {
      await cluster.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('eviction and nothing on disk are warned of', async () => {
    const log = recordingLog();
    await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await checkRedisServer(redis.client, log);
    expect(log.lines.map(({ message }) => message)).toEqual([
      expect.stringContaining('maxmemory-policy noeviction'),
      expect.stringContaining('appendonly yes'),
    ]);
  });
});

type Step =
  | { readonly do: 'take'; readonly at: number; readonly key: 'a' | 'b' | 'both' }
  | { readonly do: 'give'; readonly pick: number }
  | { readonly do: 'die'; readonly at: number }
  | { readonly do: 'expire' };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      at: fc.nat(1),
      key: fc.constantFrom('a' as const, 'b' as const, 'both' as const),
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('give' as const), pick: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const), at: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('expire' as const) }) },
);

const LIMITS = { a: 2, b: 3 } as const;
type Key = keyof typeof LIMITS;

interface Held {
  readonly by: Replica;
  readonly keys: readonly Key[];
  readonly admission: Granted;
  /** Its replica died: the place may be taken still, or free already. */
  dead: boolean;
}

/** Two replicas and what they hold, by their own word; every answer is compared with it. */
class World {
  readonly #prefix = randomUUID().slice(0, 8);
  /** What was promised and not kept. */
  readonly broken: string[] = [];
  readonly #alive: (Replica | undefined)[] = [undefined, undefined];
  #held: Held[] = [];

  async take(step: Step): Promise<void> {
    if (step.do === 'take') await this.#take(step.at, step.key === 'both' ? ['a', 'b'] : [step.key]);
    if (step.do === 'give') await this.#give(step.pick);
    if (step.do === 'die') this.#die(step.at);
    if (step.do === 'expire') await this.#expire();
  }

  async end(): Promise<void> {
    for (const one of this.#alive) await one?.close();
  }

  async #take(at: number, keys: readonly Key[]): Promise<void> {
    const by = (this.#alive[at] ??= await startReplica(redis.url, FAST, this.#prefix));
    const leases = keys.map((key) => lease({ key, limit: LIMITS[key] }));
    const admission = await ask(by, { leases });
    const surelyFull = keys.some((key) => this.#count(key, false) >= LIMITS[key]);
    const maybeFull = keys.some((key) => this.#count(key, true) >= LIMITS[key]);
    if (surelyFull && admission.granted) this.broken.push(`above the limit of ${keys.join()}`);
    if (!maybeFull && !admission.granted) this.broken.push(`refused ${keys.join()} while places were free`);
    if (admission.granted) this.#held.push({ by, keys, admission, dead: false });
  }

  async #give(pick: number): Promise<void> {
    const living = this.#held.filter(({ dead }) => !dead);
    const given = living[pick % Math.max(1, living.length)];
    if (given === undefined) return;
    this.#held = this.#held.filter((each) => each !== given);
    given.admission.release();
    // Others see it once the store has been told: in the next turn, and one way to the store.
    await pause(5);
    await given.by.clients.coordination.ping();
  }

  #die(at: number): void {
    this.#alive[at]?.crash();
    for (const each of this.#held) if (each.by === this.#alive[at]) each.dead = true;
    this.#alive[at] = undefined;
  }

  /** The dead are forgotten, the living have renewed. */
  async #expire(): Promise<void> {
    await pause(1_200);
    this.#held = this.#held.filter(({ dead }) => !dead);
  }

  #count(key: Key, withDead: boolean): number {
    return this.#held.filter(({ keys, dead }) => keys.includes(key) && (withDead || !dead)).length;
  }
}
