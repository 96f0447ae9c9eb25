// Accepted calls by REST: asked for in the caller's own name, with bodies and event ids read strictly.
import { describe, expect, it } from 'vitest';
import { ask, only } from '../../../../test/helpers/management-kit.ts';
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import type { StoredCall } from '../../../ports/calls/call-store.ts';
import { CallsController } from './controller.ts';
import { followCall, getCall, retryCall } from './schema.ts';

const CALL = {
  id: 'c1',
  status: 'queued',
  tool: 'send',
  createdAt: new Date(0),
  startedAt: null,
  finishedAt: null,
} as unknown as StoredCall;
const params = { id: 'c1' };

function controllerOf(calls: Partial<AsyncCalls>): CallsController {
  return new CallsController(only(), only<AsyncCalls>({ envelopeOf: () => undefined, ...calls }));
}

describe('a call that was accepted', () => {
  it('says when to ask again while it has not ended, and no more when it has', async () => {
    for (const [finishedAt, again] of [
      [null, '1'],
      [new Date(5), undefined],
    ] as const) {
      const controller = controllerOf({ get: () => Promise.resolve({ ...CALL, finishedAt }) });
      const said = await ask(controller, getCall, { params });
      expect(said.headers.get('retry-after')).toBe(again);
      expect(said.headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
  });

  it.each([
    [undefined, { force: false }],
    [{}, { force: false }],
    [{ force: true }, { force: true }],
    [{ confirmation_token: 't' }, { force: false, confirmationToken: 't' }],
  ])('is run again as %j says, and where it stands is told', async (body, wished) => {
    const questions: unknown[] = [];
    const controller = controllerOf({
      retry: (principal, id, { credential: _credential, ...wish }) => {
        questions.push([principal.id, id, wish]);
        return Promise.resolve({ ...CALL, id: 'c2' });
      },
    });
    const said = await ask(controller, retryCall, { params, body });
    expect(questions).toEqual([['op', 'c1', { door: 'rest', ...wished }]]);
    expect(said.headers.get('location')).toBe('/v1/calls/c2');
  });

  it.each([
    [[]],
    [{ force: 'yes' }],
    [{ force: null }],
    [{ confirmation_token: '' }],
    [{ confirmation_token: 1 }],
  ])('is not run again for %j', async (body) => {
    await expect(ask(controllerOf({}), retryCall, { params, body })).rejects.toMatchObject({
      type: 'VALIDATION',
    });
  });

  it.each(['-1', '1.5', 'x', '9999999999'])('is not followed from the event %s', async (id) => {
    const headers = { 'last-event-id': id };
    await expect(ask(controllerOf({}), followCall, { params, headers })).rejects.toThrow('Last-Event-ID');
  });
});
