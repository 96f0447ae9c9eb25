// Tools of one's own in TypeScript: declared by the API for definitions, served by the SDK, called through the gateway.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type * as Sdk from '../../sdk/typescript/src/index.ts';
import type * as Server from '../../sdk/typescript/src/tools/serve-tools.ts';
import type * as ToolsEntry from '../../sdk/typescript/src/tools/index.ts';
import { imported, installTypescript } from './packages.ts';
import { SdkGateway } from './sdk-gateway.ts';

const SECRET = 'a-secret-of-these-tools';
const gateway = new SdkGateway();
let dir: string;
let sdk: typeof Sdk;
let entry: typeof ToolsEntry;
let server: Server.ToolServer;
let author: Sdk.GatewayClient;
let client: Sdk.GatewayClient;
const failures: unknown[] = [];

beforeAll(async () => {
  dir = installTypescript();
  sdk = await imported<typeof Sdk>(dir);
  entry = await imported<typeof ToolsEntry>(dir, 'tools');
  const { serveTools } = await imported<typeof Server>(dir, 'server');
  server = await serveTools(toolsOf(), { secret: SECRET, onError: (error) => failures.push(error) });
  await gateway.start({ connection: { url: server.url, secret: SECRET } });
  const { url, keys } = gateway.running;
  author = new sdk.GatewayClient({ url, apiKey: gateway.running.key('author').key });
  client = new sdk.GatewayClient({ url, apiKey: keys.agent.text });
}, 240_000);

afterAll(async () => {
  await gateway.stop();
  await server?.close();
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
});

function toolsOf() {
  const { defineTool, ToolError } = entry;
  const greet = defineTool({
    name: 'greet',
    description: 'Greets somebody by name',
    input: z.object({ name: z.string().max(20), times: z.int().min(1).max(3).default(1) }),
    output: z.object({ greeting: z.string() }),
    metadata: { category: 'utility', read_only: true, tags: ['own'] },
    execute: ({ name, times }) => ({
      greeting: Array.from({ length: times }, () => `Hello, ${name}!`).join(' '),
    }),
  });
  const plain = defineTool<{ id: string }, unknown>({
    name: 'look_up.entry',
    description: 'Looks an entry up',
    input: {
      type: 'object',
      properties: { id: { type: 'string' } },
      required: ['id'],
      additionalProperties: false,
    },
    execute: ({ id }) => {
      if (id === 'none') throw new ToolError('NOT_FOUND', 'There is no such entry.');
      if (id === 'busy') throw new ToolError('RATE_LIMIT', 'Too many.', { retryAfterMs: 5_000 });
      if (id === 'broken') throw new Error('password=hunter2');
      return id === 'nothing' ? undefined : { id };
    },
  });
  const patient = defineTool<object, unknown>({
    name: 'wait_long',
    description: 'Waits until nobody wants it any more',
    input: { type: 'object', additionalProperties: false },
    timeoutMs: 500,
    execute: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('given up')), { once: true });
      }),
  });
  return [greet, plain, patient];
}

