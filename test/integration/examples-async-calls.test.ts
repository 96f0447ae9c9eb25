// examples/async-calls: what its README shows.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptCall, callWhen, followEvents } from '../helpers/async-client.ts';
import { request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let gateway: RunningGateway;
let agent: RestTarget;

beforeAll(async () => {
  gateway = await startGateway({ tools: ['examples/async-calls/tools.yaml'] });
  agent = targetOf(gateway, 'agent');
});

afterAll(() => gateway?.stop());

describe('the example of asynchronous calls', () => {
  it('says how far it has come, and ends in the report', async () => {
    const answer = await acceptCall(agent, 'write_report', { month: '2026-10' });
    const { call_id: id } = answer.body.meta;
    expect(answer).toMatchObject({
      status: 202,
      body: { data: null, meta: { status: 'accepted', call_url: `/v1/calls/${id}` } },
    });
    const events = await followEvents(agent, id);
    expect(events).toMatchObject([
      { id: '1', event: 'progress', data: { fraction: 0.2, message: 'page 1 of 5' } },
      { id: '2' },
      { id: '3' },
      { id: '4' },
      { id: '5' },
      {
        id: '6',
        event: 'result',
        data: { ok: true, data: { month: '2026-10', url: 'https://reports.example/2026-10.pdf' } },
      },
    ]);
  });

  it('can be cancelled', async () => {
    const { body } = await acceptCall(agent, 'write_report', { month: '2026-10', pages: 100 });
    await request(agent, 'DELETE', body.meta.call_url ?? '');
    expect(await callWhen(agent, body.meta.call_id)).toMatchObject({ status: 'cancelled' });
  });
});
