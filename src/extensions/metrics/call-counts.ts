// CallCounts: the series of every call, bound to a tool's labels once.
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { Counter, Histogram, Metrics } from '../../ports/telemetry/metrics.ts';
import { CALLS_SERIES } from '../../ports/telemetry/series/calls.ts';
import { GATEWAY_FAULTS, isGatewayFault } from './gateway-fault.ts';

/** The label of requests that named no tool we know: their names are the caller's and would be endless. */
const UNKNOWN = '_unknown';

interface ToolSeries {
  /** A reload may give the tool another one. */
  readonly executor: string;
  readonly seconds: Histogram;
  readonly bytes: Histogram;
  readonly ok: Counter;
  readonly failed: Map<string, { outcome: Counter; error: Counter }>;
}

export class CallCounts {
  readonly #define: ReturnType<typeof defineSeries>;
  readonly #perTool = new Map<string, ToolSeries>();

  constructor(port: Metrics) {
    this.#define = defineSeries(port);
    for (const [type, reason] of GATEWAY_FAULTS) this.#define.faults.with(type, reason);
  }

  /** `seconds`: all of the call; `cost`: as declared, 0 where it did not run. */
  count(call: ToolCall, response: ToolResponse, seconds: number, cost: number): void {
    const { progress } = call;
    // An exemplar has to lead somewhere.
    const traceId = progress.traceKept === false ? '' : progress.traceId;
    this.#define.overhead.observe(seconds - progress.executorMs / 1000, traceId);
    if (cost > 0) this.#define.cost.with(response.meta.tool).add(cost);
    const tool = response.meta.tool || UNKNOWN;
    const executor = response.meta.executor || 'none';
    // It is counted when it has run.
    if (response.meta.acceptedAt !== undefined)
      return this.#define.calls.with(tool, executor, 'accepted').add();
    const series = this.#seriesOf(tool, executor);
    series.seconds.observe(seconds, traceId);
    if (response.ok) {
      series.ok.add();
      series.bytes.observe(response.dataJson.length);
      return;
    }
    const { type, reason } = response.error;
    const failed = this.#failedOf(series, tool, type);
    failed.outcome.add();
    failed.error.add();
    if (isGatewayFault(response.error, progress.executorEntered))
      this.#define.faults.with(type, reason).add();
  }

  #seriesOf(tool: string, executor: string): ToolSeries {
    let series = this.#perTool.get(tool);
    if (series?.executor !== executor) {
      series = {
        executor,
        seconds: this.#define.seconds.with(tool, executor),
        bytes: this.#define.bytes.with(tool),
        ok: this.#define.calls.with(tool, executor, 'ok'),
        failed: new Map(),
      };
      this.#perTool.set(tool, series);
    }
    return series;
  }

  #failedOf({ executor, failed }: ToolSeries, tool: string, type: string) {
    let counters = failed.get(type);
    if (counters === undefined) {
      const { calls, errors } = this.#define;
      counters = { outcome: calls.with(tool, executor, type), error: errors.with(tool, type) };
      failed.set(type, counters);
    }
    return counters;
  }
}

function defineSeries(port: Metrics) {
  return {
    calls: port.counter(CALLS_SERIES.ute_tool_calls_total),
    errors: port.counter(CALLS_SERIES.ute_tool_call_errors_total),
    faults: port.counter(CALLS_SERIES.ute_gateway_failures_total),
    cost: port.counter(CALLS_SERIES.ute_tool_cost_total),
    seconds: port.histogram(CALLS_SERIES.ute_tool_call_duration_seconds),
    bytes: port.histogram(CALLS_SERIES.ute_tool_result_bytes),
    overhead: port.histogram(CALLS_SERIES.ute_gateway_overhead_seconds).with(),
  };
}
