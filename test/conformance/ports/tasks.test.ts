// Tasks as rows, on both databases: each credential finds its own calls of the MCP door, and what its client has shown of an approval is kept.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { databaseCallStore } from '../../../src/infra/calls/call-store.ts';
import { insertCalls } from '../../../src/infra/calls/call-rows.ts';
import { SqlCallHistory } from '../../../src/infra/calls/sql-call-history.ts';
import type { Database } from '../../../src/infra/postgres/database.ts';
import type { TaskFilter } from '../../../src/ports/calls/call-history.ts';
import type { CallStore, NewCall } from '../../../src/ports/calls/call-store.ts';
import { ACME, DAY_MS, forgetCalls, newCall } from '../../helpers/async-kit.ts';
import { DATABASES, type TestDatabase } from '../../helpers/databases.ts';

describe.each(DATABASES)('tasks on %s', (_name, open) => {
  let opened: TestDatabase;
  let database: Database;
  let store: CallStore;
  let history: SqlCallHistory;

  beforeAll(async () => {
    opened = await open();
    database = await opened.database.opened();
    store = databaseCallStore(database, DAY_MS);
    history = new SqlCallHistory(database);
  });
  afterEach(() => forgetCalls(database));
  afterAll(() => opened.end());

  const accepted = async (over: Partial<NewCall> = {}) => {
    const call = newCall({ door: 'mcp', ...over });
    await store.accept(call, 1_000);
    return call.id;
  };
  const waiting = async () => {
    const call = newCall({ door: 'mcp' });
    const approval = { id: 'ap1', expires_at: new Date(Date.now() + DAY_MS).toISOString() };
    await insertCalls(database.db, [{ call, maxQueued: 10, approval }]);
    return call.id;
  };
  const listed = async (filter: Partial<TaskFilter> = {}, tenant = ACME) => {
    const query = { filter: { principalId: 'key00001', ...filter }, limit: 10 };
    return (await history.tasks(tenant, query)).rows.map(({ id }) => id);
  };

  it('are those of one credential of one tenant, accepted at the MCP door', async () => {
    const own = await accepted();
    await accepted({ principalId: 'key00002' });
    await accepted({ tenantId: 'umbrella' });
    await accepted({ door: 'rest' });
    await accepted({ kind: 'scheduled' });
    expect(await listed()).toEqual([own]);
    expect(await listed({}, 'umbrella')).not.toContain(own);
  });

  it('are narrowed by whom they were made for', async () => {
    const made = await accepted({ userId: 'ann', agentId: 'desk', sessionId: 's1' });
    await accepted({ userId: 'bob' });
    const whom = { userId: 'ann', agentId: 'desk', sessionId: 's1' };
    expect(await listed(whom)).toEqual([made]);
    expect(await listed({ ...whom, sessionId: 's2' })).toEqual([]);
  });

  it('come page by page, each once, without what they were asked with', async () => {
    const made: string[] = [];
    for (let each = 0; each < 5; each += 1) made.push(await accepted());
    const filter = { principalId: 'key00001' };
    const first = await history.tasks(ACME, { filter, limit: 3 });
    const second = await history.tasks(ACME, { filter, limit: 3, ...(first.next && { after: first.next }) });
    expect([...first.rows, ...second.rows].map(({ id }) => id)).toEqual(made.toReversed());
    expect(second.next).toBeUndefined();
    expect(first.rows[0]).not.toHaveProperty('request');
  });

  it('remember that the approval was shown, where they wait for one', async () => {
    const [held, queued] = [await waiting(), await accepted()];
    await store.approvalShown('umbrella', held);
    expect((await store.get(ACME, held))?.approval).not.toHaveProperty('shown');
    await store.approvalShown(ACME, held);
    await store.approvalShown(ACME, queued);
    expect(await store.get(ACME, held)).toMatchObject({
      status: 'waiting_approval',
      door: 'mcp',
      approval: { id: 'ap1', shown: true },
    });
    expect(await store.get(ACME, queued)).not.toHaveProperty('approval');
  });
});
