// `mcpServers` of READMEs and desktop programs, as connections.
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import type { JsonObject } from '../json/json-value.ts';
import { mcpConnectionSchema } from './mcp-connection.ts';
import { readMcpJson } from './mcp-json.ts';

const read = (entry: JsonObject, name = 'a') => readMcpJson({ mcpServers: { [name]: entry } });

it('a package and its arguments; what may be read is what is named and there', () => {
  const { servers } = read({ command: 'npx', args: ['-y', '@s/fs@1.2.3', tmpdir(), '/not/here', '--flag'] });
  expect(servers[0]).toMatchObject({
    name: 'a',
    connection: { package: 'npm:@s/fs@1.2.3', args: [tmpdir(), '/not/here', '--flag'], readable: [tmpdir()] },
    unpinned: [],
  });
  expect(mcpConnectionSchema.safeParse({ type: 'mcp', ...servers[0]?.connection }).success).toBe(true);
});

it('a package without a version is told apart, to be pinned to one that is found', () => {
  const { servers } = read({ command: 'uvx', args: ['mcp-server-x'] });
  expect(servers[0]?.unpinned).toEqual([
    { registry: 'pypi', name: 'mcp-server-x', extras: [], version: undefined },
  ]);
  const { servers: latest } = read({ command: 'npx', args: ['x@latest'] });
  expect(latest[0]?.connection).toMatchObject({ package: 'npm:x' });
});

it('secrets, and what stands for them, become references; switches stay', () => {
  const { servers } = read({
    command: 'node',
    args: ['x.js', '--dsn', '${input:db}'],
    env: { API_KEY: 'abc', MODE: 'fast', TOKEN: '${input:my-token}', WORKSPACE: '<your workspace>' },
  });
  expect(servers[0]).toMatchObject({
    connection: {
      command: 'node',
      args: ['x.js', '--dsn', '${env:DB}'],
      env: {
        API_KEY: '${env:API_KEY}',
        MODE: 'fast',
        TOKEN: '${env:MY_TOKEN}',
        WORKSPACE: '${env:WORKSPACE}',
      },
    },
    variables: ['API_KEY', 'MY_TOKEN', 'WORKSPACE', 'DB'],
  });
});

it('a server elsewhere, with its credentials as references', () => {
  const { servers } = read({
    type: 'http',
    url: 'https://mcp.example/mcp',
    headers: { Authorization: 'Bearer abc' },
  });
  expect(servers[0]?.connection).toEqual({
    url: 'https://mcp.example/mcp',
    headers: { Authorization: '${env:A_AUTHORIZATION}' },
  });
  const { servers: old } = read({ url: 'https://mcp.example/sse' });
  expect(old[0]?.notes.join()).toContain('transport of 2024');
});

it('names are made fit, each its own', () => {
  const { servers } = readMcpJson({
    servers: { 'my server!': { command: 'x' }, my_server: { command: 'y' } },
  });
  expect(servers.map(({ name }) => name)).toEqual(['my_server', 'my_server_2']);
});

it.each<[JsonObject, string]>([
  [{}, 'neither a command nor a url'],
  [{ command: 'x', args: 'y' }, 'not a list'],
  [{ url: 'nonsense' }, 'url is not one'],
])('%j is left out, with the reason', (entry, reason) => {
  expect(read(entry).leftOut[0]?.reason).toContain(reason);
});

it('anything else is refused', () => {
  expect(() => readMcpJson([])).toThrow('Expected an object with "mcpServers"');
});
