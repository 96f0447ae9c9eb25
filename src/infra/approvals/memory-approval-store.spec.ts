// Specs of MemoryApprovalStore beyond the port's suite: its bounds.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { NewApproval } from '../../ports/approval-store.ts';
import { MemoryApprovalStore, type MemoryApprovalOptions } from './memory-approval-store.ts';

const TTL_MS = 1000;
const FULL = { type: 'UNAVAILABLE', reason: 'APPROVALS_FULL' };

describe('MemoryApprovalStore', () => {
  it('refuses one more than may be undecided at once', async () => {
    const { store, ask } = setUp({ maxPending: 2 });
    await ask('a1');
    await ask('a2');
    await expect(ask('a3')).rejects.toMatchObject(FULL);
    await store.decide('acme', 'a1', { approve: true, by: 'boss' });
    await ask('a4');
    await expect(ask('a5')).rejects.toMatchObject(FULL);
  });

  it('has room again when undecided ones have expired', async () => {
    const { clock, ask } = setUp({ maxPending: 1 });
    await ask('a1');
    await clock.advance(TTL_MS);
    await ask('a2');
    await expect(ask('a3')).rejects.toMatchObject(FULL);
  });

  it('lets no tenant take the room of another', async () => {
    const { ask } = setUp({ maxPending: 10, maxPendingPerTenant: 1 });
    await ask('a1');
    await expect(ask('a2')).rejects.toMatchObject(FULL);
    await ask('g1', { tenantId: 'globex' });
  });

  it('bounds the arguments it keeps, of a tenant and of all', async () => {
    const { ask } = setUp({ maxBytes: 250, maxBytesPerTenant: 150 });
    const large = { arguments: { text: 'x'.repeat(89) } };
    await ask('a1', large);
    await expect(ask('a2', large)).rejects.toMatchObject(FULL);
    await ask('g1', { ...large, tenantId: 'globex' });
    await expect(ask('i1', { ...large, tenantId: 'initech' })).rejects.toMatchObject(FULL);
  });

  it('refuses an id or a token that it has already', async () => {
    const { store, ask } = setUp();
    await ask('a1');
    await expect(ask('a1', { tokenHash: 'another' })).rejects.toThrow('exists already');
    await expect(ask('a2', { tokenHash: 'token-a1' })).rejects.toThrow('exists already');
    expect(await store.list('acme', { limit: 10 })).toHaveLength(1);
  });

  it('drops every approval some time after it expired, however it ended, and gives its room back', async () => {
    const { store, clock, ask } = setUp({ maxBytes: 100, keepExpiredMs: 5000 });
    const large = { arguments: { text: 'x'.repeat(20) } };
    for (const id of ['pending', 'rejected', 'used']) await ask(id, large);
    await store.decide('acme', 'rejected', { approve: false, by: 'boss' });
    await store.decide('acme', 'used', { approve: true, by: 'boss' });
    expect(await store.redeem(approval('used'))).toMatchObject({ redeemed: true });
    await clock.advance(TTL_MS + 4999);
    expect(await store.list('acme', { limit: 10 })).toHaveLength(3);
    await expect(ask('a4', large)).rejects.toMatchObject(FULL);
    await clock.advance(1);
    expect(await store.list('acme', { limit: 10 })).toEqual([]);
    expect(await store.redeem(approval('used'))).toEqual({ redeemed: false, why: 'unknown' });
    expect(clock.pendingTimers).toBe(0);
    await ask('a4', large);
  });

  it('lists the last asked first among those of one millisecond', async () => {
    const { store, ask } = setUp();
    for (const id of ['a1', 'a2', 'a3']) await ask(id);
    expect((await store.list('acme', { limit: 2 })).map(({ id }) => id)).toEqual(['a3', 'a2']);
  });

  it('enforces the expiry on reading, even when its timer comes late', async () => {
    const { store, clock, ask } = setUp();
    await ask('a1');
    await store.decide('acme', 'a1', { approve: true, by: 'boss' });
    clock.jumpTo(clock.now() + TTL_MS);
    expect(await store.redeem(approval('a1'))).toMatchObject({ redeemed: false, why: 'expired' });
  });
});

function setUp(options?: MemoryApprovalOptions) {
  const clock = new FakeClock();
  const store = new MemoryApprovalStore(clock, options);
  const ask = (id: string, changes: Partial<NewApproval> = {}) => {
    const createdAt = clock.now();
    return store.create({ ...approval(id), createdAt, expiresAt: createdAt + TTL_MS, ...changes });
  };
  return { clock, store, ask };
}

function approval(id: string): NewApproval {
  return {
    id,
    tenantId: 'acme',
    tool: 'send_email',
    toolVersion: '1.0.0',
    toolHash: 'tool-hash',
    argumentsHash: 'arguments-hash',
    arguments: {},
    riskLevel: 'high',
    requestedBy: 'key-1',
    requestedByUser: '',
    agentId: 'agent-1',
    userId: 'user-1',
    sessionId: 'session-1',
    createdAt: 0,
    expiresAt: TTL_MS,
    tokenHash: `token-${id}`,
  };
}
