// The machine's date is set back while something is away: nothing that is measured takes longer for it.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FaultBench, newRef, type Replica } from '../helpers/fault-bench.ts';
import { FaultLoad } from '../helpers/fault-load.ts';

const SOON = { timeout: 15_000, interval: 20 };
const PRELOAD = join(import.meta.dirname, '../fixtures/set-back-clock.mjs');

let bench: FaultBench;
let gateway: Replica;

beforeAll(async () => {
  bench = await FaultBench.start();
  gateway = await bench.gateway('set-back', { env: { NODE_OPTIONS: `--import=${PRELOAD}` } });
});

afterAll(() => bench?.stop());

async function setBack(): Promise<void> {
  gateway.process.signal('SIGUSR2');
  await expect.poll(() => gateway.process.stderr, SOON).toContain('the date was set back');
}

it('actions are accepted again as soon as PostgreSQL is back, though the date was set back by an hour meanwhile', async () => {
  const load = new FaultLoad(bench);
  expect(await load.ask(gateway, newRef())).toMatchObject({ ok: true });
  bench.postgresLine.setMode({ kind: 'cut' });
  await expect.poll(async () => (await load.ask(gateway, newRef())).reason, SOON).toBe('AUDIT_UNAVAILABLE');
  await setBack();
  bench.postgresLine.setMode({ kind: 'pass' });
  await expect.poll(async () => (await load.ask(gateway, newRef())).ok, SOON).toBe(true);
  const ref = newRef();
  await load.ask(gateway, ref, { way: 'async' });
  await expect.poll(() => bench.upstream.runs(ref), SOON).toBe(1);
  expect(await load.violations()).toEqual([]);
});
