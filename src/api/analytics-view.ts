// Figures of calls, for both doors: of the caller's tenant, or for the platform of any.
import type { Principal } from '../contract/call/principal.ts';
import { tenantAsked } from '../core/tenant-asked.ts';
import type { AnalyticsQuery, CallAnalytics } from '../ports/calls/call-analytics.ts';
import type { CallHistory } from '../ports/calls/call-history.ts';
import type { ToolCatalog } from '../ports/registry/tool-catalog.ts';
import { RECORDS_SERIES } from '../ports/telemetry/series/records.ts';
import type { analyticsQuery } from './rest/analytics/schema.ts';
import { timesOf } from './rest/analytics/times.ts';
import type { ValueOf } from './rest/route/shapes.ts';
import type { DoorTelemetry } from './tokens.ts';
import { filterFunctions } from './tool-view.ts';

export interface AnalyticsPorts {
  readonly history: Pick<CallHistory, 'analytics'>;
  readonly catalog: Pick<ToolCatalog, 'snapshot'>;
  readonly telemetry: DoorTelemetry;
}

export interface FiguresAsked extends Pick<CallAnalytics, 'countedFrom' | 'isComplete' | 'totals'> {
  readonly tenant: string;
  readonly from: Date;
  readonly to: Date;
  readonly byTool: CallAnalytics['byTool'];
  readonly byAgent: CallAnalytics['byAgent'];
  readonly byDay: CallAnalytics['byDay'];
  readonly failures: CallAnalytics['failures'];
  /** At most as many as were asked for, of `neverCalledCount`. */
  readonly neverCalled: readonly string[];
  readonly neverCalledCount: number;
}

/** Rejects with ToolFailure VALIDATION, TENANT_REQUIRED, TENANT_MISMATCH, ANALYTICS_BUSY. */
export async function figuresAsked(
  { history, catalog, telemetry }: AnalyticsPorts,
  principal: Principal,
  query: ValueOf<typeof analyticsQuery>,
): Promise<FiguresAsked> {
  const tenant = tenantAsked(principal, query.tenant, 'The figures of calls');
  const { from, to } = timesOf(query, Date.now());
  const { tool, agent_id: agentId, top } = query;
  const asked = { from, to, tool, agentId, costs: costsIn(catalog), most: top };
  const found = await timed(telemetry, { tenant, from, to }, () => history.analytics(tenant, asked));
  const unused = neverCalled(shownNames(catalog, principal), found, tool);
  return {
    tenant,
    from,
    to,
    ...found,
    byTool: found.byTool.slice(0, top),
    neverCalled: unused.slice(0, top),
    neverCalledCount: unused.length,
  };
}

export async function timed<Found extends Pick<CallAnalytics, 'isComplete'>>(
  { log, metrics }: DoorTelemetry,
  asked: { readonly tenant: string } & Pick<AnalyticsQuery, 'from' | 'to'>,
  count: () => Promise<Found>,
): Promise<Found> {
  const begun = performance.now();
  let outcome = 'failed';
  try {
    const found = await count();
    outcome = found.isComplete ? 'counted' : 'partial';
    return found;
  } finally {
    const ms = performance.now() - begun;
    metrics
      .histogram(RECORDS_SERIES.ute_analytics_seconds)
      .with(outcome)
      .observe(ms / 1000);
    log.info({ ...asked, outcome, ms: Math.round(ms) }, 'figures of calls were asked for');
  }
}

function costsIn(catalog: AnalyticsPorts['catalog']): ReadonlyMap<string, number> {
  const priced = catalog.snapshot().functions.flatMap(({ name, spec }) => {
    const { cost = 0 } = spec.metadata;
    return cost > 0 ? [[name, cost] as const] : [];
  });
  return new Map(priced);
}

/** Of what who asks is shown: other names are not told. */
export function shownNames(catalog: AnalyticsPorts['catalog'], principal: Principal): readonly string[] {
  return filterFunctions(catalog.snapshot(), {}, { principal })
    .filter(({ byAction }) => byAction === undefined)
    .map(({ name }) => name)
    .toSorted();
}

export function neverCalled(
  shown: readonly string[],
  { byTool }: Pick<CallAnalytics, 'byTool'>,
  only: string | undefined,
): readonly string[] {
  const called = new Set(byTool.map(({ tool }) => tool));
  return shown.filter((name) => !called.has(name) && (only === undefined || name === only));
}
