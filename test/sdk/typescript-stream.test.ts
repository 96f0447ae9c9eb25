// Streams of the TypeScript SDK, installed from its package: over a WebSocket and over gRPC, and a network that loses connections.
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type * as Sdk from '../../sdk/typescript/src/index.ts';
import type * as Grpc from '../../sdk/typescript/src/grpc/over-grpc.ts';
import { imported, installTypescript, run } from './packages.ts';
import { SdkGateway } from './sdk-gateway.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const gateway = new SdkGateway();
const open: { close(): void }[] = [];
let dir: string;
let sdk: typeof Sdk;
let grpc: typeof Grpc;
let readers = 0;

beforeAll(async () => {
  dir = installTypescript();
  // The optional packages, as their user installs them.
  for (const name of ['@grpc', 'protobufjs', 'long'])
    symlinkSync(join(ROOT, 'node_modules', name), join(dir, 'node_modules', name));
  sdk = await imported<typeof Sdk>(dir);
  grpc = await imported<typeof Grpc>(dir, 'grpc');
  await gateway.start();
}, 240_000);

afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

afterAll(async () => {
  await gateway.stop();
  if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
});

const LINES = ['a WebSocket', 'gRPC'] as const;

function clientOf(line: (typeof LINES)[number], options: Sdk.ClientOptions = {}): Sdk.GatewayClient {
  const { url, keys, service } = gateway.running;
  const route = line === 'gRPC' && { grpc: grpc.overGrpc({ url: `http://${service.grpcAddress}` }) };
  const client = new sdk.GatewayClient({ url, apiKey: keys.agent.text, ...route, ...options });
  open.push(client);
  return client;
}

async function streamOf(client: Sdk.GatewayClient, said: Sdk.StreamStart = {}): Promise<Sdk.ToolStream> {
  const stream = await client.stream(said);
  open.unshift(stream);
  return stream;
}

/** What both ways of calling say alike. */
function partsOf(envelope: Sdk.Envelope): object {
  if (envelope.ok) return { data: envelope.data, intents: envelope.intents };
  const { details, message: _message, ...error } = envelope.error;
  return { ...error, details: Object.keys(details).toSorted() };
}

async function told(stream: Sdk.ToolStream): Promise<string[]> {
  const lines: string[] = [];
  for await (const message of stream)
    lines.push(message.type === 'text_delta' ? `"${message.text}"` : message.type);
  return lines;
}

