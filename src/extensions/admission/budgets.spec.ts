// Budgets of calls: what each is counted against, what a refusal tells, and what is given back.
import { describe, expect, it } from 'vitest';
import {
  callOf,
  echoNext,
  functionOf,
  layerFor,
  outcomeOf,
  recordingMetrics,
  requestOf,
  through,
} from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { BudgetRules, CallRules, ModeRule } from '../../contract/rules/call-rules.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { Next } from '../../contract/plugin.ts';
import { refusalOf } from '../../core/settle.ts';
import { MemoryAdmissionControl } from '../../infra/admission/memory/memory-admission-control.ts';
import { budgetPlan } from './budget-plan.ts';
import { admission } from './index.ts';

const NOON = Date.parse('2026-11-23T12:00:00Z');
const voice: ModeRule = { mode: 'voice', retrievalsPerTurn: 2 };
const live: ModeRule = { mode: 'live_call', callsPerTurn: 2, hardMs: 400, turnMs: 1_000 };
const retrieval = functionOf({ name: 'lookup', metadata: { category: 'retrieval' } });
const paid = functionOf({ name: 'paid', metadata: { cost: 0.4 } });

function budgets(changes: Partial<BudgetRules> = {}): BudgetRules {
  const none = { session: {}, user: {}, agent: {}, tenant: {} };
  return { ...none, timeZone: 'UTC', onStoreFailure: 'local', ...changes };
}

function setUp(rules: Partial<CallRules>) {
  const clock = new FakeClock(NOON);
  const metrics = recordingMetrics();
  const callRules = { modes: new Map(), ...rules };
  const control = new MemoryAdmissionControl(clock);
  const extension = admission.create({ admission: control, callRules, clock, metrics });
  let count = 0;
  async function call(changes: Partial<ToolCall>, inside?: Next) {
    count += 1;
    const { next } = echoNext();
    const runs: Next = (each) => {
      each.progress.executorEntered = true;
      return next(each);
    };
    const asked = callOf({
      id: `call-${count}`,
      receivedAt: clock.now(),
      deadline: clock.now() + 400,
      ...changes,
    });
    return outcomeOf(async () => through(extension, asked, inside ?? runs, {}), asked);
  }
  return { clock, metrics, extension, control, call };
}

const modesOf = (...rules: readonly ModeRule[]) => ({
  modes: new Map(rules.map((rule) => [rule.mode, rule])),
});
const turn = (turnId: string, more: object = {}) => ({
  context: {
    tenantId: 'acme',
    agentId: 'a',
    userId: 'ann',
    sessionId: 's',
    mode: 'voice' as const,
    turnId,
    ...more,
  },
});
const spent = (budget: string, more: object = {}) => ({
  ok: false,
  error: {
    type: 'BUDGET_EXCEEDED',
    reason: 'BUDGET_SPENT',
    retryable: false,
    retryAfterMs: null,
    partialSideEffects: false,
    details: { budget, ...more },
  },
});
const OK = { ok: true };

