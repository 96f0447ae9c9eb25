// Accepted calls by REST: asked for in the caller's own name, with bodies and event ids read strictly.
import { describe, expect, it } from 'vitest';
import {
  namedPermissions,
  only,
  recordingReply,
  requestWith,
  recordedActs,
} from '../../../test/helpers/management-kit.ts';
import type { AsyncCalls } from '../../calls/async-calls.ts';
import type { StoredCall } from '../../ports/calls/call-store.ts';
import { AsyncCallsController } from './async-calls.controller.ts';

const CALL = {
  id: 'c1',
  status: 'queued',
  tool: 'send',
  createdAt: new Date(0),
  startedAt: null,
  finishedAt: null,
} as unknown as StoredCall;
const asked = (body?: unknown, headers = {}) => requestWith({ permissions: ['tools:call'], body, headers });

function controllerOf(calls: Partial<AsyncCalls>): AsyncCallsController {
  return new AsyncCallsController(
    only<AsyncCalls>({ envelopeOf: () => undefined, ...calls }),
    namedPermissions,
    recordedActs().acts,
  );
}

describe('a call that was accepted', () => {
  it('says when to ask again while it has not ended, and no more when it has', async () => {
    for (const [finishedAt, again] of [
      [null, '1'],
      [new Date(5), undefined],
    ] as const) {
      const { said, reply } = recordingReply();
      const controller = controllerOf({ get: () => Promise.resolve({ ...CALL, finishedAt }) });
      await controller.get(asked(), reply, 'c1');
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
    const { said, reply } = recordingReply();
    const questions: unknown[] = [];
    const controller = controllerOf({
      retry: (principal, id, { credential: _credential, ...wish }) => {
        questions.push([principal.id, id, wish]);
        return Promise.resolve({ ...CALL, id: 'c2' });
      },
    });
    await controller.retry(asked(body), reply, 'c1');
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
    await expect(controllerOf({}).retry(asked(body), recordingReply().reply, 'c1')).rejects.toMatchObject({
      type: 'VALIDATION',
    });
  });

  it.each(['-1', '1.5', 'x', '9999999999'])('is not followed from the event %s', async (id) => {
    const request = asked(undefined, { 'last-event-id': id });
    await expect(controllerOf({}).events(request, recordingReply().reply, 'c1')).rejects.toThrow(
      'Last-Event-ID',
    );
  });
});
