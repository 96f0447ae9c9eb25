// Redis faults under load, with two gateways: what holds while it is broken, and that they recover by themselves.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { degraded, FaultBench, LIMIT, QUARANTINE_MS } from '../helpers/fault-bench.ts';
import { FaultLoad } from '../helpers/fault-load.ts';
import { isAlive } from '../helpers/gateway-process.ts';

const CALLERS = 12;
const SOON = { timeout: 15_000, interval: 20 };
const FAULT_MS = 2_500;

let bench: FaultBench;
const loads: FaultLoad[] = [];

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

/** With all that is promised before, during and after a fault that is noticed; gives the most that ran at once. */
async function mostDuring({ begin, end }: Fault): Promise<number> {
  const load = new FaultLoad(bench);
  loads.push(load);
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
  expect(await bench.unrecovered()).toEqual([]);
  return bench.upstream.mostAtOnce(brokenAt);
}

it('while Redis is a black hole calls go on by local shares, below twice the limit', async () => {
  const most = await mostDuring({
    begin: () => bench.redisLine.setMode({ kind: 'blackhole' }),
    end: () => bench.redisLine.setMode({ kind: 'pass' }),
  });
  expect(most).toBeLessThanOrEqual(2 * LIMIT);
});

it('while Redis is out of memory calls go on by local shares', async () => {
  const most = await mostDuring({
    begin: () => bench.redis.client.config('SET', 'maxmemory', '1'),
    end: () => bench.redis.client.config('SET', 'maxmemory', '0'),
  });
  expect(most).toBeLessThanOrEqual(2 * LIMIT);
});

it('a Redis that answers too late is done without, and used again when it is quick', async () => {
  const most = await mostDuring({
    begin: () => bench.redisLine.setMode({ kind: 'latency', ms: 400 }),
    end: () => bench.redisLine.setMode({ kind: 'pass' }),
  });
  expect(most).toBeLessThanOrEqual(2 * LIMIT);
});

it('connections to Redis that are dead without saying so are replaced', async () => {
  const load = new FaultLoad(bench);
  loads.push(load);
  const since = await busy(load);
  bench.redisLine.setMode({ kind: 'half_open' });
  await goesOn(load);
  await eachSays([]);
  await goesOn(load);
  await load.stop();
  expect(await bench.unrecovered()).toEqual([]);
  expect(bench.upstream.mostAtOnce(since)).toBeLessThanOrEqual(2 * LIMIT);
});

/** At most twice the limit for the time of a lease, then the limit again. */
it('a Redis that is flushed, and one that comes back empty, exceed a limit at most twofold for one lease', async () => {
  const load = new FaultLoad(bench);
  loads.push(load);
  const since = await busy(load);
  const flushedAt = Date.now();
  expect(bench.upstream.mostAtOnce(since, flushedAt)).toBe(LIMIT);
  await bench.redis.client.flushall();
  await goesOn(load);
  await bench.redis.restart();
  const soundAt = Date.now() + QUARANTINE_MS;
  await expect.poll(() => Date.now(), { timeout: 2 * QUARANTINE_MS, interval: 100 }).toBeGreaterThan(soundAt);
  await goesOn(load);
  await load.stop();
  expect(await bench.unrecovered()).toEqual([]);
  expect(bench.upstream.mostAtOnce(flushedAt, soundAt)).toBeLessThanOrEqual(2 * LIMIT);
  expect(bench.upstream.mostAtOnce(soundAt)).toBe(LIMIT);
});

it('what was accepted before and during all of this has run once, and every call has one end', async () => {
  expect(loads).toHaveLength(5);
  for (const load of loads) {
    expect(load.accepted.length).toBeGreaterThan(0);
    expect(await load.violations()).toEqual([]);
    expect(await load.unfinished()).toEqual([]);
  }
});

it('the gateways that were started first have gone through all of this', () => {
  expect(bench.replicas.map(({ process }) => isAlive(process.pid))).toEqual([true, true]);
});
