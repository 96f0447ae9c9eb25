// kill -9 of a gateway at named points: what it had accepted is not lost, what it had begun is not begun again.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FaultBench, LIMIT, newRef, type Replica } from '../helpers/fault-bench.ts';
import { FaultLoad } from '../helpers/fault-load.ts';
import { startTcpProxy } from '../helpers/tcp-proxy.ts';

const SOON = { timeout: 15_000, interval: 20 };
/** A lease in Redis is over 15 s after the last sign of life. */
const LEASE_OVER = { timeout: 25_000, interval: 50 };
/** A busy machine is no Redis that is away: without it each replica would go by its share, beside what a dead one still holds. */
const settings = { async: { lease_ms: 1_500 }, redis: { command_timeout_ms: 5_000 } };

let bench: FaultBench;

beforeAll(async () => {
  bench = await FaultBench.start();
});

afterEach(async () => {
  bench.upstream.letGo();
  await Promise.all(bench.replicas.map((replica) => bench.end(replica)));
});

afterAll(() => bench?.stop());

let gateways = 0;

function gateway(failpoint?: string): Promise<Replica> {
  gateways += 1;
  return bench.gateway(`gateway-${gateways}`, { settings, ...(failpoint !== undefined && { failpoint }) });
}

/** Killed by itself, at the point it was told. */
async function died(replica: Replica): Promise<void> {
  expect(await replica.process.exited).toEqual({ code: null, signal: 'SIGKILL' });
  bench.replicas.splice(bench.replicas.indexOf(replica), 1);
}

describe('a gateway that runs accepted calls and is killed', () => {
  it.each([
    ['before_execution', 'before the tool runs', 0],
    ['after_execution_before_commit', 'after the tool ran, before its end is written', 1],
    // At the second renewal: the first may come before the tool is reached.
    ['while_renewing:2', 'while it renews its claims', 1],
  ] as const)(
    '(%s) %s: the call is not run a second time, and its outcome is said to be unknown',
    async (point, _when, runs) => {
      const load = new FaultLoad(bench);
      if (point === 'while_renewing:2') bench.upstream.hold();
      const dying = await gateway(point);
      const ref = newRef();
      await load.ask(dying, ref, { way: 'async' });
      await died(dying);
      bench.upstream.letGo();
      await gateway();
      expect(await load.violations()).toEqual([]);
      expect(bench.upstream.runs(ref)).toBe(runs);
      expect(await lastAccepted()).toMatchObject({
        status: 'outcome_unknown',
        reason: 'OWNER_LOST',
        attempts: 1,
      });
      expect(await bench.unrecovered()).toEqual([]);
    },
  );

  it('in the middle of a call that may run twice: another runs it again, and it succeeds', async () => {
    const load = new FaultLoad(bench);
    const dying = await gateway('after_execution_before_commit');
    await load.ask(dying, newRef(), { way: 'async', tool: 'pay_again' });
    await died(dying);
    await gateway();
    await expect.poll(lastAccepted, SOON).toMatchObject({ status: 'succeeded', attempts: 2 });
  });

  it('(while_queued) with a call accepted and nobody told: another gateway runs it, once', async () => {
    const load = new FaultLoad(bench);
    const dying = await gateway('while_queued');
    const ref = newRef();
    expect(await load.ask(dying, ref, { way: 'async' })).toMatchObject({ status: 0 });
    await died(dying);
    await gateway();
    await expect.poll(() => bench.upstream.runs(ref), SOON).toBe(1);
    expect(await load.violations()).toEqual([]);
    expect(bench.upstream.runs(ref)).toBe(1);
  });

  it('with many more waiting: all of those are run by another, each once', async () => {
    const load = new FaultLoad(bench);
    bench.upstream.hold();
    const [dying, heir] = await Promise.all([gateway(), gateway()]);
    const refs = Array.from({ length: 40 }, newRef);
    const told = await Promise.all(refs.map((ref) => load.ask(dying, ref, { way: 'async' })));
    expect(told.map(({ status }) => status)).toEqual(refs.map(() => 202));
    await expect.poll(() => bench.upstream.running, SOON).toBe(LIMIT);
    await bench.kill(dying);
    bench.upstream.letGo();
    expect(await load.violations()).toEqual([]);
    expect(bench.upstream.mostAtOnce(0)).toBeLessThanOrEqual(LIMIT);
    expect(heir.process.stderr).toBe('');
  });
});

