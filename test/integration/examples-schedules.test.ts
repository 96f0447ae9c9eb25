// examples/schedules: what its README shows.
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { lastRun, makeSchedule, type WireSchedule } from '../helpers/schedule-client.ts';

let gateway: RunningGateway;
let agent: RestTarget;

beforeAll(async () => {
  gateway = await startGateway({
    tools: [],
    settings: {
      schedules: { max_per_tenant: 100 },
      loaders: [
        { type: 'yaml-file', paths: [resolve('examples/schedules/tools.yaml')] },
        { type: 'pack', name: 'tasks' },
      ],
      executors: { schedules: { tools: { reminder: 'remind' } } },
    },
  });
  agent = targetOf(gateway, 'agent');
});

afterAll(() => gateway?.stop());

describe('the schedules example', () => {
  it('shows what a phrase means', async () => {
    const asked = { schedule: 'weekdays 6pm', time_zone: 'Europe/Berlin' };
    const { body } = await request<WireSchedule>(agent, 'POST', '/v1/schedules/preview', asked);
    expect(body).toMatchObject({ understood: { cron: '0 18 * * 1-5', time_zone: 'Europe/Berlin' } });
    expect(body.next_runs).toHaveLength(5);
  });

  it('reminds, and keeps what came of it as a call', async () => {
    const reminder = { tool: 'remind', arguments: { message: 'call mom' }, task_type: 'reminder' };
    const { status, body } = await makeSchedule(agent, { schedule: 'in 1s', ...reminder });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { task_type: 'reminder', next_runs: [body.next_run] },
    });
    const { call_id: id } = await lastRun(agent, body.id);
    const { body: call } = await request(agent, 'GET', `/v1/calls/${id}`);
    expect(call).toMatchObject({
      kind: 'scheduled',
      result: { ok: true, data: { reminded_of: 'call mom' } },
    });
  });

  it('has reminders of an agent call the tool that the operator names', async () => {
    const { body } = await callTool(agent, 'add_reminder', { delay: '1s', message: 'call mom' });
    const { task_id: id } = body.data as { task_id: string };
    await lastRun(agent, id);
    const results = await callTool(agent, 'get_task_results', { task_id: id });
    expect(results.body.data).toMatchObject({ results: [{ result: { reminded_of: 'call mom' } }] });
  });

  it('makes no schedule of what is dangerous without an approval', async () => {
    expect(await makeSchedule(agent, { schedule: 'daily 9am', tool: 'clear_drafts' })).toMatchObject({
      status: 202,
      body: { status: 'approval_required' },
    });
  });
});
