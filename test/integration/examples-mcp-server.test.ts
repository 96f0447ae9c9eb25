// examples/mcp-server: what its README shows.
import { chmodSync, cpSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { NODE_MODULES } from '../helpers/mcp-kit.ts';
import { callTool, request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const FOLDER = resolve(import.meta.dirname, '../../examples/mcp-server');

let gateway: RunningGateway;
let dir: string;

beforeAll(async () => {
  dir = tempDir();
  // Started by root, the server is somebody else in the sandbox.
  chmodSync(dir, 0o755);
  cpSync(FOLDER, dir, { recursive: true });
  const { loaders } = parse(readFileSync(join(FOLDER, 'gateway.yaml'), 'utf8')) as {
    loaders: { args: string[] }[];
  };
  const [server] = loaders;
  // The repository may be somewhere that must not be written to: the example runs in a copy of its folder.
  const [program = '', ...args] = server?.args ?? [];
  const moved = {
    ...server,
    command: process.execPath,
    args: [resolve(FOLDER, program), ...args],
    cwd: dir,
    readable: [NODE_MODULES],
    writable: [join(dir, 'notes')],
  };
  gateway = await startGateway({ tools: [], settings: { loaders: [moved] } });
});

afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

it('the three tools are there, with the risk that the server and the operator tell', async () => {
  const { body } = await request<{ tools: object[] }>(targetOf(gateway, 'agent'), 'GET', '/v1/tools');
  expect(body.tools).toMatchObject([
    { name: 'notes.list_directory', read_only: true, risk_level: 'low' },
    { name: 'notes.read_text_file', read_only: true, risk_level: 'low' },
    { name: 'notes.write_file', read_only: false, risk_level: 'high' },
  ]);
});

it('a note is read, a write waits for an approval, and what is outside the folder stays unread', async () => {
  const agent = targetOf(gateway, 'agent');
  const note = await callTool(agent, 'notes.read_text_file', { path: 'shopping.txt' });
  expect(note.body).toMatchObject({ ok: true, data: { content: 'Buy milk.\n' } });
  const write = await callTool(agent, 'notes.write_file', { path: 'new.txt', content: 'x' });
  expect([write.status, write.body.error?.type]).toEqual([202, 'CONFIRMATION_REQUIRED']);
  const outside = await callTool(agent, 'notes.read_text_file', { path: '/etc/passwd' });
  expect(outside.body.ok).toBe(false);
  expect(JSON.stringify(outside.body)).not.toContain('root:');
});

it('the definitions are shown as agreed to at the first start', async () => {
  const admin = targetOf(gateway, 'admin');
  const { body } = await request<{ definitions: object[] }>(admin, 'GET', '/v1/admin/definitions');
  expect(body.definitions).toHaveLength(3);
  expect(body.definitions[0]).toMatchObject({ state: 'pinned', pinned_by: 'first use', changes: [] });
});

it('keeps its data where its README says, inside the repository', () => {
  const root = resolve(FOLDER, '../..');
  const settings = loadSettings({ UTE_CONFIG: 'examples/mcp-server/gateway.yaml' }, root);
  expect(settings.data_dir).toBe(join(root, 'data/mcp-server-example'));
});
