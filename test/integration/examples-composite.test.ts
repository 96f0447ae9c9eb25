// examples/composite: what its README shows.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let gateway: RunningGateway;
let agent: RestTarget;

beforeAll(async () => {
  gateway = await startGateway({ tools: ['examples/composite/tools.yaml'] });
  agent = targetOf(gateway, 'agent');
});

afterAll(() => gateway?.stop());

describe('the composite example', () => {
  it('answers with the open parcels and the name', async () => {
    const { body } = await callTool(agent, 'where_is_my_order', { customer_id: 'c1' });
    expect(body).toMatchObject({
      ok: true,
      data: {
        name: 'Ada',
        open: 2,
        parcels: [
          { parcel: 'p1', place: 'Leipzig' },
          { parcel: 'p3', place: 'on the van' },
        ],
      },
    });
  });

  it('does without the profile and without parcels', async () => {
    const { body } = await callTool(agent, 'where_is_my_order', { customer_id: 'c2' });
    expect(body.data).toEqual({ name: 'customer', open: 0, parcels: null });
  });

  it('shows its steps in a dry run', async () => {
    const { body } = await request<{ data: { would: { steps: unknown[] } } }>(
      agent,
      'POST',
      '/v1/tools/where_is_my_order/execute',
      { arguments: { customer_id: 'c1' }, context: { dry_run: true } },
    );
    expect(body.data.would.steps).toMatchObject([
      { parallel: [{ id: 'who', arguments: { customer_id: 'c1' } }, { id: 'orders' }] },
      { id: 'parcels', for_each: { $: 'steps.orders[?open].parcel' }, arguments: { parcel: { $: 'item' } } },
    ]);
  });
});
