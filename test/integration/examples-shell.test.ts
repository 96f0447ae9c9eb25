// examples/shell as its README tells it: commands, notes of a session, hostile arguments.
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { request, targetOf, type Envelope } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir } from '../helpers/temp-tools.ts';

let gateway: RunningGateway;
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ute-notes-'));
  chmodSync(dir, 0o755);
  const settings = { executors: { shell: { workspace_dir: join(dir, 'workspaces') } } };
  gateway = await startGateway({ tools: [resolve('examples/shell/tools.yaml')], settings });
});
afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

async function call(
  tool: string,
  args: unknown,
  who: 'agent' | 'other' = 'agent',
  sessionId = 's1',
): Promise<Envelope> {
  const body = { arguments: args, context: { session_id: sessionId } };
  return (await request<Envelope>(targetOf(gateway, who), 'POST', `/v1/tools/${tool}/execute`, body)).body;
}

it('commands get their arguments, and give back what they print', async () => {
  expect(await call('count_words', { text: 'to be or not to be\n' })).toMatchObject({
    ok: true,
    data: { stdout: expect.stringMatching(/1\s+6\s+19/) },
  });
  expect(await call('sort_table', { table: 'b,2\na,1\n' })).toMatchObject({
    ok: true,
    data: { stdout: 'a,1\nb,2\n' },
  });
});

it('notes are kept for the session, and found by nobody else', async () => {
  expect(await call('save_note', { name: 'plan.txt', text: 'buy milk\n' })).toMatchObject({ ok: true });
  expect(await call('find_in_notes', { text: 'milk' })).toMatchObject({
    data: { stdout: './plan.txt:1:buy milk\n' },
  });
  expect(await call('find_in_notes', { text: 'milk' }, 'agent', 's2')).toMatchObject({
    data: { exit_code: 1, stdout: '' },
  });
  expect(await call('find_in_notes', { text: 'milk' }, 'other')).toMatchObject({
    data: { exit_code: 1, stdout: '' },
  });
});

it('hostile arguments stay arguments', async () => {
  expect(await call('count_words', { text: '$(cat /etc/passwd); `id`' })).toMatchObject({
    ok: true,
    data: { stdout: expect.stringMatching(/0\s+3\s+24/) },
  });
  expect(await call('save_note', { name: '../../etc/cron.d/x', text: '…' })).toMatchObject({
    ok: false,
    error: { reason: 'UNSAFE_ARGUMENT' },
  });
  expect(await call('find_in_notes', { text: '--include=/etc/* -f' })).toMatchObject({
    ok: true,
    data: { exit_code: 1 },
  });
  expect(await call('delete_note', { name: 'plan.txt' })).toMatchObject({
    ok: false,
    error: { type: 'CONFIRMATION_REQUIRED' },
  });
});
