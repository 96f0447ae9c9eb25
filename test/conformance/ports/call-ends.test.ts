// Accepted calls that end without the gateway that ran them: each end is in the audit log, together with the row.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AuditChain } from '../../../src/infra/audit/chain/audit-chain.ts';
import { databaseCallStore } from '../../../src/infra/calls/call-store.ts';
import type { Database } from '../../../src/infra/postgres/database.ts';
import { SqlCallHistory } from '../../../src/infra/calls/sql-call-history.ts';
import type { CallStore, NewCall } from '../../../src/ports/calls/call-store.ts';
import { ACME, claimOf, DAY_MS, forgetCalls, leasesEnd, newCall } from '../../helpers/async-kit.ts';
import { DATABASES, type TestDatabase } from '../../helpers/databases.ts';

const again = { force: true, request: '{}', by: 'boss' };

describe.each(DATABASES)('calls that nobody ends, on %s', (_name, open) => {
  let opened: TestDatabase;
  let database: Database;
  let store: CallStore;

  beforeAll(async () => {
    opened = await open();
    database = await opened.database.opened();
    store = databaseCallStore(database, DAY_MS);
  });
  afterEach(() => forgetCalls(database));
  afterAll(() => opened.end());

  const accepted = async (over: Partial<NewCall> = {}) => {
    const call = newCall(over);
    await store.accept(call, 1_000);
    return call;
  };
  const ownerDies = async (call: NewCall) => {
    await claimOf(store, call.id, 'a');
    await leasesEnd(database);
    await store.sweep(3);
  };
  const recordsOf = async ({ id }: NewCall) => {
    await new AuditChain(database).takeIn(100);
    const { rows } = await new SqlCallHistory(database).audit(ACME, { filter: { callId: id }, limit: 10 });
    return rows;
  };

  it('one whose outcome nobody knows has a record that says so, of the caller and the tool', async () => {
    const call = await accepted({ idempotent: false });
    await ownerDies(call);
    expect(await recordsOf(call)).toMatchObject([
      {
        kind: 'reconciled',
        callId: call.id,
        outcome: 'OUTCOME_UNKNOWN',
        reason: 'OWNER_LOST',
        partialSideEffects: true,
        principalId: call.principalId,
        tool: call.tool,
        attempts: 1,
      },
    ]);
  });

  it('one that runs again has none before its end', async () => {
    const call = await accepted({ idempotent: true });
    await ownerDies(call);
    expect(await recordsOf(call)).toEqual([]);
    await ownerDies(call);
    await ownerDies(call);
    expect(await recordsOf(call)).toMatchObject([
      { kind: 'reconciled', outcome: 'UNAVAILABLE', reason: 'OWNER_LOST' },
    ]);
  });

  it('one that waited too long, or was cancelled while it waited, has a record of its end', async () => {
    const late = await accepted({ maxWaitMs: 0 });
    await store.sweep(3);
    const waiting = await accepted();
    await store.cancel(ACME, waiting.id);
    const running = await accepted();
    const claim = await claimOf(store, running.id, 'a');
    await store.cancel(ACME, running.id);
    expect(await recordsOf(running)).toEqual([]);
    await store.giveBack(claim ?? { id: '', claim: 0 }, 0);
    expect(await recordsOf(late)).toMatchObject([
      { kind: 'outcome', outcome: 'TIMEOUT', reason: 'WAITED_TOO_LONG' },
    ]);
    for (const call of [waiting, running])
      expect(await recordsOf(call)).toMatchObject([{ kind: 'outcome', outcome: 'CANCELLED' }]);
  });

  it('one that was run again has a record of each end', async () => {
    const call = await accepted({ idempotent: false });
    await ownerDies(call);
    await store.retry(ACME, call.id, again);
    await ownerDies(call);
    expect(await recordsOf(call)).toHaveLength(2);
  });
});
