// Webhooks that were given up, on the wire.
import { z } from 'zod';
import { pageShape, paging } from '../route/page.ts';
import { json, route } from '../route/route.ts';
import { named, shape, text, time } from '../route/shapes.ts';

const TAG = 'admin';

export const DeadWebhook = named('DeadWebhook', () =>
  z.object({
    id: text(),
    call_id: text(),
    url: text(),
    attempts: z.int().min(1),
    last_error: text(),
    created_at: time(),
    finished_at: time(),
  }),
);

const WebhookState = named('WebhookState', () => z.object({ id: text(), status: z.literal('pending') }));

export const listDeadWebhooks = route({
  operationId: 'listDeadWebhooks',
  method: 'get',
  path: '/v1/admin/webhooks/dead',
  tag: TAG,
  summary: 'Webhooks that were given up, newest first',
  query: shape(() => z.object(paging(/^[0-9a-f-]{36}$/))),
  answers: { 200: json('One page.', pageShape('DeadWebhookPage', 'webhooks', DeadWebhook)) },
  problems: [400],
});

export const redeliverWebhook = route({
  operationId: 'redeliverWebhook',
  method: 'post',
  path: '/v1/admin/webhooks/{id}/redeliver',
  tag: TAG,
  summary: 'Send a webhook again that was given up',
  params: { id: shape(() => z.string().max(256)) },
  answers: { 200: json('It is sent again.', WebhookState) },
  problems: [404],
});
