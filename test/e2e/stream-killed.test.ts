// A gateway that is killed in the middle of a call of a stream: its client is told what is known, and the session goes on.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { sharedStores, type Stores } from '../helpers/stores.ts';
import { StreamClient } from '../helpers/stream-client.ts';
import { removeDir } from '../helpers/temp-tools.ts';

const TOOLS = resolve(import.meta.dirname, '../fixtures/stream/tools.yaml');
const { text: key, id, secretHash } = createApiKey();

let stores: Stores;
const dirs: string[] = [];
const processes: GatewayProcess[] = [];

beforeAll(async () => {
  stores = await sharedStores();
});

afterAll(async () => {
  await Promise.all(processes.map((each) => each.end()));
  await stores?.stop();
  for (const dir of dirs) removeDir(dir);
});

async function started() {
  const dir = mkdtempSync(join(tmpdir(), 'ute-stream-'));
  dirs.push(dir);
  const env = configured(dir, {
    ...stores.settings,
    auth: { keys: [{ id, secret_sha256: secretHash.toString('hex'), tenant: 'acme', roles: ['admin'] }] },
    loaders: [{ type: 'yaml-file', paths: [TOOLS] }],
    limits: { shed_at_lag_ms: 60_000 },
  });
  const gateway = new GatewayProcess(dir, env);
  processes.push(gateway);
  const { rest: url } = await gateway.ready(120_000);
  return { gateway, url };
}

it('is told that its stream is gone, and goes on with the session, its turns and its budgets', async () => {
  const [one, two] = [await started(), await started()];
  const stream = await StreamClient.start({ url: one.url, key }, { user_id: 'ann' });
  const session = stream.started['session'] as { id: string };
  stream.send({ type: 'turn_start' });
  stream.send({ type: 'turn_start' });
  await stream.nextWhere(({ turn_id: turn }) => turn === '2');
  stream.send({ type: 'tool_call', id: 'a', tool_name: 'wait' });
  await stream.next('tool_started');
  one.gateway.signal('SIGKILL');
  expect(await stream.closed).toMatchObject({ code: 1006 });

  const lost = await StreamClient.open({ url: two.url, key });
  lost.send({ type: 'resume', resume_token: stream.started['resume_token'], last_seq: stream.lastSeq });
  expect((await lost.next('error')).error).toMatchObject({ type: 'NOT_FOUND', reason: 'STREAM_NOT_FOUND' });

  const again = await StreamClient.start({ url: two.url, key }, { session_id: session.id });
  expect(again.started['session']).toMatchObject({ id: session.id, turn_id: '2', user_id: 'ann' });
  expect(await again.call('who')).toMatchObject({
    ok: true,
    result: { userId: 'ann', sessionId: session.id },
  });
  again.close();
  lost.close();
});

it('a replica that is stopped with a stream whose client reads nothing does not wait for it', async () => {
  const { gateway, url } = await started();
  const stream = await StreamClient.start({ url, key });
  stream.socket.pause();
  for (let count = 0; count < 500; count += 1) stream.send({ type: 'text_delta', text: 'x'.repeat(16_000) });
  gateway.signal('SIGTERM');
  expect(await gateway.exited).toMatchObject({ code: 0 });
  stream.cut();
});
