// AsyncCalls: a call is accepted once whatever the database says, and seen, cancelled and run again by those who may.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { storedCall } from '../../test/helpers/async-kit.ts';
import {
  admittedOf,
  callOf,
  functionOf,
  principalOf,
  recordingLog,
  requestOf,
} from '../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../test/helpers/fake-clock.ts';
import { MemoryCallStore } from '../../test/helpers/memory-call-store.ts';
import type { AskedApproval } from '../contract/call/approval/asked-approval.ts';
import type { AdmitRequest, Admission, Admitted } from '../contract/call/admission.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import { acceptedOf, refusalOf } from '../core/settle.ts';
import { MemoryCallHints } from '../infra/hints/memory-call-hints.ts';
import { AnswerLost } from '../ports/answer-lost.ts';
import type { ClaimedCall } from '../ports/calls/call-store.ts';
import { CallbackRules } from '../webhooks/callback-rules.ts';
import { AsyncCalls } from './async-calls.ts';

const ID = '0199aaaa-0000-7000-8000-00000000000a';
/** By the time of whoever keeps it. */
const ENDS_AT = 1_800_000_000_000;
const { callId: _id, ...ADMITTED } = admittedOf();
const REQUEST = JSON.stringify(ADMITTED);

function setUp({ hasPlace = false, idempotent = false } = {}) {
  const store = new MemoryCallStore();
  const hints = new MemoryCallHints();
  const log = recordingLog();
  const asked: AdmitRequest[] = [];
  const offered: string[] = [];
  const asks: (readonly [call: string, approval: string])[] = [];
  const ran: ClaimedCall[] = [];
  const givenUp: boolean[] = [];
  const told: string[] = [];
  let woken = 0;
  hints.subscribe((hint, id) => told.push(`${hint} ${id}`));
  /** Says what the core says of a call that it lets in. */
  const admit = async (request: AdmitRequest): Promise<Admission> => {
    asked.push(request);
    const call = callOf();
    const awaited =
      request.arguments['awaits'] === true
        ? ({ id: 'approval-1', expiresAt: 5 } as AskedApproval)
        : undefined;
    const admitted: Admitted = {
      admitted: true,
      call: admittedOf({ callId: ID }),
      function: functionOf({ metadata: { idempotent } }),
      door: 'rest',
      registryVersion: '1.0.0',
      traceId: '',
      ...(awaited && { awaited }),
      kept: async (where) =>
        acceptedOf({ ...call, progress: { ...call.progress, ...(awaited && { awaited }) } }, where),
      failed: async (error) => refusalOf(call, error),
    };
    return admitted;
  };
  const calls = new AsyncCalls({
    store,
    waiting: {
      keep: async (call, asked) => {
        asks.push([call.id, asked.id]);
        return ENDS_AT;
      },
    },
    caller: { admit },
    webhooks: {
      claim: async () => [],
      delivered: async () => undefined,
      failed: async () => undefined,
      dead: async () => [],
      redrive: async (_tenant, id) => id === 'dead',
      counts: async () => ({ pending: 0, dead: 0 }),
    },
    queue: {
      offer: (id) => void offered.push(id),
      pass: () => undefined,
      start: () => undefined,
      listen: () => undefined,
      stop: () => undefined,
      close: async () => undefined,
    },
    hints,
    clock: new FakeClock(),
    log,
    write: (response) => JSON.stringify({ ok: response.ok }),
    rules: new CallbackRules({ allow_http: false, max_attempts: 1, base_delay_ms: 1, timeout_ms: 1 }),
    maxQueued: 10,
    maxWaitMs: 60_000,
    reserve: () =>
      hasPlace
        ? {
            claim: { owner: 'me.1', leaseMs: 30_000 },
            run: (call) => void ran.push(call),
            giveUp: (mayBeKept) => void givenUp.push(mayBeKept),
          }
        : undefined,
    wakeSender: () => void (woken += 1),
  });
  const row = (over: Parameters<typeof storedCall>[0] = {}) => {
    const call = storedCall({ id: ID, request: REQUEST, ...over });
    store.rows.set(call.id, call);
    return call;
  };
  return { store, calls, asks, asked, offered, ran, givenUp, told, row, admit, woken: () => woken };
}

