// examples/custom-extension: both extensions in a running gateway, in the order and with the effects that its README tells.
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool, request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const EXAMPLE = resolve(import.meta.dirname, '../../examples/custom-extension');
const TOOLS = ['config/tools.yaml'];
const settings = {
  custom_extensions: [{ path: `${EXAMPLE}/business-hours.ts` }, { path: `${EXAMPLE}/slow-calls.ts` }],
  // Closed at any time of the day.
  extensions: { 'business-hours': { tag: 'calendar', open: '00:00', close: '00:00' } },
  executors: { python: { module_paths: [resolve(import.meta.dirname, '../../tools/python')] } },
  demo: { upstream: true },
};

describe('the custom extensions of the example', () => {
  let gateway: RunningGateway;
  let agent: RestTarget;

  beforeAll(async () => {
    gateway = await startGateway({ tools: TOOLS, settings });
    agent = targetOf(gateway, 'agent');
  });

  afterAll(() => gateway?.stop());

  it('stand innermost, the one with the higher priority further out', async () => {
    const { body } = await request(targetOf(gateway, 'admin'), 'GET', '/v1/pipeline');
    const names = (body as { tool: { name: string }[] }).tool.map(({ name }) => name);
    expect(names.slice(-3)).toEqual(['admission', 'slow-calls', 'business-hours']);
  });

  it('refuse tools of the tag outside opening hours, and leave all others alone', async () => {
    const args = { time_min: '2026-01-30T00:00:00Z' };
    expect(await callTool(agent, 'calendar.list_events', args)).toMatchObject({
      status: 503,
      body: { error: { type: 'UNAVAILABLE', reason: 'OUTSIDE_BUSINESS_HOURS' } },
    });
    expect((await callTool(agent, 'calculate_sum', { a: 2, b: 3 })).body).toMatchObject({ ok: true });
  });

  it('have their options checked at the start', async () => {
    const wrong = { ...settings, extensions: { 'business-hours': { timezone: 'Europe/Berln' } } };
    await expect(startGateway({ tools: TOOLS, settings: wrong })).rejects.toThrow(
      'extensions.business-hours.timezone: must be an IANA time zone',
    );
  });
});
