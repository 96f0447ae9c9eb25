// An answer in a stream of events: what waits for its reader has an end, in bytes and in time.
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { unreadAnswer } from '../../../../test/helpers/unread-answer.ts';
import { SseAnswer, type ReaderLost } from './sse-answer.ts';

/** More than the connection's own buffers hold. */
const EVENT = `"${'x'.repeat(1 << 20)}"`;
const EVENTS = 64;

/** A stream to a client that reads nothing until it is told to. The time that a reader has is short here. */
async function streamed(timeMs: number) {
  const asked: number[] = [];
  const lost: ReaderLost[] = [];
  const { raw, client, taken } = await unreadAnswer((reply) => {
    const real = reply.raw.setTimeout.bind(reply.raw);
    reply.raw.setTimeout = (ms, callback) => {
      asked.push(ms);
      return real(timeMs, callback);
    };
    return new SseAnswer(reply, (why) => lost.push(why));
  });
  return { raw, answer: taken, client, lost, asked };
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
