// examples/grpc as its README tells it: an order service, its methods as tools, and its statuses as errors.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { callTool, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const FOLDER = resolve(import.meta.dirname, '../../examples/grpc');
let server: ChildProcess;
let gateway: RunningGateway;
let dir: string;

beforeAll(async () => {
  dir = tempDir();
  server = spawn(process.execPath, [join(FOLDER, 'server.mjs'), '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await new Promise<number>((found) =>
    createInterface({ input: server.stdout ?? process.stdin }).once('line', (line) =>
      found(Number(line.split(':').at(-1))),
    ),
  );
  const { loaders } = parse(readFileSync(join(FOLDER, 'gateway.yaml'), 'utf8')) as { loaders: object[] };
  writeFileSync(join(dir, 'orders.proto'), readFileSync(join(FOLDER, 'orders.proto')));
  const [entry = {}] = loaders;
  const own = {
    ...entry,
    target: `127.0.0.1:${port}`,
    allow_ports: [port],
    protos: join(dir, 'orders.proto'),
  };
  const reflected = { ...own, name: 'reflected', protos: undefined, reflection: true };
  gateway = await startGateway({ tools: [], settings: { loaders: [own, reflected] } });
});
afterAll(async () => {
  await gateway?.stop();
  server?.kill();
  removeDir(dir);
});

const call = (tool: string, args: object) => callTool(targetOf(gateway, 'agent'), tool, args);

it.each(['orders', 'reflected'])('%s: its commands answer what its README shows', async (name) => {
  expect((await call(`${name}.GetOrder`, { number: 1 })).body).toMatchObject({
    data: { number: 1, thing: 'tea', count: 2, state: 'STATE_SENT', placedAt: '2026-01-01T00:00:00Z' },
  });
  expect((await call(`${name}.FollowOrder`, { number: 1 })).body).toMatchObject({
    data: {
      messages: [{ state: 'STATE_PLACED' }, { state: 'STATE_PACKED' }, { state: 'STATE_SENT' }],
      complete: true,
    },
  });
  expect((await call(`${name}.GetOrder`, { number: 7 })).body).toMatchObject({
    error: { type: 'NOT_FOUND', message: 'The upstream answered NOT_FOUND: There is no order 7.' },
  });
  expect((await call(`${name}.PlaceOrder`, { thing: 'tea', count: 1000 })).body).toMatchObject({
    error: { type: 'VALIDATION', reason: 'GRPC_INVALID_ARGUMENT' },
  });
});
