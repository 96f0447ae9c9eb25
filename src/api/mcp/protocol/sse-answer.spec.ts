// An answer in a stream of events: what waits for its reader has an end, in bytes and in time.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { SseAnswer, type ReaderLost } from './sse-answer.ts';

/** More than the connection's own buffers hold. */
const EVENT = `"${'x'.repeat(1 << 20)}"`;
const EVENTS = 64;

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A stream to a client that reads nothing until it is told to. The time that a reader has is short here. */
async function streamed(timeMs: number) {
  const asked: number[] = [];
  const lost: ReaderLost[] = [];
  const told: { raw?: ServerResponse; answer?: SseAnswer } = {};
  const server = createServer((_request, raw) => {
    const real = raw.setTimeout.bind(raw);
    raw.setTimeout = (ms, callback) => {
      asked.push(ms);
      return real(timeMs, callback);
    };
    told.raw = raw;
    told.answer = new SseAnswer({ raw, hijack: () => undefined } as never, (why) => lost.push(why));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client: Socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  open.push(() => {
    client.destroy();
    server.close();
  });
  client.on('error', () => undefined).pause();
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(server, 'request');
  const { raw, answer } = told;
  if (raw === undefined || answer === undefined) throw new Error('nobody asked');
  return { raw, answer, client, lost, asked };
}

it('a reader that takes nothing any more is sent away, and it is told why', async () => {
  const { raw, answer, lost, asked } = await streamed(50);
  for (let each = 0; each < EVENTS; each += 1) answer.push(EVENT, true);
  await once(raw, 'close');
  expect([lost, asked]).toEqual([['stuck'], [30_000]]);
});

it('so is one that does not take the answer at the end', async () => {
  const { raw, answer, lost } = await streamed(50);
  answer.end(`"${'x'.repeat(EVENTS << 20)}"`);
  await once(raw, 'close');
  expect(lost).toEqual(['stuck']);
});

it('one that is told nothing stays', async () => {
  const { raw, lost } = await streamed(10);
  await once(raw, 'timeout');
  expect([lost, raw.destroyed]).toEqual([[], false]);
});

it('one that is too slow for what must not be left out is sent away when too much waits', async () => {
  const { raw, answer, lost } = await streamed(60_000);
  for (let each = 0; each < EVENTS; each += 1) answer.push(EVENT, false);
  expect([lost, raw.destroyed]).toEqual([['too_slow'], true]);
});

it('one that reads has all of it, in its order', async () => {
  const { answer, client, lost } = await streamed(60_000);
  let text = '';
  client.on('data', (piece) => (text += String(piece))).resume();
  for (let each = 0; each < 5; each += 1) answer.push(String(each), false);
  await answer.caughtUp();
  answer.end('"last"');
  await once(client, 'close');
  const told = text.split('\n').flatMap((line) => (line.startsWith('data: ') ? line.slice(6).trim() : []));
  expect([told, lost]).toEqual([['0', '1', '2', '3', '4', '"last"'], []]);
});
