// The phases of a call: what is admitted is a value to be kept, what stands around it waits for that, and the rest runs later.
import { describe, expect, it } from 'vitest';
import {
  admittedOf,
  functionOf,
  namedLayer,
  principalOf,
  recordingLog,
  recordingMetrics,
  requestOf,
} from '../../test/helpers/call-kit.ts';
import { FakeClock, settled } from '../../test/helpers/fake-clock.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { LaterPhase, Layer, PreparedFunction } from '../contract/plugin.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import { snapshotOf, ToolSpecRegistry } from '../registry/tool-spec-registry.ts';
import { compileTool } from './compile/compile-tool.ts';
import { LoadShedder } from './resilience/load-shedder.ts';
import { RetryBudget } from './resilience/retry-budget.ts';
import { UnifiedToolExecutor } from './unified-tool-executor.ts';

/** What was entered and left, in order. */
function noting(seen: string[], name: string): Layer {
  return async (call, next) => {
    seen.push(name);
    const response = await next(call);
    seen.push(`${name} ${response.ok ? 'ok' : response.error.reason}`);
    return response;
  };
}

const auth: Layer = (call, next) => {
  const principal = principalOf({ permissions: new Set(['a', 'b']) });
  return next({ ...call, principal, context: { ...call.context, tenantId: principal.tenantId } });
};

function kit(fn: ToolFunction = functionOf()) {
  const seen: string[] = [];
  const clock = new FakeClock(1_000);
  const metrics = recordingMetrics();
  const counter = metrics.counter({ name: 'x', help: 'x' }).with();
  const execute: PreparedFunction['execute'] = async (call) => {
    seen.push('executor');
    return { data: { id: call.id, door: call.request.door, arguments: call.arguments } };
  };
  const layer = (name: string, phases: readonly LaterPhase[]) =>
    namedLayer(name, noting(seen, name), { phases });
  const layers = [
    layer('both', ['admit', 'run']),
    layer('admit only', ['admit']),
    namedLayer('filling', (call, next) => next({ ...call, arguments: { ...call.arguments, filled: 1 } }), {
      phases: ['admit'],
    }),
    layer('run only', ['run']),
  ];
  const tool = compileTool(fn, { execute }, layers, {
    attempts: {
      clock,
      random: () => 0.5,
      budget: new RetryBudget(),
      retries: counter,
      exhausted: counter,
      seconds: metrics.histogram({ name: 'y', help: 'y', buckets: [] }).with(),
    },
    inflight: metrics.gauge({ name: 'inflight', help: 'z' }).with(),
    log: recordingLog(),
    maxResultBytes: 1 << 20,
  });
  const snapshots = new ToolSpecRegistry();
  snapshots.publish(snapshotOf([fn.spec], [tool]));
  const executor = new UnifiedToolExecutor({
    snapshots,
    requestLayers: [namedLayer('auth', auth), namedLayer('observer', noting(seen, 'observer'))],
    maxTimeoutMs: 60_000,
    shedder: new LoadShedder(
      { maxInflightCalls: 100, shedAtLagMs: 200 },
      { lag: { p99Ms: () => 0 }, clock, random: () => 0.5, log: recordingLog(), metrics },
    ),
    clock,
    log: recordingLog(),
  });
  async function admitted(changes: Parameters<typeof requestOf>[0] = {}) {
    const admission = await executor.admit({ ...requestOf(changes), terms: { every: 'day' } });
    if (!admission.admitted) throw new Error(JSON.stringify(admission.response));
    return admission;
  }
  return { seen, clock, executor, admitted, snapshots };
}

describe('execute', () => {
  it('goes through every layer and the executor', async () => {
    const { seen, executor } = kit();
    expect(await executor.execute(requestOf())).toMatchObject({
      ok: true,
      data: { arguments: { filled: 1 } },
    });
    expect(seen.slice(0, 5)).toEqual(['observer', 'both', 'admit only', 'run only', 'executor']);
  });
});