const lost = () => new AnswerLost('UNAVAILABLE', 'away', { reason: 'DATABASE_UNAVAILABLE' });
const away = () => new ToolFailure('UNAVAILABLE', 'away', { reason: 'DATABASE_UNAVAILABLE' });
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof ToolFailure ? error.reason : String(error)),
  );

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a call that a human has to approve first', () => {
  it('is kept together with its approval, holds no slot, and is in nobody’s queue until it is decided', async () => {
    const { store, calls, asks, asked, offered, ran, told, woken, admit } = setUp({ hasPlace: true });
    await admit(requestOf());
    expect(await calls.accept(requestOf({ arguments: { awaits: true } }))).toMatchObject({
      ok: true,
      meta: { awaited: { id: 'approval-1', expiresAt: new Date(ENDS_AT).toISOString() } },
    });
    expect(asked.at(-1)?.awaitsApproval).toBe(true);
    expect([asks, store.rows.size, offered, ran]).toEqual([[[ID, 'approval-1']], 0, [], []]);
    calls.decided(ID);
    expect([offered, told, woken()]).toEqual([[ID], [`news ${ID}`], 1]);
  });
});

describe('a call that is accepted', () => {
  it('is kept before anybody hears of it, and waits in the queue', async () => {
    const { store, calls, offered, ran } = setUp();
    expect(await calls.accept(requestOf())).toMatchObject({
      ok: true,
      meta: { acceptedAt: `/v1/calls/${ID}` },
    });
    expect(store.rows.get(ID)?.status).toBe('queued');
    expect([offered, ran]).toEqual([[ID], []]);
  });

  it('runs in the place that is free for it, as it was kept', async () => {
    const { store, calls, offered, ran } = setUp({ hasPlace: true });
    await calls.accept(requestOf());
    expect(store.rows.get(ID)?.status).toBe('running');
    expect(offered).toEqual([]);
    expect(ran).toMatchObject([{ id: ID, claim: 1, run: 1, request: REQUEST }]);
  });

  it('is refused where the row was not written, and its place is free again', async () => {
    const { store, calls, offered, givenUp } = setUp({ hasPlace: true });
    vi.spyOn(store, 'accept').mockRejectedValue(away());
    expect(await calls.accept(requestOf())).toMatchObject({
      ok: false,
      error: { reason: 'DATABASE_UNAVAILABLE' },
    });
    expect([offered, givenUp]).toEqual([[], [false]]);
  });
});

describe('an answer of the database that was lost', () => {
  it('is asked for once more, and finds the row that is there already', async () => {
    const { store, calls } = setUp();
    const accept = store.accept.bind(store);
    const writes = vi.spyOn(store, 'accept').mockImplementationOnce(async (...call) => {
      await accept(...call);
      throw lost();
    });
    expect(await calls.accept(requestOf())).toMatchObject({ ok: true });
    expect(writes).toHaveBeenCalledTimes(2);
    expect(store.rows.size).toBe(1);
  });

  it.each([
    [true, true],
    [false, false],
  ])(
    'twice leaves open whether the call runs: retryable only if it may run twice (%s)',
    async (idempotent, retryable) => {
      const { store, calls, givenUp, offered } = setUp({ hasPlace: true, idempotent });
      // Whatever the second try fails with.
      vi.spyOn(store, 'accept').mockRejectedValueOnce(lost()).mockRejectedValueOnce(away());
      expect(await calls.accept(requestOf())).toMatchObject({
        ok: false,
        error: { reason: 'ACCEPTANCE_UNKNOWN', partialSideEffects: true, retryable },
      });
      // It may be kept all the same: its place looks for it.
      expect([givenUp, offered]).toEqual([[true], []]);
    },
  );

  it('is not asked for again by a database that takes long to fail: the caller waits', async () => {
    const { store, calls } = setUp();
    const writes = vi.spyOn(store, 'accept').mockImplementation(async () => {
      vi.advanceTimersByTime(2_001);
      throw lost();
    });
    expect(await calls.accept(requestOf())).toMatchObject({ error: { reason: 'ACCEPTANCE_UNKNOWN' } });
    expect(writes).toHaveBeenCalledTimes(1);
  });
});

