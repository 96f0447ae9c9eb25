// Events over one answer: a reader that takes nothing is sent away, and one that is slow is not.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { EventStream } from './event-stream.ts';

/** More than the buffers of the connection hold. */
const LARGE = JSON.stringify('x'.repeat(32 << 20));

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** A stream to a client that reads nothing until it is told to. Its time is over when the test says so. */
async function streamed() {
  const timeouts: { readonly ms: number; readonly over: () => void }[] = [];
  const told: { raw?: ServerResponse; stream?: EventStream } = {};
  const server = createServer((_request, raw) => {
    raw.setTimeout = (ms, over) => {
      if (over !== undefined) timeouts.push({ ms, over });
      return raw;
    };
    told.raw = raw;
    told.stream = new EventStream({ raw, hijack: () => undefined } as never, async () => undefined);
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
  const { raw, stream } = told;
  const [timeout] = timeouts;
  if (raw === undefined || stream === undefined || timeout === undefined) throw new Error('nobody asked');
  return { raw, stream, client, timeout };
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
