// DeclaredSessions: what becomes of a call that names a session: filled in, refused, or left alone.
import { describe, expect, it } from 'vitest';
import {
  admittedOf,
  callOf,
  compiledOf,
  functionOf,
  principalOf,
  recordingLog,
  recordingMetrics,
  requestOf,
} from '../../test/helpers/call-kit.ts';
import { FakeClock } from '../../test/helpers/fake-clock.ts';
import { FakeSessions, sessionOf } from '../../test/helpers/session-kit.ts';
import type { ToolCall } from '../contract/call/tool-call.ts';
import type { ToolSpec } from '../contract/tool/tool-spec.ts';
import type { SessionRecord } from '../ports/sessions/session-store.ts';
import { snapshotOf } from '../registry/tool-spec-registry.ts';
import { KnownSessions } from './known-sessions.ts';
import { DeclaredSessions } from './session-gate.ts';
import { SessionTools } from './session-tools.ts';

const ID = sessionOf().id;
const HASH = 'f'.repeat(64);

function setUp(record: SessionRecord | null = sessionOf(), required = false) {
  const clock = new FakeClock(1_000);
  const store = new FakeSessions();
  if (record !== null) store.add(record);
  const unread = recordingMetrics().gauge({ name: 'unread', help: '' }).with();
  const known = new KnownSessions({ store, clock, log: recordingLog(), unread });
  const gate = new DeclaredSessions({ known, tools: new SessionTools(store), clock, required });
  return { clock, store, known, gate };
}

const inForce = functionOf({ contentHash: HASH });
const others = (specs: readonly ToolSpec[]) => snapshotOf(specs, [compiledOf(inForce)]);
const SNAPSHOT = others([inForce.spec]);
const SAME = { registryVersion: SNAPSHOT.version, registryHash: SNAPSHOT.contentHash };

async function entered(
  record: SessionRecord | null,
  context: ToolCall['context'] = {},
  changes: Partial<ToolCall> = {},
  required = false,
) {
  const { gate } = setUp(record, required);
  const call = callOf({
    function: inForce,
    snapshot: SNAPSHOT,
    context: { tenantId: 'acme', sessionId: ID, ...context },
    ...changes,
  });
  return gate.enter(call, changes.function ?? inForce);
}

describe('a call of a session', () => {
  it('gets what it leaves out from the session, and what observers see is that', async () => {
    const progress = { ...callOf().progress, caller: { principal: principalOf(), context: {} } };
    const call = await entered(sessionOf({ ...SAME, mode: 'voice', turn: 3 }), {}, { progress });
    const context = { agentId: 'desk', userId: 'ann', mode: 'voice', turnId: '3', sessionId: ID };
    expect(call.context).toMatchObject(context);
    expect(call.context.toolVersion).toBeUndefined();
    expect(call.progress.caller?.context).toMatchObject(context);
  });

  it.each<[string, Partial<SessionRecord>, ToolCall['context'], Partial<ToolCall>]>([
    ['of another tenant', { tenantId: 'umbrella' }, {}, {}],
    ['for another agent', {}, { agentId: 'other' }, {}],
    ['for another user', {}, { userId: 'bob' }, {}],
    [
      'whose agent the credential may not speak for',
      {},
      {},
      { principal: principalOf({ agents: ['other'] }) },
    ],
    [
      'for nobody in particular, of another credential',
      { userId: '' },
      {},
      { principal: principalOf({ id: 'key00002' }) },
    ],
  ])('one %s is not there', async (_name, record, context, changes) => {
    await expect(async () =>
      entered(sessionOf({ ...SAME, ...record }), context, changes),
    ).rejects.toMatchObject({
      type: 'NOT_FOUND',
      reason: 'SESSION_NOT_FOUND',
    });
  });

  it.each<[string, Partial<SessionRecord>, ToolCall['context'], string]>([
    ['ended', { endedAt: new Date(5), leftMs: 0 }, {}, 'SESSION_ENDED'],
    ['expired', { leftMs: -1 }, {}, 'SESSION_EXPIRED'],
    ['of another mode', { mode: 'voice' }, { mode: 'text' }, 'SESSION_MODE'],
    ['whose turn has not begun', { turn: 2 }, { turnId: '3' }, 'TURN_UNKNOWN'],
    ['with a turn that is none', {}, { turnId: '01' }, 'TURN_UNKNOWN'],
  ])('one that is %s is refused', async (_name, record, context, reason) => {
    await expect(async () => entered(sessionOf({ ...SAME, ...record }), context)).rejects.toMatchObject({
      reason,
    });
  });

  it('an earlier turn may still be named', async () => {
    expect((await entered(sessionOf({ ...SAME, turn: 4 }), { turnId: '2' })).context.turnId).toBe('2');
  });

  it('a turn that this replica has not heard of is looked for before it is refused', async () => {
    const { gate, store } = setUp(sessionOf({ ...SAME, turn: 1 }));
    const call = callOf({
      function: inForce,
      snapshot: SNAPSHOT,
      context: { tenantId: 'acme', sessionId: ID },
    });
    await gate.enter(call, inForce);
    store.add(sessionOf({ ...SAME, turn: 2 }));
    const next = await gate.enter({ ...call, context: { ...call.context, turnId: '2' } }, inForce);
    expect(next.context.turnId).toBe('2');
  });

  it('who is known costs no promise and no look at the database', async () => {
    const { gate, store } = setUp(sessionOf(SAME));
    const call = callOf({
      function: inForce,
      snapshot: SNAPSHOT,
      context: { tenantId: 'acme', sessionId: ID },
    });
    await gate.enter(call, inForce);
    expect(gate.enter(call, inForce)).not.toBeInstanceOf(Promise);
    expect(store.asked).toHaveLength(1);
  });

  it('is over when nobody has used it for as long as it says, and not before', async () => {
    const { gate, clock } = setUp(sessionOf({ ...SAME, idleMs: 2_000, leftMs: 2_000 }));
    const call = callOf({
      function: inForce,
      snapshot: SNAPSHOT,
      context: { tenantId: 'acme', sessionId: ID },
    });
    await gate.enter(call, inForce);
    await clock.advance(1_900);
    await gate.enter(call, inForce);
    await clock.advance(2_000);
    expect(() => gate.enter(call, inForce)).toThrow('over');
  });
});

