// Events over one answer: a reader that takes nothing is sent away, and one that is slow is not.
import { expect, it, vi } from 'vitest';
import { unreadAnswer } from '../../../../test/helpers/unread-answer.ts';
import { EventStream } from './event-stream.ts';

/** More than the buffers of the connection hold. */
const LARGE = JSON.stringify('x'.repeat(32 << 20));

/** A stream to a client that reads nothing until it is told to. Its time is over when the test says so. */
async function streamed() {
  const timeouts: { readonly ms: number; readonly over: () => void }[] = [];
  const { raw, client, taken } = await unreadAnswer((reply) => {
    reply.raw.setTimeout = (ms, over) => {
      if (over !== undefined) timeouts.push({ ms, over });
      return reply.raw;
    };
    return new EventStream(reply, async () => undefined);
  });
  const [timeout] = timeouts;
  if (timeout === undefined) throw new Error('no time was asked for');
  return { raw, stream: taken, client, timeout };
}

it('a reader that takes nothing of a large event for 30 s is sent away', async () => {
  const { raw, stream, timeout } = await streamed();
  const sent = stream.send('call', LARGE);
  await vi.waitUntil(() => raw.writableNeedDrain);
  timeout.over();
  await sent;
  expect([timeout.ms, raw.destroyed, stream.gone.aborted]).toEqual([30_000, true, true]);
});

it('one for whom nothing waits stays, however long nothing happens', async () => {
  const { raw, stream, client, timeout } = await streamed();
  client.resume();
  await stream.send('call', LARGE);
  timeout.over();
  expect([raw.destroyed, stream.gone.aborted]).toEqual([false, false]);
});
