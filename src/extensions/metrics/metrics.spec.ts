import { describe, expect, it } from 'vitest';
import { callOf, echoNext, outcomeOf, recordingMetrics, through } from '../../../test/helpers/call-kit.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { metrics } from './index.ts';

describe('metrics', () => {
  it('counts calls by tool, executor and outcome', async () => {
    const port = recordingMetrics();
    const extension = metrics.create({ metrics: port });
    const call = callOf();
    await through(extension, call, echoNext().next, {});
    await through(
      extension,
      call,
      () => outcomeOf(() => Promise.reject(new ToolFailure('TIMEOUT', 'late')), call),
      {},
    );
    expect(port.values.get('ute_tool_calls_total{greet,test,ok}')).toBe(1);
    expect(port.values.get('ute_tool_calls_total{greet,test,TIMEOUT}')).toBe(1);
    expect(port.values.get('ute_tool_call_errors_total{greet,TIMEOUT}')).toBe(1);
    expect(port.values.get('ute_tool_call_duration_seconds{greet,test}')).toBe(2);
    expect(port.values.get('ute_gateway_overhead_seconds')).toBe(2);
  });

  it("a name that is no tool never becomes a label: callers' inventions cannot fill the memory", async () => {
    const port = recordingMetrics();
    const call = callOf({ function: undefined });
    const unknown = () => outcomeOf(() => Promise.reject(new ToolFailure('NOT_FOUND', 'none')), call);
    await through(metrics.create({ metrics: port }), call, unknown, {});
    expect(port.values.get('ute_tool_calls_total{_unknown,none,NOT_FOUND}')).toBe(1);
  });
});
