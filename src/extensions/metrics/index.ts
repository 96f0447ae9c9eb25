// metrics: counts every call, times it, and separates the gateway's own time from the tool's.
import { z } from 'zod';
import type { ExtensionPlugin, RequestExtension } from '../../contract/plugin.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { Counter, Histogram, Metrics } from '../../ports/telemetry/metrics.ts';

/** 10 ms to 5 minutes: the buckets that MCP's conventions give for operations. */
const CALL_BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
const OVERHEAD_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25];
const BYTE_BUCKETS = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
/** The label of requests that named no tool we know: their names are the caller's and would be endless. */
const UNKNOWN = '_unknown';

const optionsSchema = z.strictObject({});
interface Needs {
  readonly metrics: Metrics;
}

export const metrics: ExtensionPlugin<z.infer<typeof optionsSchema>, Needs> = {
  name: 'metrics',
  summary: 'Prometheus series for every call: outcomes, durations, errors, result sizes, gateway overhead.',
  optionsSchema,
  create: ({ metrics }) => createMetrics(metrics),
};

interface ToolSeries {
  /** A reload may give the tool another one. */
  readonly executor: string;
  readonly seconds: Histogram;
  readonly bytes: Histogram;
  readonly ok: Counter;
  readonly failed: Map<string, { outcome: Counter; error: Counter }>;
}

function createMetrics(port: Metrics): RequestExtension<object> {
  const define = defineSeries(port);
  const perTool = new Map<string, ToolSeries>();

  function seriesOf(tool: string, executor: string): ToolSeries {
    let series = perTool.get(tool);
    if (series?.executor !== executor) {
      series = {
        executor,
        seconds: define.seconds.with(tool, executor),
        bytes: define.bytes.with(tool),
        ok: define.calls.with(tool, executor, 'ok'),
        failed: new Map(),
      };
      perTool.set(tool, series);
    }
    return series;
  }

  function count(response: ToolResponse, seconds: number): void {
    const tool = response.meta.tool || UNKNOWN;
    const executor = response.meta.executor || 'none';
    // It is counted when it has run.
    if (response.meta.acceptedAt !== undefined) return define.calls.with(tool, executor, 'accepted').add();
    const series = seriesOf(tool, executor);
    series.seconds.observe(seconds);
    if (response.ok) {
      series.ok.add();
      series.bytes.observe(response.dataJson.length);
      return;
    }
    const { type } = response.error;
    let failed = series.failed.get(type);
    if (failed === undefined) {
      failed = { outcome: define.calls.with(tool, executor, type), error: define.errors.with(tool, type) };
      series.failed.set(type, failed);
    }
    failed.outcome.add();
    failed.error.add();
  }

  return {
    stage: 'request',
    onFailure: 'continue',
    prepare: () =>
      async function measure(call, next) {
        const response = await next(call);
        const seconds = (performance.now() - call.startedAt) / 1000;
        count(response, seconds);
        define.overhead.observe(seconds - call.progress.executorMs / 1000);
        return response;
      },
  };
}

function defineSeries(port: Metrics) {
  return {
    calls: port.counter({
      name: 'ute_tool_calls_total',
      help: 'Calls by tool, executor and outcome (ok, accepted for later, or the error type).',
      labels: ['tool', 'executor', 'outcome'],
    }),
    errors: port.counter({
      name: 'ute_tool_call_errors_total',
      help: 'Calls that ended in an error, by tool and error type.',
      labels: ['tool', 'type'],
    }),
    seconds: port.histogram({
      name: 'ute_tool_call_duration_seconds',
      help: 'Time from the door to the answer, waiting included.',
      labels: ['tool', 'executor'],
      buckets: CALL_BUCKETS,
    }),
    bytes: port.histogram({
      name: 'ute_tool_result_bytes',
      help: 'Size of results as JSON text, in UTF-16 units.',
      labels: ['tool'],
      buckets: BYTE_BUCKETS,
    }),
    overhead: port
      .histogram({
        name: 'ute_gateway_overhead_seconds',
        help: 'Time of a call spent outside its executor: the gateway itself, and waiting for limits.',
        buckets: OVERHEAD_BUCKETS,
      })
      .with(),
  };
}
