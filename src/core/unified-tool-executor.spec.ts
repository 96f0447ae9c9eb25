import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/helpers/fake-clock.ts';
import {
  functionOf,
  recordingLog,
  recordingMetrics,
  requestOf,
  admittedOf,
} from '../../test/helpers/call-kit.ts';
import type { PreparedFunction } from '../contract/plugin.ts';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import type { ToolFunction } from '../contract/tool/tool-function.ts';
import { snapshotOf, ToolSpecRegistry } from '../registry/tool-spec-registry.ts';
import { compileTool } from './compile/compile-tool.ts';
import { LoadShedder } from './resilience/load-shedder.ts';
import { RetryBudget } from './resilience/retry-budget.ts';
import { UnifiedToolExecutor } from './unified-tool-executor.ts';

function gatewayWith(
  fn: ToolFunction,
  execute: PreparedFunction['execute'],
  maxResultBytes = 1 << 20,
  render?: PreparedFunction['render'],
) {
  const clock = new FakeClock(1_000);
  const registry = new ToolSpecRegistry();
  const metrics = recordingMetrics();
  const handle = metrics.counter({ name: 'x', help: 'x' }).with();
  const attempts = {
    clock,
    random: () => 0.5,
    budget: new RetryBudget(),
    retries: handle,
    exhausted: handle,
    seconds: metrics.histogram({ name: 'y', help: 'y', buckets: [] }).with(),
  };
  const lag = { ms: 0 };
  const inflight = metrics.gauge({ name: 'inflight', help: 'z' }).with();
  const tool = compileTool(fn, { execute, ...(render && { render }) }, [], {
    attempts,
    inflight,
    log: recordingLog(),
    maxResultBytes,
  });
  registry.publish(snapshotOf([fn.spec], [tool]));
  const executor = new UnifiedToolExecutor({
    snapshots: registry,
    requestLayers: [],
    maxTimeoutMs: 600_000,
    shedder: new LoadShedder(
      { maxInflightCalls: 100, shedAtLagMs: 200 },
      { lag: { p99Ms: () => lag.ms }, clock, random: () => 0.5, log: recordingLog(), metrics },
    ),
    clock,
    log: recordingLog(),
  });
  return { clock, registry, executor, metrics, lag };
}

function dryRun(context = {}) {
  return requestOf({ context: { dryRun: true, ...context } });
}

const never = () => new Promise<never>(() => undefined);

