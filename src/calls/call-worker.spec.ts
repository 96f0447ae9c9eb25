// CallWorker: what becomes of a claimed call, whatever happens to its run, its lease, the database and the gateway.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { newCall } from '../../test/helpers/async-kit.ts';
import { admittedOf, callOf, recordingLog, recordingMetrics } from '../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../test/helpers/fake-clock.ts';
import { MemoryCallStore } from '../../test/helpers/memory-call-store.ts';
import type { ToolRequest } from '../contract/call/tool-call.ts';
import { ToolFailure, type FailureDetails } from '../contract/call/tool-failure.ts';
import type { ToolResponse } from '../contract/call/tool-response.ts';
import type { ErrorType } from '../contract/call/error-types.ts';
import { refusalOf, successOf } from '../core/settle.ts';
import { MemoryCallHints } from '../infra/hints/memory-call-hints.ts';
import { OwnCallQueue } from '../infra/calls/queue/own-call-queue.ts';
import type { NewCall } from '../ports/calls/call-store.ts';
import { asyncSeries } from './async-metrics.ts';
import { CallWorker } from './call-worker.ts';

const LEASE_MS = 30_000;
const { callId: _id, ...ADMITTED } = admittedOf();
const REQUEST = JSON.stringify(ADMITTED);
const SAFE = { idempotent: true } as const;
const UNSAFE = { idempotent: false, readOnly: false } as const;

interface Run {
  readonly id: string;
  readonly emit: NonNullable<ToolRequest['emit']>;
  readonly signal: AbortSignal;
  end(response: ToolResponse): void;
}

function ok(): ToolResponse {
  return successOf(callOf(), { data: 1 }, 1 << 20);
}

/** As the core answers; `attempts`: how often the executor was asked. */
function refused(type: ErrorType, options: FailureDetails = {}, attempts = 0): ToolResponse {
  const call = callOf();
  call.progress.attempts = attempts;
  call.progress.executorEntered = attempts > 0;
  return refusalOf(call, new ToolFailure(type, 'no', options));
}

function setUp() {
  const store = new MemoryCallStore();
  const queue = new OwnCallQueue();
  const hints = new MemoryCallHints();
  const clock = new FakeClock();
  const log = recordingLog();
  const metrics = recordingMetrics();
  const runs: Run[] = [];
  let ended = 0;
  const worker = new CallWorker({
    store,
    queue,
    hints,
    caller: {
      resume: ({ callId: id }, { emit = () => undefined, signal = new AbortController().signal } = {}) =>
        new Promise((end) => runs.push({ id, emit, signal, end })),
    },
    clock,
    log,
    random: () => 0,
    series: asyncSeries(metrics),
    write: (response) => JSON.stringify({ ok: response.ok }),
    ended: () => void (ended += 1),
    concurrency: 2,
    leaseMs: LEASE_MS,
  });
  worker.start();
  const turns = async () => {
    for (let turn = 0; turn < 8; turn += 1) await settled();
  };
  /** Time passes for the timers and for what is measured. */
  async function pass(ms: number): Promise<void> {
    vi.advanceTimersByTime(ms);
    await clock.advance(ms);
    await turns();
  }
  async function begun(over: Partial<NewCall> = {}): Promise<Run> {
    const call = newCall({ request: REQUEST, ...over });
    await store.accept(call, 10);
    queue.offer(call.id);
    await turns();
    const run = runs.at(-1);
    if (run?.id !== call.id) throw new Error('the call did not begin');
    return run;
  }
  async function endsWith(run: Run, response: ToolResponse): Promise<string> {
    run.end(response);
    await turns();
    return store.rows.get(run.id)?.status ?? 'gone';
  }
  const seriesOf = (status: string) => metrics.values.get(`ute_async_calls_ended_total{${status}}`) ?? 0;
  return {
    store,
    queue,
    hints,
    clock,
    log,
    runs,
    worker,
    begun,
    endsWith,
    pass,
    turns,
    seriesOf,
    ended: () => ended,
  };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a claimed call', () => {
  it('has one end, which is written, counted and told of', async () => {
    const { store, hints, begun, endsWith, worker, ended, seriesOf } = setUp();
    const news: string[] = [];
    hints.subscribe((hint, id) => news.push(`${hint} ${id}`));
    const run = await begun();
    expect(worker.inFlight).toBe(1);
    expect(await endsWith(run, ok())).toBe('succeeded');
    expect(store.ends.get(run.id)?.envelope).toBe('{"ok":true}');
    expect([worker.inFlight, ended(), seriesOf('succeeded')]).toEqual([0, 1, 1]);
    expect(news).toEqual([`news ${run.id}`]);
  });

  it.each([
    ['PERMANENT', 'failed'],
    ['CANCELLED', 'cancelled'],
    ['OUTCOME_UNKNOWN', 'outcome_unknown'],
    ['TIMEOUT', 'failed'],
  ] as const)('that ends in %s is %s', async (type, status) => {
    const { begun, endsWith } = setUp();
    expect(await endsWith(await begun(SAFE), refused(type, {}, 1))).toBe(status);
  });

  it('keeps what it says, in order, and all of it before its end; a second run counts on', async () => {
    const { store, queue, begun, endsWith, turns, runs } = setUp();
    const run = await begun(SAFE);
    for (const message of ['a', 'b']) run.emit({ kind: 'log', level: 'info', message });
    await endsWith(run, refused('UNAVAILABLE', { reason: 'DRAINING' }));
    queue.offer(run.id);
    await turns();
    const again = runs.at(-1);
    again?.emit({ kind: 'log', level: 'info', message: 'c' });
    again?.end(ok());
    await turns();
    expect(store.said.get(run.id)?.map(({ seq, data }) => [seq, data['message']])).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
    ]);
  });

  it('whose row holds no request is told of, and keeps no other from running', async () => {
    const { store, queue, log, turns, begun, endsWith } = setUp();
    const broken = newCall({ request: '"nothing"' });
    await store.accept(broken, 10);
    queue.offer(broken.id);
    await turns();
    expect(log.lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: 'an accepted call could not be run to its end: its lease runs out, and a replica settles it',
      }),
    );
    expect(await endsWith(await begun(), ok())).toBe('succeeded');
  });
});

