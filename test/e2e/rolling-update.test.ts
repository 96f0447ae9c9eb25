// A rolling update under load: three processes behind a proxy are replaced one after the other, and meanwhile the database is
// backed up and restored elsewhere. Old and new are of the same build; those of two versions are in test/upgrade/older-version.test.ts.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { acceptedId, callWhen } from '../helpers/async-client.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { callTool } from '../helpers/rest-client.ts';
import { sharedStores, type Stores } from '../helpers/stores.ts';
import { TurnProxy } from '../helpers/turn-proxy.ts';

const KEY = createApiKey();
const SECRET_KEYS = `one:${Buffer.alloc(32, 7).toString('base64')}`;
const REPLICAS = 3;
const CALLERS = 4;
/** What a load balancer takes at most to notice that one goes: of the chart it is 5 s. */
const NOTICE_MS = 100;

let stores: Stores;
let elsewhere: Postgres;
let dir: string;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'ute-rolling-'));
  chmodSync(dir, 0o711);
  [stores, elsewhere] = await Promise.all([sharedStores(), startPostgres()]);
});

afterAll(async () => {
  await Promise.all([stores?.stop(), elsewhere?.stop()]);
  rmSync(dir, { recursive: true, force: true });
});

interface Started {
  readonly gateway: GatewayProcess;
  readonly dir: string;
  readonly rest: string;
}

async function started(settings: Readonly<Record<string, unknown>> = stores.settings): Promise<Started> {
  const own = mkdtempSync(join(dir, 'replica-'));
  const env = configured(own, {
    ...settings,
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
    secrets: { keys: SECRET_KEYS },
    loaders: [{ type: 'yaml-file', paths: [resolve(import.meta.dirname, '../../config/tools.yaml')] }],
    executors: { python: { module_paths: [resolve(import.meta.dirname, '../../tools/python')] } },
    demo: { upstream: true },
    log: { level: 'info' },
  });
  const gateway = new GatewayProcess(own, env);
  return { gateway, dir: own, rest: (await gateway.ready()).rest };
}

it('no call fails and no accepted call is lost while each is replaced, and a backup from then verifies elsewhere', async () => {
  const backends = await Promise.all(Array.from({ length: REPLICAS }, () => started()));
  const proxy = await TurnProxy.over(backends);
  const target = { url: proxy.url, key: KEY.text };
  const answers: number[] = [];
  const accepted: string[] = [];
  const failures: unknown[] = [];
  const over = new AbortController();
  const caller = async () => {
    while (!over.signal.aborted) {
      answers.push((await callTool(target, 'echo', { text: 'x' })).status);
      accepted.push(await acceptedId(target, 'echo', { text: 'later' }));
    }
  };
  const callers = Array.from({ length: CALLERS }, () =>
    caller().catch((error: unknown) => failures.push(error)),
  );
  try {
    for (let at = 0; at < REPLICAS; at += 1) {
      const [next, old] = [await started(), backends[at]];
      backends[at] = next;
      await pause(NOTICE_MS);
      old?.gateway.signal('SIGTERM');
      expect(await old?.gateway.exited).toEqual({ code: 0, signal: null });
      if (at === 1) await backedUp(target);
    }
  } finally {
    over.abort();
    await Promise.all(callers);
  }
  expect(failures).toEqual([]);
  expect(answers.length).toBeGreaterThan(REPLICAS);
  expect(answers.filter((status) => status !== 200)).toEqual([]);
  for (const id of accepted) expect(await callWhen(target, id)).toMatchObject({ status: 'succeeded' });
  await proxy.close();
  await Promise.all(backends.map(({ gateway }) => gateway.end()));
}, 240_000);

async function ute(env: Readonly<Record<string, string>>, ...argv: readonly string[]) {
  let said = '';
  const out = (text: string) => void (said += text);
  const code = await run(argv, { stdout: out, stderr: out, readStdin: async () => '', fetch, env, cwd: dir });
  return { code, said };
}

/** While calls go on: exported, imported into another server, served from there, and its chain of records checked offline. */
async function backedUp({ key }: { readonly key: string }): Promise<void> {
  const { database } = stores.settings as { readonly database: { readonly url: string } };
  const folder = join(dir, 'backup');
  expect(await ute({ UTE_DATABASE_URL: database.url }, 'database', 'export', folder)).toMatchObject({
    code: 0,
  });
  expect(await ute({ UTE_DATABASE_URL: elsewhere.url() }, 'database', 'import', folder)).toMatchObject({
    code: 0,
  });
  const restored = await started({ database: { url: elsewhere.url() } });
  try {
    const env = { UTE_URL: restored.rest, UTE_API_KEY: key };
    expect(await ute(env, 'audit', 'export', 'chain.jsonl')).toMatchObject({ code: 0 });
    const verified = await ute(env, 'audit', 'verify', 'chain.jsonl');
    expect([verified.code, verified.said]).toEqual([0, expect.stringMatching(/\d/)]);
  } finally {
    await restored.gateway.end();
  }
}
