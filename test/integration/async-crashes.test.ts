// A gateway that dies at the worst moments, as by kill -9: no accepted call is lost, none runs twice that may not.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { acceptedId, callWhen } from '../helpers/async-client.ts';
import { configured, GatewayProcess } from '../helpers/gateway-process.ts';
import { startPostgres, type Postgres } from '../helpers/postgres.ts';
import { startRedis, type RedisServer } from '../helpers/redis.ts';
import type { RestTarget } from '../helpers/rest-client.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const TOOLS = resolve(import.meta.dirname, '../fixtures/async/tools.yaml');
const LEASE_MS = 1_500;
const LATE_MS = 45_000;

const POINTS = [
  ['while_queued', 'work_again', 'succeeded', 1],
  ['before_execution', 'work_again', 'succeeded', 1],
] as const;
/** On Redis and PostgreSQL these are test/faults/crash.test.ts's. */
const POINTS_OF_FAULTS = [
  ['while_queued', 'work', 'succeeded', 1],
  ['before_execution', 'work', 'outcome_unknown', 0],
  ['after_execution_before_commit', 'work', 'outcome_unknown', 1],
  ['after_execution_before_commit', 'work_again', 'succeeded', 2],
] as const;

describe.each(['embedded', 'on Redis and PostgreSQL'] as const)('a gateway that dies, %s,', (mode) => {
  const key = createApiKey();
  let redis: RedisServer;
  let postgres: Postgres;
  let dir: string;
  let env: Record<string, string>;
  const started: GatewayProcess[] = [];

  beforeAll(async () => {
    if (mode !== 'embedded') [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  });
  afterAll(async () => {
    if (mode === 'embedded') return;
    await redis.stop();
    await postgres.stop();
  });
  beforeEach(() => {
    dir = tempDir();
    const stored = {
      id: key.id,
      secret_sha256: key.secretHash.toString('hex'),
      tenant: 'acme',
      roles: ['admin'],
    };
    const stores =
      mode === 'embedded' ? {} : { redis: { url: redis.url }, database: { url: postgres.url() } };
    env = configured(dir, {
      ...stores,
      auth: { keys: [stored] },
      loaders: [{ type: 'yaml-file', paths: [TOOLS] }],
      async: { lease_ms: LEASE_MS },
    });
  });
  afterEach(async () => {
    for (const each of started.splice(0)) await each.end();
    removeDir(dir);
  });

  async function start(failpoint?: string): Promise<{ gateway: GatewayProcess; target: RestTarget }> {
    const gateway = new GatewayProcess(dir, {
      ...env,
      NODE_ENV: 'test',
      ...(failpoint !== undefined && { UTE_FAILPOINT: failpoint }),
    });
    started.push(gateway);
    const { rest } = await gateway.ready();
    return { gateway, target: { url: rest, key: key.text } };
  }

  const died = async (gateway: GatewayProcess) =>
    expect(await gateway.exited).toMatchObject({ signal: 'SIGKILL' });
  const entries = (note: string) =>
    existsSync(note) ? readFileSync(note, 'utf8').trim().split('\n').length : 0;
  /** The door may not get to its answer: the row says which call it was. */
  const acceptUnheard = (target: RestTarget, tool: string, args: unknown) =>
    acceptedId(target, tool, args).catch(() => undefined);

  async function onlyCall(target: RestTarget): Promise<string> {
    const response = await fetch(`${target.url}/v1/calls?page_size=1`, {
      headers: { authorization: `Bearer ${key.text}` },
    });
    const { calls } = (await response.json()) as { calls: { id: string }[] };
    return calls[0]?.id ?? '';
  }

  it('in the middle of two calls: the one that may run twice does, the other is not known', async () => {
    const { gateway, target } = await start();
    const notes = { once: join(dir, 'once'), again: join(dir, 'again') };
    const until = join(dir, 'until');
    const once = await acceptedId(target, 'work', { note: notes.once, until });
    const again = await acceptedId(target, 'work_again', { note: notes.again, until });
    await expect.poll(() => entries(notes.once) + entries(notes.again)).toBe(2);
    gateway.signal('SIGKILL');
    await gateway.exited;
    writeFileSync(until, '');
    const second = await start();
    expect(await callWhen(second.target, once, undefined, LATE_MS)).toMatchObject({
      status: 'outcome_unknown',
    });
    expect(await callWhen(second.target, again, undefined, LATE_MS)).toMatchObject({
      status: 'succeeded',
      attempts: 2,
    });
    expect([entries(notes.once), entries(notes.again)]).toEqual([1, 2]);
  });

  it.each(mode === 'embedded' ? [...POINTS, ...POINTS_OF_FAULTS] : POINTS)(
    '%s of %s: the call ends as %s, entered %i times',
    async (point, tool, status, times) => {
      const note = join(dir, 'note');
      const { gateway, target } = await start(point);
      await acceptUnheard(target, tool, { note });
      await died(gateway);
      const second = await start();
      const id = await onlyCall(second.target);
      expect(await callWhen(second.target, id, undefined, LATE_MS)).toMatchObject({ id, status });
      expect(entries(note)).toBe(times);
    },
  );

  it('while_renewing: what may run twice is run again', async () => {
    const { gateway, target } = await start('while_renewing');
    const until = join(dir, 'until');
    const id = await acceptedId(target, 'work_again', { until });
    await died(gateway);
    writeFileSync(until, '');
    const second = await start();
    expect(await callWhen(second.target, id, undefined, LATE_MS)).toMatchObject({
      status: 'succeeded',
      attempts: 2,
    });
  });
});
