// Lists show a caller what it may call, by REST and by gRPC alike; what it is not shown is not there for it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { credentials, loadPackageDefinition, Metadata, status } from '@grpc/grpc-js';
import type { ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { callTool, request, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

let dir: string;
let gateway: RunningGateway;

const tool = (name: string, more: object = {}) => ({
  name,
  description: 'Answers.',
  tool_type: 'javascript',
  implementation_config: { handler: './answer.js', trusted: true },
  input_schema: { type: 'object', properties: {} },
  ...more,
});
const TOOLS = [
  tool('open_one'),
  tool('pay_out', { metadata: { permissions: ['money:pay'] } }),
  tool('guarded', { metadata: { permissions: ['money:pay', 'money:read'] } }),
  tool('not_umbrella'),
];

beforeAll(async () => {
  dir = tempDir();
  writeFileSync(join(dir, 'answer.js'), 'export const execute = () => 1;\n');
  writeFileSync(join(dir, 'tools.yaml'), stringify({ tools: TOOLS }));
  const rule = { name: 'acme-alone', tools: ['not_umbrella'], tenants: ['umbrella'], decision: 'deny' };
  gateway = await startGateway({
    tools: [join(dir, 'tools.yaml')],
    settings: { extensions: { policy: { rules: [rule] } } },
    roles: { payer: ['tools:read', 'tools:call', 'money:pay'] },
    more: {
      agent: { tenant: 'acme', roles: ['agent'] },
      payer: { tenant: 'acme', roles: ['payer'] },
      umbrella: { tenant: 'umbrella', roles: ['agent'] },
      admin: { tenant: 'acme', roles: ['admin'] },
      operator: { roles: ['platform_admin'] },
    },
  });
});

afterAll(async () => {
  await gateway?.stop();
  removeDir(dir);
});

const SHOWN = [
  ['agent', ['not_umbrella', 'open_one']],
  ['payer', ['not_umbrella', 'open_one', 'pay_out']],
  ['umbrella', ['open_one']],
  ['admin', ['guarded', 'not_umbrella', 'open_one', 'pay_out']],
  ['operator', ['guarded', 'not_umbrella', 'open_one', 'pay_out']],
] as const;
const ALL = TOOLS.map(({ name }) => name);

async function get(target: RestTarget, path: string) {
  return request<{ readonly tools: readonly { readonly name: string }[] }>(target, 'GET', path);
}

describe.each(SHOWN)('%s', (name, shown) => {
  it('is shown by REST what it may call, in lists and one by one', async () => {
    const target = gateway.key(name);
    const { body } = await get(target, '/v1/tools');
    expect(body.tools.map((each) => each.name)).toEqual(shown);
    const exported = JSON.stringify((await get(target, '/v1/tools?format=openai')).body);
    for (const each of ALL) {
      const isShown = (shown as readonly string[]).includes(each);
      expect(exported.includes(each)).toBe(isShown);
      for (const path of [`/v1/tools/${each}`, `/v1/tools/${each}/docs`])
        expect((await get(target, path)).status).toBe(isShown ? 200 : 404);
    }
  });

  it('is shown the same by gRPC', async () => {
    const { key } = gateway.key(name);
    const { tools } = await ask<{ tools: { name: string }[] }>('ListTools', {}, key);
    expect(tools.map((each) => each.name)).toEqual(shown);
    expect(await firstOfWatch(key)).toEqual(shown);
    for (const each of ALL) {
      const found = await ask<object>('GetTool', { name: each }, key).then(
        () => true,
        ({ code }: ServiceError) => code !== status.NOT_FOUND,
      );
      expect([each, found]).toEqual([each, (shown as readonly string[]).includes(each)]);
    }
  });
});

it('a tool that is not shown is still refused as before, and no misspelt name brings it up', async () => {
  const agent = gateway.key('agent');
  expect((await callTool(agent, 'pay_out', {})).body.error).toMatchObject({ reason: 'PERMISSION_MISSING' });
  const near = (target: RestTarget) => callTool(target, 'pay_outt', {});
  expect((await near(agent)).body.error?.message).not.toContain('pay_out"');
  expect((await near(gateway.key('payer'))).body.error?.message).toContain('pay_out');
});

function ask<Answer>(method: 'ListTools' | 'GetTool', message: object, key: string): Promise<Answer> {
  const { client, metadata } = open(key);
  return new Promise<Answer>((resolve, reject) =>
    client[method](message, metadata, (error, answer) => {
      client.close();
      if (error === null) resolve(answer as Answer);
      else reject(error);
    }),
  );
}

function firstOfWatch(key: string): Promise<readonly string[]> {
  const { client, metadata } = open(key);
  const stream = client.WatchTools({}, metadata);
  return new Promise((resolve, reject) => {
    stream.once('error', reject);
    stream.once('data', ({ snapshot }: { snapshot: { names: string[] } }) => {
      stream.on('error', () => undefined);
      stream.cancel();
      client.close();
      resolve(snapshot.names);
    });
  });
}

type Unary = (
  message: object,
  metadata: Metadata,
  done: (error: ServiceError | null, answer: unknown) => void,
) => void;

interface Client extends Readonly<Record<'ListTools' | 'GetTool', Unary>> {
  WatchTools(message: object, metadata: Metadata): ClientReadableStream<object>;
  close(): void;
}

function open(key: string) {
  const loaded = loadPackageDefinition(
    loadSync('unified_tool_executor/v1/tool_executor_service.proto', { includeDirs: ['proto'] }),
  ) as unknown as {
    unified_tool_executor: { v1: { ToolExecutorService: new (...args: unknown[]) => Client } };
  };
  const { ToolExecutorService } = loaded.unified_tool_executor.v1;
  const client = new ToolExecutorService(gateway.service.grpcAddress, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${key}`);
  return { client, metadata };
}
