// examples/openapi: what its README shows.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { callTool, request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const FOLDER = resolve(import.meta.dirname, '../../examples/openapi');

let gateway: RunningGateway;
let agent: RestTarget;

beforeAll(async () => {
  const file = parse(readFileSync(`${FOLDER}/gateway.yaml`, 'utf8')) as {
    loaders: Record<string, unknown>[];
  };
  const [connections, api] = file.loaders;
  const loaders = [
    { ...connections, paths: [`${FOLDER}/connections.yaml`] },
    { ...api, document: `${FOLDER}/weather.openapi.yaml` },
  ];
  gateway = await startGateway({ tools: [], settings: { loaders } });
  agent = targetOf(gateway, 'agent');
});

afterAll(() => gateway?.stop());

it('the operation is a tool, and the one with another tag is none', async () => {
  const { body } = await request<{ tools: { name: string }[] }>(agent, 'GET', '/v1/tools');
  expect(body.tools.map(({ name }) => name)).toEqual(['weather_current']);
});

it('a call reaches the API', async () => {
  const { body } = await callTool(agent, 'weather_current', { city: 'Oslo', units: 'fahrenheit' });
  expect(body).toMatchObject({ ok: true, data: { city: 'Oslo', temperature: 39, units: 'fahrenheit' } });
});

it.each([{ city: '../admin' }, { city: 'Oslo', units: 'kelvin' }, { city: 'Oslo', admin: true }])(
  '%j is refused before anything is sent',
  async (args) => {
    const { status, body } = await callTool(agent, 'weather_current', args);
    expect([status, body.error?.type]).toEqual([400, 'VALIDATION']);
  },
);