describe('the tools of a session', () => {
  const before = sessionOf({ registryHash: HASH });
  async function pinnedTo(
    tools: readonly (readonly [string, string])[],
    changes: Partial<ToolCall> = {},
    context = {},
  ) {
    const { gate, store } = setUp(before);
    store.sets.set(HASH, new Map(tools));
    const call = callOf({
      function: inForce,
      snapshot: SNAPSHOT,
      context: { tenantId: 'acme', sessionId: ID, ...context },
      ...changes,
    });
    return (await gate.enter(call, changes.function ?? inForce)).context.toolVersion;
  }

  it('a tool that was changed since is the one from before', async () => {
    expect(await pinnedTo([['greet', 'a'.repeat(64)]])).toBe('a'.repeat(64));
  });

  it('one that was not is the one in force', async () => {
    expect(await pinnedTo([['greet', HASH]])).toBeUndefined();
  });

  it('one that came since is not there, and nor is any where nobody knows the set', async () => {
    await expect(pinnedTo([])).rejects.toMatchObject({ reason: 'VERSION_GONE' });
    await expect(entered(before)).rejects.toMatchObject({ reason: 'VERSION_GONE' });
  });

  it('a caller that names a version gets that', async () => {
    expect(await pinnedTo([['greet', 'a'.repeat(64)]], {}, { toolVersion: '9.9.9' })).toBe('9.9.9');
  });

  it('a tool on trial that was changed since stands in for nobody', async () => {
    const canary = { tool: 'greet_new', percent: 100, by: 'tenant' } as const;
    const tried = functionOf({ contentHash: HASH, canary });
    const trial = functionOf({ name: 'greet_new', contentHash: 'b'.repeat(64) });
    const snapshot = others([tried.spec, trial.spec]);
    const kept = (hash: string) =>
      pinnedTo(
        [
          ['greet', HASH],
          ['greet_new', hash],
        ],
        { function: tried, snapshot },
      );
    expect(await kept('b'.repeat(64))).toBeUndefined();
    expect(await kept('c'.repeat(64))).toBe(HASH);
  });

  it('steps of a call are of its session, also when that has ended', async () => {
    const { gate, store } = setUp(sessionOf({ registryHash: HASH, endedAt: new Date(5) }));
    store.sets.set(HASH, new Map([['greet', 'a'.repeat(64)]]));
    const request = requestOf({ parent: {} as never });
    const step = callOf({
      function: inForce,
      snapshot: SNAPSHOT,
      request,
      context: { tenantId: 'acme', sessionId: ID },
    });
    expect((await gate.enter(step, inForce)).context.toolVersion).toBe('a'.repeat(64));
  });

  it('what is accepted to run later is held to the version of now', async () => {
    const call = await entered(sessionOf(SAME), {}, { phase: { kind: 'admit' } });
    expect(call.context.toolVersion).toBe(HASH);
  });
});

describe('a call that names no declared session', () => {
  it.each([undefined, 'call-17', 'ses_', 'ses_01a1fdea-b5f6-7000-b37d-6e9df3cc026'])(
    '%s: is left alone',
    async (sessionId) => {
      const context = { tenantId: 'acme', ...(sessionId !== undefined && { sessionId }) };
      const { gate, store } = setUp();
      const call = callOf({ context });
      expect(gate.enter(call, inForce)).toBe(call);
      expect(store.asked).toEqual([]);
    },
  );

  it('is refused where sessions are required, but for steps and what was accepted before', async () => {
    const context = { tenantId: 'acme', sessionId: 'call-17' };
    const { gate } = setUp(null, true);
    expect(() => gate.enter(callOf({ context }), inForce)).toThrow('within sessions alone');
    const step = callOf({ context, request: requestOf({ parent: {} as never }) });
    expect(gate.enter(step, inForce)).toBe(step);
    const resumed = callOf({ context, phase: { kind: 'resume', admitted: admittedOf() } });
    expect(gate.enter(resumed, inForce)).toBe(resumed);
  });

  it('one that looks declared and is not there is refused', async () => {
    await expect(async () => entered(null)).rejects.toMatchObject({ reason: 'SESSION_NOT_FOUND' });
  });
});
