// An approval outlives every process: asked for, decided and used by gateways that were killed in between, with their database.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { ask, decide, runsIn } from '../helpers/approval-kit.ts';
import { acceptCall, acceptedId, callView, callWhen } from '../helpers/async-client.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { request, type Envelope, type RestTarget } from '../helpers/rest-client.ts';

const HANDLER = `import { appendFileSync } from 'node:fs';
export const execute = ({ note }) => appendFileSync(note, 'ran\\n');
`;
const HOLDER = 'export const execute = () => new Promise(() => undefined);\n';
const [agentKey, bossKey] = [createApiKey(), createApiKey()];
const keys = [
  { key: agentKey, roles: ['agent'], user: 'ann' },
  { key: bossKey, roles: ['admin'], user: 'boss' },
].map(({ key: { id, secretHash }, roles, user }) => ({
  id,
  secret_sha256: secretHash.toString('hex'),
  tenant: 'acme',
  roles,
  user,
}));

let dir: string;
let gateway: GatewayProcess | undefined;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ute-killed-'));
  writeFileSync(join(dir, 'act.js'), HANDLER);
  const tool = {
    name: 'act',
    description: 'Acts.',
    tool_type: 'javascript',
    input_schema: { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] },
    implementation_config: { handler: './act.js', trusted: true },
    metadata: { is_dangerous: true },
  };
  writeFileSync(join(dir, 'hold.js'), HOLDER);
  const hold = {
    ...tool,
    name: 'hold',
    implementation_config: { handler: './hold.js', trusted: true },
    metadata: { read_only: true },
  };
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools: [tool, hold] }));
});
afterEach(async () => {
  await gateway?.end();
  rmSync(dir, { recursive: true, force: true });
});

/** As it is after a power cut: the gateway is killed, and its database with it. */
async function restarted(): Promise<{ readonly agent: RestTarget; readonly boss: RestTarget }> {
  await gateway?.end();
  const loaders = [{ type: 'yaml-file', paths: [join(dir, 'tools.yaml')] }];
  gateway = new GatewayProcess(dir, configured(dir, { loaders, auth: { keys }, async: { concurrency: 1 } }));
  const { rest: url } = await gateway.ready();
  return { agent: { url, key: agentKey.text }, boss: { url, key: bossKey.text } };
}

it('asked for, approved and used across three kills, the call runs once', async () => {
  const note = join(dir, 'note');
  const asked = await ask((await restarted()).agent, 'act', { note });
  expect((await decide((await restarted()).boss, asked)).body.status).toBe('approved');
  const use = async ({ agent }: { readonly agent: RestTarget }) => {
    const body = { arguments: { note }, context: { confirmation_token: asked.token } };
    return (await request<Envelope>(agent, 'POST', '/v1/tools/act/execute', body)).body;
  };
  expect(await use(await restarted())).toMatchObject({ ok: true });
  expect(await use(await restarted())).toMatchObject({ error: { reason: 'APPROVAL_USED' } });
  expect(runsIn(note)).toEqual(['ran']);
});

it('a call that waits for its approval outlives the kills before it is approved, and before it runs, and runs once', async () => {
  const note = join(dir, 'waited');
  const { body } = await acceptCall((await restarted()).agent, 'act', { note });
  const { approval_id: id = '', call_id: call } = body.meta;
  const { agent, boss } = await restarted();
  // It has the only slot: the call cannot begin before the next kill.
  const holding = await acceptedId(agent, 'hold', { note });
  await callWhen(agent, holding, ({ status }) => status === 'running');
  expect((await decide(boss, { id, token: '' })).body.status).toBe('used');
  expect((await callView(agent, call)).status).toBe('queued');
  expect(runsIn(note)).toEqual([]);
  const again = await restarted();
  expect(await callWhen(again.agent, call)).toMatchObject({ status: 'succeeded', attempts: 1 });
  expect((await callView((await restarted()).agent, call)).status).toBe('succeeded');
  expect(runsIn(note)).toEqual(['ran']);
});