describe('a call that could not begin', () => {
  it.each([
    ['as soon as it was told to', { retryAfterMs: 2_500, retryable: true }, 2_500],
    ['after a second where nobody said when', { retryable: true }, 1_000],
    ['after a minute at most', { retryAfterMs: 3_600_000, retryable: true }, 60_000],
  ])('goes back to the queue, to be tried again %s', async (_, options, delayMs) => {
    const { store, begun, endsWith } = setUp();
    expect(await endsWith(await begun(UNSAFE), refused('RATE_LIMIT', options))).toBe('queued');
    expect(store.delays).toEqual([delayMs]);
  });

  it.each([
    ['it has been attempted', refused('RATE_LIMIT', { retryable: true }, 1)],
    ['no later try would be better', refused('PERMISSION_DENIED')],
    ['its time is over', refused('TIMEOUT', { retryable: true })],
    ['the tool itself refused it', refused('RATE_LIMIT', { retryable: true, origin: 'tool' })],
  ])('ends where %s', async (_, response) => {
    const { store, begun, endsWith } = setUp();
    expect(await endsWith(await begun(SAFE), response)).toBe('failed');
    expect(store.delays).toEqual([]);
  });
});

describe('a call that a drain cuts off', () => {
  const cutOff = (attempts: number) =>
    refused('UNAVAILABLE', { reason: 'DRAINING', partialSideEffects: attempts > 0 }, attempts);

  it('goes back to the queue where it had not begun, or may run twice', async () => {
    const { begun, endsWith, store } = setUp();
    expect(await endsWith(await begun(UNSAFE), cutOff(0))).toBe('queued');
    store.rows.clear();
    expect(await endsWith(await begun(SAFE), cutOff(1))).toBe('queued');
    expect(store.delays).toEqual([0, 0]);
  });

  it('is outcome_unknown where it may have acted and may not run twice', async () => {
    const { begun, endsWith, store } = setUp();
    const run = await begun(UNSAFE);
    expect(await endsWith(run, cutOff(1))).toBe('outcome_unknown');
    expect(store.ends.get(run.id)).toMatchObject({ errorType: 'OUTCOME_UNKNOWN' });
  });
});

