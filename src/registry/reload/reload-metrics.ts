// The series of reloads: did the last one succeed, when did one, how many tools are in force, which sources are away.
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { TOOLS_SERIES } from '../../ports/telemetry/series/tools.ts';

export interface ReloadMetrics {
  record(ok: boolean, nowMs: number, tools: number): void;
}

export function reloadMetrics(metrics: Metrics): ReloadMetrics {
  const successful = metrics.gauge(TOOLS_SERIES.ute_config_last_reload_successful).with();
  const at = metrics.gauge(TOOLS_SERIES.ute_config_last_reload_success_timestamp_seconds).with();
  const count = metrics.gauge(TOOLS_SERIES.ute_registry_tools).with();
  const generation = metrics.gauge(TOOLS_SERIES.ute_registry_generation).with();
  const reloads = metrics.counter(TOOLS_SERIES.ute_config_reloads_total);
  const taken = reloads.with('taken');
  const refused = reloads.with('refused');
  return {
    record(ok, nowMs, tools) {
      successful.set(ok ? 1 : 0);
      if (ok) at.set(nowMs / 1000);
      if (ok) generation.add(1);
      count.set(tools);
      (ok ? taken : refused).add();
    },
  };
}

export interface StaleGauge {
  set(isStale: boolean): void;
}

/** Without a source that may be away there is no series. */
export function staleGauge(metrics: Metrics, loader: string, source: string | undefined): StaleGauge {
  if (source === undefined) return { set: () => undefined };
  const gauge = metrics.gauge(TOOLS_SERIES.ute_loader_source_stale).with(loader, source);
  gauge.set(0);
  return { set: (isStale) => gauge.set(isStale ? 1 : 0) };
}
