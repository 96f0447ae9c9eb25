// Two gateways over Redis as it is run for real: TLS, sentinels, a cluster. What they share holds over each of them.
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { acceptedId, callWhen } from '../helpers/async-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import {
  redisBehindGuardedSentinel,
  redisBehindSentinel,
  redisCluster,
  redisOverTls,
  type RedisTopology,
} from '../helpers/redis-topologies.ts';
import { callTool, metricValue, request } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { ECHO_HANDLER, javascriptTool, removeDir, tempDir, writeTools } from '../helpers/temp-tools.ts';

/** Of both gateways alike: either may run what the other has accepted. */
const KEY = createApiKey();
const AUTH = {
  keys: [
    { id: KEY.id, secret_sha256: KEY.secretHash.toString('hex'), tenant: 'acme', roles: ['platform_admin'] },
  ],
};

const dir = tempDir();
let tools: string;
let postgres: Postgres;

beforeAll(async () => {
  writeFileSync(join(dir, 'echo.mjs'), ECHO_HANDLER);
  const names = ['plain', 'look', 'book', 'read', 'limited', 'cached'];
  tools = writeTools(dir, ...names.map((name) => javascriptTool(name, './echo.mjs')));
  appendFileSync(
    tools,
    '    metadata: { read_only: true }\n    extensions: { cache: { ttl_ms: 600000, scope: tenant } }\n',
  );
  const limited = `${javascriptTool('budgeted', './echo.mjs')}    concurrency: { limit: 50 }\n    rate_limits: [{ per: tenant, rate: 6, period: 1d }]\n`;
  appendFileSync(tools, limited);
  postgres = await startPostgres();
});

afterAll(async () => {
  await postgres?.stop();
  removeDir(dir);
});

describe.each([
  ['TLS', redisOverTls],
  ['sentinels', () => redisBehindSentinel()],
  ['sentinels with passwords in files', redisBehindGuardedSentinel],
  ['a cluster', redisCluster],
] as const)('over Redis by %s', (name, open) => {
  let redis: RedisTopology;
  let gateways: RunningGateway[] = [];

  beforeAll(async () => {
    redis = await open();
    const settings = {
      // A busy machine is not to be taken for a Redis that is away: the limits would be each gateway's own.
      redis: { ...redis.settings, prefix: 'topology', command_timeout_ms: 5_000 },
      database: { url: postgres.url() },
      extensions: {
        chaining: {
          rules: [
            { name: 'look-first', tools: ['book'], after: ['look'] },
            { name: 'not-once-read', tools: ['book'], not_after: ['read'] },
          ],
        },
      },
      secrets: { keys: `one:${Buffer.alloc(32, 7).toString('base64')}` },
    };
    gateways.push(await startGateway({ tools: [tools], auth: AUTH, settings, env: redis.env ?? {} }));
    gateways.push(await startGateway({ tools: [tools], auth: AUTH, settings, env: redis.env ?? {} }));
  });

  afterAll(async () => {
    await Promise.all(gateways.map((each) => each.stop()));
    gateways = [];
    await redis?.stop();
  });

  const targets = () => gateways.map(({ url }) => ({ url, key: KEY.text }));
  const degraded = () =>
    Promise.all(
      gateways.map((each) => metricValue(each.service.metricsUrl, 'ute_degraded{component="admission"}')),
    );

  it('none does without it', async () => {
    expect(await degraded()).toEqual([0, 0]);
  });

  it('a limit holds over both', async () => {
    const calls = targets().flatMap((target) =>
      Array.from({ length: 6 }, () => callTool(target, 'budgeted', {})),
    );
    const codes = (await Promise.all(calls)).map(({ status }) => status);
    expect(codes.filter((status) => status === 200)).toHaveLength(6);
    expect(codes.filter((status) => status === 429)).toHaveLength(6);
  });

  it('a session is held to its order of calls, wherever it took its steps', async () => {
    const [one, two] = targets();
    if (one === undefined || two === undefined) throw new Error('there are two');
    const call = async (target: typeof one, tool: string) => {
      const context = { session_id: `session of ${name}` };
      const { body } = await request<{ ok: boolean; error?: { reason: string } }>(
        target,
        'POST',
        `/v1/tools/${tool}/execute`,
        { arguments: {}, context },
      );
      return body.error?.reason ?? body.ok;
    };
    expect(await call(two, 'book')).toBe('STEP_MISSING');
    expect(await call(one, 'look')).toBe(true);
    expect(await call(two, 'book')).toBe(true);
    expect(await call(two, 'read')).toBe(true);
    expect(await call(one, 'book')).toBe('STEP_REFUSED');
  });

  it('an answer that one has kept is the answer of the other', async () => {
    const [one, two] = targets();
    if (one === undefined || two === undefined) throw new Error('there are two');
    expect(await callTool(one, 'cached', { of: name })).toMatchObject({ body: { meta: { cached: false } } });
    await eventually(async () =>
      expect(await callTool(two, 'cached', { of: name })).toMatchObject({ body: { meta: { cached: true } } }),
    );
  });

  it('accepted calls are told of by it, and run', async () => {
    const [one] = targets();
    if (one === undefined) throw new Error('there are two');
    const ids = await Promise.all(Array.from({ length: 8 }, () => acceptedId(one, 'plain', { of: name })));
    for (const id of ids) expect(await callWhen(one, id)).toMatchObject({ status: 'succeeded' });
  });

  it('where another server takes over, the gateways find it', async () => {
    await redis.failOver?.();
    const [one] = targets();
    if (one === undefined) throw new Error('there are two');
    expect(await callTool(one, 'plain', {})).toMatchObject({ status: 200 });
    await eventually(async () => expect(await degraded()).toEqual([0, 0]));
  });
});

describe('a password of the sentinels that is wrong', () => {
  it('leaves the gateway to its own limits, and it says so', async () => {
    const redis = await redisBehindGuardedSentinel();
    const file = join(dir, 'wrong-password');
    writeFileSync(file, 'not-the-word-of-the-sentinels');
    const gateway = await startGateway({
      tools: [tools],
      auth: AUTH,
      settings: { redis: redis.settings, database: { url: postgres.url() } },
      env: { ...redis.env, UTE_REDIS_SENTINEL_PASSWORD_FILE: file },
    });
    try {
      expect(await callTool({ url: gateway.url, key: KEY.text }, 'plain', {})).toMatchObject({ status: 200 });
      await eventually(async () =>
        expect(await metricValue(gateway.service.metricsUrl, 'ute_degraded{component="admission"}')).toBe(1),
      );
    } finally {
      await gateway.stop();
      await redis.stop();
    }
  });
});
