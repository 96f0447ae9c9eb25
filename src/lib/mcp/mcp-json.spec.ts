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
    args: ['x.js', '--dsn', '${input:db}', '--verbose', '--port', '8080'],
    env: { API_KEY: 'abc', MODE: 'fast', TOKEN: '${input:my-token}', WORKSPACE: '<your workspace>' },
  });
  expect(servers[0]).toMatchObject({
    connection: {
      command: 'node',
      args: ['x.js', '--dsn', '${env:DB}', '--verbose', '--port', '8080'],
      env: {
        API_KEY: '${env:A_API_KEY}',
        MODE: 'fast',
        TOKEN: '${env:MY_TOKEN}',
        WORKSPACE: '${env:A_WORKSPACE}',
      },
    },
    secrets: [
      { variable: 'A_API_KEY', place: 'env API_KEY' },
      { variable: 'MY_TOKEN', place: 'input my-token' },
      { variable: 'A_WORKSPACE', place: 'env WORKSPACE' },
      { variable: 'DB', place: 'input db' },
    ],
  });
});

it('two servers with a variable of one name keep a value each; what both refer to is one', () => {
  const { servers } = readMcpJson({
    mcpServers: {
      one: { command: 'x', env: { API_KEY: 'first', SHARED_KEY: '${input:shared}', ONE: '${TWO_API_KEY}' } },
      two: { command: 'y', env: { API_KEY: 'second', SHARED_KEY: '${input:shared}' } },
      'a-b': { command: 'z', env: { C_KEY: 'third' } },
      a: { command: 'z', env: { B_C_KEY: 'fourth' } },
    },
  });
  const env = servers.map(({ connection }) => connection['env']);
  expect(env).toEqual([
    { API_KEY: '${env:ONE_API_KEY}', SHARED_KEY: '${env:SHARED}', ONE: '${env:TWO_API_KEY}' },
    { API_KEY: '${env:TWO_API_KEY_2}', SHARED_KEY: '${env:SHARED}' },
    { C_KEY: '${env:A_B_C_KEY}' },
    { B_C_KEY: '${env:A_B_C_KEY_2}' },
  ]);
});

it.each<[readonly string[], readonly string[]]>([
  [['--token=abc'], ['--token=${env:A_TOKEN}']],
  [
    ['--api-key', 'abc', '/srv/data'],
    ['--api-key', '${env:A_API_KEY}', '/srv/data'],
  ],
  [
    ['--header', 'Authorization: Bearer abc'],
    ['--header', 'Authorization: Bearer ${env:A_AUTHORIZATION}'],
  ],
  [
    ['--header', 'Authorization:${AUTH}'],
    ['--header', 'Authorization:${env:AUTH}'],
  ],
  [
    ['-e', 'GITHUB_TOKEN=abc', '-e', 'MODE=fast'],
    ['-e', 'GITHUB_TOKEN=${env:A_GITHUB_TOKEN}', '-e', 'MODE=fast'],
  ],
  [['postgres://user:pass@db.example/app'], ['${env:A_ARGUMENT}']],
  [['https://mcp.example/mcp?api_key=abc'], ['${env:A_ARGUMENT}']],
  [['{"apiKey":"abc"}'], ['${env:A_ARGUMENT}']],
  [['host=db password=abc'], ['host=${env:A_HOST}']],
  [
    ['--user', 'me:abc'],
    ['--user', '${env:A_USER}'],
  ],
  [['sk-abc123def'], ['${env:A_ARGUMENT}']],
])('of the arguments %j a secret leaves a reference', (args, expected) => {
  const { servers } = read({ command: 'node', args: [...args] });

  expect(servers[0]?.connection['args']).toEqual(expected);
});

it.each<[readonly string[]]>([
  [['--experimental-vm-modules', 'server.js', '--max-tokens', '4096', '--auth', 'false']],
  [['https://mcp.example/mcp', '--transport', 'streamable-http-transport']],
  [['/srv/a-long-name-of-2026-for-a-folder/data', '--key-file', './key.pem']],
])('the arguments %j hold none and stay', (args) => {
  const { servers } = read({ command: 'node', args: [...args] });
  expect(servers[0]).toMatchObject({ connection: { args }, secrets: [] });
});

it('a server elsewhere, with its credentials as references', () => {
  const { servers } = read({
    type: 'http',
    url: 'https://me:pw@mcp.example/mcp?team=1&key=abc%20d',
    headers: { 'X-Key': 'Token abc', Accept: 'x/y' },
  });
  expect(servers[0]).toMatchObject({
    connection: {
      url: 'https://mcp.example/mcp?team=1&key=${env:A_KEY}',
      headers: { 'X-Key': 'Token ${env:A_X_KEY}', Accept: 'x/y', Authorization: '${env:A_AUTHORIZATION}' },
    },
    secrets: [{ variable: 'A_X_KEY' }, { variable: 'A_AUTHORIZATION' }, { variable: 'A_KEY' }],
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
  [{ command: 'uvx', args: ['--python', '3.12', 'name'] }, 'give its exact version, such as name==1.2.3'],
  [{ command: 'npx', args: ['-c', 'name'] }, 'cannot be told'],
])('%j is left out, with the reason', (entry, reason) => {
  expect(read(entry).leftOut[0]?.reason).toContain(reason);
});

it('anything else is refused', () => {
  expect(() => readMcpJson([])).toThrow('Expected an object with "mcpServers"');
});
