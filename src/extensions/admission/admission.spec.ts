import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import {
  callOf,
  echoNext,
  functionOf,
  outcomeOf,
  recordingMetrics,
  through,
  layerFor,
} from '../../../test/helpers/call-kit.ts';
import type { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { Admission, AdmissionRequest } from '../../ports/admission-control.ts';
import { MemoryAdmissionControl } from '../../infra/admission/memory/memory-admission-control.ts';
import { admission } from './index.ts';

const NO_RULES = { modes: new Map() };

function setUp() {
  const clock = new FakeClock(1_000);
  const extension = admission.create({
    admission: new MemoryAdmissionControl(clock),
    callRules: NO_RULES,
    clock,
    metrics: recordingMetrics(),
  });
  return { clock, extension };
}

const perTenant = {
  per: 'tenant',
  rate: 2,
  periodMs: 60_000,
  burst: 2,
  onStoreFailure: 'local',
  mode: 'enforce',
} as const;
const one = {
  limit: 1,
  per: 'tool',
  maxQueue: 0,
  maxWaitMs: 1_000,
  onStoreFailure: 'local',
  onLeaseLost: 'cancel',
} as const;
const rated = functionOf({ rateLimits: [perTenant] });
const single = functionOf({ concurrency: [one] });

describe('admission', () => {
  it('a call over the rate is RATE_LIMIT with the time to wait, and another tenant is not affected', async () => {
    const { extension } = setUp();
    const run = (tenantId: string) => {
      const call = callOf({ function: rated, context: { tenantId } });
      return outcomeOf(async () => through(extension, call, echoNext().next, {}), call);
    };
    expect((await run('acme')).ok).toBe(true);
    expect((await run('acme')).rateLimits).toMatchObject([{ limit: 2, remaining: 0, periodMs: 60_000 }]);
    const refused = await run('acme');
    expect(refused).toMatchObject({
      ok: false,
      error: { type: 'RATE_LIMIT', retryable: true, partialSideEffects: false },
    });
    expect(refused.ok ? 0 : refused.error.retryAfterMs).toBeGreaterThan(0);
    expect((await run('other')).ok).toBe(true);
  });

  it('a slot is given back when the call ends, even when it ends badly', async () => {
    const { extension } = setUp();
    const call = callOf({ function: single });
    for (let i = 0; i < 3; i += 1) {
      const response = await outcomeOf(
        async () => through(extension, call, () => Promise.reject(new Error('boom')), {}),
        call,
      );
      expect(response).toMatchObject({ ok: false, error: { type: 'INTERNAL' } });
    }
  });

  it('one more than the limit and its queue is CONCURRENCY_LIMIT at once', async () => {
    const { extension } = setUp();
    let finish: (response: ToolResponse) => void = () => undefined;
    const held = new Promise<ToolResponse>((resolve) => (finish = resolve));
    const first = through(extension, callOf({ id: 'a', function: single }), () => held, {});
    const second = callOf({ id: 'b', function: single });
    expect(
      await outcomeOf(async () => through(extension, second, echoNext().next, {}), second),
    ).toMatchObject({
      ok: false,
      error: { type: 'CONCURRENCY_LIMIT', retryable: true },
    });
    finish(await echoNext().next(second));
    await first;
    expect((await through(extension, second, echoNext().next, {})).ok).toBe(true);
  });

  it('a tool without limits has no such step', () => {
    const { extension } = setUp();
    expect(layerFor(extension, functionOf(), {})).toBeUndefined();
    expect(layerFor(extension, rated, {})).toBeDefined();
  });
});

describe('admission over a shared store', () => {
  const held = { granted: true, rates: [], waitedMs: 0, release: () => undefined } as const;

  function over(decision: Admission) {
    const asked: AdmissionRequest[] = [];
    const metrics = recordingMetrics();
    const control = {
      admit: async (request: AdmissionRequest) => {
        asked.push(request);
        return decision;
      },
      spent: async () => undefined,
      close: async () => undefined,
    };
    const needs = { admission: control, callRules: NO_RULES, clock: new FakeClock(1_000), metrics };
    return { asked, metrics, extension: admission.create(needs) };
  }

  it('asks for every limit of the tool and of its connection at once, each under a key of its own', async () => {
    const { asked, extension } = over(held);
    const scopes = ['tool', 'tenant', 'agent', 'user'] as const;
    const limited = functionOf({
      concurrency: scopes.map((per) => ({ ...one, per })),
      rateLimits: [perTenant],
    });
    const connectionLimit = { connection: 'crm', limit: 3, maxQueue: 4 };
    const context = { tenantId: 'acme', agentId: 'a1', userId: 'u1' };
    await through(
      extension,
      callOf({ function: { ...limited, connectionLimit }, context }),
      echoNext().next,
      {},
    );
    expect(asked[0]?.leases.map(({ key }) => key)).toEqual([
      'lease:["greet"]',
      'lease:["greet","t","acme"]',
      'lease:["greet","a","acme","a1"]',
      'lease:["greet","u","acme","u1"]',
      'connection:crm',
    ]);
    expect(asked[0]?.leases.at(-1)).toMatchObject({ limit: 3, maxQueue: 4, maxWaitMs: 1000 });
    expect(asked[0]?.rates).toMatchObject([{ key: 'rate:0:["greet","t","acme"]', onStoreFailure: 'local' }]);
  });

  it('says what was decided without the store, whom a shadow rate would have refused, and the fencing token', async () => {
    const { extension, metrics } = over({
      ...held,
      degraded: ['concurrency'],
      shadowRefusals: ['slow'],
      fencingToken: '41',
    });
    const call = callOf({ function: single });
    await through(extension, call, echoNext().next, {});
    expect(call.progress).toMatchObject({
      degraded: ['concurrency'],
      fencingToken: '41',
    });
    expect(metrics.values.get('ute_rate_limit_shadow_total')).toBe(1);
    expect(metrics.values.get('ute_concurrency_in_use{greet}')).toBe(0);
  });

  it.each([
    ['cancel', { type: 'UNAVAILABLE', reason: 'LEASE_LOST' }],
    ['continue', undefined],
  ] as const)('a lost slot under %s', async (onLeaseLost, reason) => {
    let lose = () => undefined as void;
    const { extension } = over({ ...held, whenLost: (listener) => (lose = listener) });
    const fn = functionOf({ concurrency: [{ ...one, onLeaseLost }] });
    const call = callOf({ function: fn });
    let signal = call.signal;
    await through(
      extension,
      call,
      async (passed) => {
        ({ signal } = passed);
        lose();
        return echoNext().next(passed);
      },
      {},
    );
    const { type, reason: why } = (signal.reason as ToolFailure | undefined) ?? {};
    expect(type && { type, reason: why }).toEqual(reason);
  });

  it('the deadline still ends a call that has a signal of its own', async () => {
    const { extension } = over({ ...held, whenLost: () => undefined });
    const controller = new AbortController();
    const call = callOf({ function: single, signal: controller.signal });
    const reason = new Error('too late');
    await through(
      extension,
      call,
      async (passed) => {
        controller.abort(reason);
        expect(passed.signal.reason).toBe(reason);
        return echoNext().next(passed);
      },
      {},
    );
  });
});
