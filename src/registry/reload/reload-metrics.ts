// The series of reloads: did the last one succeed, when did one, how many tools are in force, which sources are away.
import type { Metrics } from '../../ports/telemetry/metrics.ts';

export interface ReloadMetrics {
  record(ok: boolean, nowMs: number, tools: number): void;
}

export function reloadMetrics(metrics: Metrics): ReloadMetrics {
  const successful = metrics
    .gauge({
      name: 'ute_config_last_reload_successful',
      help: '1 if the last load of the tools was taken, 0 if it was refused.',
    })
    .with();
  const at = metrics
    .gauge({
      name: 'ute_config_last_reload_success_timestamp_seconds',
      help: 'When a load was last taken, Unix time.',
    })
    .with();
  const count = metrics.gauge({ name: 'ute_registry_tools', help: 'Tools in force.' }).with();
  const reloads = metrics.counter({
    name: 'ute_config_reloads_total',
    help: 'Loads of the tools by outcome.',
    labels: ['outcome'],
  });
  const taken = reloads.with('taken');
  const refused = reloads.with('refused');
  return {
    record(ok, nowMs, tools) {
      successful.set(ok ? 1 : 0);
      if (ok) at.set(nowMs / 1000);
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
  const gauge = metrics
    .gauge({
      name: 'ute_loader_source_stale',
      help: '1 while a source of tools cannot be used and what is kept of it stays in force.',
      labels: ['loader', 'source'],
    })
    .with(loader, source);
  gauge.set(0);
  return { set: (isStale) => gauge.set(isStale ? 1 : 0) };
}
