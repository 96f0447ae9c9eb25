// Guessing credentials, through every door: so many are looked at from one address, and who is known there goes on.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grpcDoor, mcpDoor, restDoor, type Door } from '../helpers/doors.ts';
import { metricValue } from '../helpers/rest-client.ts';
import { StreamClient } from '../helpers/stream-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { ECHO_HANDLER, javascriptTool, removeDir, tempDir, writeTools } from '../helpers/temp-tools.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MOST = 5;
const dir = tempDir();
let gateway: RunningGateway;
let doors: Readonly<Record<string, Door>>;

beforeAll(async () => {
  writeFileSync(join(dir, 'echo.mjs'), ECHO_HANDLER);
  gateway = await startGateway({
    tools: [writeTools(dir, javascriptTool('echo', './echo.mjs'))],
    // The test is the proxy: it says whose address a request has.
    auth: {
      wrong_credentials: { per_address: MOST, within_s: 3_600 },
      trusted_proxies: ['127.0.0.0/8', '::1'],
    },
  });
  doors = {
    REST: restDoor(gateway),
    gRPC: grpcDoor(gateway),
    MCP: mcpDoor(gateway),
    'MCP of 2025': mcpDoor(gateway, 'legacy'),
  };
});

afterAll(async () => {
  for (const door of Object.values(doors ?? {})) door.close();
  await gateway?.stop();
  removeDir(dir);
});

const from = (address: string) => ({ 'x-forwarded-for': address });

describe.each([
  ['REST', '198.51.100.1', 401, 429],
  ['gRPC', '198.51.100.2', 16, 8],
  ['MCP', '198.51.100.3', 401, 429],
  ['MCP of 2025', '198.51.100.4', 401, 429],
] as const)('over %s', (name, address, unknown, limited) => {
  const call = (key: string, at: string = address) =>
    doors[name]!.call({ tool: 'echo', argumentsJson: '{}', key, beside: from(at) });

  it('wrong keys are refused unseen after so many, and everybody else goes on', async () => {
    const good = gateway.keys.agent.text;
    expect(await call(good)).toMatchObject({ ok: true });
    for (let guess = 0; guess < MOST; guess += 1)
      expect(await call(`ute_live_AAAAAAA${guess}_x_0`)).toMatchObject({ status: unknown, type: 'AUTH' });
    expect(await call('ute_live_AAAAAAAA_x_0')).toMatchObject({
      status: limited,
      type: 'RATE_LIMIT',
      reason: 'TOO_MANY_WRONG_CREDENTIALS',
    });
    // Not looked at: the answer does not tell that it is good.
    expect(await call(gateway.keys.admin.text)).toMatchObject({ status: limited, type: 'RATE_LIMIT' });
    expect(await call(good)).toMatchObject({ ok: true });
    expect(await call(gateway.keys.admin.text, '203.0.113.77')).toMatchObject({ ok: true });
  });
});

it('a credential in the first message of a stream is looked at as any other', async () => {
  const shown = async (token: string) => {
    const stream = await StreamClient.open({ url: gateway.url, headers: from('198.51.100.20') });
    stream.send({ type: 'start', token });
    const answer = await stream.next('error');
    stream.socket.terminate();
    return answer.error?.reason;
  };
  for (let guess = 0; guess < MOST; guess += 1)
    expect(await shown(`ute_live_CCCCCCC${guess}_x_0`)).toBe('CREDENTIAL_INVALID');
  expect(await shown(gateway.keys.agent.text)).toBe('TOO_MANY_WRONG_CREDENTIALS');
});

it.each([
  ['/v1/execute', '198.51.100.30', { calls: [{ tool: 'echo' }, { tool: 'echo' }] }],
  ['/v1/execute-text', '198.51.100.31', { text: 'echo' }],
  ['/v1/providers/openai/tool-calls', '198.51.100.32', { tool_calls: [] }],
])('a request of several calls is one guess: %s', async (path, address, body) => {
  const guess = () =>
    fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer ute_live_DDDDDDDD_x_0',
        ...from(address),
      },
      body: JSON.stringify(body),
    });
  for (let guesses = 0; guesses < MOST; guesses += 1) expect((await guess()).status).toBe(401);
  expect((await guess()).status).toBe(429);
});

it('the management side and the lists of tools take no guesses either, and say when to come again', async () => {
  const ask = (
    path: string,
    init: { headers?: Record<string, string>; method?: string; body?: string } = {},
  ) =>
    fetch(`${gateway.url}${path}`, {
      ...init,
      headers: { ...init.headers, authorization: 'Bearer ute_live_BBBBBBBB_x_0', ...from('198.51.100.9') },
    });
  const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const mcp = {
    method: 'POST',
    body: list,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  };
  for (let guess = 0; guess < MOST; guess += 1) expect((await ask('/v1/calls')).status).toBe(401);
  const answers = [await ask('/v1/calls'), await ask('/v1/tools'), await ask('/mcp', mcp)];
  for (const answer of answers) {
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.headers.get('www-authenticate')).toBeNull();
  }
  const { metricsUrl } = gateway.service;
  expect(await metricValue(metricsUrl, 'ute_wrong_credentials_total{outcome="limited"}')).toBeGreaterThan(2);
});
