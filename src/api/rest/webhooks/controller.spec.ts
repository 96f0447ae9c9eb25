// Webhooks that were given up: paged by id, and sent again in the operator's name.
import { expect, it } from 'vitest';
import { ask, only } from '../../../../test/helpers/management-kit.ts';
import type { AsyncCalls } from '../../../calls/async-calls.ts';
import type { DeadWebhook } from '../../../ports/calls/webhook-store.ts';
import { WebhooksController } from './controller.ts';
import { tokenOf } from '../route/page.ts';
import { listDeadWebhooks, redeliverWebhook } from './schema.ts';

const DEAD: DeadWebhook = {
  id: '00000000-0000-4000-8000-000000000001',
  callId: 'c1',
  url: 'https://example.com/hook',
  attempts: 3,
  lastError: 'HTTP 500',
  createdAt: new Date(0),
  finishedAt: new Date(1),
};
const controllerOf = (calls: Partial<AsyncCalls>) => new WebhooksController(only<AsyncCalls>(calls));

it('a full page names the next, a shorter one is the last', async () => {
  const controller = controllerOf({ dead: () => Promise.resolve([DEAD]) });
  expect((await ask(controller, listDeadWebhooks, { query: { page_size: '1' } })).body).toMatchObject({
    webhooks: [{ id: DEAD.id, call_id: 'c1', last_error: 'HTTP 500' }],
    next_page_token: tokenOf(DEAD.id),
  });
  expect((await ask(controller, listDeadWebhooks, { query: { page_size: '2' } })).body).toMatchObject({
    next_page_token: '',
  });
});

it.each(['', 'x', DEAD.id, tokenOf("' OR 1=1"), tokenOf(`${DEAD.id}0`)])(
  'the token %j is refused and asks for nothing',
  async (token) => {
    const query = { page_size: '1', page_token: token };
    await expect(ask(controllerOf({}), listDeadWebhooks, { query })).rejects.toThrow('/page_token');
  },
);

it('one is sent again in the name of the credential', async () => {
  const asked: unknown[] = [];
  const controller = controllerOf({
    redrive: (principal, id) => {
      asked.push([principal.id, id]);
      return Promise.resolve();
    },
  });
  expect((await ask(controller, redeliverWebhook, { params: { id: DEAD.id } })).body).toEqual({
    id: DEAD.id,
    status: 'pending',
  });
  expect(asked).toEqual([['op', DEAD.id]]);
});
