// Roles: what is accepted by a process that serves is run by one that works, over one database, with and without Redis.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../src/lib/secrets/api-key.ts';
import { acceptedId, callView, callWhen } from '../helpers/async-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { startPostgres } from '../helpers/postgres.ts';
import { startRedis } from '../helpers/redis.ts';
import { callTool, metricValue } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { lastRun, makeSchedule } from '../helpers/schedule-client.ts';

const TOOLS = ['config/tools.yaml'];
/** Of every process alike: a worker runs a call for whoever made it, if that key is still good. */
const KEY = createApiKey();
const AUTH = {
  keys: [{ id: KEY.id, secret_sha256: KEY.secretHash.toString('hex'), tenant: 'acme', roles: ['agent'] }],
};

describe.each([
  ['PostgreSQL alone', async () => undefined],
  ['Redis and PostgreSQL', startRedis],
] as const)('an api and a worker over %s', (_, openRedis) => {
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  let redis: Awaited<ReturnType<typeof startRedis>> | undefined;
  let api: RunningGateway;
  let worker: RunningGateway | undefined;

  const started = (role: 'api' | 'worker') =>
    startGateway({
      tools: TOOLS,
      auth: AUTH,
      settings: {
        role,
        database: { url: postgres.url() },
        ...(redis && { redis: { url: redis.url, prefix: 'roles' } }),
      },
    });

  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startPostgres(), openRedis()]);
    api = await started('api');
  });

  afterAll(async () => {
    await worker?.stop();
    await api?.stop();
    await Promise.all([postgres?.stop(), redis?.stop()]);
  });

  it('the api answers calls itself, and leaves accepted ones and schedules to a worker', async () => {
    const target = { url: api.url, key: KEY.text };
    expect(await callTool(target, 'echo', { text: '1' })).toMatchObject({
      status: 200,
      body: { data: { text: '1' } },
    });
    const id = await acceptedId(target, 'echo', { text: '2' });
    const schedule = await makeSchedule(target, {
      tool: 'echo',
      arguments: { text: '3' },
      schedule: 'in 1s',
    });
    expect(schedule.status).toBe(201);
    // Longer than a worker takes to find both among the rows.
    await pause(2_500);
    expect(await callView(target, id)).toMatchObject({ status: 'queued', attempts: 0 });

    worker = await started('worker');
    expect(await callWhen(target, id)).toMatchObject({
      status: 'succeeded',
      result: { data: { text: '2' } },
    });
    expect(await lastRun(target, schedule.body.id)).toMatchObject({ status: 'succeeded' });
  });

  it('the worker has one port, for metrics and probes; the api has probes there, too', async () => {
    expect(worker?.service).toMatchObject({ restUrl: '', grpcAddress: '' });
    await Promise.all(
      [worker, api].map(async (each) => {
        const metrics = each?.service.metricsUrl ?? '';
        const queued = () =>
          metricValue(metrics, 'ute_async_calls{status="queued"}').then((found) => found === 0);
        await eventually(queued, 'the length of the queue');
        for (const probe of ['livez', 'readyz']) {
          const answer = await fetch(metrics.replace('metrics', probe));
          expect(answer.status).toBe(200);
          expect(await answer.json()).toMatchObject({ status: expect.stringMatching(/^(ok|degraded)$/) });
        }
        expect((await fetch(metrics.replace('metrics', 'v1/tools'))).status).toBe(404);
      }),
    );
  });
});
