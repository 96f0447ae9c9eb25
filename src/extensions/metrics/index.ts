// metrics: counts every call, times it, and separates the gateway's own time from the tool's.
import { z } from 'zod';
import type { ExtensionPlugin, RequestExtension } from '../../contract/plugin.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import type { ToolResponse } from '../../contract/call/tool-response.ts';
import type { Metrics } from '../../ports/telemetry/metrics.ts';
import { CALLS_SERIES } from '../../ports/telemetry/series/calls.ts';
import { CallCounts } from './call-counts.ts';

/** The label of calls whose credential was refused. */
const NO_TENANT = '_none';

const optionsSchema = z.strictObject({
  tenant_series: z
    .boolean()
    .default(false)
    .describe(
      'Also counts calls and cost by tenant: ute_tenant_calls_total, ute_tenant_cost_total. Names of tenants then stand on the metrics port; beyond 500 they are one, _other.',
    ),
});
type MetricsOptions = z.infer<typeof optionsSchema>;
interface Needs {
  readonly metrics: Metrics;
}

export const metrics: ExtensionPlugin<MetricsOptions, Needs> = {
  name: 'metrics',
  summary: 'Prometheus series for every call: outcomes, durations, errors, result sizes, gateway overhead.',
  optionsSchema,
  create: ({ metrics }) => createMetrics(metrics),
};

function createMetrics(port: Metrics): RequestExtension<MetricsOptions> {
  const counts = new CallCounts(port);
  return {
    stage: 'request',
    onFailure: 'continue',
    prepare({ tenant_series: byTenant }) {
      const countTenant = byTenant ? tenantCounts(port) : undefined;
      const tell = (call: ToolCall, response: ToolResponse) => {
        const cost = costOf(call, response);
        counts.count(call, response, (performance.now() - call.startedAt) / 1000, cost);
        countTenant?.(call, response, cost);
      };
      return (call, next) => ({ answer: next(call), tell: (response) => tell(call, response) });
    },
  };
}

/** As declared, and only of calls that ran: an answer of the cache costs nothing. */
function costOf({ snapshot, progress }: ToolCall, { meta }: ToolResponse): number {
  if (!progress.executorEntered) return 0;
  // Out here the call itself does not know its tool yet.
  const fn = progress.pinned ?? snapshot.find(meta.tool)?.function;
  return fn?.spec.metadata.cost ?? 0;
}

function tenantCounts(port: Metrics) {
  const calls = port.counter(CALLS_SERIES.ute_tenant_calls_total);
  const costs = port.counter(CALLS_SERIES.ute_tenant_cost_total);
  return ({ progress }: ToolCall, response: ToolResponse, cost: number): void => {
    const tenant = progress.caller?.principal.tenantId ?? NO_TENANT;
    const accepted = response.meta.acceptedAt !== undefined;
    calls.with(tenant, accepted ? 'accepted' : response.ok ? 'ok' : response.error.type).add();
    if (cost > 0) costs.with(tenant).add(cost);
  };
}
