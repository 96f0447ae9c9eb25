// Schedules under faults: whoever loses the race for a moment makes no second call of it, whoever wins and dies loses none.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FaultBench, newRef, type Replica } from '../helpers/fault-bench.ts';
import { FaultLoad } from '../helpers/fault-load.ts';
import { makeSchedule } from '../helpers/schedule-client.ts';

const SOON = { timeout: 30_000, interval: 20 };

let bench: FaultBench;

beforeAll(async () => {
  bench = await FaultBench.start();
  const settings = { async: { lease_ms: 1_500 } };
  const names = ['one', 'two', 'three'];
  await Promise.all(names.map((name) => bench.gateway(name, { settings })));
});

afterAll(() => bench?.stop());

/** Due in two seconds, all of them. */
async function schedules(count: number): Promise<readonly string[]> {
  const { replicas } = bench;
  const refs = Array.from({ length: count }, newRef);
  await Promise.all(refs.map((ref, index) => schedule(ref, replicas[index % replicas.length] as Replica)));
  return refs;
}

/** A busy gateway may send its caller away: nothing was kept then. */
async function schedule(ref: string, replica: Replica): Promise<void> {
  const asked = { schedule: 'in 2 seconds', tool: 'pay', arguments: { ref } };
  await expect.poll(async () => (await makeSchedule(replica, asked)).status, SOON).toBe(201);
}

/** Those whose moment became another number of runs than one. */
async function notRunOnce(refs: readonly string[]): Promise<readonly string[]> {
  const { upstream, postgres } = bench;
  await expect.poll(() => refs.filter((ref) => upstream.runs(ref) === 0), SOON).toEqual([]);
  expect(await new FaultLoad(bench).violations()).toEqual([]);
  const twice =
    'SELECT schedule_id FROM calls WHERE schedule_id IS NOT NULL GROUP BY schedule_id HAVING count(*) > 1';
  expect(await postgres.sql(twice)).toEqual([]);
  return refs.filter((ref) => upstream.runs(ref) !== 1);
}

it('three gateways race for fifty schedules of the same moment: each is run once', async () => {
  expect(await notRunOnce(await schedules(50))).toEqual([]);
});

it('a gateway that loses the database after it has won a moment, before it is kept: another makes the call', async () => {
  const cutOff = bench.postgresLine.cutAt(['UPDATE scheduled_tasks'], 'unanswered');
  const refs = await schedules(5);
  await cutOff;
  expect(await notRunOnce(refs)).toEqual([]);
});

it('a gateway that never learns that the moment it won is kept: the call is made once', async () => {
  const refs = await schedules(5);
  await bench.postgresLine.cutAt(['UPDATE scheduled_tasks', 'commit'], 'unanswered');
  expect(await notRunOnce(refs)).toEqual([]);
});

it('a gateway that is killed as schedules are due: the others make the calls', async () => {
  const refs = await schedules(20);
  await expect.poll(() => refs.some((ref) => bench.upstream.runs(ref) > 0), SOON).toBe(true);
  await bench.kill(bench.replicas[0] as Replica);
  await expect.poll(() => firedOf(), SOON).toBeGreaterThanOrEqual(80);
  expect(await new FaultLoad(bench).violations()).toEqual([]);
  expect(refs.filter((ref) => bench.upstream.runs(ref) > 1)).toEqual([]);
  expect(await bench.unrecovered()).toEqual([]);
});

it('Redis is flushed as schedules are due: each is run once', async () => {
  const refs = await schedules(10);
  await bench.redis.client.flushall();
  expect(await notRunOnce(refs)).toEqual([]);
});

async function firedOf(): Promise<number> {
  const [row] = await bench.postgres.sql(
    'SELECT count(*)::int AS fired FROM calls WHERE schedule_id IS NOT NULL',
  );
  return row?.['fired'] as number;
}