describe('budgets of a turn', () => {
  it('so many retrievals, and then none until the next turn; other tools are not counted', async () => {
    const { call, metrics } = setUp(modesOf(voice));
    const asked = { function: retrieval, ...turn('1') };
    for (let index = 0; index < 2; index += 1) expect(await call(asked)).toMatchObject(OK);
    expect(await call(asked)).toMatchObject(spent('turn_retrievals', { limit: 2, used: 2, free_at: null }));
    expect(await call({ ...turn('1') })).toMatchObject(OK);
    expect(await call({ ...asked, ...turn('2') })).toMatchObject(OK);
    expect(metrics.values.get('ute_budget_refusals_total{turn_retrievals}')).toBe(1);
  });

  it.each([{ tenantId: 'umbrella' }, { userId: 'bob' }, { agentId: 'b' }, { sessionId: 'other' }])(
    'another %j has a turn of the same name for itself',
    async (other) => {
      const { call } = setUp(modesOf({ mode: 'voice', callsPerTurn: 1 }));
      expect(await call(turn('1'))).toMatchObject(OK);
      expect(await call(turn('1'))).toMatchObject({ ok: false });
      expect(await call(turn('1', other))).toMatchObject(OK);
    },
  );

  it('steps of a call are part of it', async () => {
    const { call } = setUp(modesOf({ mode: 'voice', callsPerTurn: 1 }));
    const step = { request: requestOf({ parent: {} as never }), ...turn('1') };
    for (let index = 0; index < 3; index += 1) expect(await call(step)).toMatchObject(OK);
  });

  it('time of the turn: what a call has not used is there for the next, which gets what is left', async () => {
    const { call, clock, control } = setUp(modesOf({ ...live, callsPerTurn: 9 }));
    const asked = turn('1', { mode: 'live_call' });
    const taking = async (ms: number) => {
      const answer = call(asked, (inside) => {
        inside.progress.executorEntered = true;
        return new Promise((resolve) => {
          const end = (reason: unknown) => resolve(refusalOf(inside, reason));
          inside.signal.addEventListener('abort', () => end(inside.signal.reason));
          clock.after(ms, () => void echoNext().next(inside).then(resolve));
        });
      });
      await clock.advance(ms);
      return answer;
    };
    expect(await taking(350)).toMatchObject(OK);
    expect(await taking(350)).toMatchObject(OK);
    const key = 'turn_ms:["acme","a","ann","s","1"]';
    expect(await control.spent([key])).toEqual([700]);
    expect(await taking(350)).toMatchObject({
      error: { type: 'TIMEOUT', reason: 'TURN_TIME_SPENT', details: { limit_ms: 300 } },
    });
    expect(await call(asked)).toMatchObject(spent('turn_ms', { limit: 1_000, used: 1_000 }));
  });

  it('without a turn there is nothing to count by', async () => {
    const { call } = setUp(modesOf({ mode: 'voice', callsPerTurn: 1 }));
    const context = { tenantId: 'acme', sessionId: 's', mode: 'voice' as const };
    for (let index = 0; index < 3; index += 1) expect(await call({ context })).toMatchObject(OK);
  });
});

describe('budgets of money and calls', () => {
  it('money of a day: free again when the day has ended, in the time zone of the settings', async () => {
    const { call, clock } = setUp({
      budgets: budgets({ user: { cost: 1_000_000 }, timeZone: 'Europe/Berlin' }),
    });
    const asked = { function: paid, ...turn('1') };
    for (let index = 0; index < 2; index += 1) expect(await call(asked)).toMatchObject(OK);
    const refusal = await call(asked);
    const told = { limit: 1, used: 0.8, free_at: '2026-11-23T23:00:00.000Z' };
    expect(refusal).toMatchObject(spent('user_cost', told));
    expect(await call({ ...asked, ...turn('1', { userId: 'bob' }) })).toMatchObject(OK);
    await clock.advance(11 * 3_600_000);
    expect(await call(asked)).toMatchObject(OK);
  });

  it('what costs nothing is not counted in money', async () => {
    const { extension } = setUp({ budgets: budgets({ user: { cost: 1 } }) });
    expect(layerFor(extension, functionOf(), {})).toBeUndefined();
    expect(layerFor(extension, paid, {})).toBeDefined();
  });

  it('what a step costs is counted, the step is not', async () => {
    const { call } = setUp({ budgets: budgets({ tenant: { calls: 1, cost: 1_000_000 } }) });
    const step = { function: paid, request: requestOf({ parent: {} as never }), ...turn('1') };
    for (let index = 0; index < 2; index += 1) expect(await call(step)).toMatchObject(OK);
    expect(await call(step)).toMatchObject(spent('tenant_cost'));
  });

  it('calls of a session are counted over its turns, apart for each session', async () => {
    const { call } = setUp({ budgets: budgets({ session: { calls: 2 } }) });
    for (const id of ['1', '2']) expect(await call(turn(id))).toMatchObject(OK);
    expect(await call(turn('3'))).toMatchObject(spent('session_calls', { free_at: null }));
    expect(await call(turn('3', { sessionId: 'other' }))).toMatchObject(OK);
  });

  it.each<[string, Next]>([
    ['never came to its executor', async (call) => refusalOf(call, toolFailure('CIRCUIT_OPEN', 'x'))],
    [
      'proves that nothing ran',
      async (call) => {
        call.progress.executorEntered = true;
        return refusalOf(call, toolFailure('SPAWN_FAILED', 'x'));
      },
    ],
  ])('a call that %s gives back what it took', async (_name, inside) => {
    const { call } = setUp({ budgets: budgets({ tenant: { calls: 1, cost: 400_000 } }) });
    for (let index = 0; index < 3; index += 1)
      expect(await call({ function: paid }, inside)).toMatchObject({ error: { type: 'UNAVAILABLE' } });
    expect(await call({ function: paid })).toMatchObject(OK);
  });

  it('a tool that ran and failed has cost what it costs', async () => {
    const { call } = setUp({ budgets: budgets({ tenant: { cost: 400_000 } }) });
    const failing: Next = async (inside) => {
      inside.progress.executorEntered = true;
      return refusalOf(inside, toolFailure('EXCEPTION', 'x', { origin: 'tool' }));
    };
    expect(await call({ function: paid }, failing)).toMatchObject({ error: { type: 'PERMANENT' } });
    expect(await call({ function: paid })).toMatchObject(spent('tenant_cost'));
  });
});

