// Figures of calls as a caller sees them: whose, of which time, and what is never called.
import { expect, it } from 'vitest';
import { compiledOf, recordingLog, recordingMetrics, specOf } from '../../../../test/helpers/call-kit.ts';
import { ask, only } from '../../../../test/helpers/management-kit.ts';
import type { AnalyticsQuery, CallAnalytics } from '../../../ports/calls/call-analytics.ts';
import type { CallHistory } from '../../../ports/calls/call-history.ts';
import type { ToolCatalog } from '../../../ports/registry/tool-catalog.ts';
import { functionsOf } from '../../../contract/tool/tool-function.ts';
import { snapshotOf } from '../../../registry/tool-spec-registry.ts';
import { AnalyticsController } from './controller.ts';
import { getAnalytics } from './schema.ts';

const COUNTS = {
  calls: 3,
  succeeded: 2,
  failed: 1,
  unapproved: 0,
  ran: 3,
  cost: 1.5,
  lastAt: new Date(0),
  meanMs: 1,
  p50Ms: 1,
  p95Ms: 2,
  p99Ms: 2,
  maxMs: 2,
};
const DAY = 86_400_000;

function asking() {
  const asked: { tenant: string; query: AnalyticsQuery }[] = [];
  const history = only<CallHistory>({
    analytics: async (tenant, query): Promise<CallAnalytics> => {
      asked.push({ tenant, query });
      return {
        countedFrom: query.from,
        isComplete: true,
        totals: COUNTS,
        byTool: [{ tool: 'used', ...COUNTS }],
        byAgent: [],
        byDay: [{ day: '2026-01-31', ...COUNTS }],
        failures: [
          { tool: '', errorType: 'NOT_FOUND', reason: 'TOOL_NOT_FOUND', calls: 1, lastAt: new Date(0) },
        ],
      };
    },
  });
  const specs = ['used', 'idle', 'dear'].map((name) =>
    specOf({ name, metadata: name === 'dear' ? { cost: 0.5 } : {} }),
  );
  const compiled = specs.flatMap(functionsOf).map((fn) => compiledOf(fn));
  const catalog = only<ToolCatalog>({ snapshot: () => snapshotOf(specs, compiled) });
  const telemetry = { log: recordingLog(), metrics: recordingMetrics() };
  const controller = new AnalyticsController(history, catalog, telemetry);
  const get = (query: Readonly<Record<string, string>> = {}) => ask(controller, getAnalytics, { query });
  return { asked, get, telemetry };
}

it('are of the last seven days of the tenant where nothing is said, with what tools cost now', async () => {
  const { asked, get } = asking();
  const { body } = await get();
  expect(asked).toHaveLength(1);
  const { from, to, costs, most } = asked[0]!.query;
  expect(to.getTime() - from.getTime()).toBe(7 * DAY);
  expect([...costs]).toEqual([['dear', 0.5]]);
  expect(most).toBe(20);
  expect(body).toMatchObject({
    tools: [{ tool: 'used', calls: 3, p95_ms: 2, cost: 1.5 }],
    failures: [{ tool: '', error_type: 'NOT_FOUND', reason: 'TOOL_NOT_FOUND', calls: 1 }],
    never_called: ['dear', 'idle'],
    never_called_count: 2,
  });
});

it('hold as many entries as were asked for, and tell how many there are', async () => {
  const { body } = await asking().get({ top: '1' });
  expect(body).toMatchObject({ never_called: ['dear'], never_called_count: 2 });
});

it.each([
  [{ from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:01Z' }, 'at most 31 days before'],
  [{ from: '0001-01-01T00:00:00Z', to: '9999-01-01T00:00:00Z' }, 'at most 31 days before'],
  [{ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'must be before'],
  [{ from: 'yesterday' }, 'must be a time such as'],
  [{ top: '0' }, 'from 1 to 500'],
  [{ top: '501' }, 'from 1 to 500'],
  [{ tool: 'a\0b' }, 'must have 1 to 512 characters'],
  [{ tols: 'a' }, 'tols'],
])('of %j are refused, and nothing is counted', async (query, message) => {
  const { asked, get } = asking();
  await expect(get(query)).rejects.toThrow(message);
  expect(asked).toEqual([]);
});

it.each([
  [{ from: '2026-01-01T00:00:00Z' }, '2026-01-08T00:00:00.000Z'],
  [{ to: '2026-01-08T00:00:00Z' }, '2026-01-08T00:00:00.000Z'],
])('with one end of the time, %j, are of seven days', async (query, to) => {
  const { asked, get } = asking();
  await get(query);
  expect(asked[0]?.query.to.toISOString()).toBe(to);
  expect(asked[0]?.query.from.toISOString()).toBe('2026-01-01T00:00:00.000Z');
});

it.each([
  [{ from: '9999-12-31T00:00:00Z' }, 'to', '9999-12-31T23:59:59.999Z'],
  [{ to: '0000-01-03T00:00:00Z' }, 'from', '0000-01-01T00:00:00.000Z'],
])('at an end of the calendar, %j, say times as all others', async (query, end, time) => {
  expect((await asking().get(query)).body).toMatchObject({ [end]: time });
});

it('of another tenant need the permission of the platform', async () => {
  const { asked, get } = asking();
  await expect(get({ tenant: 'umbrella' })).rejects.toMatchObject({ reason: 'TENANT_MISMATCH' });
  expect(asked).toEqual([]);
});
