// examples/http-loader: what its README shows.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { callTool, metricValue, request, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';
import { eventually } from '../helpers/eventually.ts';

const FOLDER = resolve(import.meta.dirname, '../../examples/http-loader');
const KEY = 'a secret of sixteen bytes or more';

let dir: string;
let source: ChildProcess;
let gateway: RunningGateway;
let agent: RestTarget;

beforeAll(async () => {
  dir = tempDir();
  copyFileSync(join(FOLDER, 'tools.yaml'), join(dir, 'tools.yaml'));
  vi.stubEnv('TOOLS_SIGNING_KEY', KEY);
  source = spawn(process.execPath, [join(FOLDER, 'serve.js'), join(dir, 'tools.yaml'), '0'], {
    env: { TOOLS_SIGNING_KEY: KEY },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(source.stdout ?? source, 'data')) as [Buffer];
  const file = parse(readFileSync(`${FOLDER}/gateway.yaml`, 'utf8')) as {
    loaders: Record<string, unknown>[];
  };
  const [connections, remote] = file.loaders;
  const loaders = [
    { ...connections, paths: [`${FOLDER}/connections.yaml`] },
    { ...remote, url: line.toString().trim(), allow_ports: ['1024-65535'], interval: '1s' },
  ];
  gateway = await startGateway({ tools: [], settings: { loaders } });
  agent = targetOf(gateway, 'agent');
});

afterAll(async () => {
  source?.kill();
  await gateway?.stop();
  vi.unstubAllEnvs();
  removeDir(dir);
});

const described = async () =>
  (await request<{ tools: { name: string; description: string }[] }>(agent, 'GET', '/v1/tools')).body
    .tools[0];
const status = async () =>
  (
    await request<{ ok: boolean; problems: object[]; warnings: object[] }>(
      targetOf(gateway),
      'GET',
      '/v1/admin/reload',
    )
  ).body;
const change = (from: string, to: string) => {
  const path = join(dir, 'tools.yaml');
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
};

it('a call reaches the API through the connection of the gateway', async () => {
  const { body } = await callTool(agent, 'weather_of', { city: 'Oslo' });
  expect(body).toMatchObject({ ok: true, data: { city: 'Oslo' } });
});

it('a change of the document is in force soon', async () => {
  change('Tell the weather', 'Say the weather');
  await eventually(async () => expect((await described())?.description).toBe('Say the weather of a city'));
});

it('a reference to this machine refuses the document, with its line', async () => {
  change('/weather/{city}', '/weather/${env:HOME}');
  await eventually(async () => expect((await status()).problems).toMatchObject([{ line: 12 }]));
  expect((await callTool(agent, 'weather_of', { city: 'Oslo' })).body.ok).toBe(true);
  change('/weather/${env:HOME}', '/weather/{city}');
  await eventually(async () => expect((await status()).ok).toBe(true));
});

it('the tools stay when the source ends', async () => {
  source.kill();
  await eventually(async () => expect((await status()).warnings).toHaveLength(1));
  expect((await callTool(agent, 'weather_of', { city: 'Oslo' })).body.ok).toBe(true);
  const text = await (await fetch(gateway.service.metricsUrl)).text();
  expect(text).toMatch(/^ute_loader_source_stale\{.*loader="http".*\} 1$/m);
  expect(await metricValue(gateway.service.metricsUrl, 'ute_config_last_reload_successful')).toBe(1);
});
