// compileTool: what stands between a tool's chain and its envelope, on each of its ways. Phases: core/phases.spec.ts.
import { describe, expect, it } from 'vitest';
import {
  functionOf,
  namedLayer,
  recordingLog,
  recordingMetrics,
  timedCallOf,
} from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { PreparedFunction } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import { RetryBudget } from '../resilience/retry-budget.ts';
import { compileTool, type ToolLayer } from './compile-tool.ts';

const MAX_BYTES = 1_000;
const clock = new FakeClock(1_000);

function compiled(
  prepared: Partial<PreparedFunction>,
  { fn = functionOf(), layers = [] }: { fn?: ToolFunction; layers?: readonly ToolLayer[] } = {},
) {
  const metrics = recordingMetrics();
  const counter = metrics.counter({ name: 'x', help: 'x' }).with();
  const log = recordingLog();
  let runs = 0;
  const { execute = async () => ({ data: 'done' }), ...others } = prepared;
  const counted: PreparedFunction = {
    ...others,
    execute: (call, emit) => {
      runs += 1;
      return execute(call, emit);
    },
  };
  const tool = compileTool(fn, counted, layers, {
    attempts: {
      clock,
      random: () => 0.5,
      budget: new RetryBudget(),
      retries: counter,
      exhausted: counter,
      seconds: metrics.histogram({ name: 'y', help: 'y', buckets: [] }).with(),
    },
    inflight: metrics.gauge({ name: 'inflight', help: 'z' }).with(),
    log,
    maxResultBytes: MAX_BYTES,
  });
  const inflight = () => metrics.values.get('inflight') ?? 0;
  return { tool, log, inflight, runs: () => runs };
}

function callTo(fn = functionOf(), context: Partial<ToolCall['context']> = {}): ToolCall {
  return timedCallOf(clock, 60_000, { function: fn, context: { tenantId: 'acme', ...context } });
}

describe('the innermost of a chain never rejects', () => {
  it.each([
    [
      'a ToolFailure',
      () => Promise.reject(new ToolFailure('PERMANENT', 'no', { reason: 'NO' })),
      'PERMANENT',
      'NO',
    ],
    ['anything else', () => Promise.reject(new Error('secret inside')), 'INTERNAL', 'INTERNAL'],
    [
      'an executor that throws before it gives a promise',
      () => {
        throw new Error('secret inside');
      },
      'INTERNAL',
      'INTERNAL',
    ],
    [
      'a result that is too large',
      async () => ({ data: 'x'.repeat(MAX_BYTES) }),
      'OUTPUT_TOO_LARGE',
      'OUTPUT_TOO_LARGE',
    ],
  ])('%s is a refusal, and nothing of a cause is in it', async (_, execute, type, reason) => {
    const { tool, inflight } = compiled({ execute });
    const response = await tool.run(callTo());
    expect(response).toMatchObject({ ok: false, error: { type, reason } });
    expect(JSON.stringify(response)).not.toContain('secret');
    expect(inflight()).toBe(0);
  });

  it('counts what is in flight, for as long as it is', async () => {
    const { promise, resolve } = Promise.withResolvers<{ data: number }>();
    const { tool, inflight } = compiled({ execute: () => promise });
    const running = [tool.run(callTo()), tool.run(callTo())];
    expect(inflight()).toBe(2);
    resolve({ data: 1 });
    await Promise.all(running);
    expect(inflight()).toBe(0);
  });
});

describe('a result', () => {
  it('of an executor that may give anything is a plain copy: what the executor keeps cannot change the answer', async () => {
    const kept = { list: [1] };
    const { tool } = compiled({ execute: async () => ({ data: kept }) });
    const response = await tool.run(callTo());
    kept.list.push(2);
    expect(response).toMatchObject({ ok: true, data: { list: [1] } });
  });

  it('of an executor that gives plain JSON is not copied', async () => {
    const kept = { list: [1] };
    const { tool } = compiled({ execute: async () => ({ data: kept }), yieldsPlainJson: true });
    const response = await tool.run(callTo());
    expect(response.ok && response.data).toBe(kept);
  });

  it('is cut to its budget, and a cursor that is not of this call is refused before anything runs', async () => {
    const fn = functionOf({ resultBudget: { maxItems: 2 }, metadata: { readOnly: true } });
    const { tool, runs } = compiled({ execute: async () => ({ data: [1, 2, 3] }) }, { fn });
    expect(await tool.run(callTo(fn))).toMatchObject({
      ok: true,
      data: [1, 2],
      meta: { truncated: { omitted: 1 } },
    });
    expect(await tool.run(callTo(fn, { cursor: '2.0000000000000000' }))).toMatchObject({
      ok: false,
      error: { type: 'VALIDATION' },
    });
    expect(runs()).toBe(1);
  });
});

