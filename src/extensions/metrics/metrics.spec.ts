import { describe, expect, it } from 'vitest';
import {
  callOf,
  echoNext,
  functionOf,
  outcomeOf,
  principalOf,
  recordingMetrics,
  through,
} from '../../../test/helpers/call-kit.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { PrometheusMetrics } from '../../infra/telemetry/prometheus-metrics.ts';
import { metrics } from './index.ts';

const OPTIONS = { tenant_series: false };

describe('metrics', () => {
  it('counts calls by tool, executor and outcome', async () => {
    const port = recordingMetrics();
    const extension = metrics.create({ metrics: port });
    const call = callOf();
    await through(extension, call, echoNext().next, OPTIONS);
    await through(
      extension,
      call,
      () => outcomeOf(() => Promise.reject(new ToolFailure('TIMEOUT', 'late')), call),
      OPTIONS,
    );
    expect(port.values.get('ute_tool_calls_total{greet,test,ok}')).toBe(1);
    expect(port.values.get('ute_tool_calls_total{greet,test,TIMEOUT}')).toBe(1);
    expect(port.values.get('ute_tool_call_errors_total{greet,TIMEOUT}')).toBe(1);
    expect(port.values.get('ute_tool_call_duration_seconds{greet,test}')).toBe(2);
    expect(port.values.get('ute_gateway_overhead_seconds')).toBe(2);
  });

  it('counts by tenant, and what calls cost, only of those that ran', async () => {
    const port = recordingMetrics();
    const fn = functionOf({ metadata: { cost: 0.25 } });
    const call = (executorEntered: boolean) => {
      const made = callOf({ function: fn });
      Object.assign(made.progress, {
        executorEntered,
        pinned: fn,
        caller: { principal: principalOf(), context: {} },
      });
      return made;
    };
    for (const ran of [true, false])
      await through(metrics.create({ metrics: port }), call(ran), echoNext().next, { tenant_series: true });
    expect(port.values.get('ute_tenant_calls_total{acme,ok}')).toBe(2);
    expect(port.values.get('ute_tenant_cost_total{acme}')).toBe(0.25);
    expect(port.values.get('ute_tool_cost_total{greet}')).toBe(0.25);
  });

  it('does not tell of tenants unless it is asked to', async () => {
    const port = recordingMetrics();
    await through(metrics.create({ metrics: port }), callOf(), echoNext().next, OPTIONS);
    expect([...port.values.keys()].filter((name) => name.startsWith('ute_tenant'))).toEqual([]);
  });

  it.each([
    { failure: new ToolFailure('INTERNAL', 'x'), counts: true },
    { failure: toolFailure('AUDIT_UNAVAILABLE', 'x'), counts: true },
    { failure: toolFailure('DATABASE_UNAVAILABLE', 'x'), counts: true },
    { failure: toolFailure('DATABASE_UNAVAILABLE', 'x'), entered: true, counts: false },
    { failure: toolFailure('CONNECT_FAILED', 'x'), counts: false },
    { failure: toolFailure('CIRCUIT_OPEN', 'x'), counts: false },
    { failure: toolFailure('TOOL_DISABLED', 'x'), counts: false },
    { failure: new ToolFailure('INTERNAL', 'x', { origin: 'tool' }), counts: false },
    { failure: new ToolFailure('VALIDATION', 'x'), counts: false },
    { failure: new ToolFailure('TIMEOUT', 'x'), counts: false },
  ])(
    '$failure.type ($failure.reason, in the executor: $entered) is the fault of the gateway: $counts',
    async ({ failure, entered = false, counts }) => {
      const port = recordingMetrics();
      const call = callOf();
      call.progress.executorEntered = entered;
      const next = () => outcomeOf(() => Promise.reject(failure), call);
      await through(metrics.create({ metrics: port }), call, next, OPTIONS);
      const counted = [...port.values.keys()].filter((name) => name.startsWith('ute_gateway_failures_total'));
      expect(counted).toHaveLength(counts ? 1 : 0);
    },
  );

  it('faults of the gateway are counted from 0 on: a rate sees the first of them', () => {
    const port = new PrometheusMetrics();
    metrics.create({ metrics: port });
    const [faults] = [...port.read()].filter(({ name }) => name === 'ute_gateway_failures_total');
    expect(faults?.series).toContainEqual(
      expect.objectContaining({ labels: { type: 'UNAVAILABLE', reason: 'AUDIT_UNAVAILABLE' }, value: 0 }),
    );
  });

  it("a name that is no tool never becomes a label: callers' inventions cannot fill the memory", async () => {
    const port = recordingMetrics();
    const call = callOf({ function: undefined });
    const unknown = () => outcomeOf(() => Promise.reject(new ToolFailure('NOT_FOUND', 'none')), call);
    await through(metrics.create({ metrics: port }), call, unknown, OPTIONS);
    expect(port.values.get('ute_tool_calls_total{_unknown,none,NOT_FOUND}')).toBe(1);
  });
});
