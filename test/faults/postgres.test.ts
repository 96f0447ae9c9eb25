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
  // A busy machine is no Redis that is away.
  const settings = { async: { lease_ms: LEASE_MS }, redis: { command_timeout_ms: 5_000 } };
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
  expect(await load.ask(two, newRef())).toMatchObject({
    status: 503,
    type: 'UNAVAILABLE',
    mayHaveActed: false,
  });
  expect(Date.now() - askedAt).toBeLessThan(4_000);
  expect((await callTool(two, 'look')).body).toMatchObject({ ok: true });
}

interface Fault {
  readonly begin: () => void | Promise<unknown>;
  readonly end: () => void | Promise<unknown>;
}

/** Gives what is not as it must be afterwards. */
async function brokenBy({ begin, end }: Fault): Promise<readonly string[]> {
  const load = new FaultLoad(bench);
  const since = await busy(load);
  const brokenAt = Date.now();
  await begin();
  // Nobody is told that a call was accepted before it is kept.
  const offered = load.ask(one, newRef(), { way: 'async' });
  await isCautious(load);
  await expect.poll(() => Date.now() - brokenAt, { timeout: 60_000, interval: 50 }).toBeGreaterThan(FAULT_MS);
  await end();
  expect(await bench.unrecovered()).toEqual([]);
  await load.stop();
  expect([202, 503]).toContain((await offered).status);
  expect(bench.upstream.mostAtOnce(since)).toBeLessThanOrEqual(LIMIT);
  return load.violations();
}

it('while PostgreSQL is restarted nothing acts unrecorded; every call has one end and nothing runs twice', async () => {
  const broken = await brokenBy({ begin: () => bench.postgres.kill(), end: () => bench.postgres.restart() });
  expect(broken).toEqual([]);
});

it('while PostgreSQL is a black hole calls are refused soon; what it took late counts once', async () => {
  const broken = await brokenBy({
    begin: () => bench.postgresLine.setMode({ kind: 'blackhole' }),
    end: () => bench.postgresLine.setMode({ kind: 'pass' }),
  });
  expect(broken).toEqual([]);
});

it('connections to PostgreSQL that are dead without saying so are replaced', async () => {
  const load = new FaultLoad(bench);
  const since = await busy(load);
  bench.postgresLine.setMode({ kind: 'half_open' });
  expect(await bench.unrecovered()).toEqual([]);
  await load.stop();
  expect(bench.upstream.mostAtOnce(since)).toBeLessThanOrEqual(LIMIT);
  expect(await load.violations()).toEqual([]);
});

it('while PostgreSQL refuses connections no call is accepted, and that is known: repeated later it runs once', async () => {
  const load = new FaultLoad(bench);
  await bench.postgres.kill();
  // Of what was sent before, the end may not be known.
  const ask = (ref: string) => load.ask(one, ref, { way: 'async' });
  await expect.poll(async () => (await ask(newRef())).reason, SOON).toBe('DATABASE_UNAVAILABLE');
  const refs = Array.from({ length: 8 }, newRef);
  for (const told of await Promise.all(refs.map(ask)))
    expect(told).toMatchObject({ status: 503, reason: 'DATABASE_UNAVAILABLE', mayHaveActed: false });
  await bench.postgres.restart();
  expect(await bench.unrecovered()).toEqual([]);
  for (const told of await Promise.all(refs.map(ask))) expect(told).toMatchObject({ status: 202 });
  expect(await load.violations()).toEqual([]);
  expect(refs.map((ref) => bench.upstream.runs(ref))).toEqual(refs.map(() => 1));
});

