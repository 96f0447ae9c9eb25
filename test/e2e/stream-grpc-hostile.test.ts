// Converse under hostile clients: messages out of order, floods, giant ones, other people's streams, readers that read nothing, and
// thousands of calls that begin nothing.
import { connect as http2, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ConverseClient, resultOf } from '../helpers/converse-client.ts';
import { eventually } from '../helpers/eventually.ts';
import { openDatabase } from '../helpers/open-database.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const INVALID_ARGUMENT = 3;
const NOT_FOUND = 5;
const RESOURCE_EXHAUSTED = 8;
const PATH = '/unified_tool_executor.v1.ToolExecutorService/Converse';

let gateway: RunningGateway;
const open: { close(): void }[] = [];

beforeAll(async () => {
  gateway = await startGateway({
    tools: ['config/tools.yaml', 'test/fixtures/stream/tools.yaml'],
    settings: { stream: { max_per_credential: 20, resume_for: '2s' }, modes: {} },
    more: {
      neighbour: { tenant: 'acme', roles: ['agent'] },
      both: { tenants: ['acme', 'umbrella'], roles: ['agent'] },
    },
  });
  await openDatabase(gateway);
});

afterEach(() => {
  for (const client of open.splice(0)) client.close();
});

afterAll(() => gateway?.stop());

function connect(key = gateway.keys.agent.text): ConverseClient {
  const client = new ConverseClient(gateway.service.grpcAddress, key);
  open.push(client);
  return client;
}

async function start(key?: string) {
  const client = connect(key);
  client.send({ start: {} });
  return Object.assign(client, { started: (await client.next('started')) as { resumeToken: string } });
}

const keyOf = (who: 'neighbour' | 'both' | 'other') =>
  who === 'other' ? gateway.keys.other.text : gateway.key(who).key;

async function metric(pattern: RegExp): Promise<number> {
  const text = await (await fetch(gateway.service.metricsUrl)).text();
  return Number(pattern.exec(text)?.[1] ?? 0);
}
const openStreams = () => metric(/^ute_streams_open (\d+)/m);

/** A call of gRPC by hand: frames are what the test says. */
function raw(session: ClientHttp2Session, key = gateway.keys.agent.text): ClientHttp2Stream {
  const stream = session.request({
    ':method': 'POST',
    ':path': PATH,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: `Bearer ${key}`,
  });
  stream.on('error', () => undefined);
  return stream;
}

function session(): ClientHttp2Session {
  const made = http2(`http://${gateway.service.grpcAddress}`);
  made.on('error', () => undefined);
  open.push({ close: () => made.destroy() });
  return made;
}