describe('a dry run', () => {
  it('tells what would be done and does nothing of it', async () => {
    const { tool, runs } = compiled({ render: () => ({ argv: ['rm'] }) });
    expect(await tool.run(callTo(functionOf(), { dryRun: true }))).toMatchObject({
      ok: true,
      data: { dry_run: true, would: { argv: ['rm'] } },
      meta: { attempts: 0 },
    });
    expect(runs()).toBe(0);
  });

  it('of a tool that cannot say it is refused, and nothing is done', async () => {
    const { tool, runs } = compiled({});
    expect(await tool.run(callTo(functionOf(), { dryRun: true }))).toMatchObject({
      error: { reason: 'NO_DRY_RUN' },
    });
    expect(runs()).toBe(0);
  });
});

describe('what must be known of a call before it runs', () => {
  it('is awaited first; where it cannot be known, nothing runs', async () => {
    const order: string[] = [];
    const { tool, runs } = compiled({
      execute: async () => {
        order.push('runs');
        return { data: 1 };
      },
    });
    const call = callTo();
    call.progress.beforeExecution = async () => void order.push('known');
    await tool.run(call);
    expect(order).toEqual(['known', 'runs']);
    const unknown = callTo();
    unknown.progress.beforeExecution = () =>
      Promise.reject(new ToolFailure('UNAVAILABLE', 'no', { reason: 'AUDIT_UNAVAILABLE' }));
    expect(await tool.run(unknown)).toMatchObject({ error: { reason: 'AUDIT_UNAVAILABLE' } });
    expect(runs()).toBe(1);
  });

  it('is given up with the call', async () => {
    const { tool, runs } = compiled({});
    const call = callTo();
    call.progress.beforeExecution = () => new Promise(() => undefined);
    const answered = tool.run(call);
    await clock.advance(60_000);
    expect(await answered).toMatchObject({ error: { type: 'TIMEOUT' } });
    expect(runs()).toBe(0);
  });
});

describe('each phase', () => {
  it('passes the layers that have a say in it, in their order, and no others', async () => {
    const seen: string[] = [];
    const layer = (name: string, phases: ToolLayer['phases']) =>
      namedLayer(
        name,
        (call, next) => {
          seen.push(name);
          return next(call);
        },
        { phases },
      );
    const layers = [layer('both', ['admit', 'run']), layer('admit', ['admit']), layer('run', ['run'])];
    const { tool } = compiled({}, { layers });
    const ways = async (way: 'run' | 'admit' | 'resume') => {
      seen.length = 0;
      await tool[way](callTo());
      return seen.join(' ');
    };
    expect(await ways('run')).toBe('both admit run');
    expect(await ways('admit')).toBe('both admit');
  });

  it('of a call that was not admitted is refused: nothing else may stand in for an admission', async () => {
    const { tool, runs } = compiled({});
    expect(await tool.resume(callTo())).toMatchObject({ ok: false, error: { type: 'INTERNAL' } });
    expect(await tool.admit(callTo())).toMatchObject({ ok: false, error: { type: 'INTERNAL' } });
    expect(runs()).toBe(0);
  });

  it('refuses where a layer crashes, and the executor is not reached', async () => {
    const crash = namedLayer('crash', () => Promise.reject(new Error('secret inside')));
    const { tool, runs } = compiled({}, { layers: [crash] });
    expect(await tool.run(callTo())).toMatchObject({
      ok: false,
      error: { type: 'INTERNAL' },
    });
    expect(runs()).toBe(0);
  });
});
