// The two-tool example of the original design notes loads as it is written: one tool reads, the other deletes once a human agrees.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callTool, request, targetOf, type Envelope } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const EXAMPLE = join(import.meta.dirname, '../fixtures/seed-002/tools.yaml');

let dir: string;
let gateway: RunningGateway;

beforeAll(async () => {
  dir = tempDir();
  // It reads files of the whole machine: the operator has to allow that.
  const settings = { executors: { python: { sandbox: 'off' } } };
  gateway = await startGateway({ tools: [EXAMPLE], settings });
});

afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

it('file_reader reads a file', async () => {
  const path = join(dir, 'note.txt');
  writeFileSync(path, 'grüße\n');
  const { status, body } = await callTool(targetOf(gateway, 'agent'), 'file_reader', { path });
  expect(body).toMatchObject({ ok: true, data: 'grüße\n' });
  expect(status).toBe(200);
});

it('dangerous_delete waits for approval, then runs once, in a workspace that is empty', async () => {
  const agent = targetOf(gateway, 'agent');
  const asked = await callTool(agent, 'dangerous_delete', { path: 'note.txt' });
  expect(asked).toMatchObject({ status: 202, body: { error: { type: 'CONFIRMATION_REQUIRED' } } });
  const { approval_id: id, confirmation_token: token } = detailsOf(asked.body);
  const decided = await request(targetOf(gateway), 'POST', `/v1/approvals/${id}/decision`, {
    decision: 'approve',
  });
  expect(decided.status).toBe(200);
  const redeem = () =>
    request<Envelope>(agent, 'POST', '/v1/tools/dangerous_delete/execute', {
      arguments: { path: 'note.txt' },
      context: { confirmation_token: token },
    });
  expect((await redeem()).body.error).toMatchObject({
    type: 'PERMANENT',
    reason: 'EXIT_CODE',
    message: expect.stringMatching(/rm: cannot remove 'note\.txt': No such file or directory/),
  });
  expect((await redeem()).body.error).toMatchObject({ reason: 'APPROVAL_USED' });
});

it.each(['-rf', '--no-preserve-root'])(
  'dangerous_delete of %j is refused, even if a human agrees',
  async (path) => {
    const agent = targetOf(gateway, 'agent');
    const asked = await callTool(agent, 'dangerous_delete', { path });
    const { approval_id: id, confirmation_token: token } = detailsOf(asked.body);
    await request(targetOf(gateway), 'POST', `/v1/approvals/${id}/decision`, { decision: 'approve' });
    const { body } = await request<Envelope>(agent, 'POST', '/v1/tools/dangerous_delete/execute', {
      arguments: { path },
      context: { confirmation_token: token },
    });
    expect(body.error).toMatchObject({ type: 'VALIDATION', reason: 'UNSAFE_ARGUMENT' });
  },
);

function detailsOf({ error }: Envelope): Readonly<Record<string, string>> {
  return (error as { readonly details?: Readonly<Record<string, string>> } | undefined)?.details ?? {};
}