describe.each(LINES)('a stream over %s', (line) => {
  it('gives text and results in the order in which they were asked for, and ends with its session', async () => {
    const client = clientOf(line);
    const stream = await streamOf(client, { agent_id: 'reception', user_id: 'ann', mode: 'live_call' });
    expect(stream.session).toMatchObject({ agent_id: 'reception', user_id: 'ann', mode: 'live_call' });
    void stream.text('Let me see. ');
    const call = stream.call('add', { a: 2, b: 3 });
    await stream.text('That is it.');
    expect(await call.result()).toMatchObject({ ok: true, data: 5, intents: [], meta: { tool: 'add' } });
    await stream.end();
    expect(await told(stream)).toEqual([
      '"Let me see. "',
      'tool_started',
      'tool_result',
      '"That is it."',
      'ended',
    ]);
    const { state } = await clientOf('a WebSocket').sessions.open(stream.session.id).get();
    expect(state).toBe('ended');
  });

  it('tells what a tool says while it runs', async () => {
    const stream = await streamOf(clientOf(line));
    const { data } = await stream.call('report', { pages: 2 }).result();
    expect(data).toEqual({ pages: 2 });
    await stream.end();
    const said = [];
    for await (const message of stream) said.push(message);
    expect(said).toContainEqual(expect.objectContaining({ type: 'tool_partial', data: { page: 1 } }));
    expect(said).toContainEqual(
      expect.objectContaining({ type: 'tool_progress', fraction: 0.5, message: 'page 1' }),
    );
  });

  it('rejects a result with the class of its error, and goes on', async () => {
    const stream = await streamOf(clientOf(line));
    const error = await stream
      .call('add', { a: 'two', b: 1 })
      .result()
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(sdk.ValidationError);
    expect((error as Sdk.ValidationError).violations[0]?.pointer).toBe('/a');
    const asked = await stream
      .call('delete_note', { id: 'n' })
      .result()
      .catch((caught: unknown) => caught);
    expect(asked).toBeInstanceOf(sdk.ConfirmationRequiredError);
    const { approvalId, approvalUrl, confirmationToken } = asked as Sdk.ConfirmationRequiredError;
    expect(approvalUrl).toBe(`${gateway.running.url}/v1/approvals/${approvalId}`);
    expect(confirmationToken).toBeTypeOf('string');
    expect(await stream.call('add', { a: 1, b: 1 }).tryResult()).toMatchObject({ ok: true, data: 2 });
  });

  it('gives up one call, and those of a turn that is interrupted', async () => {
    const stream = await streamOf(clientOf(line));
    const one = stream.call('report', { pages: 50 });
    one.cancel();
    await expect(one.result()).rejects.toBeInstanceOf(sdk.CancelledError);
    const other = stream.call('report', { pages: 50 });
    await stream.endTurn({ cancel: true });
    await expect(other.result()).rejects.toBeInstanceOf(sdk.CancelledError);
    await expect(stream.call('add', { a: 1, b: 1 }).result()).rejects.toMatchObject({ reason: 'TURN_OVER' });
    await stream.startTurn();
    expect(await stream.call('add', { a: 1, b: 1 }).result()).toMatchObject({ data: 2 });
  });

  it('takes any text in pieces that one message may hold', async () => {
    const stream = await streamOf(clientOf(line));
    const text = 'a🙂é'.repeat(20_000);
    await stream.text(text);
    await stream.end();
    let back = '';
    for await (const message of stream) if (message.type === 'text_delta') back += message.text;
    expect(back === text).toBe(true);
  });

  it('is refused with the class of the error, and its token is asked for anew once', async () => {
    await expect(clientOf(line, { apiKey: 'ute_live_none' }).stream()).rejects.toBeInstanceOf(sdk.AuthError);
    const { keys } = gateway.running;
    await expect(clientOf(line, { apiKey: keys.reader.text }).stream()).rejects.toBeInstanceOf(
      sdk.PermissionDeniedError,
    );
    await expect(clientOf(line).stream({ session_id: 'ses_none' })).rejects.toBeInstanceOf(sdk.GatewayError);
    const asked: boolean[] = [];
    const token = ({ refresh }: { refresh: boolean }) => {
      asked.push(refresh);
      return refresh ? keys.agent.text : 'ute_live_none';
    };
    const stream = await streamOf(clientOf(line, { token }));
    expect(await stream.call('add', { a: 1, b: 1 }).result()).toMatchObject({ data: 2 });
    expect(asked).toEqual([false, true]);
  });

  it('is closed at once where it is wanted, and its calls are told', async () => {
    const stream = await streamOf(clientOf(line));
    const call = stream.call('report', { pages: 50 });
    stream.close();
    await expect(call.result()).rejects.toBeInstanceOf(sdk.ConnectionError);
    expect(() => stream.call('add')).toThrow(/over/);
    await stream.end();
    const abort = new AbortController();
    const other = await clientOf(line).stream({}, { signal: abort.signal });
    abort.abort();
    expect(await told(other)).toEqual([]);
  });
});

describe('a stream whose connection is lost', () => {
  const behind = (fault: 'cut-heard' | 'cut-said', times: number) => {
    const reader = `stream-${(readers += 1)}`;
    return { reader, url: gateway.network.for(reader, fault, times) };
  };

  it.each(['cut-heard', 'cut-said'] as const)(
    'goes on from its last message, and nothing is run or said twice (%s)',
    async (fault) => {
      const { reader, url } = behind(fault, 2);
      const stream = await streamOf(clientOf('a WebSocket', { url }));
      const results = [];
      for (let each = 1; each <= 3; each += 1) {
        void stream.text(`${each} `);
        results.push(stream.call('write_entry', { id: `${reader}-${each}` }).result());
      }
      for (const result of results) expect(await result).toMatchObject({ data: { times: 1 } });
      await stream.end();
      expect(await told(stream)).toEqual([
        ...['1', '2', '3'].flatMap((each) => [`"${each} "`, 'tool_started', 'tool_result']),
        'ended',
      ]);
      expect(gateway.network.seen(reader)).toHaveLength(3);
    },
  );

  it('that the gateway does not keep is over: its calls are told so, and so is its reader', async () => {
    const stream = await streamOf(clientOf('a WebSocket'));
    const call = stream.call('report', { pages: 50 });
    // Another one on the same session takes its place.
    await streamOf(clientOf('a WebSocket'), { session_id: stream.session.id });
    await expect(call.result()).rejects.toMatchObject({ reason: 'STREAM_REPLACED' });
    await expect(told(stream)).rejects.toMatchObject({ reason: 'STREAM_REPLACED' });
    await expect(stream.end()).rejects.toBeInstanceOf(sdk.ConflictError);
  });
});