describe('the lease of a running call', () => {
  it('is renewed for as long as it runs', async () => {
    const { store, begun, pass, runs } = setUp();
    const renewed = vi.spyOn(store, 'renew');
    const run = await begun();
    await pass(LEASE_MS * 2);
    expect(renewed.mock.calls.length).toBeGreaterThanOrEqual(5);
    expect(runs.at(-1)?.signal.aborted).toBe(false);
    expect(store.rows.get(run.id)?.status).toBe('running');
  });

  it('that another replica has ends the run here, and nothing is written for it', async () => {
    const { store, begun, pass, endsWith, ended } = setUp();
    const run = await begun(SAFE);
    store.loseClaim(run.id);
    await pass(LEASE_MS / 2);
    expect(run.signal.aborted).toBe(true);
    expect(await endsWith(run, ok())).toBe('running');
    expect([store.ends.size, ended()]).toEqual([0, 0]);
  });

  it('is given up before it is over while the database is away, not at the first failure', async () => {
    const { store, begun, pass } = setUp();
    const run = await begun(SAFE);
    vi.spyOn(store, 'renew').mockRejectedValue(new Error('the database is away'));
    await pass((LEASE_MS * 5) / 6);
    expect(run.signal.aborted).toBe(false);
    await pass(LEASE_MS / 3);
    expect(run.signal.aborted).toBe(true);
  });

  it('brings a wish to cancel: at once where a hint comes, else at the next renewal', async () => {
    const { store, hints, begun, pass, turns } = setUp();
    const [hinted, polled] = [await begun(), await begun()];
    await store.cancel('acme', hinted.id);
    hints.publish('cancel', hinted.id);
    await turns();
    expect([hinted.signal.aborted, polled.signal.aborted]).toEqual([true, false]);
    await store.cancel('acme', polled.id);
    await pass(LEASE_MS / 2);
    expect(polled.signal.aborted).toBe(true);
  });
});

describe('an end that cannot be written', () => {
  const away = () => new ToolFailure('UNAVAILABLE', 'away', { reason: 'DATABASE_UNAVAILABLE' });

  it('is written as soon as the database is back, and its call holds its lease until then', async () => {
    const { store, begun, endsWith, pass } = setUp();
    const finish = vi.spyOn(store, 'finish').mockRejectedValueOnce(away()).mockRejectedValueOnce(away());
    const run = await begun();
    expect(await endsWith(run, ok())).toBe('running');
    await pass(200);
    await pass(400);
    expect(finish).toHaveBeenCalledTimes(3);
    expect(store.rows.get(run.id)?.status).toBe('succeeded');
  });

  it('is left to be found when the gateway may wait no longer', async () => {
    const { store, begun, endsWith, worker, pass, turns } = setUp();
    vi.spyOn(store, 'finish').mockRejectedValue(away());
    await endsWith(await begun(), ok());
    let closed = false;
    const closing = worker.close(1_000).then(() => (closed = true));
    await pass(500);
    expect(closed).toBe(false);
    await pass(500);
    await turns();
    await closing;
    expect(closed).toBe(true);
  });
});

describe('a worker that is drained', () => {
  it('takes no more, reserves no place, and waits for what runs', async () => {
    const { store, queue, worker, begun, runs, turns, clock } = setUp();
    const run = await begun();
    worker.drain();
    const late = newCall({ request: REQUEST });
    await store.accept(late, 10);
    queue.offer(late.id);
    await clock.advance(5_000);
    await turns();
    expect(runs).toHaveLength(1);
    expect(worker.reserve({ idempotent: true, readOnly: false })).toBeUndefined();
    let closed = false;
    const closing = worker.close(60_000).then(() => (closed = true));
    await turns();
    expect(closed).toBe(false);
    run.end(ok());
    await closing;
    expect(clock.pendingTimers).toBe(0);
  });

  it('never reserves a place for a call that may not run twice: if it dies, nobody can tell whether that began', () => {
    const { worker } = setUp();
    expect(worker.reserve(UNSAFE)).toBeUndefined();
    expect(worker.reserve({ idempotent: true, readOnly: false })).toBeDefined();
  });
});
