// Approvals by REST: decisions are read strictly, stay in the approver's tenant, and are not the requester's own.
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/helpers/fake-clock.ts';
import { ask, only } from '../../../../test/helpers/management-kit.ts';
import type { VoteDelegations } from '../../../ports/approvals/vote-delegations.ts';
import { MemoryApprovals } from '../../../../test/helpers/memory-approvals.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { NewApproval } from '../../../ports/approvals/approval-store.ts';
import { ConfiguredGroups } from '../../../infra/approvals/configured-groups.ts';
import { snapshotOf } from '../../../registry/tool-spec-registry.ts';
import { ApprovalsController } from './controller.ts';
import { decideApproval, getApproval, listApprovals } from './schema.ts';

const NOW = Date.UTC(2026, 0, 1);
const WAITING: NewApproval = {
  id: 'a1',
  tenantId: 'acme',
  tool: 'send',
  toolVersion: '1.0.0',
  toolHash: 't',
  argumentsHash: 'a',
  arguments: { to: 'x' },
  riskLevel: 'high',
  requestedBy: 'agent-key',
  requestedByUser: '',
  agentId: 'agent',
  userId: '',
  sessionId: '',
  quorum: 1,
  approverGroups: [],
  createdAt: NOW,
  expiresAt: NOW + 60_000,
  tokenHash: 'h',
};
const groups = new ConfiguredGroups({ finance: { roles: ['accountant'], users: [] } });
const params = { id: 'a1' };

describe('approvals', () => {
  let store: MemoryApprovals;
  let controller: ApprovalsController;

  beforeEach(() => {
    store = new MemoryApprovals(new FakeClock(NOW));
    const approvals = {
      allowSelfApproval: false,
      requireReason: true,
      groups,
      delegations: only<VoteDelegations>({ list: async () => [] }),
      people: { now: () => [] },
      clock: new FakeClock(NOW),
    };
    const catalog = { snapshot: () => snapshotOf([], []) };
    const feed = { follow: async () => Promise.reject(new Error('nobody follows')) };
    const calls = { decided: () => undefined };
    controller = new ApprovalsController(
      store,
      { approvals, maxParallelCalls: 1, maxModelText: 1 },
      calls,
      feed,
      catalog,
    );
  });

  const decide = (body: unknown) =>
    ask(controller, decideApproval, { permissions: ['approvals:decide'], params, body });

  it('are shown with their arguments and times, and without their token', async () => {
    await store.create(WAITING);
    const { body: shown } = await ask(controller, getApproval, { params });
    expect(shown).toMatchObject({
      id: 'a1',
      status: 'pending',
      arguments: { to: 'x' },
      created_at: '2026-01-01T00:00:00.000Z',
      decided_by: null,
    });
    expect(JSON.stringify(shown)).not.toContain('token');
  });

  it('of another tenant are neither listed, nor found, nor decided', async () => {
    await store.create({ ...WAITING, tenantId: 'other' });
    expect((await ask(controller, listApprovals)).body).toMatchObject({ approvals: [] });
    const missing = { type: 'NOT_FOUND', reason: 'APPROVAL_NOT_FOUND' };
    await expect(ask(controller, getApproval, { params })).rejects.toMatchObject(missing);
    await expect(decide({ decision: 'approve' })).rejects.toMatchObject(missing);
  });

  it('are decided once, in the name of the credential', async () => {
    await store.create(WAITING);
    const { body: decided } = await decide({ decision: 'reject', comment: 'no' });
    expect(decided).toMatchObject({ status: 'rejected', decided_by: 'op', comment: 'no' });
    await expect(decide({ decision: 'approve' })).rejects.toMatchObject({
      type: 'CONFLICT',
    });
  });

  it('are approved by members of their groups alone, and rejected by everybody who may decide', async () => {
    await store.create({ ...WAITING, approverGroups: ['finance', 'gone'] });
    await expect(decide({ decision: 'approve' })).rejects.toMatchObject({
      type: 'PERMISSION_DENIED',
      reason: 'APPROVER_NOT_IN_GROUP',
      details: { groups: ['finance', 'gone'] },
    });
    expect((await decide({ decision: 'reject', comment: 'no' })).body).toMatchObject({ status: 'rejected' });
  });

  it('are not rejected without a reason, where one is required', async () => {
    await store.create(WAITING);
    for (const comment of [undefined, '', '  '])
      await expect(
        decide({ decision: 'reject', ...(comment !== undefined && { comment }) }),
      ).rejects.toMatchObject({
        reason: 'REASON_MISSING',
        details: { violations: [{ pointer: '/comment' }] },
      });
    expect(await store.get('acme', 'a1')).toMatchObject({ status: 'pending' });
  });

  it('of a tool that is gone or changed say so', async () => {
    await store.create(WAITING);
    expect((await ask(controller, getApproval, { params })).body).toMatchObject({ tool_changed: true });
  });

  it('are not given by who asked for them', async () => {
    await store.create({ ...WAITING, requestedBy: 'op' });
    await expect(decide({ decision: 'approve' })).rejects.toMatchObject({
      type: 'PERMISSION_DENIED',
      reason: 'SELF_APPROVAL',
    });
  });

  it.each([
    ['[]', [], ''],
    ['no decision', {}, '/decision'],
    ['a decision that is none', { decision: true }, '/decision'],
    ['a comment that is no text', { decision: 'approve', comment: 1 }, '/comment'],
    ['a comment too long', { decision: 'approve', comment: 'x'.repeat(2001) }, '/comment'],
  ])('%s decides nothing', async (_what, body, pointer) => {
    await store.create(WAITING);
    await expect(decide(body)).rejects.toMatchObject({
      type: 'VALIDATION',
      details: { violations: [{ pointer }] },
    });
    expect(await store.get('acme', 'a1')).toMatchObject({ status: 'pending' });
  });

  it('a body that was refused on its way in stays refused', async () => {
    await store.create(WAITING);
    const tooLarge = new ToolFailure('PAYLOAD_TOO_LARGE', 'too large');
    await expect(decide(tooLarge)).rejects.toBe(tooLarge);
  });

  it('a status that there is not is refused', async () => {
    await expect(ask(controller, listApprovals, { query: { status: 'lost' } })).rejects.toThrow('/status');
  });
});
