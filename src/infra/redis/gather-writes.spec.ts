// What is sent in one turn leaves in one write, and at the end of that turn, whatever becomes of the connection.
import { Redis } from 'ioredis';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { gatherWrites } from './gather-writes.ts';

/** Of a client that never connects: only its stream is looked at. */
function clientOf(stream: object | undefined): Redis {
  return Object.assign(new Redis({ lazyConnect: true }), { stream });
}

function recordingStream() {
  const acts: string[] = [];
  return { acts, cork: () => void acts.push('cork'), uncork: () => void acts.push('uncork') };
}

it('the stream is held once a turn, and let go at its end', async () => {
  const stream = recordingStream();
  const client = clientOf(stream);
  for (let command = 0; command < 3; command += 1) gatherWrites(client);
  expect(stream.acts).toEqual(['cork']);
  await turn();
  expect(stream.acts).toEqual(['cork', 'uncork']);
  gatherWrites(client);
  await turn();
  expect(stream.acts).toEqual(['cork', 'uncork', 'cork', 'uncork']);
});

it('a stream that was held is let go although the client has another one by then', async () => {
  const [first, second] = [recordingStream(), recordingStream()];
  const client = clientOf(first);
  gatherWrites(client);
  Object.assign(client, { stream: second });
  await turn();
  expect([first.acts, second.acts]).toEqual([['cork', 'uncork'], []]);
});

it('a client that is not connected has nothing to hold', async () => {
  const client = clientOf(undefined);
  gatherWrites(client);
  await turn();
  gatherWrites(client);
  await turn();
  expect(client.status).toBe('wait');
});

it('what is to be done last is done once, before the stream is let go, and what it sends leaves with the rest', async () => {
  const stream = recordingStream();
  const client = clientOf(stream);
  const last = (name: string) => () => {
    gatherWrites(client);
    stream.acts.push(name);
  };
  gatherWrites(client, last('first'));
  gatherWrites(client, last('second'));
  await turn();
  await turn();
  expect(stream.acts).toEqual(['cork', 'first', 'second', 'uncork']);
});