it('a gateway that is killed as it answers that a call was accepted: whoever repeats it with its key is led to that call', async () => {
  const load = new FaultLoad(bench);
  const [dying, heir] = await Promise.all([gateway(), gateway()]);
  const line = await startTcpProxy(Number(new URL(dying.url).port));
  const ref = newRef();
  const keyed = { way: 'async', key: ref } as const;
  const answerLost = line.cutAt(['respond-async'], 'unanswered');
  const through = { ...dying, url: `http://127.0.0.1:${line.port}` };
  expect(await load.ask(through, ref, keyed)).toMatchObject({ status: 0 });
  await answerLost;
  await Promise.all([bench.kill(dying), line.close()]);
  expect(await load.ask(heir, ref, keyed)).toMatchObject({ status: 202 });
  expect(await load.violations()).toEqual([]);
});

it('a gateway that is killed after it answered: its next start puts the outcome on record', async () => {
  const load = new FaultLoad(bench);
  const dying = await bench.gateway('reborn', { settings });
  const told = await Promise.all(Array.from({ length: 5 }, () => load.ask(dying, newRef())));
  await bench.kill(dying);
  expect(told.map(({ ok }) => ok)).toEqual(told.map(() => true));
  await bench.gateway('reborn', { settings });
  expect(await load.violations()).toEqual([]);
});

it('a gateway that is killed in mid-call: whoever repeats the call with its key learns that nobody knows, and nothing runs', async () => {
  const load = new FaultLoad(bench);
  bench.upstream.hold();
  const [dying, heir] = await Promise.all([gateway(), gateway()]);
  const ref = newRef();
  const asked = load.ask(dying, ref, { way: 'direct', key: ref });
  await expect.poll(() => bench.upstream.runs(ref), SOON).toBe(1);
  await bench.kill(dying);
  expect(await asked).toMatchObject({ status: 0 });
  bench.upstream.letGo();
  const again = () => load.ask(heir, ref, { way: 'direct', key: ref });
  expect(await again()).toMatchObject({ status: 409, type: 'CONFLICT', reason: 'IDEMPOTENCY_IN_FLIGHT' });
  await leasesAreOver();
  expect(await again()).toMatchObject({ status: 409, type: 'OUTCOME_UNKNOWN' });
  expect(await again()).toMatchObject({ status: 409, type: 'OUTCOME_UNKNOWN' });
  expect(bench.upstream.runs(ref)).toBe(1);
});

it('a gateway that is killed with places of a limit: none is given to others before its lease is over, and then all', async () => {
  const load = new FaultLoad(bench);
  bench.upstream.hold();
  const [dying, heir] = await Promise.all([gateway(), gateway()]);
  const since = Date.now();
  const lost = Array.from({ length: LIMIT }, () => load.ask(dying, newRef()));
  await expect.poll(() => bench.upstream.running, SOON).toBe(LIMIT);
  const refs = Array.from({ length: LIMIT }, newRef);
  const waiting = refs.map((ref) => load.ask(heir, ref));
  await bench.kill(dying);
  const killedAt = Date.now();
  await deadlinesAreOver();
  expect((await Promise.all(lost)).map(({ status }) => status)).toEqual(lost.map(() => 0));
  await expect.poll(() => bench.upstream.running, LEASE_OVER).toBe(LIMIT);
  expect(Date.now() - killedAt).toBeGreaterThan(8_000);
  bench.upstream.letGo();
  expect((await Promise.all(waiting)).map(({ ok }) => ok)).toEqual(refs.map(() => true));
  expect(bench.upstream.mostAtOnce(since)).toBe(LIMIT);
  expect(await load.violations()).toEqual([]);
  expect(await bench.unrecovered()).toEqual([]);
});

/** Whether or not its caller was told before the gateway died. */
async function lastAccepted(): Promise<object | undefined> {
  const newest =
    "SELECT status, reason, attempts FROM calls WHERE kind = 'async' ORDER BY created_at DESC LIMIT 1";
  return (await bench.postgres.sql(newest))[0];
}

/** As if the deadlines of what runs, and the time of mourning, were long over. */
async function deadlinesAreOver(): Promise<void> {
  await bench.postgres.sql(
    "DELETE FROM gateways WHERE id IN (SELECT owner FROM calls WHERE kind = 'sync' AND status = 'running')",
  );
  await bench.postgres.sql(
    "UPDATE calls SET deadline_at = now() - interval '1 hour' WHERE kind = 'sync' AND status = 'running'",
  );
}

/** As if the owners of keys had given no sign of life for long enough. */
async function leasesAreOver(): Promise<void> {
  await bench.postgres.sql("UPDATE idempotency_keys SET lease_expires_at = now() - interval '1 second'");
}
