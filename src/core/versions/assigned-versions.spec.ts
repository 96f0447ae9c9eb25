// Which version a call runs: the kill switch, then what it names or its session began with, then user, agent, tenant, canary.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  admittedOf,
  compiledOf,
  functionOf,
  principalOf,
  recordingLog,
  recordingMetrics,
  requestOf,
} from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { toolFailure } from '../../contract/call/failure.ts';
import { cachedResponse } from '../../contract/call/make-response.ts';
import type { Phase, ToolCall } from '../../contract/call/tool-call.ts';
import type { Layer, Next } from '../../contract/plugin.ts';
import type { CompiledTool } from '../../contract/tool/compiled-tool.ts';
import type { ToolFunction } from '../../contract/tool/tool-function.ts';
import type { KnownAssignments, ToolAssignments } from '../../ports/assignments/known-assignments.ts';
import type { SessionGate } from '../../ports/sessions/session-gate.ts';
import type { ToolVersions } from '../../ports/registry/tool-versions.ts';
import { snapshotOf, ToolSpecRegistry } from '../../registry/tool-spec-registry.ts';
import { LoadShedder } from '../resilience/load-shedder.ts';
import { UnifiedToolExecutor } from '../unified-tool-executor.ts';
import { AssignedVersions, narrowest } from './assigned-versions.ts';
import { Canaries } from './canaries.ts';

const hashOf = (name: string) => name.padEnd(64, '0');
const versionNamed = (name: string) => functionOf({ contentHash: hashOf(name), metadata: { version: name } });

interface World {
  readonly killed: boolean;
  readonly pin: boolean;
  readonly session: boolean;
  readonly user: boolean;
  readonly agent: boolean;
  readonly tenant: boolean;
  readonly canary: boolean;
}

const NOTHING: World = {
  killed: false,
  pin: false,
  session: false,
  user: false,
  agent: false,
  tenant: false,
  canary: false,
};

function knownOf(world: World): KnownAssignments {
  const ofTool: ToolAssignments = {
    tenant: world.tenant ? hashOf('tenant') : undefined,
    agents: new Map(world.agent ? [['desk', hashOf('agent')]] : [['other', hashOf('agent')]]),
    users: new Map(world.user ? [['ann', hashOf('user')]] : [['bob', hashOf('user')]]),
  };
  return {
    isEmpty: false,
    ofTenant: (tenantId) => (tenantId === 'acme' ? new Map([['greet', ofTool]]) : undefined),
  };
}

/** As the gate does it: what the call leaves open, its session says. */
const sessionGate: SessionGate = {
  enter(call) {
    if (call.context.toolVersion !== undefined) return call;
    call.progress.versionSource = 'session';
    return { ...call, context: { ...call.context, toolVersion: hashOf('session') } };
  },
};

/** Its answer tells what ran in its meta. */
function answering(fn: ToolFunction): CompiledTool {
  const answer: Next = async (call) => cachedResponse(call, null, 'null');
  return { ...compiledOf(fn), run: answer, explain: answer };
}

const kept = new Set(['pin', 'session', 'user', 'agent', 'tenant'].map(hashOf));
const versions: ToolVersions = {
  async take(_inForce, pin) {
    if (!kept.has(pin)) throw toolFailure('VERSION_GONE', 'There is no such version of this tool.');
    return { tool: answering(versionNamed(pin.replace(/0+$/, ''))), release: () => undefined };
  },
};

function gatewayOf(world: World, known = knownOf(world), taking: ToolVersions = versions) {
  const inForce = versionNamed('current');
  const spec = world.canary
    ? { ...inForce.spec, canary: { tool: 'greet_next', percent: 100, by: 'tenant' as const } }
    : inForce.spec;
  const trial = functionOf({
    name: 'greet_next',
    contentHash: hashOf('canary'),
    metadata: { version: 'canary' },
  });
  const registry = new ToolSpecRegistry();
  const tools = [answering({ ...inForce, spec }), answering(trial)];
  registry.publish(
    snapshotOf(
      tools.map(({ function: fn }) => fn.spec),
      tools,
    ),
  );
  registry.setDisabled('greet', world.killed);
  const [clock, metrics, log] = [new FakeClock(1_000), recordingMetrics(), recordingLog()];
  const executor = new UnifiedToolExecutor({
    snapshots: registry,
    requestLayers: [
      { name: 'auth', onFailure: 'deny', layer: signIn, explains: true, seconds: seconds(metrics) },
    ],
    ...(world.session && { sessions: sessionGate }),
    versions: taking,
    assigned: new AssignedVersions(known),
    canaries: new Canaries(metrics),
    maxTimeoutMs: 60_000,
    shedder: new LoadShedder(
      { maxInflightCalls: 100, shedAtLagMs: 200 },
      { lag: { p99Ms: () => 0 }, clock, random: () => 0.5, log, metrics },
    ),
    clock,
    log,
  });
  const pin = world.pin ? { toolVersion: hashOf('pin') } : {};
  const context = { tenantId: 'acme', agentId: 'desk', userId: 'ann', ...pin };
  return { executor, context, request: requestOf({ tool: 'greet', context }) };
}

