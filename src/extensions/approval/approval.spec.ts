import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import {
  callOf,
  echoNext,
  functionOf,
  outcomeOf,
  principalOf,
  recordingMetrics,
  requestOf,
  layerFor,
  through,
} from '../../../test/helpers/call-kit.ts';
import { MemoryApprovals } from '../../../test/helpers/memory-approvals.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { ToolCall } from '../../contract/call/tool-call.ts';
import { ConfiguredGroups } from '../../infra/approvals/configured-groups.ts';
import { approval } from './index.ts';

const OPTIONS = approval.optionsSchema.parse({});
const approverGroups = new ConfiguredGroups({ finance: { roles: ['accountant'], users: [] } });
const dangerous = functionOf({ name: 'delete_note', metadata: { isDangerous: true } });

function setUp() {
  const clock = new FakeClock(1_000);
  const approvals = new MemoryApprovals(clock);
  const extension = approval.create({ approverGroups, approvals, clock, metrics: recordingMetrics() });
  const { calls, next } = echoNext();
  async function call(args: JsonObject, token?: string, changes: Partial<ToolCall> = {}) {
    const context = { tenantId: 'acme', ...changes.context, confirmationToken: token };
    const made = callOf({
      function: dangerous,
      request: requestOf({ arguments: args }),
      ...changes,
      context,
    });
    return outcomeOf(async () => through(extension, made, next, OPTIONS), made);
  }
  async function ask(args: JsonObject) {
    const response = await call(args);
    if (response.ok) throw new Error('ran without approval');
    const { details } = response.error;
    const { approval_id: id, confirmation_token: token } = details as {
      approval_id: string;
      confirmation_token: string;
    };
    return { response, id, token };
  }
  const decide = (id: string, approve: boolean) => approvals.decide('acme', id, { approve, by: 'boss' });
  return { approvals, extension, clock, ran: calls, call, ask, decide };
}

