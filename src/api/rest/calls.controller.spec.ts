// The history by REST: filters are read strictly, the tenant is the credential's, and a resolution says how it was found out.
import { describe, expect, it } from 'vitest';
import { namedPermissions, only, requestWith, recordedActs } from '../../../test/helpers/management-kit.ts';
import type { CallHistory } from '../../ports/calls/call-history.ts';
import { CallsController } from './calls.controller.ts';

const reading = requestWith({ permissions: ['calls:read', 'audit:read'] });
const resolving = (body: unknown) => requestWith({ permissions: ['admin'], body });
const controllerOf = (history: Partial<CallHistory>) =>
  new CallsController(only(history), namedPermissions, recordedActs().acts);

describe('the list of calls', () => {
  it('asks for the tenant of the credential, with every filter that was given', async () => {
    const asked: unknown[] = [];
    const controller = controllerOf({
      calls: (...question) => {
        asked.push(question);
        return Promise.resolve({ rows: [], next: { at: 7, id: 'c' } });
      },
    });
    const token = Buffer.from('9.b').toString('base64url');
    const query = {
      tool: 'send',
      status: 'failed',
      from: '2026-01-01T00:00:00Z',
      page_size: '5',
      page_token: token,
    };
    const page = await controller.calls(reading, query);
    expect(asked).toEqual([
      [
        'acme',
        {
          filter: expect.objectContaining({ tool: 'send', status: 'failed', from: new Date('2026-01-01') }),
          limit: 5,
          after: { at: 9, id: 'b' },
        },
      ],
    ]);
    expect(page).toEqual({ calls: [], next_page_token: Buffer.from('7.c').toString('base64url') });
  });

  it.each([
    [{ status: 'lost' }, '/status'],
    [{ from: 'yesterday' }, '/from'],
    [{ tool: ['a', 'b'] }, '/tool'],
    [{ page_token: 'x' }, '/page_token'],
    [{ page_size: '0' }, '/page_size'],
  ])('%j is refused and asks for nothing', async (query, pointer) => {
    await expect(controllerOf({}).calls(reading, query)).rejects.toMatchObject({
      type: 'VALIDATION',
      details: { violations: [{ pointer }] },
    });
  });
});

it('an audit record of a kind that there is not is not asked for', async () => {
  await expect(controllerOf({}).audit(reading, { kind: 'secret' })).rejects.toThrow('/kind');
});

describe('a resolution', () => {
  it.each([
    ['[]', [], ''],
    ['no outcome', { comment: 'seen' }, '/outcome'],
    ['an outcome that is unknown still', { outcome: 'unknown', comment: 'seen' }, '/outcome'],
    ['no comment', { outcome: 'failed' }, '/comment'],
    ['an empty comment', { outcome: 'failed', comment: '  ' }, '/comment'],
    ['a comment too long', { outcome: 'failed', comment: 'x'.repeat(2001) }, '/comment'],
  ])('with %s is refused', async (_what, body, pointer) => {
    await expect(controllerOf({}).resolve(resolving(body), 'c')).rejects.toMatchObject({
      details: { violations: [{ pointer }] },
    });
  });

  const found = { outcome: 'failed', comment: 'seen' };

  it('of a call that the tenant does not have is NOT_FOUND', async () => {
    const controller = controllerOf({ resolve: () => Promise.resolve(undefined) });
    const missing = { type: 'NOT_FOUND', reason: 'CALL_NOT_FOUND' };
    await expect(controller.resolve(resolving(found), 'c')).rejects.toMatchObject(missing);
    await expect(controllerOf({}).resolve(resolving(found), 'c\0')).rejects.toMatchObject(missing);
  });

  it('of an outcome that is known is a CONFLICT that says which', async () => {
    const controller = controllerOf({
      resolve: () => Promise.resolve({ resolved: false, status: 'succeeded' }),
    });
    await expect(controller.resolve(resolving(found), 'c')).rejects.toMatchObject({
      type: 'CONFLICT',
      reason: 'OUTCOME_KNOWN',
      retryable: false,
      message: expect.stringContaining('succeeded'),
    });
  });

  it('is made in the name of the credential', async () => {
    let made: unknown;
    const controller = controllerOf({
      resolve: (_tenant, _id, resolution) => {
        made = resolution;
        return Promise.resolve({ resolved: false, status: 'failed' });
      },
    });
    await expect(controller.resolve(resolving(found), 'c')).rejects.toThrow('failed');
    expect(made).toEqual({ outcome: 'failed', comment: 'seen', by: 'op' });
  });
});