function frame(bytes: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** Field 1 of a ConverseRequest is `start`: an empty one. */
const START = frame(Buffer.from([0x0a, 0x00]));
const textDelta = (text: string) => {
  const inner = Buffer.concat([Buffer.from([0x0a]), varint(Buffer.byteLength(text)), Buffer.from(text)]);
  return frame(Buffer.concat([Buffer.from([0x1a]), varint(inner.length), inner]));
};

function varint(value: number): Buffer {
  const bytes = [];
  for (let left = value; ; left >>>= 7) {
    bytes.push(left > 127 ? (left & 127) | 128 : left);
    if (left <= 127) return Buffer.from(bytes);
  }
}

describe('messages out of order', () => {
  it.each([
    ['a call', { toolCall: { toolName: 'who', argumentsJson: Buffer.from('{}') } }],
    ['text', { textDelta: { text: 'x' } }],
    ['the end of a turn', { turnEnd: { cancel: true } }],
    ['nothing', {}],
  ])('%s before the first one is refused, and does nothing', async (_what, message) => {
    const client = connect();
    client.send(message);
    expect(await client.next('refused')).toMatchObject({ error: { type: 'VALIDATION' } });
    client.send({ start: {} });
    await client.next('started');
  });

  it('a second start, and a resume in the middle, are refused, and the stream goes on', async () => {
    const stream = await start();
    const { started } = stream;
    stream.send({ start: {} });
    stream.send({ resume: { resumeToken: started.resumeToken, lastSeq: 0 } });
    expect(await stream.next('refused')).toMatchObject({ error: { type: 'VALIDATION' } });
    expect(await stream.next('refused')).toMatchObject({ error: { type: 'VALIDATION' } });
    stream.toolCall('who');
    expect(await stream.next('toolResult')).toMatchObject({ ok: true });
  });

  it('what follows the end is not taken', async () => {
    const stream = await start();
    stream.send({ end: {} });
    stream.toolCall('who');
    expect(await stream.ended).toBeUndefined();
    expect(stream.messages.some(({ message }) => message === 'toolStarted')).toBe(false);
  });

  it('bytes that are no message are refused, and who goes on so is sent away', async () => {
    const call = raw(session());
    call.write(START);
    for (let count = 0; count < 40; count += 1) call.write(frame(Buffer.from('ff'.repeat(20), 'hex')));
    const trailers = await new Promise<Record<string, unknown>>((done) => call.once('trailers', done));
    expect(Number(trailers['grpc-status'])).toBe(INVALID_ARGUMENT);
  });

  it('a client that closes its side before it says anything is through', async () => {
    const client = connect();
    client.call.end();
    expect(await client.ended).toBeUndefined();
  });
});

describe("other people's streams", () => {
  it.each(['neighbour', 'both', 'other'] as const)('%s does not go on with one by its token', async (who) => {
    const stream = await start();
    const beside: Record<string, string> = who === 'both' ? { 'x-ute-tenant': 'umbrella' } : {};
    const thief = new ConverseClient(gateway.service.grpcAddress, keyOf(who), beside);
    open.push(thief);
    thief.send({ resume: { resumeToken: stream.started.resumeToken, lastSeq: 0 } });
    expect((await thief.ended)?.code).toBe(NOT_FOUND);
    stream.toolCall('who');
    expect(await stream.next('toolResult')).toMatchObject({ ok: true });
  });
});

describe('floods', () => {
  it('a message that is larger than one may be ends the call, and nothing else', async () => {
    const stream = await start();
    stream.send({ textDelta: { text: 'x'.repeat(3_000_000) } });
    expect((await stream.ended)?.code).toBe(RESOURCE_EXHAUSTED);
    const other = await start();
    other.toolCall('large', { size: 3_000_000 });
    expect(JSON.stringify(resultOf(await other.next('toolResult'))).length).toBeGreaterThan(3_000_000);
  });

  it('a thousand calls at once are each answered, most of them refused, and others meanwhile', async () => {
    const stream = await start();
    for (let count = 0; count < 1_000; count += 1) stream.toolCall('wait', { ms: 10 });
    const other = await start();
    other.toolCall('who');
    expect(await other.next('toolResult')).toMatchObject({ ok: true });
    let refused = 0;
    for (let count = 0; count < 1_000; count += 1) {
      const { ok, error } = await stream.next('toolResult');
      if (ok === false) refused += 1;
      expect(ok === true || (error as { reason: string }).reason === 'STREAM_CALLS_FULL').toBe(true);
    }
    expect(refused).toBeGreaterThan(0);
  });

  it('a credential has no more streams than it may, those whose connection was lost among them', async () => {
    const streams = await Promise.all(Array.from({ length: 20 }, () => start(gateway.key('neighbour').key)));
    const oneMore = connect(gateway.key('neighbour').key);
    oneMore.send({ start: {} });
    expect((await oneMore.ended)?.code).toBe(RESOURCE_EXHAUSTED);
    for (const stream of streams) stream.call.cancel();
    const still = connect(gateway.key('neighbour').key);
    still.send({ start: {} });
    expect((await still.ended)?.code).toBe(RESOURCE_EXHAUSTED);
    await eventually(async () => {
      const again = connect(gateway.key('neighbour').key);
      again.send({ start: {} });
      const begun = await Promise.race([again.next('started'), again.ended]);
      expect(begun).toHaveProperty('resumeToken');
    });
  });

  it('calls of gRPC that begin nothing have an end, and keep nobody from beginning', async () => {
    const before = await openStreams();
    for (let connection = 0; connection < 10; connection += 1) {
      const over = session();
      for (let count = 0; count < 100; count += 1) raw(over).write(frame(Buffer.from([0x42, 0x00])));
    }
    const stream = await start();
    stream.toolCall('who');
    expect(await stream.next('toolResult')).toMatchObject({ ok: true });
    expect(await openStreams()).toBe(before + 1);
  });

  it('calls that are cancelled as soon as they begin leave no call running', async () => {
    for (let count = 0; count < 15; count += 1) {
      const stream = await start();
      stream.toolCall('wait', { ms: 60_000 });
      await stream.next('toolStarted');
      stream.call.cancel();
    }
    const running = () => metric(/^ute_inflight_calls\{executor="javascript"\} (\d+)/m);
    expect(await running()).toBeGreaterThan(0);
    await eventually(async () => expect(await running()).toBe(0));
  });
});

describe('a reader that reads nothing', () => {
  it('pauses its own stream, is not run over, and nobody else waits for it', async () => {
    const client = session();
    const call = raw(client);
    call.write(START);
    await new Promise((heard) => call.once('data', heard));
    call.pause();
    let accepted = 0;
    for (let count = 0; count < 4_000; count += 1)
      if (call.write(textDelta(`${count}`.padEnd(16_000)))) accepted += 1;
    await eventually(async () => expect(await metric(/^ute_stream_pauses_total (\d+)/m)).toBeGreaterThan(0));
    const other = await start();
    for (let count = 0; count < 20; count += 1) {
      other.toolCall('large', { size: 100_000 });
      await other.next('toolResult');
    }
    expect(call.writableLength).toBeGreaterThan(16_000_000);
    expect(accepted).toBeLessThan(4_000);
  });
});