describe('approval', () => {
  it('a call that is explained is told to need approval, and asks nobody', async () => {
    const { call, approvals } = setUp();
    const told: string[] = [];
    const phase = { kind: 'explain', tell: (name: string) => void told.push(name) } as const;
    expect(await call({ note_id: 'note-1' }, undefined, { phase })).toMatchObject({ ok: true });
    expect(told).toEqual(['approval']);
    expect(await approvals.list('acme', { limit: 1 })).toEqual([]);
  });

  it('an unsafe call does not run before somebody approved it', async () => {
    const { ask, call, ran } = setUp();
    const { response, token } = await ask({ note_id: 'note-1' });
    expect(response).toMatchObject({
      ok: false,
      error: { type: 'CONFIRMATION_REQUIRED', partialSideEffects: false },
    });
    expect(await call({ note_id: 'note-1' }, token)).toMatchObject({
      ok: false,
      error: { type: 'CONFIRMATION_REQUIRED', reason: 'APPROVAL_PENDING' },
    });
    expect(ran).toHaveLength(0);
  });

  it('of a call that can be kept, it asks and passes it on: no token is told, and nothing is kept by itself', async () => {
    const { call, ran, approvals } = setUp();
    const phase = { kind: 'admit', awaitsApproval: true } as const;
    expect(await call({ note_id: 'note-1' }, undefined, { phase })).toMatchObject({ ok: true });
    const { awaited, approvedFor } = ran[0]!.progress;
    expect(awaited).toMatchObject({ tool: 'delete_note', arguments: { note_id: 'note-1' }, quorum: 1 });
    expect(approvedFor).toBe(awaited?.toolHash);
    expect(await approvals.list('acme', { limit: 10 })).toEqual([]);
  });

  it('of a call that nobody keeps until then, it refuses as before', async () => {
    const { call, ran } = setUp();
    expect(await call({ note_id: 'n' }, undefined, { phase: { kind: 'admit' } })).toMatchObject({
      error: { reason: 'APPROVAL_REQUIRED' },
    });
    expect(ran).toHaveLength(0);
  });

  it('after the approval, the same call with the token runs once', async () => {
    const { ask, call, decide, ran } = setUp();
    const { id, token } = await ask({ note_id: 'note-1', also: [1, 2] });
    await decide(id, true);
    expect((await call({ also: [1, 2], note_id: 'note-1' }, token)).ok).toBe(true);
    expect(await call({ note_id: 'note-1', also: [1, 2] }, token)).toMatchObject({
      error: { reason: 'APPROVAL_USED' },
    });
    expect(ran).toHaveLength(1);
  });

  it('an approval is good for exactly those arguments, that caller and that definition of the tool', async () => {
    const { ask, call, decide, ran } = setUp();
    const { id, token } = await ask({ note_id: 'note-1' });
    await decide(id, true);
    expect(await call({ note_id: 'note-2' }, token)).toMatchObject({
      error: { reason: 'APPROVAL_MISMATCH' },
    });
    const other = { principal: principalOf({ id: 'key00002' }) };
    expect(await call({ note_id: 'note-1' }, token, other)).toMatchObject({ ok: false });
    const changed = {
      function: functionOf({ name: 'delete_note', contentHash: 'f00d', metadata: { isDangerous: true } }),
    };
    expect(await call({ note_id: 'note-1' }, token, changed)).toMatchObject({
      error: { reason: 'APPROVAL_STALE' },
    });
    expect(ran).toHaveLength(0);
  });

  it('a rejected call never runs', async () => {
    const { ask, call, decide, ran } = setUp();
    const { id, token } = await ask({ note_id: 'note-1' });
    await decide(id, false);
    expect(await call({ note_id: 'note-1' }, token)).toMatchObject({
      error: { type: 'PERMISSION_DENIED', reason: 'APPROVAL_REJECTED' },
    });
    expect(ran).toHaveLength(0);
  });

  it('an approval that nobody used in time is worth nothing', async () => {
    const { ask, call, clock, decide, ran } = setUp();
    const { id, token } = await ask({ note_id: 'note-1' });
    await decide(id, true);
    await clock.advance(OPTIONS.ttl_ms + 1);
    expect(await call({ note_id: 'note-1' }, token)).toMatchObject({
      ok: false,
      error: { type: 'VALIDATION' },
    });
    expect(ran).toHaveLength(0);
  });

  it('a made-up token runs nothing', async () => {
    const { call, ran } = setUp();
    expect(await call({}, 'ute_confirm_guess')).toMatchObject({ error: { reason: 'APPROVAL_UNKNOWN' } });
    expect(ran).toHaveLength(0);
  });

  it('shows approvers what the call would do, with sensitive arguments masked', async () => {
    const { approvals, extension, clock } = setUp();
    const fn = functionOf({
      name: 'pay',
      metadata: { isDangerous: true },
      inputSchema: {
        type: 'object',
        properties: { to: { type: 'string' }, pin: { type: 'string', 'x-ute-sensitive': true } },
      },
    });
    const ask = async (render: (call: ToolCall) => JsonObject) => {
      const layer = extension.stage === 'tool' ? extension.prepare(fn, OPTIONS, { render }) : undefined;
      const call = callOf({ function: fn, arguments: { to: 'ann', pin: '1234' } });
      await expect(layer?.(call, echoNext().next)).rejects.toMatchObject({ reason: 'APPROVAL_REQUIRED' });
      clock.jumpTo(clock.wall() + 1);
      return (await approvals.list('acme', { limit: 1 }))[0];
    };
    const shown = await ask(({ arguments: args }) => ({
      argv: ['pay', args['to'] ?? '', args['pin'] ?? ''],
    }));
    expect(shown?.would).toEqual({ argv: ['pay', 'ann', '[sensitive]'] });
    expect(JSON.stringify(shown)).not.toContain('1234');
    expect(await ask(() => ({ huge: 'x'.repeat(100_000) }))).not.toHaveProperty('would');
    const failing = await ask(() => {
      throw new Error('a mask is no number');
    });
    expect(failing).not.toHaveProperty('would');
  });

  it('a tool that names a group which is not there is not loaded', () => {
    const { extension } = setUp();
    expect(() => layerFor(extension, dangerous, { ...OPTIONS, groups: ['finance', 'finanze'] })).toThrow(
      'approvals.groups of gateway.yaml has no group "finanze"; it names finance',
    );
  });

  describe('applies by mode, and by risk from a level on', () => {
    const clock = new FakeClock(0);
    const approvals = new MemoryApprovals(clock);
    const extension = approval.create({ approverGroups, approvals, clock, metrics: recordingMetrics() });
    const tools = {
      low: functionOf(),
      medium: functionOf({ metadata: { riskLevel: 'medium' } }),
      high: functionOf({ metadata: { riskLevel: 'high' } }),
      critical: functionOf({ metadata: { riskLevel: 'critical' } }),
      dangerous,
      asking: functionOf({ metadata: { requiresApproval: true } }),
    };
    it.each([
      ['never', 'low', []],
      ['unsafe_only', 'low', ['high', 'critical', 'dangerous', 'asking']],
      ['always', 'critical', ['low', 'medium', 'high', 'critical', 'dangerous', 'asking']],
      ['by_risk', 'low', ['low', 'medium', 'high', 'critical', 'dangerous', 'asking']],
      ['by_risk', 'medium', ['medium', 'high', 'critical', 'dangerous', 'asking']],
      ['by_risk', 'high', ['high', 'critical', 'dangerous', 'asking']],
      ['by_risk', 'critical', ['critical', 'asking']],
    ] as const)('%s from %s: %j', (mode, from, expected) => {
      const options = { ...OPTIONS, mode, from_risk: from };
      const held = Object.entries(tools).filter(([, fn]) => layerFor(extension, fn, options) !== undefined);
      expect(held.map(([name]) => name)).toEqual(expected);
    });
  });
});

it('a tool that may ask is approved where a rule of it asked, and runs at once elsewhere', async () => {
  const { call, ran } = setUp();
  const safe = functionOf({ mayNeedApproval: true });
  const asked = callOf({ function: safe });
  asked.progress.needsApproval = true;
  expect(await call({}, undefined, { function: safe, progress: asked.progress })).toMatchObject({
    error: { type: 'CONFIRMATION_REQUIRED' },
  });
  expect(ran).toEqual([]);
  expect(await call({}, undefined, { function: safe })).toMatchObject({ ok: true });
});
