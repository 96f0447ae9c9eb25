// /mcp/{toolset}: what a client finds there, for whom it is there at all, and that it hears of changes.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let gateway: RunningGateway;
const clients: Client[] = [];

beforeAll(async () => {
  const sums = { name: 'add', description: 'Adds 40 to a number.', fixed: { a: 40 } };
  gateway = await startGateway({
    tools: ['config/tools.yaml'],
    settings: {
      toolsets: {
        sums: {
          tenants: ['acme'],
          include: { tools: ['calculate_sum'] },
          overrides: { calculate_sum: sums },
        },
        wide: { listing: 'search' },
      },
    },
  });
});

afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await gateway?.stop();
});

async function connect(toolset: string, key = gateway.keys.agent.text): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  clients.push(client);
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const url = new URL(`${gateway.url}/mcp/${toolset}`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  return client;
}

it('a client of a toolset lists its tools and calls them by the names that they have there', async () => {
  const client = await connect('sums');
  const { tools } = await client.listTools();
  expect(tools.map(({ name, description }) => [name, description])).toEqual([
    ['add', 'Adds 40 to a number.'],
  ]);
  expect((await client.callTool({ name: 'add', arguments: { b: 2 } })).content).toEqual([
    { type: 'text', text: '42' },
  ]);
  const refused = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
  expect(refused.isError).toBe(true);
  await expect(client.callTool({ name: 'calculate_sum', arguments: { a: 1, b: 2 } })).rejects.toThrow(
    'no tool of this name',
  );
});

it('a toolset that is searched offers three tools, and a call through them', async () => {
  const client = await connect('wide');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['call_tool', 'describe_tools', 'search_tools']);
  const found = await client.callTool({
    name: 'search_tools',
    arguments: { query: 'add two numbers', limit: 1 },
  });
  expect(JSON.stringify(found.content)).toContain('calculate_sum');
  const args = { name: 'calculate_sum', arguments: { a: 1, b: 2 } };
  expect((await client.callTool({ name: 'call_tool', arguments: args })).content).toEqual([
    { type: 'text', text: '3' },
  ]);
});

it('one of another tenant, and one that there is not, are not there', async () => {
  await expect(connect('sums', gateway.keys.other.text)).rejects.toThrow('no toolset of this name');
  await expect(connect('nothing')).rejects.toThrow('no toolset of this name');
  const headers = { authorization: `Bearer ${gateway.keys.other.text}`, accept: 'text/event-stream' };
  expect((await fetch(`${gateway.url}/mcp/sums`, { headers })).status).toBe(404);
});

it('a listener hears of a change of the toolsets', async () => {
  const headers = { authorization: `Bearer ${gateway.keys.agent.text}`, accept: 'text/event-stream' };
  const ended = new AbortController();
  const response = await fetch(`${gateway.url}/mcp/sums`, { headers, signal: ended.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const file = join(gateway.dir, 'gateway.yaml');
  const settings = parse(readFileSync(file, 'utf8')) as { toolsets: Record<string, object> };
  writeFileSync(file, stringify({ ...settings, toolsets: { ...settings.toolsets, more: {} } }));
  let heard = '';
  await vi.waitFor(
    async () => {
      heard += (await reader?.read())?.value ?? '';
      expect(heard).toContain('notifications/tools/list_changed');
    },
    { timeout: 15_000 },
  );
  ended.abort();
});