describe('a tool of one’s own', () => {
  it('is declared, listed and called', async () => {
    const outcomes = await entry.registerTools(author, toolsOf(), { connection: 'own' });
    expect(outcomes.map(({ name, in_force: inForce }) => [name, inForce])).toEqual([
      ['greet', true],
      ['look_up.entry', true],
      ['wait_long', true],
    ]);
    expect(await client.tools.list({ tag: 'own' })).toMatchObject([{ name: 'greet', read_only: true }]);
    const { data } = await client.execute('greet', { name: 'Ada', times: 2 });
    expect(data).toEqual({ greeting: 'Hello, Ada! Hello, Ada!' });
    expect((await client.execute('greet', { name: 'Ada' })).data).toEqual({ greeting: 'Hello, Ada!' });
    expect((await client.execute('look_up.entry', { id: 'nothing' })).data).toBeNull();
  });

  it('is held to its schema by the gateway', async () => {
    await expect(client.execute('greet', { name: 'Ada', times: 9 })).rejects.toBeInstanceOf(
      sdk.ValidationError,
    );
  });

  it('says what went wrong, and keeps what it did not mean to say', async () => {
    await expect(client.execute('look_up.entry', { id: 'none' })).rejects.toMatchObject({
      type: 'NOT_FOUND',
      origin: 'tool',
      message: expect.stringContaining('There is no such entry.') as string,
    });
    await expect(client.execute('look_up.entry', { id: 'busy' }, { retry: false })).rejects.toMatchObject({
      type: 'RATE_LIMIT',
      retryAfterMs: 5_000,
    });
    const broken = await client.tryExecute('look_up.entry', { id: 'broken' }, { retry: false });
    expect(JSON.stringify(broken)).not.toContain('hunter2');
    expect(String(failures.at(-1))).toContain('hunter2');
  });

  it('hears when the time of its call is over', async () => {
    await expect(client.execute('wait_long')).rejects.toBeInstanceOf(sdk.CallTimeoutError);
    await expect.poll(() => failures.map(String)).toContain('Error: given up');
  });

  it('is not kept where one of the set is refused, and all of them are told why', async () => {
    const [greet] = toolsOf();
    const bad = { ...greet, name: 'bad', inputSchema: { type: 'object', properties: 1 } };
    const both = [{ ...greet, name: 'good' }, bad] as never;
    await expect(entry.registerTools(author, both, { connection: 'own' })).rejects.toBeInstanceOf(
      sdk.ValidationError,
    );
    await expect(client.tools.get('good')).rejects.toBeInstanceOf(sdk.NotFoundError);
    await expect(entry.registerTools(client, [], { connection: 'own' })).resolves.toEqual([]);
    await expect(entry.registerTools(client, both, { connection: 'own' })).rejects.toBeInstanceOf(
      sdk.PermissionDeniedError,
    );
  });
});

describe('the server of tools', () => {
  const ask = (path: string, body: string, secret = SECRET, method = 'POST') =>
    fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}` },
      ...(method === 'POST' && { body }),
    });

  it('answers nobody without its secret', async () => {
    for (const secret of ['', 'wrong', `${SECRET}x`, SECRET.toUpperCase()])
      expect((await ask('/tools/greet', '{"name": "Eve"}', secret)).status).toBe(401);
    expect(() => entry.toolHandler([], { secret: 'short' })).toThrow(/at least 16/);
  });

  it('refuses what is no call of a tool of its own', async () => {
    expect((await ask('/tools/toString', '{}')).status).toBe(404);
    expect((await ask('/tools/greet', '', SECRET, 'GET')).status).toBe(405);
    expect((await ask('/tools/greet', '[1]')).status).toBe(400);
    expect((await ask('/tools/greet', '{"name": 1}')).status).toBe(400);
    expect((await ask('/tools/greet', 'no json')).status).toBe(400);
    expect((await ask('/tools/greet', `{"name": "${'x'.repeat(2_000_000)}"}`)).status).toBe(413);
  });

  it('refuses at once what can be no tool', () => {
    const execute = () => null;
    const input = { type: 'object' };
    expect(() => entry.defineTool({ name: '../x', description: '', input, execute })).toThrow(/name/);
    expect(() => entry.defineTool({ name: 'x', description: '', input: z.string(), execute })).toThrow(
      /object/,
    );
    const twice = entry.defineTool({ name: 'x', description: '', input, execute });
    expect(() => entry.toolHandler([twice, twice], { secret: SECRET })).toThrow(/same name/);
  });
});

it('writes the declaration as tools.yaml has it', () => {
  const [greet] = toolsOf();
  const spec = entry.specOf(greet as never, { connection: 'own' });
  writeFileSync(join(dir, 'spec.json'), JSON.stringify(spec));
  expect(spec).toMatchObject({
    name: 'greet',
    tool_type: 'http',
    input_schema: { type: 'object', required: ['name'], properties: { times: { default: 1 } } },
    output_schema: { required: ['greeting'] },
    implementation_config: { method: 'POST', connection: 'own', path: '/tools/greet', body: 'remaining' },
  });
});
