import { describe, expect, it } from 'vitest';
import {
  callOf,
  echoNext,
  functionOf,
  outcomeOf,
  recordingLog,
  recordingMetrics,
  requestOf,
  through,
} from '../../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../../test/helpers/fake-clock.ts';
import type { Next } from '../../contract/plugin.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { AnswerLost } from '../../ports/answer-lost.ts';
import type { HeldKey, IdempotencyStore, KeyState, StoredOutcome } from '../../ports/idempotency-store.ts';
import { idempotency } from './index.ts';

const IN_FLIGHT: KeyState = { state: 'in_flight', callId: 'call-0' };
const inFlight = (times: number) => Array.from({ length: times }, () => IN_FLIGHT);
const DONE: StoredOutcome = { ok: true, dataJson: '{"n":1.0}', intents: [{ type: 'SUPPRESS_AUDIO' }] };

/** A store that answers `begin` with what it is told, one after the other, and remembers what else was asked of it. */
class ScriptedStore implements IdempotencyStore {
  readonly asked: string[] = [];
  readonly ended: StoredOutcome[] = [];
  readonly claims: { mayRunAgain: boolean; keepMs: number }[] = [];
  failures = 0;
  readonly #states: KeyState[];

  constructor(...states: KeyState[]) {
    this.#states = states;
  }

  async begin(_scope: object, claim: { mayRunAgain: boolean; keepMs: number }): Promise<KeyState> {
    this.asked.push('begin');
    this.claims.push(claim);
    return this.#states.shift() ?? { state: 'mine', attempt: 1 };
  }

  async renew(held: readonly HeldKey[]): Promise<void> {
    this.asked.push(`renew ${held.length}`);
  }

  async end(_held: HeldKey, outcome: StoredOutcome): Promise<boolean> {
    this.asked.push('end');
    if (this.failures > 0) {
      this.failures -= 1;
      throw new ToolFailure('UNAVAILABLE', 'away');
    }
    this.ended.push(outcome);
    return true;
  }

  async release(): Promise<boolean> {
    this.asked.push('release');
    if (this.failures > 0) {
      this.failures -= 1;
      throw new ToolFailure('UNAVAILABLE', 'away');
    }
    return true;
  }
}

function bench(store: ScriptedStore) {
  const clock = new FakeClock();
  const metrics = recordingMetrics();
  const extension = idempotency.create({ idempotency: store, clock, log: recordingLog(), metrics });
  const around = (call: ToolCall, next: Next, said: object = {}) =>
    outcomeOf(() => through(extension, call, next, idempotency.optionsSchema.parse(said)), call);
  return { clock, metrics, around };
}

function keyed(changes: Partial<ToolCall> = {}): ToolCall {
  return callOf({ context: { tenantId: 'acme', idempotencyKey: 'order-1' }, ...changes });
}

/** As the core does it. */
function entering(next: Next): Next {
  return (call) => {
    call.progress.executorEntered = true;
    return next(call);
  };
}

