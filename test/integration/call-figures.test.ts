// Figures of calls out of the audit trail: each call once, the times of those that ran, of one tenant, and never more than are counted at once.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { SqlAuditTable } from '../../src/infra/audit/audit-table.ts';
import { auditLine } from '../../src/infra/audit/audit-line.ts';
import { CallFigures } from '../../src/infra/calls/call-figures.ts';
import type { Database } from '../../src/infra/postgres/database.ts';
import type { AuditRecord } from '../../src/ports/audit-sink.ts';
import type { AnalyticsQuery } from '../../src/ports/calls/call-analytics.ts';
import { auditRecord } from '../helpers/audit-kit.ts';
import { embeddedDatabase, type TestDatabase } from '../helpers/databases.ts';

const DAY = 86_400_000;
const NOW = Date.now();

let there: TestDatabase;
let database: Database;
let table: SqlAuditTable;
let tenants = 0;

beforeAll(async () => {
  there = await embeddedDatabase();
  database = await there.database.opened();
  table = new SqlAuditTable(database, 'owner');
});
afterAll(() => there?.end());

const store = (records: readonly AuditRecord[]) => table.store(Buffer.from(records.map(auditLine).join('')));
const newTenant = () => `figures-${(tenants += 1)}`;
/** Of a reader: its end is all that there is of it. */
const end = (changes: Partial<AuditRecord>) =>
  auditRecord({ readOnly: true, intended: false, at: new Date(NOW).toISOString(), ...changes });
const asked = (changes: Partial<AnalyticsQuery> = {}): AnalyticsQuery => ({
  from: new Date(NOW - DAY),
  to: new Date(NOW + 60_000),
  costs: new Map(),
  most: 100,
  ...changes,
});
const figures = (tenant: string, changes: Partial<AnalyticsQuery> = {}, most?: number) =>
  new CallFigures(database.db, most).of(tenant, asked(changes));

it('calls, failures, times and cost are those of the records, by tool, by agent and by day', async () => {
  const call = fc.record({
    tool: fc.constantFrom('pay', 'find', ''),
    agent: fc.constantFrom('desk', 'night', ''),
    outcome: fc.constantFrom('ok', 'TIMEOUT', 'CONFIRMATION_REQUIRED', 'VALIDATION'),
    reason: fc.constantFrom('', 'LATE'),
    attempts: fc.nat(2),
    durationMs: fc.double({ min: 0, max: 1_000, noNaN: true }),
    hoursAgo: fc.nat(23),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 60 }), async (calls) => {
      const tenant = newTenant();
      const at = (hours: number) => new Date(NOW - hours * 3_600_000).toISOString();
      await store(calls.map(({ hoursAgo, ...said }) => end({ ...said, tenant, at: at(hoursAgo) })));
      const found = await figures(tenant, { costs: new Map([['pay', 0.25]]) });
      expect(found.totals).toMatchObject(modelOf(calls));
      expect(found.isComplete).toBe(true);
      for (const { tool, ...counted } of found.byTool)
        expect(counted).toMatchObject(modelOf(calls.filter((each) => each.tool === tool)));
      for (const { agentId, ...counted } of found.byAgent)
        expect(counted).toMatchObject(modelOf(calls.filter(({ agent }) => agent === agentId)));
      for (const { day, ...counted } of found.byDay)
        expect(counted).toMatchObject(modelOf(calls.filter(({ hoursAgo }) => at(hoursAgo).startsWith(day))));
      const failed = found.failures.reduce((sum, { calls: some }) => sum + some, 0);
      expect(failed).toBe(found.totals.failed);
      const named = calls.filter(({ tool }) => tool !== '').length;
      expect(found.byTool.reduce((sum, { calls: some }) => sum + some, 0)).toBe(named);
    }),
    { numRuns: 15 },
  );
});

interface Modelled {
  readonly tool: string;
  readonly outcome: string;
  readonly attempts: number;
  readonly durationMs: number;
}

function modelOf(calls: readonly Modelled[]) {
  const ran = calls.filter(({ attempts }) => attempts > 0);
  const times = ran.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b);
  const at = (part: number) => times[Math.max(0, Math.ceil(part * times.length) - 1)] ?? null;
  const is = (outcome: string) => calls.filter((each) => each.outcome === outcome).length;
  return {
    calls: calls.length,
    succeeded: is('ok'),
    unapproved: is('CONFIRMATION_REQUIRED'),
    failed: calls.length - is('ok') - is('CONFIRMATION_REQUIRED'),
    ran: ran.length,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
    maxMs: times.at(-1) ?? null,
    cost: 0.25 * ran.filter(({ tool }) => tool === 'pay').length,
  };
}

it('what is no end of a call is not counted, and neither are the calls of another tenant or another time', async () => {
  const [tenant, other] = [newTenant(), newTenant()];
  const at = new Date(NOW - 2 * DAY).toISOString();
  await store([
    end({ tenant }),
    end({ tenant, at }),
    end({ tenant: other, tool: 'theirs' }),
    end({ tenant, kind: 'management', callKind: '', outcome: 'ok' }),
    end({ tenant, kind: 'accepted', callKind: '' }),
  ]);
  const found = await figures(tenant);
  expect(found.totals.calls).toBe(1);
  expect(JSON.stringify(found)).not.toContain('theirs');
});

