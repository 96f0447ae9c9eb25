// Redis faults under load, with two gateways: what holds while it is broken, and that they recover by themselves.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { degraded, FaultBench, LIMIT, QUARANTINE_MS, type Replica } from '../helpers/fault-bench.ts';
import { FaultLoad } from '../helpers/fault-load.ts';

const CALLERS = 12;
const SOON = { timeout: 15_000, interval: 20 };
const FAULT_MS = 2_500;

let bench: FaultBench;

beforeAll(async () => {
  bench = await FaultBench.start();
  await Promise.all([bench.gateway('one'), bench.gateway('two')]);
});

afterAll(() => bench?.stop());

async function busy(load: FaultLoad): Promise<number> {
  const since = Date.now();
  load.begin(CALLERS);
  await expect.poll(() => bench.upstream.mostAtOnce(since), SOON).toBe(LIMIT);
  await expect.poll(() => load.told.filter(({ ok }) => ok).length, SOON).toBeGreaterThan(CALLERS);
  return since;
}

const eachSays = async (what: readonly string[]) => {
  for (const replica of bench.replicas) await expect.poll(() => degraded(replica), SOON).toEqual(what);
};

/** Calls go on being answered with success meanwhile. */
async function goesOn(load: FaultLoad, calls = 3 * CALLERS): Promise<void> {
  const before = load.told.length;
  const fine = () => load.told.slice(before).filter(({ ok, way }) => ok && way === 'direct').length;
  await expect.poll(fine, SOON).toBeGreaterThan(calls / 3);
}

async function untilFaultIsLong(since: number): Promise<void> {
  await expect.poll(() => Date.now() - since, { timeout: 60_000, interval: 50 }).toBeGreaterThan(FAULT_MS);
}

interface Fault {
  readonly begin: () => void | Promise<unknown>;
  readonly end: () => void | Promise<unknown>;
}

/** Everything that is promised, before, during and after a fault that is noticed. */
async function survives({ begin, end }: Fault): Promise<void> {
  const load = new FaultLoad(bench);
  const since = await busy(load);
  const brokenAt = Date.now();
  expect(bench.upstream.mostAtOnce(since, brokenAt)).toBe(LIMIT);
  await begin();
  await eachSays(['admission']);
  await goesOn(load);
  await untilFaultIsLong(brokenAt);
  await end();
  await eachSays([]);
  await goesOn(load);
  await load.stop();
  await bench.recovered();
  expect(bench.upstream.mostAtOnce(brokenAt)).toBeLessThanOrEqual(2 * LIMIT);
  await load.expectKept();
  await load.expectAllAcceptedSucceeded();
}

it('while Redis is a black hole calls go on by local shares, below twice the limit; nothing is lost or run twice', () =>
  survives({
    begin: () => bench.redisLine.setMode({ kind: 'blackhole' }),
    end: () => bench.redisLine.setMode({ kind: 'pass' }),
  }));

it('while Redis is out of memory calls go on by local shares; accepted calls run once there is room again', () =>
  survives({
    begin: () => bench.redis.client.config('SET', 'maxmemory', '1'),
    end: () => bench.redis.client.config('SET', 'maxmemory', '0'),
  }));

it('a Redis that answers too late is done without, and used again when it is quick', () =>
  survives({
    begin: () => bench.redisLine.setMode({ kind: 'latency', ms: 400 }),
    end: () => bench.redisLine.setMode({ kind: 'pass' }),
  }));

it('connections to Redis that are dead without saying so are replaced', async () => {
  const load = new FaultLoad(bench);
  const since = await busy(load);
  bench.redisLine.setMode({ kind: 'half_open' });
  await goesOn(load);
  await eachSays([]);
  await goesOn(load);
  await load.stop();
  await bench.recovered();
  expect(bench.upstream.mostAtOnce(since)).toBeLessThanOrEqual(2 * LIMIT);
  await load.expectKept();
  await load.expectAllAcceptedSucceeded();
});

/** A store that has lost its leases: at most twice the limit for the time of a lease, then the limit again. */
async function forgets(lose: () => Promise<unknown>): Promise<void> {
  const load = new FaultLoad(bench);
  const since = await busy(load);
  const lostAt = Date.now();
  expect(bench.upstream.mostAtOnce(since, lostAt)).toBe(LIMIT);
  await lose();
  const soundAt = lostAt + QUARANTINE_MS;
  await expect.poll(() => Date.now(), { timeout: 2 * QUARANTINE_MS, interval: 100 }).toBeGreaterThan(soundAt);
  await goesOn(load);
  await load.stop();
  await bench.recovered();
  expect(bench.upstream.mostAtOnce(lostAt, soundAt)).toBeLessThanOrEqual(2 * LIMIT);
  expect(bench.upstream.mostAtOnce(soundAt)).toBe(LIMIT);
  await load.expectKept();
  await load.expectAllAcceptedSucceeded();
}

it('after FLUSHALL the limit is exceeded at most twofold for one lease; accepted calls run all the same', () =>
  forgets(() => bench.redis.client.flushall()));

it('after a restart that lost everything the limit is exceeded at most twofold for one lease; nothing is lost', () =>
  forgets(() => bench.redis.restart()));

it('the same gateways have gone through all of this', () => {
  const running = (replica: Replica) => replica.process.pid > 0 && replica.process.stdout.includes('"msg":"ready"');
  expect(bench.replicas.map(running)).toEqual([true, true]);
});