const signIn: Layer = (call, next) => next({ ...call, principal: principalOf() });
const seconds = (metrics: ReturnType<typeof recordingMetrics>) =>
  metrics.histogram({ name: 's', help: 's', buckets: [] }).with();

const ORDER = ['pin', 'session', 'user', 'agent', 'tenant', 'canary'] as const;

describe('which version a call runs', () => {
  it('is the first there is of: kill switch, own pin, session, user, agent, tenant, canary, in force', () =>
    fc.assert(
      fc.asyncProperty(
        fc.record(Object.fromEntries(Object.keys(NOTHING).map((name) => [name, fc.boolean()]))),
        async (drawn) => {
          const world = drawn as unknown as World;
          const { executor, request } = gatewayOf(world);
          const answer = await executor.execute(request);
          const first = ORDER.find((each) => world[each]);
          const because = first === undefined ? {} : { versionSource: first === 'pin' ? 'call' : first };
          const expected = world.killed
            ? { ok: false, error: { reason: 'TOOL_DISABLED' } }
            : { ok: true, meta: { toolVersion: first ?? 'current', ...because } };
          expect(answer).toMatchObject(expected);
          const isTold = answer.meta.versionSource !== undefined;
          expect(isTold || world.killed).toBe(first !== undefined || world.killed);
        },
      ),
      { numRuns: 200 },
    ));

  it('of a user without an id, or another one, of another agent or tenant, is not somebody else’s', () => {
    const ofTool = { tenant: undefined, agents: new Map([['desk', 'a']]), users: new Map([['ann', 'u']]) };
    expect(narrowest(ofTool, undefined, undefined)).toBeUndefined();
    expect(narrowest(ofTool, 'other', 'bob')).toBeUndefined();
    expect(narrowest(ofTool, 'desk', 'bob')).toEqual({ to: 'agent', contentHash: 'a' });
    const mine = new AssignedVersions(knownOf({ ...NOTHING, tenant: true }));
    expect(mine.ofSession({ tenantId: 'umbrella' }).size).toBe(0);
    expect(mine.ofSession({ tenantId: 'acme' })).toEqual(new Map([['greet', hashOf('tenant')]]));
  });

  it('that is assigned and gone is VERSION_GONE, says whose it is, and the one in force does not run', async () => {
    const gone = {
      take: () => Promise.reject(toolFailure('VERSION_GONE', 'There is no such version of this tool.')),
    };
    const world = { ...NOTHING, agent: true };
    const { executor, request } = gatewayOf(world, knownOf(world), gone);
    const answer = await executor.execute(request);
    expect(answer).toMatchObject({
      ok: false,
      error: {
        type: 'NOT_FOUND',
        reason: 'VERSION_GONE',
        retryable: false,
        details: { assigned_to: 'agent', content_hash: hashOf('agent') },
      },
      meta: { versionSource: 'agent' },
    });
    expect(answer.ok ? '' : answer.error.message).toContain('assigned to the agent');
  });

  it('is the one in force, without a trial of another, where that is what is assigned', async () => {
    const world = { ...NOTHING, canary: true };
    const ofTool = { tenant: hashOf('current'), agents: new Map(), users: new Map() };
    const known = { isEmpty: false, ofTenant: () => new Map([['greet', ofTool]]) };
    const { executor, request } = gatewayOf(world, known);
    expect(await executor.execute(request)).toMatchObject({
      ok: true,
      meta: { tool: 'greet', toolVersion: 'current', versionSource: 'tenant' },
    });
  });

  it('is told to whoever has a call explained, with why', async () => {
    const { executor, request } = gatewayOf({ ...NOTHING, user: true, canary: true });
    const { told } = await executor.explain(request);
    expect(told['version']).toEqual({
      tool: 'greet',
      version: 'user',
      content_hash: hashOf('user'),
      source: 'user',
    });
    const plain = gatewayOf(NOTHING);
    expect((await plain.executor.explain(plain.request)).told['version']).toMatchObject({
      version: 'current',
      source: 'current',
    });
  });
});

describe('a call that was accepted before', () => {
  const resumed = (changes: Parameters<typeof admittedOf>[0]): Phase => ({
    kind: 'resume',
    admitted: admittedOf(changes),
  });
  const held = (phase: Phase, toolVersion?: string) => {
    const assigned = new AssignedVersions(knownOf({ ...NOTHING, user: true }));
    const call = {
      phase,
      request: requestOf(),
      context: { tenantId: 'acme', userId: 'ann', ...(toolVersion !== undefined && { toolVersion }) },
      progress: {},
    } as unknown as ToolCall;
    return { ...assigned.hold(call, versionNamed('current')).context, ...call.progress };
  };

  it('keeps the version that was assigned then, and that nothing was', () => {
    const before = hashOf('tenant');
    expect(held(resumed({ keepsVersion: true, versionSource: 'tenant' }), before)).toMatchObject({
      toolVersion: before,
      versionSource: 'tenant',
    });
    expect(held(resumed({ keepsVersion: true })).toolVersion).toBeUndefined();
  });

  it('of a schedule runs what is assigned at each of its moments', () => {
    expect(held(resumed({}))).toMatchObject({ toolVersion: hashOf('user'), versionSource: 'user' });
  });
});
