// examples/python-module: what its README shows.
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callTool, request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const FOLDER = resolve(import.meta.dirname, '../../examples/python-module');

let gateway: RunningGateway;
let agent: RestTarget;

beforeAll(async () => {
  // Machines without a sandbox run the tests too; the loader's own tests have one where there is.
  const loaders = [{ type: 'python-module', paths: [FOLDER], modules: ['shop_tools'], sandbox: 'off' }];
  gateway = await startGateway({
    tools: [],
    settings: { loaders, executors: { python: { sandbox: 'off' } } },
  });
  agent = targetOf(gateway, 'admin');
});

afterAll(() => gateway?.stop());

it('both functions are tools, with what their hints and docstrings say', async () => {
  const { body } = await request<Record<string, unknown>>(agent, 'GET', '/v1/tools/shipping_quote');
  expect(body).toMatchObject({
    name: 'shipping_quote',
    description: 'Says what shipping costs and when it arrives.',
    input_schema: {
      properties: {
        parcels: {
          type: 'array',
          description: 'What is to be sent, at most ten.',
          items: { properties: { weight_kg: { type: 'number', exclusiveMinimum: 0, maximum: 30 } } },
        },
        ship_on: { type: 'string', format: 'date' },
        speed: { enum: ['standard', 'express'] },
      },
      required: ['parcels', 'ship_on'],
    },
  });
});

it('a call reaches the function with a date, an enum and dataclasses', async () => {
  const args = { parcels: [{ weight_kg: 2 }], ship_on: '2026-12-01', speed: 'express' };
  const { body } = await callTool(agent, 'shipping_quote', args);
  expect(body).toMatchObject({ ok: true, data: { price: 13.5, arrives_by: '2026-12-02' } });
  const fragile = { parcels: [{ weight_kg: 2, fragile: true }], ship_on: '2026-12-01' };
  expect((await callTool(agent, 'shipping_quote', fragile)).body.data).toMatchObject({ price: 7.9 });
});

it('the context is the gateway’s, and no argument', async () => {
  const { body } = await callTool(agent, 'cancel_order', { order_id: 'A1234' });
  expect(body).toMatchObject({ ok: true, data: 'A1234 was cancelled for acme' });
  const forged = await callTool(agent, 'cancel_order', {
    order_id: 'A1234',
    context: { tenant_id: 'umbrella' },
  });
  expect(forged.body.error?.type).toBe('VALIDATION');
});

it('a parcel that is too heavy is refused before Python is asked', async () => {
  const { body } = await callTool(agent, 'shipping_quote', {
    parcels: [{ weight_kg: 31 }],
    ship_on: '2026-12-01',
  });
  expect(body.error?.type).toBe('VALIDATION');
});