describe('a connection that is cut in mid-statement', () => {
  /** Said at each use of a prepared statement: its name. */
  const cut = (statement: string, when: 'unsent' | 'unanswered') =>
    bench.postgresLine.cutAt([statement], when);
  /** A call, and whom to tell of its end: one statement, and by itself a transaction. */
  const kept = 'accept_calls';

  it.each([
    ['before', 'unsent'],
    ['after', 'unanswered'],
  ] as const)(
    '%s the intent of a call is kept: the call does not run, and has one end',
    async (_when, when) => {
      expect(await bench.unrecovered()).toEqual([]);
      const load = new FaultLoad(bench);
      const cutOff = cut('store_audit_intents', when);
      const ref = newRef();
      const told = await load.ask(one, ref);
      await cutOff;
      expect(told).toMatchObject({ ok: false, mayHaveActed: false });
      expect(bench.upstream.runs(ref)).toBe(0);
      expect(await load.violations()).toEqual([]);
    },
  );

  it.each([
    ['before it is written', 'unsent'],
    ['after it was written', 'unanswered'],
  ] as const)(
    'as a call is accepted, %s: whoever repeats it with its key has it run once',
    async (_name, when) => {
      const load = new FaultLoad(bench);
      const ref = newRef();
      const cutOff = cut(kept, when);
      const told = await acceptKeyed(ref);
      await cutOff;
      const again = await acceptKeyed(ref);
      expect([told.status, again.status]).toContain(202);
      await expect.poll(() => bench.upstream.runs(ref), SOON).toBe(1);
      expect(await load.violations()).toEqual([]);
      expect(bench.upstream.runs(ref)).toBe(1);
    },
  );

  it('as a call is accepted, and again at the second try: nobody knows, and whoever repeats it with its key has it run once', async () => {
    const load = new FaultLoad(bench);
    const ref = newRef();
    const bothCutOff = cut(kept, 'unanswered').then(() => cut(kept, 'unanswered'));
    expect(await acceptKeyed(ref)).toMatchObject({
      status: 503,
      body: { error: { reason: 'ACCEPTANCE_UNKNOWN', retryable: false, partial_side_effects: true } },
    });
    await bothCutOff;
    expect(await acceptKeyed(ref)).toMatchObject({
      status: 409,
      body: { error: { reason: 'IDEMPOTENCY_IN_FLIGHT' } },
    });
    await expect.poll(() => bench.upstream.runs(ref), SOON).toBe(1);
    expect(await load.violations()).toEqual([]);
    expect(bench.upstream.runs(ref)).toBe(1);
  });

  it('as a call is accepted that may run twice, and again at the second try: it runs soon', async () => {
    const load = new FaultLoad(bench);
    const ref = newRef();
    const bothCutOff = cut(kept, 'unanswered').then(() => cut(kept, 'unanswered'));
    expect(await load.ask(one, ref, { way: 'async', tool: 'pay_again' })).toMatchObject({
      reason: 'ACCEPTANCE_UNKNOWN',
    });
    await bothCutOff;
    await expect.poll(() => bench.upstream.runs(ref), SOON).toBe(1);
    expect(await load.violations()).toEqual([]);
    expect(await load.unfinished()).toEqual([]);
  });

  it.each(['unsent', 'unanswered'] as const)(
    'as an accepted call is claimed (%s): the replica that claimed it finds it, and runs it once',
    async (when) => {
      const load = new FaultLoad(bench);
      const cutOff = cut('claim_calls', when);
      await load.ask(one, newRef(), { way: 'async' });
      await cutOff;
      expect(await load.violations()).toEqual([]);
      expect(await load.unfinished()).toEqual([]);
    },
  );

  it.each(['unsent', 'unanswered'] as const)(
    'as the end of an accepted call is written (%s): it is written once',
    async (when) => {
      const load = new FaultLoad(bench);
      const cutOff = cut('finish_calls', when);
      await load.ask(two, newRef(), { way: 'async' });
      await cutOff;
      expect(await load.violations()).toEqual([]);
      expect(await load.unfinished()).toEqual([]);
    },
  );

  describe('as a call gets its key', () => {
    const key = 'claim_idempotency_key';

    it.each(['unsent', 'unanswered'] as const)('(%s): it runs, once', async (when) => {
      const load = new FaultLoad(bench);
      const ref = newRef();
      const cutOff = cut(key, when);
      expect(await load.ask(one, ref, { key: ref })).toMatchObject({ ok: true });
      await cutOff;
      expect(bench.upstream.runs(ref)).toBe(1);
      expect(await load.violations()).toEqual([]);
    });

    it('and again at the second try: it is refused and does not run, and whoever repeats it has it run soon, once', async () => {
      const load = new FaultLoad(bench);
      const ref = newRef();
      const bothCutOff = cut(key, 'unanswered').then(() => cut(key, 'unanswered'));
      expect(await load.ask(one, ref, { key: ref })).toMatchObject({
        reason: 'DATABASE_UNAVAILABLE',
        mayHaveActed: false,
      });
      await bothCutOff;
      expect(bench.upstream.runs(ref)).toBe(0);
      expect(await load.ask(two, ref, { way: 'keyed' })).toMatchObject({ ok: true });
      expect(bench.upstream.runs(ref)).toBe(1);
    });

    it.each(['unsent', 'unanswered'] as const)(
      'and was refused, as it gives its key back (%s): whoever repeats it has it run soon, once',
      async (when) => {
        expect(await bench.unrecovered()).toEqual([]);
        const load = new FaultLoad(bench);
        const ref = newRef();
        const bothCutOff = cut('store_audit_intents', 'unsent').then(() =>
          cut('release_idempotency_key', when),
        );
        expect(await load.ask(one, ref, { key: ref })).toMatchObject({
          reason: 'AUDIT_UNAVAILABLE',
          mayHaveActed: false,
        });
        await bothCutOff;
        expect(await load.ask(two, ref, { way: 'keyed' })).toMatchObject({ ok: true });
        expect(bench.upstream.runs(ref)).toBe(1);
      },
    );
  });

  it('as the outcome under a key is kept: the caller has its answer, and whoever repeats the call gets it too', async () => {
    const load = new FaultLoad(bench);
    const ref = newRef();
    const cutOff = cut('end_idempotency_key', 'unsent');
    expect(await load.ask(one, ref, { way: 'keyed' })).toMatchObject({ ok: true });
    await cutOff;
    await expect.poll(async () => (await load.ask(two, ref, { way: 'keyed' })).ok, SOON).toBe(true);
    expect(await load.violations()).toEqual([]);
  });

  it('leaves both gateways as they were', async () => {
    expect(await bench.unrecovered()).toEqual([]);
  });
});

function acceptKeyed(ref: string) {
  const body = { arguments: { ref }, callback: { url: `${bench.upstream.url}/look` } };
  const path = '/v1/tools/pay/execute';
  return request<unknown>(one, 'POST', path, body, { prefer: 'respond-async', 'idempotency-key': ref });
}
