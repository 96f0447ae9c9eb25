// The SQL twin of ApprovalStore on both databases, held to the suite of the port; and what only a database can show.
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditChain } from '../../../src/infra/audit/chain/audit-chain.ts';
import type { Database } from '../../../src/infra/postgres/database.ts';
import { SqlApprovalStore } from '../../../src/infra/approvals/sql-approval-store.ts';
import type { NewApproval } from '../../../src/ports/approvals/approval-store.ts';
import { DATABASES, type TestDatabase } from '../../helpers/databases.ts';
import { showWaitingApprovals } from '../../../src/infra/approvals/waiting-approvals.ts';
import { recordingLog, recordingMetrics } from '../../helpers/call-kit.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { describeApprovalStore } from './approval-store.suite.ts';

describe.each(DATABASES)('on %s', (name, start) => {
  let there: TestDatabase;
  let database: Database;

  beforeAll(async () => {
    there = await start();
    database = await there.database.opened();
  });
  afterAll(() => there?.end());

  describeApprovalStore(
    name,
    async () => ({
      store: new SqlApprovalStore(database, { maxPending: 100_000 }),
      now: () => Date.now(),
      pass: async (ms) => {
        await sql`UPDATE approvals SET expires_at = expires_at - ${ms} * interval '1 millisecond'`.execute(
          database.db,
        );
      },
    }),
    25,
  );

  it.each([-3_600_000, 3_600_000])(
    'one that was asked for by a gateway whose date is off by %i ms is open for as long as any',
    async (ms) => {
      const store = new SqlApprovalStore(database, { maxPending: 100_000 });
      const at = Date.now() + ms;
      const { id, tenantId } = await store.create(approvalOf({ createdAt: at, expiresAt: at + 60_000 }));
      const { rows } = await sql<{ left: number }>`
        SELECT extract(epoch FROM expires_at - now())::float8 AS left FROM approvals WHERE id = ${id}`.execute(
        database.db,
      );
      expect(rows[0]?.left).toBeGreaterThan(0);
      expect(rows[0]?.left).toBeLessThanOrEqual(60);
      expect(await store.get(tenantId, id)).toMatchObject({ status: 'pending' });
    },
  );

  it('tells operators how many wait, and how many are about to expire', async () => {
    const metrics = recordingMetrics();
    const clock = new FakeClock();
    const deps = { database: there.database, metrics, clock, log: recordingLog() };
    const shown = async () => {
      const end = showWaitingApprovals(deps);
      await clock.advance(15_000);
      await expect.poll(() => metrics.values.get('ute_approval_oldest_pending_seconds')).toBeDefined();
      end();
      return ['ute_approvals_pending', 'ute_approvals_expiring'].map((name) => metrics.values.get(name) ?? 0);
    };
    const [pending = 0, expiring = 0] = await shown();
    metrics.values.clear();
    const store = new SqlApprovalStore(database, { maxPending: 100_000 });
    await store.create(approvalOf({ expiresAt: Date.now() + 3_600_000 }));
    await store.create(approvalOf());
    await store.create(approvalOf({ expiresAt: Date.now() - 1 }));
    expect(await shown()).toEqual([pending + 2, expiring + 1]);
  });

  function approvalOf(changes: Partial<NewApproval> = {}): NewApproval {
    const now = Date.now();
    return {
      id: randomUUID(),
      tenantId: `tenant-${randomUUID()}`,
      tool: 'send_email',
      toolVersion: '1.0.0',
      toolHash: 'tool-hash',
      argumentsHash: 'ab'.repeat(32),
      arguments: { to: 'ann@example.com' },
      riskLevel: 'high',
      quorum: 1,
      approverGroups: [],
      requestedBy: 'key-1',
      requestedByUser: '',
      agentId: '',
      userId: '',
      sessionId: '',
      createdAt: now,
      expiresAt: now + 60_000,
      tokenHash: randomUUID(),
      ...changes,
    };
  }

  it('shows an approver exactly the arguments that will run, characters and order that jsonb loses included', async () => {
    const store = new SqlApprovalStore(database, { maxPending: 100_000 });
    const hostile = { z: '\0\ud800', a: 1, text: '\\u0000' };
    const { tenantId, id } = await store.create(approvalOf({ arguments: hostile }));
    const seen = await store.get(tenantId, id);
    expect(JSON.stringify(seen?.arguments)).toBe(JSON.stringify(hostile));
  });

  it('writes the decision and its audit record in one', async () => {
    const store = new SqlApprovalStore(database, { maxPending: 100_000 });
    const { tenantId, id } = await store.create(approvalOf());
    const decisions = [1, 2, 3].map(() =>
      store.decide(tenantId, id, { approve: true, by: 'boss', comment: 'fine' }),
    );
    await Promise.all(decisions);
    await new AuditChain(database).takeIn(100);
    const { rows: found } = await sql`SELECT * FROM audit_trail WHERE tenant_id = ${tenantId}`.execute(
      database.db,
    );
    expect(found).toMatchObject([
      {
        kind: 'approval',
        principal_id: 'boss',
        outcome: 'approved',
        tool: 'send_email',
        notes: { approval_id: id, comment: 'fine' },
      },
    ]);
  });

  it('takes no more than its bounds allow, of one tenant and of all', async () => {
    const tenantId = `tenant-${randomUUID()}`;
    const store = new SqlApprovalStore(database, {
      maxPending: 100_000,
      maxPendingPerTenant: 2,
      maxBytesPerTenant: 100,
    });
    await store.create(approvalOf({ tenantId }));
    const large = approvalOf({ tenantId, arguments: { text: 'x'.repeat(100) } });
    await expect(store.create(large)).rejects.toMatchObject({ reason: 'APPROVALS_FULL' });
    const second = await store.create(approvalOf({ tenantId }));
    await expect(store.create(approvalOf({ tenantId }))).rejects.toMatchObject({ reason: 'APPROVALS_FULL' });
    await store.decide(tenantId, second.id, { approve: false, by: 'boss' });
    await store.create(approvalOf({ tenantId }));
    const narrow = new SqlApprovalStore(database, { maxPending: 1 });
    await expect(narrow.create(approvalOf())).rejects.toMatchObject({ reason: 'APPROVALS_FULL' });
  });

  it('a NUL in the name of an agent is refused as the caller’s mistake', async () => {
    const store = new SqlApprovalStore(database, { maxPending: 100_000 });
    await expect(store.create(approvalOf({ agentId: 'a\0b' }))).rejects.toMatchObject({ type: 'VALIDATION' });
  });
});
