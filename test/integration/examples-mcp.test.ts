// examples/mcp as its README tells it: a server in the sandbox, its tools, and a title that leads out of its folder.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { callTool, targetOf, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const folder = mkdtempSync(join(tmpdir(), 'ute-notes-'));
let gateway: RunningGateway;
let agent: RestTarget;

beforeAll(async () => {
  // As root, the sandbox's user is another one.
  chmodSync(folder, 0o777);
  vi.stubEnv('NOTES_FOLDER', folder);
  gateway = await startGateway({ tools: [resolve('examples/mcp/tools.yaml')] });
  agent = targetOf(gateway, 'agent');
});
afterAll(async () => {
  await gateway?.stop();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

it('writes, lists and reads notes', async () => {
  const written = await callTool(agent, 'notes.write', { title: 'milk', text: 'two litres' });
  expect(written.body).toMatchObject({
    ok: true,
    data: { content: [{ type: 'text', text: 'Noted under milk.' }] },
  });
  expect((await callTool(agent, 'notes.list')).body).toMatchObject({ ok: true, data: { titles: ['milk'] } });
  expect((await callTool(agent, 'notes.read', { title: 'milk' })).body).toMatchObject({
    data: { content: [{ type: 'text', text: 'two litres' }] },
  });
});

it('a title that leads out of the folder finds nothing there', async () => {
  const { body } = await callTool(agent, 'notes.read', { title: '../../etc/hostname' });
  expect(body).toMatchObject({
    ok: false,
    error: { type: 'PERMANENT', reason: 'TOOL_ERROR', origin: 'tool' },
  });
  expect(body.error?.message).toContain('ENOENT');
});
