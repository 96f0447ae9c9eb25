// Audit records and call history in the database: one row and one end per call, whatever comes twice, late or never.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { auditLine } from '../../src/infra/audit/audit-line.ts';
import { AuditChain } from '../../src/infra/audit/chain/audit-chain.ts';
import { SqlAuditTable } from '../../src/infra/audit/audit-table.ts';
import type { Database } from '../../src/infra/postgres/database.ts';
import { tellAlive } from '../../src/infra/maintenance/gateway-beats.ts';
import { reconcileCalls } from '../../src/infra/calls/reconcile-calls.ts';
import { SqlIdempotencyStore } from '../../src/infra/idempotency/sql-idempotency-store.ts';
import { applyRetention } from '../../src/infra/maintenance/retention.ts';
import { SqlCallHistory } from '../../src/infra/calls/sql-call-history.ts';
import { Maintenance } from '../../src/infra/maintenance/maintenance.ts';
import { SystemClock } from '../../src/infra/clock/system-clock.ts';
import { sql } from 'kysely';
import type { AuditRecord } from '../../src/ports/audit-sink.ts';
import { auditRecord, intentRecord } from '../helpers/audit-kit.ts';
import { recordingLog, recordingMetrics } from '../helpers/call-kit.ts';
import { FakeClock } from '../helpers/fake-clock.ts';
import { DATABASES, type TestDatabase } from '../helpers/databases.ts';

const DAY = 86_400_000;
const LEASE = 30_000;
/** As if every lease were over. */
const now = { gateway: 'own', leaseMs: 0 };
const PERIODS = {
  calls: 30 * DAY,
  callEvents: 7 * DAY,
  audit: 365 * DAY,
  approvals: 30 * DAY,
  revokedKeys: 365 * DAY,
  sessions: 30 * DAY,
};
let tenants = 0;

