// What is asked of the history while the journal still holds a part of it.
import { expect, it } from 'vitest';
import { only } from '../../../test/helpers/management-kit.ts';
import type { CallHistory } from '../../ports/calls/call-history.ts';
import { historyWithJournal } from './history-with-journal.ts';

const ERASURE = { tenantId: 'acme', userId: 'ann', by: 'op' };

it('an erasure while the database is away is UNAVAILABLE, and nothing is erased then', async () => {
  const history = historyWithJournal(only<CallHistory>(), {
    ship: () => Promise.reject(new Error('Connection terminated unexpectedly')),
    shipWithin: () => Promise.resolve(),
    takeIn: () => Promise.resolve(),
  });
  await expect(history.eraseUser(ERASURE)).rejects.toMatchObject({
    type: 'UNAVAILABLE',
    reason: 'DATABASE_UNAVAILABLE',
  });
});

it('an erasure reaches what the journal held, and its own records are chained after it', async () => {
  const done: string[] = [];
  const erased = {
    records: 1,
    calls: 0,
    approvals: 0,
    sessions: 0,
    schedules: 0,
    keys: 0,
    delegations: 0,
    accounts: 0,
    inUse: 0,
  };
  const kept: Partial<CallHistory> = { eraseUser: async () => (done.push('erased'), erased) };
  const history = historyWithJournal(only(kept), {
    ship: async () => void done.push('shipped'),
    shipWithin: () => Promise.resolve(),
    takeIn: async () => void done.push('chained'),
  });
  expect(await history.eraseUser(ERASURE)).toBe(erased);
  expect(done).toEqual(['shipped', 'erased', 'chained']);
});
