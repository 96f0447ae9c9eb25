// The example "http": its tools in a whole gateway, with its own order service.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callTool, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

interface OrderService {
  readonly url: string;
  close(): Promise<void>;
}

const SECRET = 'example-client-secret';
const VARIABLES = ['ORDERS_URL', 'ORDERS_CLIENT_SECRET'];

let service: OrderService;
let gateway: RunningGateway;
let agent: RestTarget;

beforeAll(async () => {
  const { href } = new URL('../../examples/http/upstream.js', import.meta.url);
  const { startOrderService } = (await import(href)) as { startOrderService: () => Promise<OrderService> };
  service = await startOrderService();
  Object.assign(process.env, { ORDERS_URL: service.url, ORDERS_CLIENT_SECRET: SECRET });
  gateway = await startGateway({ tools: ['examples/http/tools.yaml'] });
  agent = targetOf(gateway, 'agent');
});

afterAll(async () => {
  await gateway?.stop();
  await service?.close();
  for (const name of VARIABLES) delete process.env[name];
});

it('list_orders selects a part of the answer', async () => {
  const { body } = await callTool(agent, 'list_orders', { customer: 'ada', states: ['open'] });
  expect(body).toMatchObject({ ok: true, data: [{ id: 1, state: 'open', items: 2 }] });
  const all = await callTool(agent, 'list_orders', { customer: 'ada' });
  expect(all.body.data).toHaveLength(2);
});

it('show_raw_orders shows no token', async () => {
  const { body } = await callTool(agent, 'show_raw_orders', { customer: 'bob' });
  expect(body).toMatchObject({ ok: true, data: { debug: { authorization: 'Bearer [secret]' } } });
});

it('read_own_metrics is denied', async () => {
  const { status, body } = await callTool(agent, 'read_own_metrics');
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { ok: false, error: { type: 'PERMANENT', reason: 'EGRESS_DENIED', partial_side_effects: false } },
  });
  expect(JSON.stringify(body)).not.toContain('127.0.0.1');
});
