// Steps of a call: as the same caller, inside the parent's time and life, neither too deep nor too many.
import { describe, expect, it } from 'vitest';
import { callOf, functionOf, requestOf, compiledOf } from '../../test/helpers/call-kit.ts';
import { FakeClock } from '../../test/helpers/fake-clock.ts';
import type { ToolRequest } from '../contract/call/tool-call.ts';
import type { ToolResponse } from '../contract/call/tool-response.ts';
import { snapshotOf } from '../registry/tool-spec-registry.ts';
import { successOf } from './settle.ts';
import { StepCalls } from './nested-calls.ts';

function recorded(now = 1_000) {
  const clock = new FakeClock(now);
  const requests: ToolRequest[] = [];
  const steps = new StepCalls(clock);
  const answer: ToolResponse = successOf(callOf(), { data: 1 }, 100);
  steps.bind({ execute: async (request) => (requests.push(request), answer) });
  return { steps, requests };
}

describe('StepCalls', () => {
  it('a step is made as the same caller, with what is left of the time, on the same set of tools', async () => {
    const { steps, requests } = recorded(1_000);
    const parent = callOf({
      deadline: 4_000,
      context: {
        tenantId: 'acme',
        sessionId: 's',
        confirmationToken: 'secret',
        idempotencyKey: 'k',
        cursor: '1.x',
      },
    });
    await steps.run(parent, 'other', { a: 1 });
    expect(requests[0]).toMatchObject({
      tool: 'other',
      arguments: { a: 1 },
      context: { tenantId: 'acme', sessionId: 's' },
      credential: parent.request.credential,
      timeoutMs: 3_000,
      signal: parent.signal,
      parent: { callId: parent.id, depth: 1, snapshot: parent.snapshot },
    });
    expect(Object.keys(requests[0]?.context ?? {})).toEqual(['tenantId', 'sessionId']);
    expect(parent.progress.calledOthers).toBe(true);
  });

  it('steps inside steps end at a depth', async () => {
    const { steps, requests } = recorded();
    let parent = callOf();
    for (let depth = 0; depth < 9; depth += 1) {
      await steps.run(parent, 'again', {});
      parent = callOf({ request: requests.at(-1) ?? requestOf() });
    }
    expect(requests.map(({ refusal }) => refusal?.reason)).toEqual([
      ...Array.from({ length: 8 }, () => undefined),
      'STEPS_TOO_DEEP',
    ]);
  });

  it('all steps below one call share one budget', async () => {
    const { steps, requests } = recorded();
    const parent = callOf();
    await steps.run(parent, 'first', {});
    const below = callOf({ request: requests[0] ?? requestOf() });
    for (let count = 1; count < 500; count += 1) await steps.run(count % 2 ? parent : below, 'more', {});
    expect(requests.every(({ refusal }) => refusal === undefined)).toBe(true);
    await steps.run(below, 'one too many', {});
    expect(requests.at(-1)?.refusal).toMatchObject({ type: 'BUDGET_EXCEEDED', reason: 'TOO_MANY_STEPS' });
  });

  it('a call that has ended starts no further step', async () => {
    const { steps, requests } = recorded();
    await steps.run(callOf({ signal: AbortSignal.abort() }), 'late', {});
    expect(requests[0]?.refusal).toMatchObject({ type: 'CANCELLED' });
  });

  it('a tool of a document from elsewhere calls tools of that document and those listed, whatever type it is', async () => {
    const { steps, requests } = recorded();
    const origin = { source: 'http:a', mayCall: ['listed_*'] };
    const tools = [
      functionOf({ name: 'weather', origin }),
      functionOf({ name: 'sibling', origin: { ...origin, mayCall: [] } }),
      functionOf({ name: 'listed_one' }),
      functionOf({ name: 'crm_export' }),
      functionOf({ name: 'other_document', origin: { source: 'http:b', mayCall: ['*'] } }),
    ];
    const snapshot = snapshotOf(
      tools.map(({ spec }) => spec),
      tools.map(compiledOf),
    );
    const [weather, , local] = tools;
    if (weather === undefined || local === undefined) throw new Error('no tools');
    for (const { name } of tools) await steps.run(callOf({ snapshot, function: weather }), name, {});
    await steps.run(callOf({ snapshot, function: local }), 'weather', {});
    expect(requests.map(({ tool, refusal }) => [tool, refusal?.reason])).toEqual([
      ['weather', undefined],
      ['sibling', undefined],
      ['listed_one', undefined],
      ['crm_export', 'STEP_NOT_ALLOWED'],
      ['other_document', 'STEP_NOT_ALLOWED'],
      ['weather', undefined],
    ]);
    expect(requests[3]?.refusal).toMatchObject({ type: 'PERMISSION_DENIED' });
  });
});
