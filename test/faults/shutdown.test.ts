// A gateway is stopped while its database hangs: it ends as it was asked to, and its next start puts the rest on record.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { degraded, FaultBench, newRef } from '../helpers/fault-bench.ts';
import { FaultLoad } from '../helpers/fault-load.ts';

let bench: FaultBench;

beforeAll(async () => {
  bench = await FaultBench.start();
});

afterAll(() => bench?.stop());

it('SIGTERM while PostgreSQL is a black hole: the gateway ends by itself, and its next start moves what it had to leave', async () => {
  const settings = { shutdown: { drain_ms: 2_000 } };
  const load = new FaultLoad(bench);
  const leaving = await bench.gateway('leaving', { settings });
  const told = await Promise.all(Array.from({ length: 4 }, () => load.ask(leaving, newRef())));
  bench.postgresLine.setMode({ kind: 'blackhole' });
  expect(told.map(({ ok }) => ok)).toEqual(told.map(() => true));
  // By then everything that looks into the database by itself has a statement that hangs.
  await eventually(async () => (await degraded(leaving)).includes('database'), 'degraded: database', 20_000);
  await bench.end(leaving);
  // Any other end than this one is the limit of the process, which cuts off whatever goes on.
  expect(await leaving.process.exited).toEqual({ code: 0, signal: null });
  bench.postgresLine.setMode({ kind: 'pass' });
  await bench.gateway('leaving', { settings });
  expect(await load.violations()).toEqual([]);
});
