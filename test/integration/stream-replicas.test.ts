// Streams over two replicas with one Redis: they go on at the other, when a client comes there, and when their own one stops or dies.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { openDatabase } from '../helpers/open-database.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { sharedStores, type Stores } from '../helpers/stores.ts';
import { StreamClient, type StreamMessage } from '../helpers/stream-client.ts';

let stores: Stores;
let one: RunningGateway;
let two: RunningGateway;
const open: StreamClient[] = [];
/** Known to both: made by the first, kept in their database. */
let key: string;
let stranger: string;

const start = () =>
  startGateway({ tools: ['test/fixtures/stream/tools.yaml'], settings: { ...stores.settings } });

beforeAll(async () => {
  stores = await sharedStores();
  one = await start();
  two = await start();
  await openDatabase(one);
  await openDatabase(two);
  key = await makeKey('caller');
  stranger = await makeKey('stranger');
});

afterEach(() => {
  for (const client of open.splice(0)) client.cut();
});

afterAll(async () => {
  await two?.stop();
  await one?.stop();
  await stores?.stop();
});

async function makeKey(name: string): Promise<string> {
  const response = await fetch(`${one.url}/v1/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${one.keys.admin.text}` },
    body: JSON.stringify({ name, roles: ['agent'], tenant: 'acme' }),
  });
  const made = ((await response.json()) as { key: string }).key;
  const headers = { authorization: `Bearer ${made}` };
  await eventually(
    async () => (await fetch(`${two.url}/v1/tools`, { headers })).ok,
    'the other knows the key',
  );
  return made;
}

async function begin(gateway = one) {
  const client = await StreamClient.start({ url: gateway.url, key });
  open.push(client);
  return client;
}

async function resume(gateway: RunningGateway, token: unknown, lastSeq: number, as = key) {
  const client = await StreamClient.open({ url: gateway.url, key: as });
  open.push(client);
  client.send({ type: 'resume', resume_token: token, last_seq: lastSeq });
  return client;
}

const spoken = (messages: readonly StreamMessage[]) =>
  messages.filter(({ seq }) => seq !== undefined).map(({ seq, type, text }) => `${seq} ${text ?? type}`);

describe('a client that comes to another replica', () => {
  it('goes on there, with what it has not heard and what its calls under way gave', async () => {
    const stream = await begin();
    stream.send({ type: 'text_delta', text: 'one' });
    stream.send({ type: 'tool_call', tool_name: 'wait', arguments: { ms: 300 } });
    stream.send({ type: 'text_delta', text: 'two' });
    await stream.next('tool_started');
    stream.cut();
    const there = await resume(two, stream.started['resume_token'], 1);
    expect(await there.next('resumed')).toMatchObject({ received: 3, open_calls: [] });
    await there.nextWhere(({ text }) => text === 'two');
    expect(spoken(there.messages)).toEqual(['2 tool_started', '3 tool_result', '4 two']);
    there.send({ type: 'turn_start' });
    await there.next('turn_started');
    expect(await there.call('who')).toMatchObject({ ok: true, id: 'call_2' });
  });

  it('goes there and back again, as often as it likes', async () => {
    const stream = await begin();
    let lastSeq = 0;
    for (let round = 1; round <= 4; round += 1) {
      const client = await resume(round % 2 === 0 ? one : two, stream.started['resume_token'], lastSeq);
      await client.next('resumed');
      client.send({ type: 'text_delta', text: `round ${round}` });
      lastSeq = (await client.next('text_delta')).seq ?? 0;
      expect(lastSeq).toBe(round);
    }
  });

  it('closes the connection that it had at the first', async () => {
    const stream = await begin();
    const there = await resume(two, stream.started['resume_token'], 0);
    await there.next('resumed');
    expect(await stream.closed).toEqual({ code: 4409, reason: 'STREAM_REPLACED' });
  });

  it('of another credential finds nothing, and the stream stays with its own', async () => {
    const stream = await begin();
    stream.send({ type: 'text_delta', text: 'secret' });
    await stream.next('text_delta');
    const thief = await resume(two, stream.started['resume_token'], 0, stranger);
    expect((await thief.next('error')).error).toMatchObject({ reason: 'STREAM_NOT_FOUND' });
    const there = await resume(two, stream.started['resume_token'], 0);
    await there.next('resumed');
    expect(await there.next('text_delta')).toMatchObject({ text: 'secret' });
  });

  it('with a guessed secret does not disturb the stream', async () => {
    const stream = await begin();
    const token = String(stream.started['resume_token']).replace(/_[\w-]{32}$/, `_${'A'.repeat(32)}`);
    const thief = await resume(two, token, 0);
    expect((await thief.next('error')).error).toMatchObject({ reason: 'STREAM_NOT_FOUND' });
    expect(await stream.call('who')).toMatchObject({ ok: true });
  });

  it('and begins another stream on the same session takes the place of the first', async () => {
    const stream = await begin();
    const { id } = stream.started['session'] as { id: string };
    const other = await StreamClient.start({ url: two.url, key }, { session_id: id });
    open.push(other);
    expect(await stream.closed).toEqual({ code: 4409, reason: 'STREAM_REPLACED' });
    expect(await other.call('who')).toMatchObject({ ok: true, result: { sessionId: id } });
  });
});

describe('a replica that stops', () => {
  it('lets calls under way end, and its streams go on at another', async () => {
    const third = await start();
    await openDatabase(third);
    const stream = await begin(third);
    stream.send({ type: 'tool_call', tool_name: 'wait', arguments: { ms: 300 } });
    stream.send({ type: 'text_delta', text: 'after' });
    await stream.next('tool_started');
    // Both were taken: the second pong is behind them.
    stream.send({ type: 'ping' });
    await stream.next('pong');
    const stopped = third.stop();
    await stream.next('reconnect');
    expect(await stream.closed).toMatchObject({ code: 1012 });
    expect(spoken(stream.messages)).toEqual(['1 tool_started', '2 tool_result', '3 after']);
    const there = await resume(two, stream.started['resume_token'], 2);
    expect(await there.next('resumed')).toMatchObject({ received: 2 });
    expect(await there.next('text_delta')).toMatchObject({ seq: 3, text: 'after' });
    await stopped;
  });
});