describe('idempotency', () => {
  it('asks nobody about a call without a key, nor about a dry run', async () => {
    const store = new ScriptedStore();
    const { around } = bench(store);
    expect(await around(callOf(), echoNext().next)).toMatchObject({ ok: true });
    const dry = keyed({ context: { idempotencyKey: 'k', dryRun: true } });
    expect(await around(dry, echoNext().next)).toMatchObject({ ok: true });
    expect(store.asked).toEqual([]);
  });

  it('keeps the outcome of a call that was run, and counts it', async () => {
    const store = new ScriptedStore();
    const { around, metrics } = bench(store);
    await around(keyed({ arguments: { a: 1 } }), entering(echoNext().next), { keep_ms: 60_000 });
    expect(store.ended).toEqual([{ ok: true, dataJson: '{"a":1}', intents: [] }]);
    expect(store.claims).toMatchObject([{ mayRunAgain: false, keepMs: 60_000 }]);
    expect(metrics.values.get('ute_idempotency_total{begun}')).toBe(1);
  });

  it('frees the key of a call that was refused before anything was run', async () => {
    const store = new ScriptedStore();
    const call = keyed();
    const refusing: Next = async () =>
      outcomeOf(() => Promise.reject(new ToolFailure('RATE_LIMIT', 'no')), call);
    expect(await bench(store).around(call, refusing)).toMatchObject({ error: { type: 'RATE_LIMIT' } });
    expect(store.asked).toEqual(['begin', 'release']);
  });

  it('a call that was refused hears why, though its key cannot be given back now; that is done as soon as it can be', async () => {
    const store = new ScriptedStore();
    store.failures = 3;
    const call = keyed();
    const refusing: Next = async () =>
      outcomeOf(() => Promise.reject(new ToolFailure('RATE_LIMIT', 'no')), call);
    const { around, clock } = bench(store);
    expect(await around(call, refusing)).toMatchObject({ error: { type: 'RATE_LIMIT' } });
    await clock.advance(60_000);
    expect(store.asked).toEqual(['begin', 'release', 'release', 'release', 'release']);
  });

  it('asks again for a key whose answer was lost, and runs the call when it has it', async () => {
    const store = new ScriptedStore();
    const begin = store.begin.bind(store);
    store.begin = (...asked) => {
      store.begin = begin;
      return begin(...asked).then(() => Promise.reject(new AnswerLost('UNAVAILABLE', 'away')));
    };
    const { calls, next } = echoNext();
    expect(await bench(store).around(keyed(), entering(next))).toMatchObject({ ok: true });
    expect(store.asked).toEqual(['begin', 'begin', 'end']);
    expect(calls).toHaveLength(1);
  });

  it('gives back a key that it may have got without being told, for half a minute or until it is found', async () => {
    const store = new ScriptedStore();
    store.begin = () => Promise.reject(new AnswerLost('UNAVAILABLE', 'away'));
    let looks = 0;
    let found = false;
    store.release = async () => {
      looks += 1;
      return found;
    };
    const { calls, next } = echoNext();
    const { around, clock } = bench(store);
    expect(await around(keyed(), next)).toMatchObject({ error: { type: 'UNAVAILABLE' } });
    await clock.advance(10_000);
    expect(looks).toBeGreaterThan(5);
    found = true;
    const before = looks;
    await clock.advance(600_000);
    expect(looks).toBe(before + 1);
    expect(calls).toEqual([]);
    found = false;
    await around(keyed(), next);
    await clock.advance(600_000);
    expect(looks).toBe(before + 12);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    [{ readOnly: true }, true],
    [{ idempotent: true }, true],
    [{}, false],
  ])('says of a tool with %j whether a dead call may run again: %j', async (metadata, mayRunAgain) => {
    const store = new ScriptedStore();
    await bench(store).around(keyed({ function: functionOf({ metadata }) }), entering(echoNext().next));
    expect(store.claims).toMatchObject([{ mayRunAgain }]);
  });

  it('gives a stored outcome back with its intents, and runs nothing', async () => {
    const { calls, next } = echoNext();
    const response = await bench(new ScriptedStore({ state: 'ended', callId: 'c', outcome: DONE })).around(
      keyed(),
      next,
    );
    expect(response).toMatchObject({ ok: true, dataJson: '{"n":1.0}', intents: DONE.ok && DONE.intents });
    expect(response.meta).toMatchObject({ replayed: true, callId: 'call-1', attempts: 0 });
    expect(calls).toEqual([]);
  });

  it('waits for the call under way as long as the caller wants to, looking less and less often', async () => {
    const patient = () => keyed({ request: requestOf({ waitMs: 1_000 }) });
    const store = new ScriptedStore(...inFlight(4), {
      state: 'ended',
      callId: 'call-0',
      outcome: DONE,
    });
    const { around, clock } = bench(store);
    const answer = around(patient(), echoNext().next);
    await clock.advance(374);
    expect(store.asked).toHaveLength(4);
    await clock.advance(1);
    expect(await answer).toMatchObject({ ok: true, meta: { replayed: true } });
    const never = bench(new ScriptedStore(...inFlight(20)));
    const refused = never.around(patient(), echoNext().next);
    await never.clock.advance(1_000);
    expect(await refused).toMatchObject({ error: { type: 'CONFLICT', reason: 'IDEMPOTENCY_IN_FLIGHT' } });
  });

  it('stops waiting when the caller goes away', async () => {
    const gone = new AbortController();
    const call = keyed({ signal: gone.signal, request: requestOf({ waitMs: 60_000 }) });
    const answer = bench(new ScriptedStore(IN_FLIGHT, IN_FLIGHT)).around(call, echoNext().next);
    await settled();
    gone.abort(new ToolFailure('CANCELLED', 'gone'));
    expect(await answer).toMatchObject({ error: { type: 'CANCELLED' } });
  });

  it('renews the keys of all running calls together, and stops when none runs', async () => {
    const store = new ScriptedStore();
    const { around, clock } = bench(store);
    const ended = Promise.withResolvers<void>();
    const slow = entering(async (call) => {
      await ended.promise;
      return echoNext().next(call);
    });
    const running = [around(keyed(), slow), around(keyed({ id: 'call-2' }), slow)];
    await clock.advance(20_000);
    expect(store.asked.filter((each) => each.startsWith('renew'))).toEqual(['renew 2', 'renew 2']);
    ended.resolve();
    await Promise.all(running);
    await clock.advance(60_000);
    expect(store.asked.filter((each) => each.startsWith('renew'))).toHaveLength(2);
  });

  it('answers though the outcome cannot be kept, says so, and keeps it as soon as it can', async () => {
    const store = new ScriptedStore();
    store.failures = 2;
    const { around, clock } = bench(store);
    const response = await around(keyed(), entering(echoNext().next));
    expect(response).toMatchObject({ ok: true, meta: { degraded: ['idempotency'] } });
    await clock.advance(10_000);
    expect(store.ended).toHaveLength(1);
  });

  it('a store that is away before the run denies the call', async () => {
    const store = new ScriptedStore();
    store.begin = () =>
      Promise.reject(new ToolFailure('UNAVAILABLE', 'away', { reason: 'DATABASE_UNAVAILABLE' }));
    const { calls, next } = echoNext();
    expect(await bench(store).around(keyed(), next)).toMatchObject({
      error: { reason: 'DATABASE_UNAVAILABLE' },
    });
    expect(calls).toEqual([]);
  });
});
