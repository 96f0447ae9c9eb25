// Tools of a gRPC upstream through a running gateway: described by its own reflection or by files, and called for real.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { JsonObject } from '../../src/contract/json.ts';
import { grpcServer, KITCHEN, type GrpcServer } from '../helpers/grpc-upstream.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

let upstream: GrpcServer;
let gateway: RunningGateway;
let dir: string;
const SECRET = 'sup3r-s3cret-of-the-kitchen';

beforeAll(async () => {
  upstream = await grpcServer();
  dir = mkdtempSync(join(tmpdir(), 'ute-grpc-'));
  process.env['KITCHEN_TOKEN'] = SECRET;
  const { target, port } = upstream;
  const own = {
    target,
    tls: false,
    allow_ports: [port],
    allow_private: ['127.0.0.0/8'],
    auth: { type: 'bearer', token: '${env:KITCHEN_TOKEN}' },
  };
  writeFileSync(
    join(dir, 'tools.yaml'),
    stringify({
      connections: { kitchen_files: { type: 'grpc', ...own, protos: KITCHEN } },
      tools: [
        {
          name: 'declared',
          description: 'Echoes.',
          tool_type: 'grpc',
          input_schema: { type: 'object', properties: { name: { type: 'string' } } },
          implementation_config: { connection: 'kitchen_files', method: 'kitchen.v1.Kitchen/Echo' },
        },
      ],
    }),
  );
  gateway = await startGateway({
    tools: [],
    settings: {
      loaders: [
        { type: 'yaml-file', paths: [join(dir, 'tools.yaml')] },
        {
          type: 'grpc',
          name: 'reflected',
          reflection: true,
          defaults: 'omit',
          ...own,
          exclude: ['*/Hang'],
          max_messages: 5,
        },
        {
          type: 'grpc',
          name: 'described',
          protos: KITCHEN,
          ...own,
          prefix: 'k_',
          defaults: 'omit',
          tool_name: '{method}',
          timeout_ms: 2_000,
          overrides: { '*/Fail': { risk_level: 'low' }, k_Large: { off: true } },
        },
      ],
    },
  });
});
afterAll(async () => {
  delete process.env['KITCHEN_TOKEN'];
  await gateway?.stop();
  upstream?.stop();
  rmSync(dir, { recursive: true, force: true });
});

