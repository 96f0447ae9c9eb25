// Figures of calls by REST: of the caller's tenant, or for the platform of any.
import { Controller, Inject } from '@nestjs/common';
import type { Principal } from '../../../contract/call/principal.ts';
import { tenantAsked } from '../../../core/tenant-asked.ts';
import type { AnalyticsQuery, CallAnalytics } from '../../../ports/calls/call-analytics.ts';
import type { CallHistory } from '../../../ports/calls/call-history.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { RECORDS_SERIES } from '../../../ports/telemetry/series/records.ts';
import { CALL_HISTORY, DOOR_TELEMETRY, TOOL_CATALOG, type DoorTelemetry } from '../../tokens.ts';
import { filterFunctions } from '../../tool-view.ts';
import { PLATFORM, Requires } from '../management/permissions.ts';
import type { Asked } from '../route/asked.ts';
import { Serves } from '../route/serves.ts';
import { wire } from '../route/wire.ts';
import { AgentFigures, CallFailures, CallFigures, DayFigures, getAnalytics, ToolFigures } from './schema.ts';
import { timesOf } from './times.ts';

@Controller()
export class AnalyticsController {
  constructor(
    @Inject(CALL_HISTORY) private readonly history: Pick<CallHistory, 'analytics'>,
    @Inject(TOOL_CATALOG) private readonly catalog: Pick<ToolCatalog, 'snapshot'>,
    @Inject(DOOR_TELEMETRY) private readonly telemetry: DoorTelemetry,
  ) {}

  @Serves(getAnalytics)
  @Requires('calls:read', PLATFORM)
  async get({ principal, query }: Asked<typeof getAnalytics>) {
    const tenant = tenantAsked(principal, query.tenant, 'The figures of calls');
    const { from, to } = timesOf(query, Date.now());
    const { tool, agent_id: agentId, top } = query;
    const costs = this.#costs();
    const found = await this.#timed(tenant, { from, to, tool, agentId, costs, most: top });
    const unused = this.#neverCalled(principal, found, tool);
    return {
      tenant,
      from: from.toISOString(),
      to: to.toISOString(),
      counted_from: found.countedFrom.toISOString(),
      complete: found.isComplete,
      totals: wire(CallFigures, found.totals),
      tools: found.byTool.slice(0, top).map((each) => wire(ToolFigures, each)),
      agents: found.byAgent.map((each) => wire(AgentFigures, each)),
      days: found.byDay.map((each) => wire(DayFigures, each)),
      failures: found.failures.map((each) => wire(CallFailures, each)),
      never_called: unused.slice(0, top),
      never_called_count: unused.length,
    };
  }

  async #timed(tenant: string, query: AnalyticsQuery): Promise<CallAnalytics> {
    const { log, metrics } = this.telemetry;
    const begun = performance.now();
    let outcome = 'failed';
    try {
      const found = await this.history.analytics(tenant, query);
      outcome = found.isComplete ? 'counted' : 'partial';
      return found;
    } finally {
      const ms = performance.now() - begun;
      metrics
        .histogram(RECORDS_SERIES.ute_analytics_seconds)
        .with(outcome)
        .observe(ms / 1000);
      const { from, to } = query;
      log.info({ tenant, from, to, outcome, ms: Math.round(ms) }, 'figures of calls were asked for');
    }
  }

  #costs(): ReadonlyMap<string, number> {
    const priced = this.catalog.snapshot().functions.flatMap(({ name, spec }) => {
      const { cost = 0 } = spec.metadata;
      return cost > 0 ? [[name, cost] as const] : [];
    });
    return new Map(priced);
  }

  /** Of what who asks is shown: other names are not told. */
  #neverCalled(principal: Principal, { byTool }: CallAnalytics, only: string | undefined): readonly string[] {
    const called = new Set(byTool.map(({ tool }) => tool));
    return filterFunctions(this.catalog.snapshot(), {}, { principal })
      .filter(({ byAction }) => byAction === undefined)
      .map(({ name }) => name)
      .filter((name) => !called.has(name) && (only === undefined || name === only))
      .toSorted();
  }
}
