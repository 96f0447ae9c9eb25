// examples/legacy: what its README shows.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendTo, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({ tools: ['examples/legacy/tools.yaml'] });
});

afterAll(() => gateway?.stop());

async function runTool(action: string, details: unknown) {
  const { url, key } = targetOf(gateway, 'agent');
  const response = await fetch(`${url}/v1/tools/google_calendar/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: { action, details } }),
  });
  return { headers: response.headers, body: await response.json() };
}

it('the legacy example: run_tool(name, action, details) runs the typed action and points to it', async () => {
  const made = await runTool('create_event', { title: 'Stand-up', start_time: '2026-01-30T09:00:00Z' });
  expect(made.body).toMatchObject({
    ok: true,
    data: { title: 'Stand-up', end: '2026-01-30T09:30:00.000Z' },
    meta: { tool: 'google_calendar.create_event', successor: 'google_calendar.create_event' },
  });
  expect(made.headers.get('deprecation')).toBe('@1767225600');
  expect(made.headers.get('link')).toContain('/v1/tools/google_calendar.create_event/execute');
  const listed = await runTool('list_events', '{"time_min": "2026-01-01T00:00:00Z"}');
  expect(listed.body).toMatchObject({ ok: true, data: { events: [{ title: 'Stand-up' }] } });
});

it('the legacy example: a path of its own is served, and the old one says where to go', async () => {
  const target = targetOf(gateway, 'agent');
  const old = await sendTo(target, 'GET', '/old_admin/notes/ann?limit=1');
  expect(old).toMatchObject({ status: 200, body: { customer: 'ann', notes: ['Prefers mornings.'] } });
  expect(old.headers.get('deprecation')).toBe('@1769040000');
  expect(old.headers.get('link')).toBe('</customers/ann/notes>; rel="successor-version"');
  const now = await sendTo(target, 'GET', '/customers/ann/notes');
  expect([now.status, now.headers.get('deprecation')]).toEqual([200, null]);
  expect((await sendTo(target, 'GET', '/customers/ann/notes?limit=many')).status).toBe(400);
});
