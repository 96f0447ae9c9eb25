import { describe, expect, it } from 'vitest';
import { FakeClock, settled } from '../../../../test/helpers/fake-clock.ts';
import { FakePython, type FakeWorker } from '../../../../test/helpers/fake-python.ts';
import { callOf, PythonBench } from '../../../../test/helpers/python-ports.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { PythonSettings } from '../settings.ts';

/** A pool of fake workers with one function prepared; calls stay open until the test answers them. */
async function setUp(settings: Partial<PythonSettings> = {}) {
  const clock = new FakeClock();
  const python = new FakePython();
  const bench = new PythonBench(
    python,
    { workers: 1, callsPerWorker: 1, startTimeoutMs: 1000, ...settings },
    clock,
  );
  const prepared = await bench.prepare('m', 'f', { options: { pure: true } });
  await settled();
  const call = async (signal?: AbortSignal) => {
    const running = callOf({}, signal === undefined ? {} : { signal });
    return (await prepared.execute(running, () => undefined)).data;
  };
  const restarts = (reason: string) =>
    bench.metrics.value(`ute_executor_worker_restarts_total{python,${reason}}`);
  return { clock, python, bench, call, restarts };
}

const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no failure',
    (error: unknown) => (error instanceof ToolFailure ? error.reason : String(error)),
  );

function firstOf(python: FakePython): FakeWorker {
  const [worker] = python.alive;
  if (worker === undefined) throw new Error('no worker is alive');
  return worker;
}

describe('the worker pool', () => {
  it('serves waiting calls in the order they came', async () => {
    const { python, call } = await setUp();
    const results = [call(), call(), call()];
    for (const data of ['a', 'b', 'c']) {
      await settled();
      firstOf(python).answer({ ok: true, data });
    }
    expect(await Promise.all(results)).toEqual(['a', 'b', 'c']);
  });

  it('boots the replacement at once when a call is aborted', async () => {
    const { python, call, restarts } = await setUp();
    const controller = new AbortController();
    const first = firstOf(python);
    const aborted = call(controller.signal);
    controller.abort(new ToolFailure('TIMEOUT', 'late', { reason: 'LATE' }));
    expect(python.spawned).toBe(2);
    expect(await reasonOf(aborted)).toBe('LATE');
    expect(first.killed).toBe(true);
    expect(restarts('aborted')).toBe(1);
  });

  it.each([
    ['no JSON', (worker: FakeWorker) => worker.sendOfCall('nonsense')],
    ['another id', (worker: FakeWorker) => worker.send('guess'.padEnd(22, '-'), '{"ok":true,"data":1}')],
    ['two answers at once', (worker: FakeWorker) => worker.answerTwice({ ok: true, data: 1 })],
    ['no UTF-8', (worker: FakeWorker) => worker.sendOfCall(Buffer.of(0xff))],
  ])('kills a worker that sends %s', async (_what, misbehave) => {
    const { python, call, restarts } = await setUp();
    const worker = firstOf(python);
    const running = reasonOf(call());
    misbehave(worker);
    expect(await running).toBe('WORKER_PROTOCOL_VIOLATION');
    expect(worker.killed).toBe(true);
    expect(restarts('protocol_violation')).toBe(1);
  });

  it('kills a worker that speaks between calls, and no call notices', async () => {
    const { python, call } = await setUp();
    const worker = firstOf(python);
    worker.send('early'.padEnd(22, '-'), '{"ok":true,"data":"forged"}');
    await settled();
    await settled();
    expect(worker.killed).toBe(true);
    const running = call();
    await settled();
    firstOf(python).answer({ ok: true, data: 'right' });
    expect(await running).toBe('right');
  });

  it('kills a worker that announces more than the limit before the rest has come', async () => {
    const { python, call } = await setUp({ maxFrameBytes: 1000 });
    const worker = firstOf(python);
    const running = call();
    worker.sendBytes(Buffer.of(0, 0, 0x10, 0));
    await expect(running).rejects.toMatchObject({ type: 'OUTPUT_TOO_LARGE' });
    expect(worker.killed).toBe(true);
  });

  it('pauses after three deaths at the start instead of forking on and on, then tries again', async () => {
    const { clock, python, call, restarts } = await setUp();
    python.behaviour = 'dies at start';
    firstOf(python).die();
    const waiting = reasonOf(call());
    for (let turn = 0; turn < 30; turn++) await settled();
    expect(restarts('start_failed')).toBe(3);
    expect(await waiting).toMatch(/WORKER_(DIED|START_FAILED)/);
    const refused = call();
    await expect(refused).rejects.toMatchObject({ reason: 'WORKER_START_FAILED', retryAfterMs: 5000 });
    await clock.advance(4999);
    expect(python.spawned).toBe(4);
    python.behaviour = 'obeys';
    await clock.advance(1);
    await settled();
    const running = call();
    await settled();
    firstOf(python).answer({ ok: true, data: 'back' });
    expect(await running).toBe('back');
  });

  it('gives up a worker that does not get ready in time', async () => {
    const { clock, python, restarts } = await setUp();
    python.behaviour = 'hangs at start';
    const worker = firstOf(python);
    worker.die();
    await clock.advance(0);
    await settled();
    const hanging = firstOf(python);
    await clock.advance(1000);
    expect(hanging.killed).toBe(true);
    expect(restarts('start_failed')).toBe(1);
  });

  it('boots the replacement of a worn-out worker before the old one leaves', async () => {
    const { python, call, restarts } = await setUp({ maxCallsPerWorker: 2 });
    const old = firstOf(python);
    // The check at load was its first call.
    const running = call();
    await settled();
    old.answer({ ok: true, data: 1 });
    await running;
    expect(old.closed).toBe(false);
    expect(python.spawned).toBe(2);
    for (let turn = 0; turn < 10; turn++) await settled();
    expect(old.closed).toBe(true);
    expect(old.killed).toBe(false);
    expect(restarts('recycled')).toBe(1);
    expect(python.alive).toHaveLength(1);
  });

  it('has a new worker import what is in use before it serves calls', async () => {
    const { python } = await setUp();
    firstOf(python).die();
    for (let turn = 0; turn < 10; turn++) await settled();
    expect(firstOf(python).operations).toEqual(['hello', 'check']);
  });

  it('close refuses what waits and kills, after a second, who does not leave', async () => {
    const { clock, python, bench, call } = await setUp();
    const worker = firstOf(python);
    const [running, waiting] = [reasonOf(call()), reasonOf(call())];
    const closing = bench.executor.close?.();
    expect(await waiting).toBe('EXECUTOR_CLOSED');
    await clock.advance(1000);
    expect(await running).toBe('WORKER_DIED');
    expect(worker.killed).toBe(true);
    await closing;
    expect(python.alive).toEqual([]);
  });
});