describe('calls over gRPC', () => {
  it('give the envelopes that REST gives', async () => {
    const [rest, over] = [clientOf('a WebSocket'), clientOf('gRPC')];
    const calls: [string, object][] = [
      ['add', { a: 2, b: 3 }],
      ['add', { a: 'two' }],
      ['no_such_tool', {}],
      ['delete_note', { id: 'n' }],
      ['report', { pages: 1 }],
    ];
    for (const [tool, args] of calls) {
      const [one, two] = [await rest.tryExecute(tool, args), await over.tryExecute(tool, args)];
      expect(partsOf(two)).toEqual(partsOf(one));
    }
  });

  it('have the same parts around a result', async () => {
    const one = await clientOf('a WebSocket').execute('add', { a: 2, b: 3 });
    const two = await clientOf('gRPC').execute('add', { a: 2, b: 3 });
    expect(Object.keys(two.meta).sort()).toEqual(Object.keys(one.meta).sort());
  });

  it('are sent again by the words of the envelope, under keys of their own', async () => {
    const client = clientOf('gRPC');
    const key = `grpc-${Date.now()}`;
    const { data } = await client.execute<{ times: number }>(
      'read_unstable',
      { id: key },
      { idempotencyKey: key },
    );
    expect(data.times).toBe(2);
    await expect(client.execute('write_unstable', { id: `${key}-u` })).rejects.toMatchObject({
      partialSideEffects: true,
    });
    expect(gateway.asked.get(`/unstable/${key}-u`)).toBe(1);
    const again = await client.execute<{ times: number }>(
      'write_entry',
      { id: key },
      { idempotencyKey: `${key}-w` },
    );
    const replayed = await client.execute<{ times: number }>(
      'write_entry',
      { id: key },
      { idempotencyKey: `${key}-w` },
    );
    expect([again.data.times, replayed.data.times, replayed.meta.replayed]).toEqual([1, 1, true]);
  });

  it('end with the time and the signal of the caller', async () => {
    const client = clientOf('gRPC');
    await expect(client.execute('report', { pages: 50 }, { timeoutMs: 200, retry: false })).rejects.toSatisfy(
      (error) => error instanceof sdk.DeadlineError || error instanceof sdk.CallTimeoutError,
    );
    const abort = new AbortController();
    const call = client.execute('report', { pages: 50 }, { signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
  });

  it('say where nothing listens', async () => {
    const { url, keys } = gateway.running;
    const nowhere = new sdk.GatewayClient({
      url,
      apiKey: keys.agent.text,
      grpc: grpc.overGrpc({ url: 'http://127.0.0.1:1' }),
    });
    open.push(nowhere);
    await expect(nowhere.execute('add', { a: 1, b: 1 }, { retry: false })).rejects.toMatchObject({
      name: 'ConnectionError',
      notSent: true,
    });
    expect(() => grpc.overGrpc({ url: 'gateway:50051' })).toThrow(/https:\/\//);
  });

  it('leave everything else to REST', async () => {
    const client = clientOf('gRPC');
    const call = await client.start('report', { pages: 1 });
    expect(await call.result()).toMatchObject({ data: { pages: 1 } });
    expect((await client.tools.list()).length).toBeGreaterThan(5);
  });
});

it('is typed for its user', () => {
  const source = `import { GatewayClient, type StreamMessage } from 'unified-tool-executor-sdk';
import { overGrpc } from 'unified-tool-executor-sdk/grpc';
const client = new GatewayClient({ grpc: overGrpc({ url: 'https://gateway:50051' }) });
export async function main(): Promise<number> {
  const stream = await client.stream({ mode: 'voice' });
  const { data } = await stream.call('add', { a: 1, b: 2 }).result<number>();
  for await (const message of stream) say(message);
  return data;
}
function say(message: StreamMessage): string {
  return message.type === 'tool_result' ? message.tool_name : message.type === 'text_delta' ? message.text : '';
}
`;
  writeFileSync(join(dir, 'stream-user.ts'), source);
  const options = [
    '--noEmit',
    '--strict',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--lib',
    'es2023,dom',
  ];
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
  expect(run(join(ROOT, 'node_modules/.bin/tsc'), [...options, ...types, 'stream-user.ts'], dir)).toBe('');
});
