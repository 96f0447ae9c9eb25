// Compiles functions as the registry loads them: pipeline, limits, the executor's series, the upstream's breaker and budget.
import { compileTool } from '../../core/compile-tool.ts';
import type { Upstreams } from '../../core/resilience/upstreams.ts';
import type { Next, PreparedFunction } from '../../contract/plugin.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { Pipeline } from './pipeline.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { Ports } from '../../ports/ports.ts';
import type { Settings } from '../../settings/settings-schema.ts';

const EXECUTOR_BUCKETS = [0.0001, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

export function compilerOf(pipeline: Pipeline, settings: Settings, ports: Ports, upstreams: Upstreams) {
  const { clock, log } = ports;
  const series = executorSeries(ports.metrics);
  return (fn: ToolFunction, prepared: PreparedFunction): Next => {
    const { toolType } = fn.spec;
    const { upstream } = prepared;
    return compileTool(fn, prepared, pipeline.layersFor(fn), {
      attempts: {
        clock,
        random: Math.random,
        budget: upstreams.budgetOf(toolType, upstream),
        ...(upstream !== undefined && { circuit: upstreams.circuitOf(upstream) }),
        retries: series.retries.with(toolType),
        exhausted: series.exhausted.with(toolType),
        seconds: series.seconds.with(toolType),
      },
      inflight: series.inflight.with(toolType),
      log,
      maxResultBytes: settings.limits.max_result_bytes,
    });
  };
}

function executorSeries(metrics: Metrics) {
  const labels = ['executor'];
  return {
    inflight: metrics.gauge({ name: 'ute_inflight_calls', help: 'Calls inside an executor now.', labels }),
    retries: metrics.counter({ name: 'ute_retries_total', help: 'Second and later attempts.', labels }),
    exhausted: metrics.counter({
      name: 'ute_retry_budget_exhausted_total',
      help: 'Retries that were not made because too much failed before.',
      labels,
    }),
    seconds: metrics.histogram({
      name: 'ute_executor_duration_seconds',
      help: 'Time of one attempt inside an executor.',
      labels,
      buckets: EXECUTOR_BUCKETS,
    }),
  };
}