async function ask(path: string, body?: unknown) {
  const response = await fetch(`${gateway.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${gateway.keys.admin.text}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return (await response.json()) as JsonObject & { data?: JsonObject; error?: JsonObject };
}
const call = (tool: string, args: JsonObject = {}) => ask(`/v1/tools/${tool}/execute`, { arguments: args });

const EVERYTHING: JsonObject = {
  name: 'soup',
  small: -7,
  big: '9007199254740993',
  huge: '18446744073709551615',
  real: 1.5,
  single: 0.1,
  yes: true,
  raw: 'AAEC',
  colour: 'COLOUR_RED',
  numbers: [1, 2, 3],
  children: [{ name: 'salt' }],
  named: { a: { value: 1 } },
  byNumber: { '7': 'seven' },
  byBool: { true: 'COLOUR_BLUE' },
  number: { value: 42 },
  maybe: 'm',
  at: '2026-01-31T12:00:00Z',
  lasts: '1.500s',
  free: { a: [1, { b: null }], c: 'x' },
  anyValue: 'v',
  list: [true, 'x'],
  detail: { '@type': 'type.googleapis.com/kitchen.v1.Number', value: 5 },
  wrapped: 12,
  wrappedText: 'w',
  mask: 'name,byNumber',
  nothing: {},
  words: ['a', 'b'],
  zigzag: -5,
  fixed: 8,
  palette: ['COLOUR_RED', 'COLOUR_BLUE'],
  inner: { deep: 'd', kind: 'FANCY' },
  'its-own-name': 'c',
};

describe.each(['reflected.Kitchen_Echo', 'k_Echo'])('%s', (tool) => {
  it('takes everything that a proto may hold, and gives it back as it was', async () => {
    // This server's reflection does not say which names of its own fields have in JSON.
    const { 'its-own-name': custom = '', ...others } = EVERYTHING;
    const sent = tool === 'k_Echo' ? EVERYTHING : { ...others, custom };
    const { data, error } = await call(tool, sent);
    expect(error).toBeUndefined();
    expect(data).toEqual(sent);
  });

  it.each<[JsonObject, string]>([
    [{ small: 2 ** 31 }, 'small'],
    [{ colour: 'GREEN' }, 'colour'],
    [{ nope: 1 }, 'nope'],
    [{ text: 'a', number: { value: 1 } }, 'oneof'],
    [{ children: [{ children: [{ small: 'x' }] }] }, 'small'],
  ])('refuses %j before it is sent', async (args, word) => {
    const before = upstream.seen.length;
    const { error } = await call(tool, args);
    expect(error).toMatchObject({ type: 'VALIDATION' });
    expect(JSON.stringify(error)).toContain(word);
    expect(upstream.seen).toHaveLength(before);
  });
});

it('a declared tool calls a method of a connection that files describe', async () => {
  const { data } = await call('declared', { name: 'x' });
  // What is 0 or false is told: a model does not know that it does not stand on the wire.
  expect(data).toMatchObject({ name: 'x', small: 0, yes: false, colour: 'COLOUR_UNSPECIFIED' });
  expect(data).not.toHaveProperty('maybe');
  expect(data).not.toHaveProperty('children');
});

it('words of the proto are what a model reads, and options say what may be repeated', async () => {
  const tool = await ask('/v1/tools/k_Echo');
  expect(tool).toMatchObject({ description: 'Gives back what it was given.' });
  const text = JSON.stringify(tool);
  expect(text).toContain('A name.');
  expect(text).toContain('Only one of text, number.');
  expect(tool).toMatchObject({ read_only: true, idempotent: true, risk_level: 'low' });
  expect(await ask('/v1/tools/k_Fail')).toMatchObject({
    read_only: false,
    idempotent: true,
    risk_level: 'low',
  });
  expect(await ask('/v1/tools/k_Count')).toMatchObject({
    idempotent: false,
    risk_level: 'medium',
  });
  expect(await ask('/v1/tools/k_Large')).toMatchObject({ status: 404 });
  expect(await ask('/v1/tools/k_Collect')).toMatchObject({ status: 404 });
});

it('a stream comes as partial results and as a whole, and a bound ends it', async () => {
  expect(await call('k_Count', { to: 3 })).toMatchObject({
    data: { messages: [{ value: 1 }, { value: 2 }, { value: 3 }], complete: true },
  });
  const endless = await call('reflected.Kitchen_Count', { endless: true });
  expect(endless.data).toMatchObject({ complete: false });
  expect(endless.data?.['messages']).toHaveLength(5);
  await expect.poll(() => upstream.seen.at(-1)?.cancelled).toBe(true);
});

it.each<[number, JsonObject]>([
  [3, { type: 'VALIDATION', reason: 'GRPC_INVALID_ARGUMENT', retryable: false, partial_side_effects: false }],
  [5, { type: 'NOT_FOUND', reason: 'GRPC_NOT_FOUND' }],
  [6, { type: 'CONFLICT', retryable: false }],
  [7, { type: 'PERMISSION_DENIED' }],
  [8, { type: 'RATE_LIMIT', retryable: true }],
  [9, { type: 'PERMANENT', retryable: false }],
  [10, { type: 'CONFLICT', retryable: true }],
  [12, { type: 'PERMANENT' }],
  [13, { type: 'TRANSIENT', retryable: true }],
  [14, { type: 'TRANSIENT', reason: 'GRPC_UNAVAILABLE', retryable: true }],
  [16, { type: 'AUTH' }],
])('status %i of the upstream is an error of its type', async (code, expected) => {
  const { error } = await call('k_Fail', { code, message: `no luck with ${SECRET}` });
  expect(error).toMatchObject({ origin: 'tool', ...expected });
  expect(error?.['message']).toContain('no luck');
  expect(JSON.stringify(error)).not.toContain(SECRET);
});

it('details of a status come along: violations, reason, and when to come again', async () => {
  const { error } = await call('k_Fail', { code: 3, message: 'bad', withDetails: true });
  expect(error).toMatchObject({
    details: {
      status: 'INVALID_ARGUMENT',
      violations: [{ pointer: '/child/numbers/2', message: 'must be even' }],
      upstream: { untrusted: true, message: 'bad', reason: 'KITCHEN_CLOSED' },
    },
  });
  const limited = await call('reflected.Kitchen_Fail', { code: 8, message: 'slow down', withDetails: true });
  expect(limited.error).toMatchObject({ type: 'RATE_LIMIT', retry_after_ms: 2_500 });
});

it('credentials, the id of the call and its deadline go along, and the credential does not come back', async () => {
  const { data } = await call('k_Metadata');
  const seen = upstream.seen.at(-1);
  expect(seen?.metadata).toMatchObject({ authorization: `Bearer ${SECRET}` });
  expect(seen?.deadlineMs).toBeGreaterThan(0);
  expect(seen?.deadlineMs).toBeLessThanOrEqual(2_000);
  expect(seen?.metadata['x-ute-call-id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(JSON.stringify(data)).not.toContain(SECRET);
});

it('an upstream that does not answer is told that nobody waits any more', async () => {
  const { error } = await call('k_Hang');
  expect(error).toMatchObject({ type: 'TIMEOUT' });
  await expect.poll(() => upstream.seen.at(-1)?.cancelled).toBe(true);
});

it('an answer of more than its bound is refused', async () => {
  const { error } = await call('reflected.Kitchen_Large', { value: 5 << 20 });
  expect(error).toMatchObject({ type: 'OUTPUT_TOO_LARGE' });
});
