// Suggestions, for both doors: what the calls of a tenant say about which tools to offer, to put together, to mend and to leave out.
import type { Principal } from '../contract/call/principal.ts';
import { tenantAsked } from '../core/tenant-asked.ts';
import type { CallHistory } from '../ports/calls/call-history.ts';
import { neverCalled, shownNames, timed, type AnalyticsPorts } from './analytics-view.ts';
import { timesOf } from './rest/analytics/times.ts';
import type { suggestionsQuery } from './rest/suggestions/schema.ts';
import type { ValueOf } from './rest/route/shapes.ts';
import { suggestMending } from './suggestions/suggest-mending.ts';
import { suggestNext, suggestPlans } from './suggestions/suggest-sequences.ts';
import type { Suggestion } from './suggestions/suggestion.ts';

export interface SuggestionPorts extends Omit<AnalyticsPorts, 'history'> {
  readonly history: Pick<CallHistory, 'analytics' | 'sequences'>;
}

export interface SuggestionsAsked {
  readonly tenant: string;
  readonly from: Date;
  readonly to: Date;
  readonly countedFrom: Date;
  readonly isComplete: boolean;
  readonly suggestions: readonly Suggestion[];
}

/** Failures beyond are rare ones. */
const MOST_FAILURES = 500;

/** Rejects with ToolFailure VALIDATION, TENANT_REQUIRED, TENANT_MISMATCH, ANALYTICS_BUSY. */
export async function suggestionsAsked(
  { history, catalog, telemetry }: SuggestionPorts,
  principal: Principal,
  query: ValueOf<typeof suggestionsQuery>,
): Promise<SuggestionsAsked> {
  const tenant = tenantAsked(principal, query.tenant, 'Suggestions');
  const { from, to } = timesOf(query, Date.now());
  const { tool, agent_id: agentId, top } = query;
  const about = { from, to, agentId };
  const asked = { ...about, tool, costs: new Map<string, number>(), most: MOST_FAILURES };
  // One behind the other: each is a turn of the tenant's, of which there are few.
  const figures = await timed(telemetry, { tenant, from, to }, () => history.analytics(tenant, asked));
  const found = await timed(telemetry, { tenant, from, to }, () => history.sequences(tenant, about));
  const shown = shownNames(catalog, principal);
  const known = new Set(shown);
  const isAsked = (name: string) => tool === undefined || name === tool;
  const sequences = found.sequences.filter(({ tools }) => tools.every((name) => known.has(name)));
  return {
    tenant,
    from,
    to,
    countedFrom: new Date(Math.max(figures.countedFrom.getTime(), found.countedFrom.getTime())),
    isComplete: figures.isComplete && found.isComplete,
    suggestions: [
      ...suggestNext(sequences, isAsked).slice(0, top),
      ...suggestPlans(sequences, isAsked, top),
      ...suggestMending(figures, (name) => known.has(name)).slice(0, top),
      ...neverCalled(shown, figures, tool).slice(0, top).map(unused),
    ],
  };
}

function unused(tool: string): Suggestion {
  const text = `Nobody called ${tool}: leave it out of lists and toolsets, or say better in its description what it is for.`;
  return { kind: 'unused', tools: [tool], sessions: 0, calls: 0, share: 0, errorType: '', reason: '', text };
}
