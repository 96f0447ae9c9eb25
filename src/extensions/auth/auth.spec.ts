import { describe, expect, it } from 'vitest';
import {
  callOf,
  echoNext,
  outcomeOf,
  principalOf,
  requestOf,
  through,
} from '../../../test/helpers/call-kit.ts';
import type { Principal } from '../../contract/call/principal.ts';
import type { ToolContext } from '../../contract/call/tool-context.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { auth } from './index.ts';

const OPTIONS = auth.optionsSchema.parse({});

function authAs(principal: Principal, now = 5_000) {
  return auth.create({
    authenticator: { authenticate: () => principal, recall: () => principal },
    clock: { now: () => now, wall: () => now, after: () => () => undefined },
  });
}

async function callWith(principal: Principal, context: ToolContext) {
  const { calls, next } = echoNext();
  const call = callOf({ request: requestOf({ context }), context, principal: undefined });
  const response = await outcomeOf(async () => through(authAs(principal), call, next, OPTIONS), call);
  return { response, inner: calls[0], call };
}

describe('auth', () => {
  it('binds tenant, agent and user of the call to the credential', async () => {
    const { inner, call } = await callWith(principalOf({ agents: ['front-desk'], userId: 'u1' }), {
      sessionId: 's',
    });
    expect(inner?.context).toMatchObject({
      tenantId: 'acme',
      agentId: 'front-desk',
      userId: 'u1',
      sessionId: 's',
    });
    expect(call.progress.caller?.principal.id).toBe('key00001');
  });

  it.each([
    ['tenant', { tenantId: 'other' }, 'TENANT_MISMATCH'],
    ['agent', { agentId: 'other' }, 'AGENT_MISMATCH'],
    ['user', { userId: 'other' }, 'USER_MISMATCH'],
  ])('refuses to speak for another %s', async (_what, context, reason) => {
    const principal = principalOf({ agents: ['front-desk'], userId: 'u1' });
    const { response, inner } = await callWith(principal, context);
    expect(response).toMatchObject({ ok: false, error: { type: 'PERMISSION_DENIED', reason } });
    expect(inner).toBeUndefined();
  });

  it("an orchestrator's key may speak for the agents it lists", async () => {
    const { inner } = await callWith(principalOf({ agents: ['a', 'b'] }), { agentId: 'b' });
    expect(inner?.context.agentId).toBe('b');
  });

  it('a credential without tools:call calls nothing', async () => {
    const { response } = await callWith(principalOf({ permissions: new Set(['tools:read']) }), {});
    expect(response).toMatchObject({
      ok: false,
      error: { type: 'PERMISSION_DENIED', reason: 'PERMISSION_MISSING' },
    });
  });

  it('a refused credential leaves no caller behind', async () => {
    const extension = auth.create({
      authenticator: {
        authenticate: () => {
          throw new ToolFailure('AUTH', 'The credential is not valid.');
        },
        recall: () => principalOf(),
      },
      clock: { now: () => 0, wall: () => 0, after: () => () => undefined },
    });
    const call = callOf({ principal: undefined });
    const response = await outcomeOf(async () => through(extension, call, echoNext().next, OPTIONS), call);
    expect(response).toMatchObject({ ok: false, error: { type: 'AUTH' } });
    expect(call.progress.caller).toBeUndefined();
  });

  it('one flooding credential is stopped within the second, another is not', async () => {
    const { next } = echoNext();
    let who = principalOf();
    const extension = auth.create({
      authenticator: { authenticate: () => who, recall: () => who },
      clock: { now: () => 5_250, wall: () => 5_250, after: () => () => undefined },
    });
    const run = () => outcomeOf(async () => through(extension, callOf(), next, { flood_rate: 2 }), callOf());
    await run();
    await run();
    expect(await run()).toMatchObject({
      ok: false,
      error: { type: 'RATE_LIMIT', reason: 'FLOOD', retryAfterMs: 750 },
    });
    who = principalOf({ id: 'key00002' });
    expect(await run()).toMatchObject({ ok: true });
  });

  it('a credential that has to be verified is waited for, and refused as it is', async () => {
    const clock = { now: () => 5_000, wall: () => 5_000, after: () => () => undefined };
    const told = async (verified: () => Promise<Principal>) => {
      const authenticator = { authenticate: verified, recall: () => principalOf() };
      const call = callOf({ principal: undefined });
      const extension = auth.create({ authenticator, clock });
      const { calls, next } = echoNext();
      const response = await outcomeOf(async () => through(extension, call, next, OPTIONS), call);
      return { response, seen: calls.map(({ context }) => context.tenantId) };
    };
    expect(await told(async () => principalOf())).toMatchObject({ response: { ok: true }, seen: ['acme'] });
    const refused = () => Promise.reject(new ToolFailure('AUTH', 'The credential is not valid.'));
    expect(await told(refused)).toMatchObject({ response: { ok: false, error: { type: 'AUTH' } }, seen: [] });
  });

  it('a call that cannot be read is told so where the tenant that it may have named is missing', async () => {
    const nameless = new ToolFailure('VALIDATION', 'None is named.', { reason: 'TENANT_REQUIRED' });
    const refusal = new ToolFailure('VALIDATION', 'No JSON.', { reason: 'SYNTAX' });
    for (const authenticate of [() => Promise.reject(nameless), () => thrown(nameless)]) {
      const extension = auth.create({
        authenticator: { authenticate, recall: () => principalOf() },
        clock: { now: () => 0, wall: () => 0, after: () => () => undefined },
      });
      for (const [request, reason] of [
        [requestOf(), 'TENANT_REQUIRED'],
        [requestOf({ refusal }), 'SYNTAX'],
      ] as const) {
        const call = callOf({ request, principal: undefined });
        const response = await outcomeOf(
          async () => through(extension, call, echoNext().next, OPTIONS),
          call,
        );
        expect(response).toMatchObject({ ok: false, error: { reason } });
      }
    }
  });
});

function thrown(error: Error): never {
  throw error;
}