describe('admit', () => {
  it('ends in plain data: who, what, which version; without a credential, as validation left the arguments', async () => {
    const { admitted } = kit();
    const context = { confirmationToken: 'secret', sessionId: 's' };
    const { call, door, registryVersion } = await admitted({ arguments: { a: 1 }, context, timeoutMs: 900 });
    expect(JSON.parse(JSON.stringify(call))).toEqual({
      callId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tool: 'greet',
      arguments: { a: 1, filled: 1 },
      context: { sessionId: 's', tenantId: 'acme' },
      timeoutMs: 900,
      toolHash: 'c0ffee',
      keepsVersion: true,
      approved: true,
      grant: { principalId: 'key00001', tenantId: 'acme', permissions: ['a', 'b'] },
    });
    expect({ door, registryVersion }).toEqual({
      door: 'test',
      registryVersion: expect.stringMatching(/^1\.0\./),
    });
  });

  it('what stands around the call hears whether it was kept, and nothing runs', async () => {
    const { seen, admitted } = kit();
    const kept = await admitted();
    expect(seen).toEqual(['observer', 'both', 'admit only']);
    expect(await kept.kept({ at: '/v1/calls/1' })).toMatchObject({
      ok: true,
      data: null,
      meta: { acceptedAt: '/v1/calls/1' },
    });
    expect(seen).toEqual(['observer', 'both', 'admit only', 'admit only ok', 'both ok', 'observer ok']);
    seen.length = 0;
    const lost = await admitted();
    const full = new ToolFailure('UNAVAILABLE', 'The queue is full.', { reason: 'QUEUE_FULL' });
    expect(await lost.failed(full)).toMatchObject({ ok: false, error: { reason: 'QUEUE_FULL' } });
    expect(seen.at(-1)).toBe('observer QUEUE_FULL');
  });

  it('a refusal is the answer, and there is nothing to keep', async () => {
    const { executor } = kit();
    expect(await executor.admit(requestOf({ tool: 'nobody' }))).toMatchObject({
      admitted: false,
      response: { ok: false, error: { type: 'NOT_FOUND' } },
    });
    executor.drain();
    expect(await executor.admit(requestOf())).toMatchObject({ response: { error: { reason: 'DRAINING' } } });
  });

  it('counts as a call in flight until it is kept, and its time ends it where nobody keeps it', async () => {
    const { executor, admitted, clock } = kit();
    const { kept } = await admitted({ timeoutMs: 50 });
    expect(executor.inFlight).toBe(1);
    await clock.advance(50);
    await clock.advance(5_000);
    await settled();
    expect(executor.inFlight).toBe(0);
    expect(await kept({ at: '/too/late' })).toMatchObject({ ok: false, error: { type: 'TIMEOUT' } });
  });
});

describe('resume', () => {
  it('goes through what is left, under the id that the call was admitted with', async () => {
    const { seen, executor, admitted } = kit();
    const admission = await admitted();
    await admission.kept({ at: '/v1/calls/1' });
    seen.length = 0;
    expect(await executor.resume(admission.call)).toMatchObject({
      ok: true,
      data: { id: admission.call.callId, door: 'queue', arguments: { filled: 1 } },
      meta: { callId: admission.call.callId },
    });
    expect(seen.slice(0, 4)).toEqual(['observer', 'both', 'run only', 'executor']);
  });

  it('what was approved runs as it was approved, or not at all', async () => {
    const { executor } = kit();
    expect(await executor.resume(admittedOf({ toolHash: 'other' }))).toMatchObject({ ok: true });
    for (const changed of [{ toolHash: 'other', approved: true }, { runs: 'other' }])
      expect(await executor.resume(admittedOf(changed))).toMatchObject({
        error: { type: 'CONFLICT', reason: 'TOOL_DEFINITION_CHANGED' },
      });
    expect(await executor.resume(admittedOf({ approved: true, runs: 'c0ffee' }))).toMatchObject({ ok: true });
  });
});