describe('a call that was accepted', () => {
  const mine = principalOf({ permissions: new Set() });
  const other = principalOf({ id: 'key00002', permissions: new Set() });

  it.each([
    ['whoever made it', mine, {}, 'none'],
    ['another credential of the tenant', other, {}, 'CALL_NOT_FOUND'],
    ['one that may read calls', principalOf({ id: 'k', permissions: new Set(['calls:read']) }), {}, 'none'],
    ['another tenant, whatever it may', principalOf({ tenantId: 'globex' }), {}, 'CALL_NOT_FOUND'],
    ['its maker for another user', mine, { userId: 'bob' }, 'CALL_NOT_FOUND'],
    ['its maker for its user', mine, { userId: 'ann' }, 'none'],
  ])('is shown, or not known, to %s', async (_who, principal, of, reason) => {
    const { calls, row } = setUp();
    row({ userId: 'ann' });
    expect(await reasonOf(calls.get(principal, ID, of))).toBe(reason);
  });

  it('of no known form is not looked for', async () => {
    const { store, calls } = setUp();
    const looks = vi.spyOn(store, 'get');
    expect(await reasonOf(calls.get(mine, "' OR 1=1 --"))).toBe('CALL_NOT_FOUND');
    expect(looks).not.toHaveBeenCalled();
  });

  it('that waits is cancelled at once, and its message is due; one that runs is asked to end', async () => {
    const { calls, row, told, woken } = setUp();
    row();
    expect(await calls.cancel(mine, ID)).toMatchObject({ status: 'cancelled' });
    expect([told, woken()]).toEqual([[`news ${ID}`], 1]);
    row({ status: 'running' });
    expect(await calls.cancel(mine, ID)).toMatchObject({ status: 'running', cancelRequested: true });
    expect([told.at(-1), woken()]).toEqual([`cancel ${ID}`, 1]);
  });

  it('is cancelled by nobody who may only read it, and not when it has ended', async () => {
    const { store, calls, row } = setUp();
    row();
    const reader = principalOf({ id: 'k', permissions: new Set(['calls:read']) });
    expect(await reasonOf(calls.cancel(reader, ID))).toBe('CALL_NOT_FOUND');
    expect(store.rows.get(ID)?.status).toBe('queued');
    row({ status: 'succeeded', finishedAt: new Date(0) });
    expect(await reasonOf(calls.cancel(mine, ID))).toBe('CALL_ENDED');
  });

  it('has the envelope that it ended in, or one made of its row where nothing else is left', () => {
    const { calls, row } = setUp();
    const ended = { finishedAt: new Date(0) };
    expect(calls.envelopeOf(row({ ...ended, envelope: '{"x":1}' }))).toBe('{"x":1}');
    expect(calls.envelopeOf(row({ ...ended, status: 'cancelled', errorType: 'CANCELLED' }))).toBe(
      '{"ok":false}',
    );
    expect(calls.envelopeOf(row({ status: 'running' }))).toBeUndefined();
  });
});

