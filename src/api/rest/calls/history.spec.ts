// The history by REST: filters are read strictly, the tenant is the credential's, and a resolution says how it was found out.
import { describe, expect, it } from 'vitest';
import { ask, only } from '../../../../test/helpers/management-kit.ts';
import type { CallHistory } from '../../../ports/calls/call-history.ts';
import { AuditController } from '../audit/controller.ts';
import { listAuditRecords } from '../audit/schema.ts';
import { CallsController } from './controller.ts';
import { listCalls, resolveCall } from './schema.ts';

const controllerOf = (history: Partial<CallHistory>) => new CallsController(only(history), only());
const resolve = (controller: CallsController, body: unknown, id = 'c') =>
  ask(controller, resolveCall, { params: { id }, body });

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
    const { body: page } = await ask(controller, listCalls, { query });
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
    await expect(ask(controllerOf({}), listCalls, { query })).rejects.toMatchObject({
      type: 'VALIDATION',
      details: { violations: [{ pointer }] },
    });
  });
});

it('an audit record of a kind that there is not is not asked for', async () => {
  await expect(
    ask(new AuditController(only()), listAuditRecords, { query: { kind: 'secret' } }),
  ).rejects.toThrow('/kind');
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
    await expect(resolve(controllerOf({}), body)).rejects.toMatchObject({
      details: { violations: [{ pointer }] },
    });
  });

  const found = { outcome: 'failed', comment: 'seen' };

  it('of a call that the tenant does not have is NOT_FOUND', async () => {
    const controller = controllerOf({ resolve: () => Promise.resolve(undefined) });
    const missing = { type: 'NOT_FOUND', reason: 'CALL_NOT_FOUND' };
    await expect(resolve(controller, found)).rejects.toMatchObject(missing);
    await expect(resolve(controllerOf({}), found, 'c\0')).rejects.toMatchObject(missing);
  });

  it('of an outcome that is known is a CONFLICT that says which', async () => {
    const controller = controllerOf({
      resolve: () => Promise.resolve({ resolved: false, status: 'succeeded' }),
    });
    await expect(resolve(controller, found)).rejects.toMatchObject({
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
    await expect(resolve(controller, found)).rejects.toThrow('failed');
    expect(made).toEqual({ outcome: 'failed', comment: 'seen', by: 'op' });
  });
});
