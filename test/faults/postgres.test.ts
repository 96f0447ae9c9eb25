// PostgreSQL faults under load, with two gateways: what is refused meanwhile, what is kept, and that they recover.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FaultBench, LIMIT, newRef, type Replica } from '../helpers/fault-bench.ts';
import { FaultLoad } from '../helpers/fault-load.ts';
import { callTool, request } from '../helpers/rest-client.ts';

const CALLERS = 8;
const SOON = { timeout: 15_000, interval: 20 };
/** Within the time that a replica is believed to be running a call. */
const FAULT_MS = 2_500;
const LEASE_MS = 4_000;

let bench: FaultBench;
let one: Replica;
let two: Replica;

beforeAll(async () => {
  bench = await FaultBench.start();
  const settings = { async: { lease_ms: LEASE_MS } };
  one = await bench.gateway('one', { settings });
  two = await bench.gateway('two', { settings });
});

afterAll(() => bench?.stop());

async function busy(load: FaultLoad): Promise<number> {
  const since = Date.now();
  load.begin(CALLERS);
  await expect.poll(() => load.told.filter(({ ok }) => ok).length, SOON).toBeGreaterThan(2 * CALLERS);
  return since;
}

/** While nothing can be recorded: what changes something is refused, soon and typed; what only reads goes on. */
async function isCautious(load: FaultLoad): Promise<void> {
  const ref = newRef();
  await expect
    .poll(async () => (await load.ask(one, ref)).reason, SOON)
    .toMatch(/^(AUDIT|DATABASE)_UNAVAILABLE$/);
  const askedAt = Date.now();
  expect(await load.ask(two, newRef())).toMatchObject({ status: 503, type: 'UNAVAILABLE', mayHaveActed: false });
  expect(Date.now() - askedAt).toBeLessThan(4_000);
  expect((await callTool(two, 'look')).body).toMatchObject({ ok: true });
  expect(await load.ask(one, newRef(), { way: 'async' })).toMatchObject({ status: 503, type: 'UNAVAILABLE' });
}

interface Fault {
  readonly begin: () => void | Promise<unknown>;
  readonly end: () => void | Promise<unknown>;
}

async function survives({ begin, end }: Fault): Promise<void> {
  const load = new FaultLoad(bench);
  const since = await busy(load);
  const brokenAt = Date.now();
  await begin();
  await isCautious(load);
  await expect.poll(() => Date.now() - brokenAt, { timeout: 60_000, interval: 50 }).toBeGreaterThan(FAULT_MS);
  await end();
  await bench.recovered();
  await load.stop();
  expect(bench.upstream.mostAtOnce(since)).toBeLessThanOrEqual(LIMIT);
  await load.expectKept();
}

it('while PostgreSQL is restarted nothing acts unrecorded; every call has one end and nothing runs twice', () =>
  survives({ begin: () => bench.postgres.kill(), end: () => bench.postgres.restart() }));

it('while PostgreSQL is a black hole calls are refused soon; what it took late counts once', () =>
  survives({
    begin: () => bench.postgresLine.setMode({ kind: 'blackhole' }),
    end: () => bench.postgresLine.setMode({ kind: 'pass' }),
  }));

it('connections to PostgreSQL that are dead without saying so are replaced', async () => {
  const load = new FaultLoad(bench);
  const since = await busy(load);
  bench.postgresLine.setMode({ kind: 'half_open' });
  await bench.recovered();
  await load.stop();
  expect(bench.upstream.mostAtOnce(since)).toBeLessThanOrEqual(LIMIT);
  await load.expectKept();
});

describe('a connection that is cut in mid-statement', () => {
  const cut = (text: string, when: 'unsent' | 'unanswered') => bench.postgresLine.cutAt(text, when);

  it.each([
    ['before', 'unsent'],
    ['after', 'unanswered'],
  ] as const)('%s the intent of a call is kept: the call does not run, and has one end', async (_when, when) => {
    const load = new FaultLoad(bench);
    const cutOff = cut('INSERT INTO audit_records', when);
    const ref = newRef();
    const told = await load.ask(one, ref);
    await cutOff;
    // The shipper's own statement may have met it instead: then the call has run.
    if (!told.ok) expect(told).toMatchObject({ type: 'UNAVAILABLE', mayHaveActed: false });
    expect(bench.upstream.runs(ref)).toBe(told.ok ? 1 : 0);
    await load.expectKept();
  });

  it.each([
    ['before it is kept', 'insert into "calls"', 'unsent'],
    ['after it was kept', 'insert into "calls"', 'unanswered'],
    ['before its transaction ends', 'insert into "webhooks"', 'unanswered'],
    ['after its transaction ended', 'commit', 'unanswered'],
  ] as const)('as a call is accepted, %s: whoever repeats it with its key has it run once', async (_name, text, when) => {
    const load = new FaultLoad(bench);
    const ref = newRef();
    const cutOff = cut(text, when);
    const told = await acceptKeyed(ref);
    await cutOff;
    const again = await acceptKeyed(ref);
    expect([told.status, again.status]).toContain(202);
    await expect.poll(() => bench.upstream.runs(ref), SOON).toBe(1);
    await load.expectKept();
    expect(bench.upstream.runs(ref)).toBe(1);
  });

  it('after an accepted call was claimed: it is not run twice, and has one end', async () => {
    const load = new FaultLoad(bench);
    const cutOff = cut("SET status = 'running'", 'unanswered');
    await load.ask(one, newRef(), { way: 'async' });
    await cutOff;
    await load.expectKept();
  });

  it.each(['unsent', 'unanswered'] as const)('as the end of an accepted call is written (%s): it is written once', async (when) => {
    const load = new FaultLoad(bench);
    const cutOff = cut('SET status = e.status', when);
    await load.ask(two, newRef(), { way: 'async' });
    await cutOff;
    await load.expectKept();
    await load.expectAllAcceptedSucceeded();
  });

  it('as the outcome under a key is kept: the caller has its answer, and whoever repeats the call gets it too', async () => {
    const load = new FaultLoad(bench);
    const ref = newRef();
    const cutOff = cut("SET status = 'ended'", 'unsent');
    expect(await load.ask(one, ref, { way: 'keyed' })).toMatchObject({ ok: true });
    await cutOff;
    await expect.poll(async () => (await load.ask(two, ref, { way: 'keyed' })).ok, SOON).toBe(true);
    await load.expectKept();
  });

  it('leaves both gateways as they were', () => bench.recovered());
});

function acceptKeyed(ref: string) {
  const body = { arguments: { ref }, callback: { url: `${bench.upstream.url}/look` } };
  const path = '/v1/tools/pay/execute';
  return request<unknown>(one, 'POST', path, body, { prefer: 'respond-async', 'idempotency-key': ref });
}