describe('an ended call that is to run again', () => {
  const failed = { status: 'failed', errorType: 'PERMANENT', finishedAt: new Date(0) } as const;
  const operator = principalOf({ id: 'op', permissions: new Set(['calls:write']) });
  const wish = { credential: { kind: 'bearer', token: 't' }, door: 'rest', force: false } as const;

  it('is made anew by who wants it, without the key of its first run, and queued', async () => {
    const { calls, row, asked, offered, told } = setUp();
    const context = { userId: 'ann', idempotencyKey: 'once' };
    row({ ...failed, request: JSON.stringify({ ...ADMITTED, context }) });
    expect(await calls.retry(operator, ID, wish)).toMatchObject({ status: 'queued' });
    expect(asked).toMatchObject([
      { credential: wish.credential, context: { userId: 'ann' }, terms: { retry: { call_id: ID } } },
    ]);
    expect(asked[0]?.context).not.toHaveProperty('idempotencyKey');
    expect([offered, told]).toEqual([[ID], [`news ${ID}`]]);
  });

  it.each([
    ['that has not ended', { status: 'running' }, 'RETRY_NOT_ENDED'],
    ['that has succeeded', { ...failed, status: 'succeeded' }, 'RETRY_SUCCEEDED'],
    ['that may have acted', { ...failed, idempotent: false, partialSideEffects: true }, 'RETRY_UNSAFE'],
    ['of which nothing was kept', { ...failed, request: undefined }, 'RETRY_NOT_ASYNC'],
  ] as const)('%s is not, and nobody is asked to approve it', async (_, over, reason) => {
    const { calls, row, asked, offered } = setUp();
    row(over);
    expect(await reasonOf(calls.retry(operator, ID, wish))).toBe(reason);
    expect([asked, offered]).toEqual([[], []]);
  });

  it('that may have acted is, where it is forced', async () => {
    const { calls, row } = setUp();
    row({ ...failed, idempotent: false, partialSideEffects: true });
    expect(await calls.retry(operator, ID, { ...wish, force: true })).toMatchObject({ status: 'queued' });
  });

  it('is not by whoever may not write calls, though it be the own one', async () => {
    const { calls, row, asked } = setUp();
    row(failed);
    expect(await reasonOf(calls.retry(principalOf({ permissions: new Set() }), ID, wish))).toBe(
      'PERMISSION_MISSING',
    );
    expect(asked).toEqual([]);
  });
});

describe('who follows a call', () => {
  const mine = principalOf();

  it('hears what it said, its news, and its end', async () => {
    const { store, calls, row } = setUp();
    row({ status: 'running' });
    await store.appendEvents(ID, [{ seq: 1, kind: 'log', data: { message: 'a' } }]);
    const seen: string[] = [];
    const following = (async () => {
      for await (const { kind } of await calls.follow(mine, ID, 0, new AbortController().signal))
        seen.push(kind);
    })();
    for (let turn = 0; turn < 3; turn += 1) await settled();
    expect(seen).toEqual(['event']);
    row({ status: 'succeeded', finishedAt: new Date(0) });
    calls.drain();
    await following;
    expect(seen).toEqual(['event', 'end']);
  });

  it('is sent to another replica by a drain, and nobody follows after it', async () => {
    const { calls, row } = setUp();
    row({ status: 'running' });
    const events = await calls.follow(mine, ID, 0, new AbortController().signal);
    calls.drain();
    const seen = [];
    for await (const { kind } of events) seen.push(kind);
    expect(seen).toEqual(['reconnect']);
    expect(await reasonOf(calls.follow(mine, ID, 0, new AbortController().signal))).toBe('DRAINING');
  });

  it('leaves the last tenth of a thousand places to other tenants, and its own when it goes', async () => {
    const { calls, row } = setUp();
    row({ status: 'running' });
    const gone = new AbortController();
    for (let at = 0; at < 899; at += 1) await calls.follow(mine, ID, 0, new AbortController().signal);
    await calls.follow(mine, ID, 0, gone.signal);
    expect(await reasonOf(calls.follow(mine, ID, 0, new AbortController().signal))).toBe(
      'TOO_MANY_FOLLOWERS',
    );
    gone.abort();
    expect(await reasonOf(calls.follow(mine, ID, 0, new AbortController().signal))).toBe('none');
  });
});

it('a callback that this gateway may not call is refused before the call is accepted', () => {
  const { calls } = setUp();
  expect(() => calls.checkCallback('https://host/cb')).toThrow(
    expect.objectContaining({ type: 'VALIDATION', reason: 'CALLBACK_NOT_ALLOWED' }),
  );
});

it('a dead message is sent again by its tenant, or is not known', async () => {
  const { calls, woken } = setUp();
  await calls.redrive(principalOf(), 'dead');
  expect(woken()).toBe(1);
  expect(await reasonOf(calls.redrive(principalOf(), 'another'))).toBe('WEBHOOK_NOT_FOUND');
  expect(woken()).toBe(1);
});
