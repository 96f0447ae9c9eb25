// Compiles functions as the registry loads them: pipeline, limits, the executor's series, the upstream's breaker and budget.
import { compileLegacy } from '../../core/compile/compile-legacy.ts';
import { compileTool } from '../../core/compile/compile-tool.ts';
import type { Upstreams } from '../../core/resilience/upstreams.ts';
import type { PreparedFunction } from '../../contract/plugin.ts';
import type { CompiledTool, ToolCompiler } from '../../contract/tool/compiled-tool.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { Pipeline } from './pipeline.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { Ports } from '../../ports/ports.ts';
import type { Settings } from '../../settings/settings-schema.ts';

const EXECUTOR_BUCKETS = [0.0001, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

export class GatewayCompiler implements ToolCompiler {
  readonly #pipeline: Pipeline;
  readonly #settings: Settings;
  readonly #ports: Ports;
  readonly #upstreams: Upstreams;
  readonly #series: ReturnType<typeof executorSeries>;

  constructor(pipeline: Pipeline, settings: Settings, ports: Ports, upstreams: Upstreams) {
    this.#pipeline = pipeline;
    this.#settings = settings;
    this.#ports = ports;
    this.#upstreams = upstreams;
    this.#series = executorSeries(ports.metrics);
  }

  compile(fn: ToolFunction, prepared: PreparedFunction): CompiledTool {
    const { clock, log } = this.#ports;
    const { toolType } = fn.spec;
    const { upstream } = prepared;
    const { inflight, retries, exhausted, seconds } = this.#series;
    return compileTool(fn, prepared, this.#pipeline.layersFor(fn, prepared), {
      attempts: {
        clock,
        random: Math.random,
        budget: this.#upstreams.budgetOf(toolType, upstream),
        ...(upstream !== undefined && { circuit: this.#upstreams.circuitOf(upstream) }),
        retries: retries.with(toolType),
        exhausted: exhausted.with(toolType),
        seconds: seconds.with(toolType),
      },
      inflight: inflight.with(toolType),
      log,
      maxResultBytes: this.#settings.limits.max_result_bytes,
      isShownTo: this.#pipeline.shownTo(fn),
    });
  }

  compileLegacy(fn: ToolFunction, actions: readonly CompiledTool[]): CompiledTool {
    return compileLegacy(fn, actions);
  }
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