it('a gateway without modes and budgets has no such step for a tool without limits', () => {
  expect(layerFor(setUp({}).extension, retrieval, {})).toBeUndefined();
});

it('so many of a tenant are counted for the first time in an hour, and those that are counted go on', async () => {
  const { call, clock } = setUp({ budgets: budgets({ session: { calls: 9 } }), newBudgetsPerHour: 2 });
  const of = (sessionId: string, more: object = {}) => call(turn('1', { sessionId, ...more }));
  expect(await of('a')).toMatchObject(OK);
  expect(await of('b')).toMatchObject(OK);
  expect(await of('c')).toMatchObject({
    error: {
      type: 'RATE_LIMIT',
      reason: 'RATE_EXCEEDED',
      retryable: true,
      details: { limit: 'new_budgets' },
    },
  });
  expect(await of('a')).toMatchObject(OK);
  expect(await of('c', { tenantId: 'umbrella' })).toMatchObject(OK);
  await clock.advance(3_600_000);
  expect(await of('c')).toMatchObject(OK);
});

describe('what the store is asked to count', () => {
  const keysOf = (rules: Partial<CallRules>, context: ToolCall['context'], fn = paid) => {
    const clock = new FakeClock(NOON);
    const asked = budgetPlan(
      fn,
      { modes: new Map(), ...rules },
      clock,
    )?.(callOf({ context, deadline: clock.now() + 400 }));
    return asked?.map(({ name }) => name);
  };
  const anybody = { tenantId: 'acme', userId: 'free-1', agentId: 'a', sessionId: 'free-2', turnId: 'free-3' };

  it('is nothing for subjects without a budget, whatever names a caller thinks of', () => {
    expect(keysOf({}, anybody)).toBeUndefined();
    expect(keysOf({ budgets: budgets({ tenant: { calls: 9 } }) }, anybody)).toEqual(['tenant_calls']);
    expect(keysOf({ budgets: budgets({ user: { cost: 9 } }) }, anybody, retrieval)).toBeUndefined();
    expect(keysOf(modesOf(voice), { ...anybody, mode: 'text' }, retrieval)).toEqual([]);
    expect(keysOf(modesOf(voice), { ...anybody, mode: 'voice' })).toBeUndefined();
  });
});
