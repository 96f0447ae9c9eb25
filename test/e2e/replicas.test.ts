// Two gateways over one Redis: a change reaches both, they say so while they differ, and go on while Redis is away.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startRedis, type RedisServer } from '../helpers/redis.ts';
import { metricValue, request, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { document, HttpLoaderBench, httpTool } from '../helpers/http-loader-kit.ts';
import { eventually } from '../helpers/eventually.ts';

interface Replicas {
  readonly self: string;
  readonly agree: boolean;
  readonly replicas: readonly { readonly id: string; readonly registry_version: string }[];
}

const DISAGREEMENT = 'ute_registry_disagreement';

let redis: RedisServer;
let bench: HttpLoaderBench;
let gateways: RunningGateway[];

beforeAll(async () => {
  redis = await startRedis();
});

afterAll(() => redis?.stop());

beforeEach(async () => {
  gateways = [];
  bench = await new HttpLoaderBench().start();
  bench.served.body = document(httpTool('first'));
});

afterEach(async () => {
  await Promise.all(gateways.map((each) => each.stop()));
  await bench.close();
});

async function started(loader: object): Promise<RunningGateway> {
  const settings = { loaders: [loader], redis: { url: redis.url, prefix: 'replicas' } };
  const gateway = await startGateway({ tools: [], settings });
  gateways.push(gateway);
  return gateway;
}

function remote(interval: string): object {
  return { type: 'http', url: bench.url, allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'], interval };
}

async function toolsOf(gateway: RunningGateway): Promise<readonly string[]> {
  const { body } = await request<{ tools: { name: string }[] }>(targetOf(gateway), 'GET', '/v1/tools');
  return body.tools.map(({ name }) => name);
}

const metric = (gateway: RunningGateway, name: string) => metricValue(gateway.service.metricsUrl, name);
const replicasOf = async (gateway: RunningGateway) =>
  (await request<Replicas>(targetOf(gateway), 'GET', '/v1/admin/replicas')).body;
const reload = (gateway: RunningGateway) => request(targetOf(gateway), 'POST', '/v1/admin/reload');

describe('replicas of one Redis', () => {
  it('know each other, and one that stops is gone', async () => {
    const one = await started(remote('1h'));
    const two = await started(remote('1h'));
    await eventually(async () => expect(await metric(one, 'ute_replicas')).toBe(2));
    const seen = await replicasOf(one);
    expect(seen.agree).toBe(true);
    expect(seen.replicas).toHaveLength(2);
    expect(new Set(seen.replicas.map((each) => each.registry_version)).size).toBe(1);
    expect(seen.replicas.map(({ id }) => id)).toContain((await replicasOf(two)).self);
    gateways.pop();
    await two.stop();
    await eventually(async () => expect(await metric(one, 'ute_replicas')).toBe(1));
  });

  it('a change of the source that one has found reaches the other by a hint', async () => {
    const one = await started(remote('1h'));
    const two = await started(remote('1h'));
    bench.served.body = document(httpTool('second'));
    await reload(one);
    await eventually(async () => expect(await toolsOf(two)).toEqual(['second']));
    await eventually(async () => {
      expect([await metric(one, DISAGREEMENT), await metric(two, DISAGREEMENT)]).toEqual([0, 0]);
    });
  });

  it('without a hint, a change reaches both by polling', async () => {
    const one = await started(remote('2s'));
    const two = await started(remote('2s'));
    bench.served.body = document(httpTool('second'));
    for (const each of [one, two])
      await eventually(async () => expect(await toolsOf(each)).toEqual(['second']));
  });

  it('say that they differ for as long as they do', async () => {
    const folders = ['one', 'two'].map((name) => join(bench.dir, name));
    const write = (folder: string, name: string) => {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'tools.yaml'), document(httpTool(name)));
    };
    for (const folder of folders) write(folder, 'first');
    const [here = '', there = ''] = folders;
    const one = await started({ type: 'yaml-file', paths: [here] });
    const two = await started({ type: 'yaml-file', paths: [there] });
    const disagreement = async () => [await metric(one, DISAGREEMENT), await metric(two, DISAGREEMENT)];
    await eventually(async () => expect(await metric(one, 'ute_replicas')).toBe(2));
    expect(await disagreement()).toEqual([0, 0]);
    write(here, 'second');
    await eventually(async () => expect(await disagreement()).toEqual([1, 1]));
    expect((await replicasOf(two)).agree).toBe(false);
    expect([await toolsOf(one), await toolsOf(two)]).toEqual([['second'], ['first']]);
    write(there, 'second');
    await eventually(async () => expect(await disagreement()).toEqual([0, 0]));
  });

  it('only who may administer sees them', async () => {
    const one = await started(remote('1h'));
    expect((await request(targetOf(one, 'agent'), 'GET', '/v1/admin/replicas')).status).toBe(403);
  });
});

describe('while Redis is away', () => {
  it('a change is noticed all the same, and the replicas find each other again afterwards', async () => {
    const one = await started(remote('1s'));
    const two = await started(remote('1s'));
    await eventually(async () => expect(await metric(one, 'ute_replicas')).toBe(2));
    await redis.kill();
    bench.served.body = document(httpTool('second'));
    for (const each of [one, two])
      await eventually(async () => expect(await toolsOf(each)).toEqual(['second']));
    await redis.restart();
    await eventually(async () => expect((await replicasOf(one)).replicas).toHaveLength(2));
  });
});

describe('a source that is away', () => {
  it('is a warning of the reload status, and a restart goes on with the copy on disk', async () => {
    const data = join(bench.dir, 'kept');
    // As root, the user of the embedded database goes through it: its files would be elsewhere, and stay.
    chmodSync(bench.dir, 0o711);
    const settings = { loaders: [remote('1s')], data_dir: data };
    const before = await startGateway({ tools: [], settings });
    gateways.push(before);
    bench.served.status = 503;
    await eventually(async () => {
      const { body } = await request<{ ok: boolean; warnings: { message: string }[] }>(
        targetOf(before),
        'GET',
        '/v1/admin/reload',
      );
      expect(body.ok).toBe(true);
      expect(body.warnings[0]?.message).toMatch(/HTTP 503; what it gave at .* stays in force/);
    });
    await before.stop();
    gateways.pop();
    const after = await startGateway({ tools: [], settings });
    gateways.push(after);
    expect(await toolsOf(after)).toEqual(['first']);
  });
});