it('a call that was given up, and whose end turned up later, counts once', async () => {
  const tenant = newTenant();
  const callId = `lost-${tenant}`;
  const lost = { tenant, kind: 'reconciled', callKind: '', outcome: 'OUTCOME_UNKNOWN' } as const;
  await store([end({ ...lost, callId }), end({ tenant, callId }), end({ ...lost, callId: `${callId}-2` })]);
  const found = await figures(tenant);
  expect(found.totals).toMatchObject({ calls: 2, succeeded: 1, failed: 1 });
});

it('of more calls than are counted at once, the newest are, and it says from when on', async () => {
  const tenant = newTenant();
  const minutes = Array.from({ length: 30 }, (_, index) => new Date(NOW - index * 60_000).toISOString());
  await store(minutes.map((at) => end({ tenant, at })));
  const found = await figures(tenant, {}, 10);
  expect(found).toMatchObject({ isComplete: false, totals: { calls: 10 } });
  expect(found.countedFrom.toISOString()).toBe(minutes[9]);
});

it('lists of agents and failures hold as many as were asked for, those with the most calls first', async () => {
  const tenant = newTenant();
  const agents = Array.from({ length: 12 }, (_, index) =>
    Array.from({ length: index + 1 }, () => end({ tenant, agent: `a${index}`, outcome: `E${index}` })),
  );
  await store(agents.flat());
  const found = await figures(tenant, { most: 3 });
  expect(found.byAgent.map(({ agentId }) => agentId)).toEqual(['a11', 'a10', 'a9']);
  expect(found.failures.map(({ errorType }) => errorType)).toEqual(['E11', 'E10', 'E9']);
});

it('only so many may wait for figures', async () => {
  const some = new CallFigures(database.db);
  const flood = Promise.allSettled(Array.from({ length: 40 }, () => some.of('nobody', asked())));
  await expect(some.of('somebody', asked())).resolves.toMatchObject({ isComplete: true });
  const all = await flood;
  const refused = all.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  expect(refused.length).toBe(40 - 10);
  expect(refused[0]).toMatchObject({ type: 'UNAVAILABLE', reason: 'ANALYTICS_BUSY' });
});

const sequences = (tenant: string, changes: Partial<AnalyticsQuery> = {}, most?: number) =>
  new CallFigures(database.db, most).sequences(tenant, asked(changes));
/** The calls of one session, a second apart. */
const session = (
  tenant: string,
  name: string,
  tools: readonly string[],
  changes: Partial<AuditRecord> = {},
) =>
  tools.map((tool, place) =>
    end({
      tenant,
      session: name,
      tool,
      at: new Date(NOW - 60_000 + place * 1_000).toISOString(),
      ...changes,
    }),
  );

it('sequences are those of three sessions at least, in the order of their calls, whoever else calls meanwhile', async () => {
  const tenant = newTenant();
  const calls = [
    ...['s1', 's2', 's3'].flatMap((name) => session(tenant, name, ['find', 'find', 'pay', 'mail'])),
    ...['s4', 's5'].flatMap((name) => session(tenant, name, ['mail', 'find'])),
    // Their ends come in whatever order.
  ].toReversed();
  await store([
    ...calls,
    ...session(tenant, 's6', ['mail', 'find'], { outcome: 'TIMEOUT' }),
    ...session(tenant, '', ['mail', 'find']),
    ...session(tenant, 's7', ['mail', 'find'], { notes: { parent_call_id: 'composite' } }),
    ...session(newTenant(), 's8', ['mail', 'find']),
  ]);
  const found = await sequences(tenant);
  expect(found.isComplete).toBe(true);
  const told = found.sequences.map(
    ({ tools, sessions, calls: all }) => `${tools.join(' ')}: ${sessions}/${all}`,
  );
  expect(told.toSorted()).toEqual([
    'find pay mail: 3/3',
    'find pay: 3/3',
    'find: 5/5',
    'mail: 5/5',
    'pay mail: 3/3',
    'pay: 3/3',
  ]);
});

it('a session of the same name is another one with another agent or credential', async () => {
  const tenant = newTenant();
  await store([
    ...session(tenant, 's', ['find', 'pay'], { agent: 'a' }),
    ...session(tenant, 's', ['find', 'pay'], { agent: 'b' }),
    ...session(tenant, 's', ['find', 'pay'], { agent: 'b', principal: 'key00002' }),
  ]);
  expect((await sequences(tenant)).sequences).toContainEqual({
    tools: ['find', 'pay'],
    sessions: 3,
    calls: 3,
  });
  expect((await sequences(tenant, { agentId: 'b' })).sequences).toEqual([]);
});

it('sequences of more records than are read are of the newest, and say so', async () => {
  const tenant = newTenant();
  await store(['s1', 's2', 's3'].flatMap((name) => session(tenant, name, ['find', 'pay'])));
  const found = await sequences(tenant, {}, 3);
  expect(found).toMatchObject({ isComplete: false, sequences: [{ tools: ['pay'], sessions: 3 }] });
  expect(found.countedFrom.getTime()).toBe(NOW - 59_000);
  expect(await sequences(tenant, {}, 2)).toMatchObject({ isComplete: false, sequences: [] });
});
