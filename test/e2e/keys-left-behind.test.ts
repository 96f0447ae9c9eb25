// A gateway that is started without the keys of its secrets: it says so before a call needs one, and is well again when they are back.
// How open-key-check.ts puts the check into the program.
import { cpSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { eventually } from '../helpers/eventually.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { metricValue, sendTo } from '../helpers/rest-client.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const KEY = createApiKey();
const ROOT = resolve(import.meta.dirname, '../..');
const ends: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

it('keys that were left behind are told when the gateway starts, though a new one has their name', async () => {
  const dir = tempDir();
  ends.push(() => removeDir(dir));
  const postgres = await startPostgres();
  ends.push(() => postgres.stop());
  const keys = join(dir, 'data/secret-keys');
  const start = async () => {
    const env = configured(dir, {
      auth: {
        keys: [
          {
            id: KEY.id,
            secret_sha256: KEY.secretHash.toString('hex'),
            tenant: 'acme',
            roles: ['platform_admin'],
          },
        ],
      },
      database: { url: postgres.url() },
      loaders: [{ type: 'yaml-file', paths: [join(ROOT, 'test/fixtures/agents/tools.yaml')] }],
      executors: { python: { module_paths: [join(ROOT, 'test/fixtures/python')] } },
    });
    const gateway = new GatewayProcess(dir, { ...env, TEST_AGENTS_PORT: '1' });
    const doors = await gateway.ready();
    const target = { url: doors.rest, key: KEY.text };
    const degraded = async () => {
      const { body } = await sendTo<{ degraded?: Record<string, string> }>(target, 'GET', '/readyz');
      return body.degraded?.['secret_keys'] ?? '';
    };
    const metric = () => metricValue(doors.metrics, 'ute_degraded{component="secret_keys"}');
    const end = async () => {
      gateway.signal('SIGTERM');
      await gateway.exited;
    };
    return { gateway, target, degraded, metric, end };
  };

  const first = await start();
  ends.push(() => first.gateway.end());
  await sendTo(first.target, 'POST', '/v1/agents', { name: 'desk' });
  const path = '/v1/agents/desk/tools/leaky_js';
  const put = await sendTo(first.target, 'PUT', path, { sensitive_config: { token: 'a secret' } });
  expect(put.status).toBe(200);
  expect([await first.degraded(), await first.metric()]).toEqual(['', 0]);
  await first.end();

  cpSync(keys, join(dir, 'kept'), { recursive: true });
  rmSync(keys, { recursive: true });
  const second = await start();
  ends.push(() => second.gateway.end());
  await eventually(async () => expect(await second.degraded()).toContain('k000001 (1)'));
  expect(await second.metric()).toBe(1);
  expect(second.gateway.stdout + second.gateway.stderr).toContain('secrets of agents cannot be decrypted');
  await second.end();

  rmSync(keys, { recursive: true });
  cpSync(join(dir, 'kept'), keys, { recursive: true });
  const third = await start();
  ends.push(() => third.gateway.end());
  const called = await sendTo(third.target, 'POST', '/v1/tools/leaky_js/execute', {
    arguments: { how: '' },
    context: { agent_id: 'desk' },
  });
  expect(called.status).toBe(200);
  expect([await third.degraded(), await third.metric()]).toEqual(['', 0]);
});
