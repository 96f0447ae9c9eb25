// Compiles functions as the registry loads them: pipeline, limits, the executor's series, the upstream's breaker and budget.
import { compileLegacy } from '../../core/compile/compile-legacy.ts';
import { compileTool } from '../../core/compile/compile-tool.ts';
import type { Upstreams } from '../../core/resilience/upstreams.ts';
import type { PreparedFunction } from '../../contract/plugin.ts';
import type { CompiledTool, ToolCompiler } from '../../contract/tool/compiled-tool.ts';
import type { ShownTo, ToolFunction } from '../../contract/tool/tool-function.ts';
import type { ToolMetadata } from '../../contract/tool/tool-spec.ts';
import { attemptSpans } from '../../infra/telemetry/spans.ts';
import type { Pipeline } from './pipeline.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import type { Ports } from '../../ports/ports.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { CALLS_SERIES } from '../../ports/telemetry/series/calls.ts';

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
        ...(this.#settings.telemetry.otlp_endpoint !== undefined && { spans: attemptSpans }),
      },
      inflight: inflight.with(toolType),
      log,
      maxResultBytes: this.#settings.limits.max_result_bytes,
      isShownTo: shownOnlyTo(fn.spec.metadata, this.#pipeline.shownTo(fn)),
    });
  }

  compileLegacy(fn: ToolFunction, actions: readonly CompiledTool[]): CompiledTool {
    return compileLegacy(fn, actions);
  }
}

function shownOnlyTo({ internal, tenants }: ToolMetadata, shown: ShownTo | undefined): ShownTo | undefined {
  if (internal === true) return toNobody;
  if (tenants === undefined) return shown;
  return (viewer) => tenants.includes(viewer.principal.tenantId) && shown?.(viewer) !== false;
}

const toNobody = () => false;

function executorSeries(metrics: Metrics) {
  return {
    inflight: metrics.gauge(CALLS_SERIES.ute_inflight_calls),
    retries: metrics.counter(CALLS_SERIES.ute_retries_total),
    exhausted: metrics.counter(CALLS_SERIES.ute_retry_budget_exhausted_total),
    seconds: metrics.histogram(CALLS_SERIES.ute_executor_duration_seconds),
  };
}