describe('UnifiedToolExecutor', () => {
  it('answers with the envelope of a success', async () => {
    const { executor } = gatewayWith(functionOf(), async (call) => ({ data: { hello: call.request.tool } }));
    expect(await executor.execute(requestOf())).toMatchObject({
      ok: true,
      data: { hello: 'greet' },
      dataJson: '{"hello":"greet"}',
      intents: [],
      meta: { tool: 'greet', toolVersion: '1.0.0', executor: 'test', attempts: 1, cached: false },
    });
  });

  it('an unknown tool is NOT_FOUND', async () => {
    const { executor } = gatewayWith(functionOf(), never);
    expect(await executor.execute(requestOf({ tool: 'nobody' }))).toMatchObject({
      ok: false,
      error: { type: 'NOT_FOUND' },
    });
  });

  it('whatever an executor throws becomes a typed error, and its text stays inside', async () => {
    const { executor } = gatewayWith(functionOf(), () => Promise.reject(new Error('password in here')));
    const response = await executor.execute(requestOf());
    expect(response).toMatchObject({ ok: false, error: { type: 'INTERNAL', partialSideEffects: true } });
    expect(response.ok ? '' : response.error.message).not.toContain('password');
  });

  it("the smallest of the caller's and the tool's limit ends the call, though the executor goes on", async () => {
    const { executor, clock } = gatewayWith(functionOf({ timeoutMs: 500 }), never);
    const slow = executor.execute(requestOf());
    await clock.advance(500);
    expect(await slow).toMatchObject({ ok: false, error: { type: 'TIMEOUT', details: { limit_ms: 500 } } });
    const hurried = executor.execute(requestOf({ timeoutMs: 20 }));
    await clock.advance(20);
    expect(await hurried).toMatchObject({ ok: false, error: { type: 'TIMEOUT', details: { limit_ms: 20 } } });
  });

  it('a timeout of a tool that only reads may be retried and left nothing behind', async () => {
    const reader = functionOf({ timeoutMs: 10, metadata: { readOnly: true, idempotent: true } });
    const { executor, clock } = gatewayWith(reader, never);
    const call = executor.execute(requestOf());
    await clock.advance(10);
    expect(await call).toMatchObject({
      error: { type: 'TIMEOUT', retryable: true, partialSideEffects: false },
    });
  });

  it('a caller who goes away cancels the call, and the executor sees it', async () => {
    const gone = new AbortController();
    let seen: AbortSignal | undefined;
    const { executor } = gatewayWith(functionOf(), (call) => {
      seen = call.signal;
      return never();
    });
    const call = executor.execute(requestOf({ signal: gone.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    gone.abort();
    expect(await call).toMatchObject({ ok: false, error: { type: 'CANCELLED', retryable: false } });
    expect(seen?.aborted).toBe(true);
  });

  it('refuses new calls while it has too much to do, but no step of a call and nothing accepted before', async () => {
    const { executor, registry, lag } = gatewayWith(functionOf(), async () => ({ data: 1 }));
    lag.ms = 1_000;
    expect(await executor.execute(requestOf())).toMatchObject({
      error: { type: 'UNAVAILABLE', reason: 'OVERLOADED', retryable: true, partialSideEffects: false },
      meta: { tool: 'greet', attempts: 0 },
    });
    const parent = { callId: 'call-0', snapshot: registry.snapshot(), depth: 1, budget: { stepsLeft: 1 } };
    expect(await executor.execute(requestOf({ parent }))).toMatchObject({ ok: true });
    expect(await executor.resume(admittedOf())).toMatchObject({ ok: true });
    expect(await executor.admit(requestOf())).toMatchObject({
      admitted: false,
      response: { error: { reason: 'OVERLOADED' } },
    });
    lag.ms = 0;
    expect(await executor.execute(requestOf())).toMatchObject({ ok: true });
  });

  it('an idempotent tool is tried again after a transient failure; another is not', async () => {
    let runs = 0;
    const flaky: PreparedFunction['execute'] = async () => {
      runs += 1;
      if (runs === 1) throw new ToolFailure('TRANSIENT', 'hiccup');
      return { data: runs };
    };
    const retries = { maxAttempts: 3, baseDelayMs: 100, maxDelayMs: 1_000 };
    const { executor, clock } = gatewayWith(functionOf({ retries, metadata: { idempotent: true } }), flaky);
    const call = executor.execute(requestOf());
    await clock.advance(100);
    expect(await call).toMatchObject({ ok: true, data: 2, meta: { attempts: 2 } });
    runs = 0;
    const once = gatewayWith(functionOf({ retries }), flaky);
    expect(await once.executor.execute(requestOf())).toMatchObject({
      ok: false,
      error: { type: 'TRANSIENT' },
    });
    expect(runs).toBe(1);
  });

  it('a result that is no JSON or too large is refused as the tool’s fault', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const bad = gatewayWith(functionOf(), async () => ({ data: circular as never }));
    expect(await bad.executor.execute(requestOf())).toMatchObject({
      error: { type: 'OUTPUT_INVALID', origin: 'tool' },
    });
    const big = gatewayWith(functionOf(), async () => ({ data: 'x'.repeat(5_000) }), 1_024);
    expect(await big.executor.execute(requestOf())).toMatchObject({
      error: { type: 'OUTPUT_TOO_LARGE', origin: 'tool' },
    });
  });

  it('what extensions and callers see of a result is its JSON, not the live object', async () => {
    const data = { at: new Date(0), nothing: undefined } as never;
    const { executor } = gatewayWith(functionOf(), async () => ({ data }));
    expect(await executor.execute(requestOf())).toMatchObject({ data: { at: '1970-01-01T00:00:00.000Z' } });
  });

  it('the kill switch refuses calls at once, and lets them in again', async () => {
    const { executor, registry } = gatewayWith(functionOf(), async () => ({ data: 1 }));
    registry.setDisabled('greet', true);
    expect(await executor.execute(requestOf())).toMatchObject({
      error: { type: 'UNAVAILABLE', reason: 'TOOL_DISABLED' },
    });
    registry.setDisabled('greet', false);
    expect((await executor.execute(requestOf())).ok).toBe(true);
  });

  it('a tool in quarantine is refused for the reason that put it there', async () => {
    const quarantine = {
      reason: 'TOOL_DEFINITION_CHANGED' as const,
      message: 'The server defines it otherwise.',
    };
    const fn = functionOf({ foreign: { server: 'files', quarantine } });
    const { executor } = gatewayWith(fn, async () => ({ data: 1 }));
    expect(await executor.execute(requestOf())).toMatchObject({
      error: { type: 'UNAVAILABLE', ...quarantine, retryable: false, partialSideEffects: false },
    });
  });

  it('a tool is not called in a mode that it does not serve', async () => {
    const { executor } = gatewayWith(functionOf({ metadata: { modes: ['voice'] } }), async () => ({
      data: 1,
    }));
    expect(await executor.execute(requestOf({ context: { mode: 'text' } }))).toMatchObject({
      error: { type: 'MODE_RESTRICTED' },
    });
    expect((await executor.execute(requestOf({ context: { mode: 'voice' } }))).ok).toBe(true);
  });

  it('the end of the drain gives up what still runs, and then nothing runs', async () => {
    const { executor, metrics } = gatewayWith(functionOf(), never);
    const call = executor.execute(requestOf());
    await new Promise((resolve) => setImmediate(resolve));
    expect(executor.inFlight).toBe(1);
    expect(executor.running()).toMatchObject([{ state: 'running', attempts: 1, ageMs: 0 }]);
    executor.abortAll();
    expect(await call).toMatchObject({ error: { type: 'UNAVAILABLE', reason: 'DRAINING' } });
    await executor.whenIdle();
    expect(executor.inFlight).toBe(0);
    expect(executor.running()).toEqual([]);
    expect(metrics.values.get('inflight')).toBe(0);
  });

  it('a dry run says what would be done and does nothing', async () => {
    const unwanted = () => Promise.reject(new Error('it ran'));
    const { executor } = gatewayWith(functionOf(), unwanted, 1000, () => ({ argv: ['rm', './x'] }));
    expect(await executor.execute(dryRun())).toMatchObject({
      ok: true,
      data: { dry_run: true, would: { argv: ['rm', './x'] } },
      meta: { attempts: 0, dryRun: true },
    });
  });

  it('a tool that cannot say what it would do refuses a dry run, and does not run', async () => {
    const { executor } = gatewayWith(functionOf(), () => Promise.reject(new Error('it ran')));
    expect(await executor.execute(dryRun())).toMatchObject({
      ok: false,
      error: { type: 'VALIDATION', reason: 'NO_DRY_RUN', partialSideEffects: false },
    });
  });

  it('a result over its budget is cut, says so, and goes on at the cursor', async () => {
    const fn = functionOf({ resultBudget: { maxItems: 2 }, metadata: { readOnly: true } });
    const { executor } = gatewayWith(fn, async () => ({ data: [1, 2, 3] }));
    const first = await executor.execute(requestOf());
    expect(first).toMatchObject({
      data: [1, 2],
      dataJson: '[1,2]',
      meta: { truncated: { kept: 2, omitted: 1 } },
    });
    const cursor = first.meta.truncated?.cursor ?? '';
    const second = await executor.execute(requestOf({ context: { cursor } }));
    expect(second).toMatchObject({ ok: true, data: [3], meta: { truncated: { kept: 1, omitted: 0 } } });
  });

  it('a cursor for a tool without a budget is refused before the tool runs', async () => {
    const { executor } = gatewayWith(functionOf(), () => Promise.reject(new Error('it ran')));
    expect(await executor.execute(requestOf({ context: { cursor: '1.abc' } }))).toMatchObject({
      error: { type: 'VALIDATION', reason: 'CURSOR_INVALID' },
    });
  });
});