describe.each(DATABASES)('call records on %s', (_name, start) => {
  let there: TestDatabase;
  let database: Database;
  let table: SqlAuditTable;
  let history: SqlCallHistory;
  let tenant: string;

  beforeAll(async () => {
    there = await start();
    database = await there.database.opened();
    table = new SqlAuditTable(database, 'owner');
    history = new SqlCallHistory(database);
  });
  afterAll(() => there?.end());

  const clean = (withinMs = 600_000) =>
    applyRetention(database, PERIODS, {
      clock: new SystemClock(),
      withinMs,
      signal: new AbortController().signal,
    });
  /** An hour older than they may be. */
  const oldKeys = async (count: number) => {
    for (let from = 0; from < count; from += 10_000)
      await sql`INSERT INTO idempotency_keys (tenant_id, principal_id, tool, key, caller_hash, call_id, fingerprint,
          status, attempt, lease_expires_at, expires_at)
        SELECT ${tenant}, '', 'send', n::text, '', '', '', 'ended', 1, now(), now() - interval '1 hour'
        FROM generate_series(${from + 1}::int, ${Math.min(from + 10_000, count)}::int) AS n`.execute(
        database.db,
      );
  };
  /** A day older than they may be: records of versions before the chain. */
  const oldRecords = (count: number) =>
    sql`INSERT INTO audit_records (event_id, kind, at, call_id, door, principal_id, tenant_id, agent_id, user_id, session_id,
        requested_tool, tool, tool_version, executor, outcome, reason, arguments_hash, attempts, duration_ms,
        partial_side_effects, registry_version, trace_id, recorded_at)
      SELECT ${tenant} || n, 'outcome', now() - interval '366 days', '', '', '', ${tenant}, '', '', '', '', '', '', '', 'ok',
        '', '', 1, 1, false, '', '', now() - interval '366 days'
      FROM generate_series(1, ${count}::int) AS n`.execute(database.db);
  const ofTenant = () => (tenant = `tenant-${(tenants += 1)}`);
  const store = (...records: AuditRecord[]) => table.store(Buffer.from(records.map(auditLine).join('')));
  const intend = (...records: AuditRecord[]) =>
    table.intend(records.map((record) => auditLine(record).trim()));
  const calls = async () => (await history.calls(tenant, { filter: {}, limit: 100 })).rows;
  const audit = async () => {
    await new AuditChain(database).takeIn(100);
    return (await history.audit(tenant, { filter: {}, limit: 100 })).rows;
  };

  it('an intent and its outcome are one call with one end, and two audit records', async () => {
    const { callId } = { callId: `c-${ofTenant()}` };
    await intend(intentRecord({ tenant, callId }));
    expect(await calls()).toMatchObject([
      { id: callId, status: 'running', finishedAt: null, durationMs: null },
    ]);
    await store(auditRecord({ tenant, callId, notes: { why: 'x' } }));
    expect(await calls()).toMatchObject([
      {
        id: callId,
        status: 'succeeded',
        errorType: null,
        reason: null,
        durationMs: 3.5,
        attempts: 1,
        notes: { why: 'x' },
      },
    ]);
    expect((await audit()).map(({ kind }) => kind).toSorted()).toEqual(['intent', 'outcome']);
  });

  it('an intent that arrives together with its outcome, or after it, does not begin the call again', async () => {
    const callId = `c-${ofTenant()}`;
    const intent = intentRecord({ tenant, callId });
    const outcome = auditRecord({
      tenant,
      callId,
      outcome: 'TIMEOUT',
      reason: 'TIMEOUT',
      partialSideEffects: true,
    });
    await store(intent, outcome);
    await store(intent);
    expect(await calls()).toMatchObject([
      { status: 'failed', errorType: 'TIMEOUT', reason: 'TIMEOUT', partialSideEffects: true },
    ]);
    expect(await audit()).toHaveLength(2);
  });

  it('what is stored twice is there once', async () => {
    ofTenant();
    const records = Array.from({ length: 20 }, () => auditRecord({ tenant }));
    await store(...records);
    await store(...records.slice(5));
    expect(await calls()).toHaveLength(20);
    expect(await audit()).toHaveLength(20);
  });

  it('words that no database takes are kept as good as can be, and hold up no other record', async () => {
    ofTenant();
    const hostile = '\0\ud800"\\u0000\n\u2028';
    await store(
      auditRecord({
        tenant,
        agent: hostile,
        requestedTool: hostile,
        tool: '',
        notes: { [hostile]: [hostile] },
      }),
      auditRecord({ tenant }),
    );
    const [, one] = (await calls()).toSorted((a, b) => b.agentId.length - a.agentId.length).toReversed();
    expect(await calls()).toHaveLength(2);
    expect(one?.agentId).toContain('"\\u0000\n');
  });

  it('of a caller who is nobody there is an audit record and no call', async () => {
    ofTenant();
    const callId = `c-${tenant}`;
    await store(auditRecord({ tenant: '', callId, outcome: 'AUTH' }));
    const { rows } = await sql`SELECT outcome FROM audit_trail WHERE call_id = ${callId}`.execute(
      database.db,
    );
    expect(rows).toEqual([{ outcome: 'AUTH' }]);
    expect(await database.db.selectFrom('calls').select('id').where('id', '=', callId).execute()).toEqual([]);
  });

  it('a call whose process died ends once: unknown where it may have acted, failed where it only read', async () => {
    ofTenant();
    const [acts, reads, young] = [intentRecord, intentRecord, intentRecord].map((make, index) =>
      make({
        tenant,
        callId: `${index}-${tenant}`,
        readOnly: index === 1,
        remainingMs: index === 2 ? 60_000 : 0,
      }),
    ) as [AuditRecord, AuditRecord, AuditRecord];
    await intend(acts, reads, young);
    const ended = (await Promise.all([reconcileCalls(database, now), reconcileCalls(database, now)])).flat();
    expect(
      ended
        .filter(({ id }) => id.endsWith(tenant))
        .map(({ id, status }) => `${id} ${status}`)
        .toSorted(),
    ).toEqual([`${acts.callId} outcome_unknown`, `${reads.callId} failed`]);
    const byId = new Map((await calls()).map((call) => [call.id, call]));
    expect(byId.get(acts.callId)).toMatchObject({
      status: 'outcome_unknown',
      errorType: 'OUTCOME_UNKNOWN',
      reason: 'OWNER_LOST',
      partialSideEffects: true,
    });
    expect(byId.get(reads.callId)).toMatchObject({ status: 'failed', partialSideEffects: false });
    expect(byId.get(young.callId)).toMatchObject({ status: 'running' });
    expect((await audit()).filter(({ kind }) => kind === 'reconciled')).toHaveLength(2);
    // The journal of the dead process is found after all: the truth, late.
    await store(auditRecord({ tenant, callId: acts.callId }));
    expect((await calls()).find(({ id }) => id === acts.callId)).toMatchObject({
      status: 'succeeded',
      reason: null,
    });
  });

  describe('whose gateway', () => {
    const look = async () => {
      await tellAlive(database, 'own', 0);
      const ended = await reconcileCalls(database, { gateway: 'own', leaseMs: LEASE });
      return ended.filter(({ id }) => id.endsWith(tenant)).length;
    };
    /** One that began, and whose deadline is over for so long. */
    const lateBy = async (ms: number) => {
      ofTenant();
      const callId = `c-${tenant}`;
      await intend(intentRecord({ tenant, callId, remainingMs: 0 }));
      await sql`UPDATE calls SET deadline_at = now() - ${ms}::float8 * interval '1 millisecond' WHERE id = ${callId}`.execute(
        database.db,
      );
      return callId;
    };
    const gatewayWas = async (id: string, column: 'alive_at' | 'steady_since', ms: number) => {
      await sql`UPDATE gateways SET ${sql.ref(column)} = now() - ${ms}::float8 * interval '1 millisecond' WHERE id = ${id}`.execute(
        database.db,
      );
    };
    const steady = async () => {
      await tellAlive(database, 'own', 0);
      await gatewayWas('own', 'steady_since', 2 * LEASE);
    };
    afterEach(() => sql`DELETE FROM gateways`.execute(database.db));

    it('lives is not ended before its journal is in the database', async () => {
      await steady();
      await lateBy(4 * LEASE);
      await tellAlive(database, 'owner', 3.5 * LEASE);
      expect(await look()).toBe(0);
      await tellAlive(database, 'owner', 2.5 * LEASE);
      expect(await look()).toBe(1);
    });

    it('lives and has not told yet how far its journal is, is not ended', async () => {
      await steady();
      await lateBy(4 * LEASE);
      await tellAlive(database, 'owner', undefined);
      expect(await look()).toBe(0);
    });

    it('died is ended when it has given no sign of life for a lease', async () => {
      await steady();
      await lateBy(2 * LEASE);
      await tellAlive(database, 'owner', undefined);
      expect(await look()).toBe(0);
      await gatewayWas('owner', 'alive_at', LEASE + 1_000);
      expect(await look()).toBe(1);
    });

    it('gave no sign because the database was away is given as long as any other from its return on', async () => {
      await steady();
      const callId = await lateBy(3 * LEASE);
      await tellAlive(database, 'owner', 0);
      for (const id of ['own', 'owner']) await gatewayWas(id, 'alive_at', 2 * LEASE);
      // The database is back, and the first to come back to it looks for lost calls.
      expect(await look()).toBe(0);
      await store(auditRecord({ tenant, callId }));
      await gatewayWas('own', 'steady_since', LEASE + 1_000);
      expect(await look()).toBe(0);
      expect(await calls()).toMatchObject([{ id: callId, status: 'succeeded', reason: null }]);
      expect((await audit()).filter(({ kind }) => kind === 'reconciled')).toEqual([]);
    });
  });

  it('a human ends an unknown outcome once, on record; a late outcome does not overrule it', async () => {
    ofTenant();
    const callId = `c-${tenant}`;
    await intend(intentRecord({ tenant, callId, remainingMs: 0 }));
    const resolution = { outcome: 'succeeded', comment: 'seen at the bank', by: 'boss' } as const;
    expect(await history.resolve(tenant, callId, resolution)).toEqual({ resolved: false, status: 'running' });
    await reconcileCalls(database, now);
    expect(await history.resolve('another', callId, resolution)).toBeUndefined();
    expect(await history.resolve(tenant, callId, resolution)).toMatchObject({
      resolved: true,
      call: { status: 'succeeded', errorType: null, reason: 'RESOLVED', notes: { resolution } },
    });
    expect(await history.resolve(tenant, callId, { ...resolution, outcome: 'failed' })).toEqual({
      resolved: false,
      status: 'succeeded',
    });
    await store(auditRecord({ tenant, callId, outcome: 'TIMEOUT', reason: 'TIMEOUT' }));
    expect(await calls()).toMatchObject([{ status: 'succeeded', reason: 'RESOLVED' }]);
    const [record] = (await audit()).filter(({ kind }) => kind === 'resolution');
    expect(record).toMatchObject({
      principalId: 'boss',
      outcome: 'succeeded',
      notes: { comment: 'seen at the bank' },
    });
  });

  it.each([
    ['succeeded', { ok: true, dataJson: 'null' }],
    ['failed', { ok: false, error: { type: 'PERMANENT', reason: 'RESOLVED', partialSideEffects: true } }],
  ] as const)(
    'who repeats the key of a call that a human found to have %s hears so',
    async (outcome, heard) => {
      ofTenant();
      const callId = `k-${tenant}`;
      const keys = new SqlIdempotencyStore(database.db);
      const scope = { tenantId: tenant, principalId: 'key1', tool: 'send', key: 'order', callerHash: '' };
      const claim = { fingerprint: 'f', mayRunAgain: false, leaseMs: 0, keepMs: 60_000 };
      await keys.begin(scope, { ...claim, callId });
      await intend(intentRecord({ tenant, callId, remainingMs: 0 }));
      await reconcileCalls(database, now);
      expect(await keys.begin(scope, { ...claim, callId: 'later' })).toEqual({ state: 'unknown', callId });
      await history.resolve(tenant, callId, { outcome, comment: 'asked the bank', by: 'boss' });
      expect(await keys.begin(scope, { ...claim, callId: 'later' })).toMatchObject({
        state: 'ended',
        callId,
        outcome: heard,
      });
    },
  );

  it('pages through a history of equal times without a gap or a double, newest first', async () => {
    ofTenant();
    const at = new Date(1_700_000_000_000).toISOString();
    const records = Array.from({ length: 25 }, (_, index) =>
      auditRecord({ tenant, callId: `${tenant}-${String(index).padStart(3, '0')}`, at }),
    );
    await store(...records);
    const seen: string[] = [];
    let after: { at: number; id: string } | undefined;
    do {
      const page = await history.calls(tenant, { filter: {}, limit: 7, after });
      seen.push(...page.rows.map(({ id }) => id));
      after = page.next;
    } while (after !== undefined);
    expect(seen).toEqual(records.map(({ callId }) => callId).toReversed());
    const trail = await history.audit(tenant, { filter: { callId: seen[3] }, limit: 10 });
    expect(trail.rows).toHaveLength(1);
  });

  it('finds by tool, status, error type, agent, session and time', async () => {
    ofTenant();
    const old = new Date(1_600_000_000_000);
    await store(
      auditRecord({ tenant, callId: `a-${tenant}`, tool: 'refund', at: old.toISOString() }),
      auditRecord({ tenant, callId: `b-${tenant}`, outcome: 'TIMEOUT', agent: 'night', session: 's-2' }),
    );
    const idsOf = async (filter: Parameters<SqlCallHistory['calls']>[1]['filter']) =>
      (await history.calls(tenant, { filter, limit: 10 })).rows.map(({ id }) => id.charAt(0));
    expect(await idsOf({ tool: 'refund' })).toEqual(['a']);
    expect(await idsOf({ status: 'failed' })).toEqual(['b']);
    expect(await idsOf({ errorType: 'TIMEOUT' })).toEqual(['b']);
    expect(await idsOf({ agentId: 'night' })).toEqual(['b']);
    expect(await idsOf({ sessionId: 's-2' })).toEqual(['b']);
    expect(await idsOf({ from: new Date(old.getTime() + 1) })).toEqual(['b']);
    expect(await idsOf({ to: new Date(old.getTime() + 1) })).toEqual(['a']);
  });

  it('deletes what is old and nothing else, one replica at a time', async () => {
    ofTenant();
    await clean();
    await store(auditRecord({ tenant, callId: `new-${tenant}` }));
    await intend(
      intentRecord({ tenant, callId: `old-${tenant}` }),
      intentRecord({ tenant, callId: `open-${tenant}`, remainingMs: 3_600_000 }),
    );
    const like = sql.raw(`'old-${tenant}'`);
    await sql`UPDATE calls SET finished_at = now() - interval '31 days' WHERE id = ${like}`.execute(
      database.db,
    );
    await oldRecords(1);
    const keys = new SqlIdempotencyStore(database.db);
    const claim = { fingerprint: 'f', mayRunAgain: false, leaseMs: 0 };
    for (const [key, keepMs] of [
      ['old', 0],
      ['young', 60_000],
    ] as const)
      await keys.begin(
        { tenantId: tenant, principalId: 'key1', tool: 'send', key, callerHash: '' },
        { ...claim, callId: key, keepMs },
      );
    expect(await clean()).toEqual({
      deleted: { calls: 1, audit_records: 1, idempotency_keys: 1 },
      overdue: {},
    });
    expect(await clean()).toEqual({ deleted: {}, overdue: {} });
    expect((await calls()).map(({ id }) => id).toSorted()).toEqual([`new-${tenant}`, `open-${tenant}`]);
    expect(await audit()).toHaveLength(3);
  });

  it('deletes all that is old, however much it is', async () => {
    ofTenant();
    await clean();
    await oldKeys(60_000);
    expect(await clean()).toEqual({ deleted: { idempotency_keys: 60_000 }, overdue: {} });
  });

  it('takes turns between tables, and says of each by how much it is late when there is no time for all', async () => {
    ofTenant();
    await clean();
    await oldRecords(1_200);
    await oldKeys(1_500);
    const { deleted, overdue } = await clean(0);
    expect(deleted).toEqual({ audit_records: 1_000, idempotency_keys: 1_000 });
    expect(overdue['audit_records']).toBeGreaterThan(DAY / 1_000 - 60);
    expect(overdue['idempotency_keys']).toBeGreaterThan(3_600 - 60);
    expect(await clean()).toEqual({ deleted: { audit_records: 200, idempotency_keys: 500 }, overdue: {} });
  });

  it('deletes an old key, and not the same key of another user, nor one that is taken anew at that moment', async () => {
    ofTenant();
    await clean();
    const keys = new SqlIdempotencyStore(database.db);
    const begin = (key: string, callerHash: string, keepMs: number) =>
      keys.begin(
        { tenantId: tenant, principalId: 'key1', tool: 'send', key, callerHash },
        { callId: callerHash, fingerprint: 'f', mayRunAgain: false, leaseMs: 0, keepMs },
      );
    await begin('order', 'ann', 0);
    await begin('order', 'bob', 60_000);
    await begin('taken', 'eve', 0);
    await database.db.transaction().execute(async (trx) => {
      await sql`UPDATE idempotency_keys SET expires_at = now() + interval '1 day'
        WHERE tenant_id = ${tenant} AND key = 'taken'`.execute(trx);
      expect(await clean()).toEqual({ deleted: { idempotency_keys: 1 }, overdue: {} });
    });
    expect(await clean()).toEqual({ deleted: {}, overdue: {} });
    const { rows } = await sql<{
      callerHash: string;
    }>`SELECT caller_hash AS "callerHash" FROM idempotency_keys
      WHERE tenant_id = ${tenant} ORDER BY caller_hash`.execute(database.db);
    expect(rows.map(({ callerHash }) => callerHash)).toEqual(['bob', 'eve']);
  });

  it('keys that were revoked long ago go, and no other', async () => {
    await clean();
    const revoked = {
      recently: "now() - interval '364 days'",
      longAgo: "now() - interval '366 days'",
      never: 'NULL',
    };
    for (const [id, at] of Object.entries(revoked))
      await sql`INSERT INTO api_keys (id, name, secret_sha256, tenant, agents, roles, created_by, revoked_at)
        VALUES (${id}, '', ${'0'.repeat(64)}, 'acme', '{*}', '{agent}', 'op', ${sql.raw(at)})`.execute(
        database.db,
      );
    expect(await clean()).toEqual({ deleted: { api_keys: 1 }, overdue: {} });
    const { rows } = await sql<{ id: string }>`SELECT id FROM api_keys ORDER BY id`.execute(database.db);
    expect(rows.map(({ id }) => id)).toEqual(['never', 'recently']);
  });

  it('maintenance that cannot keep up says so, goes on, and says by how much it is late until it is not', async () => {
    ofTenant();
    await clean();
    await oldKeys(20_000);
    const clock = new FakeClock();
    const [log, metrics] = [recordingLog(), recordingMetrics()];
    const maintenance = new Maintenance({
      database,
      retention: PERIODS,
      gateway: 'own',
      behindMs: () => 0,
      takeInRecords: () => Promise.resolve(),
      makeCheckpoints: () => Promise.resolve(),
      clock,
      log,
      metrics,
      random: () => 0.5,
    });
    maintenance.start();
    const overdue = () => metrics.values.get('ute_retention_overdue_seconds{idempotency_keys}');
    // Between two statements it rests by this clock, which is over when these seconds are.
    const seconds = async () => {
      for (let second = 0; second < 10; second += 1) await clock.advance(20_000);
    };
    const told = () => log.lines.some(({ message }) => message.startsWith('old records come faster'));
    const POLL = { timeout: 30_000, interval: 5 };
    await expect.poll(async () => seconds().then(told), POLL).toBe(true);
    expect(overdue()).toBeGreaterThan(3_600 - 60);
    await expect.poll(async () => seconds().then(overdue), POLL).toBe(0);
    await maintenance.stop();
    expect(metrics.values.get('ute_retention_deleted_total{idempotency_keys}')).toBe(20_000);
  });
});
